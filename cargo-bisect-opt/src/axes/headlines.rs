//! Headlines of culprits that are differences between an old state and a new one, in both directions.

use bisect_core::search::Mode;

/// Returns the headline of this many changes of one kind.
///
/// Where disabled changes break the target, a culprit is a minimal set that cannot be disabled as a whole: each of its
/// changes repairs the target, if the other culprits are enabled.
pub(super) fn of_versions(noun: &str, changes: usize, mode: Mode) -> String {
    match (mode, changes) {
        (Mode::Enable, 1) => format!("this {noun} makes the target fail"),
        (Mode::Enable, _) => format!("these {noun}s together make the target fail"),
        (Mode::Disable, 1) => format!("the target is repaired by this {noun}: without it the target fails"),
        (Mode::Disable, _) => {
            format!("the target is repaired by any of these {noun}s: without all of them the target fails")
        }
    }
}

/// Returns the headline of changes that can be left out for good, such as features.
pub(super) fn of_parts(noun: &str, changes: usize, mode: Mode) -> String {
    match (mode, changes) {
        (Mode::Enable, _) => of_versions(noun, changes, mode),
        (Mode::Disable, 1) => format!("this {noun} is needed: without it the target fails"),
        (Mode::Disable, _) => format!("one of these {noun}s is needed: without all of them the target fails"),
    }
}

/// Returns the headline of the first step at which the outcome is another one.
pub(super) fn of_first(noun: &str, mode: Mode) -> String {
    match mode {
        Mode::Enable => format!("this is the first bad {noun}"),
        Mode::Disable => format!("the target is repaired by this {noun}: it is the first good one"),
    }
}
