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
            format!("the target is repaired by any of these {noun}s: it fails if none of them is applied")
        }
    }
}

/// Returns the headline of changes that can be left out for good, such as features.
pub(super) fn of_parts(noun: &str, changes: usize, mode: Mode) -> String {
    match (mode, changes) {
        (Mode::Enable, _) => of_versions(noun, changes, mode),
        (Mode::Disable, 1) => format!("this {noun} is needed: without it the target fails"),
        (Mode::Disable, _) => {
            format!("at least one of these {noun}s is needed: the target fails if all of them are left out")
        }
    }
}

/// Returns the headline of pieces of code that can be compiled in two ways, such as expressions. `enabled` and `disabled`
/// say in which one, after the noun.
pub(super) fn of_code(noun: &str, [enabled, disabled]: [&str; 2], changes: usize, mode: Mode) -> String {
    let [there, here] = [enabled, disabled].map(|how| how.trim_start_matches([',', ' ']));
    match (mode, changes) {
        (Mode::Enable, 1) => format!("this {noun}{enabled}, makes the target fail"),
        (Mode::Enable, _) => format!("these {noun}s{enabled}, together make the target fail"),
        (Mode::Disable, 1) => format!("the target fails with this {noun} {here}, and passes with it {there}"),
        (Mode::Disable, _) => {
            format!("the target fails with all of these {noun}s {here}, and passes with any of them {there}")
        }
    }
}

/// Returns the headline of the first step at which the outcome is another one.
pub(super) fn of_first(noun: &str, mode: Mode) -> String {
    match mode {
        Mode::Enable => format!("this is the first bad {noun}"),
        Mode::Disable => format!("the target is repaired by this {noun}: it is the first good one"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_direction_has_words_of_its_own() {
        type Words = fn(usize, Mode) -> String;
        let versions: Words = |changes, mode| of_versions("update", changes, mode);
        let parts: Words = |changes, mode| of_parts("feature", changes, mode);
        let code: Words = |changes, mode| of_code("expression", [", as in 2024", ", as in 2021"], changes, mode);
        let first: Words = |_, mode| of_first("commit", mode);
        for (words, mode, one, several) in [
            (
                versions,
                Mode::Enable,
                "this update makes the target fail",
                "these updates together make the target fail",
            ),
            (
                versions,
                Mode::Disable,
                "the target is repaired by this update: without it the target fails",
                "the target is repaired by any of these updates: it fails if none of them is applied",
            ),
            (parts, Mode::Enable, "this feature makes the target fail", "these features together make the target fail"),
            (
                parts,
                Mode::Disable,
                "this feature is needed: without it the target fails",
                "at least one of these features is needed: the target fails if all of them are left out",
            ),
            (
                code,
                Mode::Enable,
                "this expression, as in 2024, makes the target fail",
                "these expressions, as in 2024, together make the target fail",
            ),
            (
                code,
                Mode::Disable,
                "the target fails with this expression as in 2021, and passes with it as in 2024",
                "the target fails with all of these expressions as in 2021, and passes with any of them as in 2024",
            ),
            (first, Mode::Enable, "this is the first bad commit", "this is the first bad commit"),
            (
                first,
                Mode::Disable,
                "the target is repaired by this commit: it is the first good one",
                "the target is repaired by this commit: it is the first good one",
            ),
        ] {
            assert_eq!([1, 2].map(|changes| words(changes, mode)), [one, several]);
        }
    }
}
