//! Requests that this program cannot meet: names that no toggle has, fixed toggles, and IDs of another build.
//!
//! Messages about names and IDs are printed only without a driver: the driver knows its requests, and the programs that
//! it starts need not have all names.

use bisect_core::{
    ChangeId, Config, Matcher, Setting,
    protocol::names::{FIX, PATTERN, TOGGLES},
};

use super::{config, registry, report, system::stderr, toggle::Toggle};

/// Prints the toggles that are fixed in another state than the pattern asks for.
pub(crate) fn say_fixed(config: &Config, toggles: &[&Toggle]) {
    for (i, toggle) in toggles.iter().enumerate() {
        let (name, Some(on)) = (toggle.name, toggle.fixed()) else { continue };
        let is_asked = match config.named(name) {
            Some(Setting::Fixed(wanted)) => *wanted != on,
            Some(Setting::Search(_)) => true,
            Some(Setting::Default) | None => false,
        };
        if is_asked && !has(&toggles[..i], name) {
            let state = registry::on_or_off(on);
            stderr::say(format_args!(
                "{PATTERN}: {name:?} is fixed {state} in this build: to select it, build with a {FIX} without {name}={state}"
            ));
        }
    }
}

/// Prints the names in `BISECT_FIX` that no toggle has: nothing is fixed by them.
pub(crate) fn say_unknown_fixes(toggles: &[&Toggle]) {
    // All packages of a build have the same value. The macros have refused a malformed one.
    let value = toggles.iter().find_map(|toggle| toggle.fix).unwrap_or_default();
    for setting in value.as_bytes().split(|byte| *byte == b';') {
        let name = setting.split(|byte| *byte == b'=').next().unwrap_or_default();
        say_if_unknown(FIX, str::from_utf8(name).unwrap_or_default(), toggles);
    }
}

/// Prints the names that no toggle has.
pub(crate) fn say_unknown_names(config: &Config, toggles: &[&Toggle]) {
    for name in config.names() {
        say_if_unknown(PATTERN, name, toggles);
    }
}

fn say_if_unknown(variable: &str, name: &str, toggles: &[&Toggle]) {
    if name.is_empty() || has(toggles, name) {
        return;
    }
    let similar = toggles.iter().map(|toggle| (distance(name, toggle.name), toggle.name)).min();
    match similar.filter(|(distance, _)| *distance <= name.len().div_ceil(3)) {
        Some((_, similar)) => {
            stderr::say(format_args!("{variable}: no toggle is called {name:?}; did you mean {similar:?}?"));
        }
        None => stderr::say(format_args!(
            "{variable}: no toggle is called {name:?}; {TOGGLES}=1 lists those of this program"
        )),
    }
}

fn has(toggles: &[&Toggle], name: &str) -> bool {
    toggles.iter().any(|toggle| toggle.name == name)
}

/// Registers a message for the end of the program: it reached none of the single changes that the pattern names.
#[cfg(unix)]
pub(crate) fn say_unknown_ids_at_exit(config: &Config) {
    extern "C" fn at_exit() {
        if let Some(config) = config::current()
            && !report::any()
            && let Some(ChangeId(id)) = single_changes(&config.settings).next()
        {
            stderr::say(format_args!(
                "{PATTERN}: no change with the ID {id:#018x} was met: the program did not get there, or the ID is of \
                 another build; call stacks have other IDs after each change of the program"
            ));
        }
    }
    if single_changes(config).next().is_some() {
        // SAFETY: the function stays as long as its module, and the C library forgets it when the module is unloaded.
        unsafe { libc::atexit(at_exit) };
    }
}

#[cfg(not(unix))]
pub(crate) fn say_unknown_ids_at_exit(_: &Config) {}

#[cfg(unix)]
fn single_changes(config: &Config) -> impl Iterator<Item = ChangeId> {
    let matchers = config.settings().filter_map(|setting| match setting {
        Setting::Search(matcher) => Some(matcher),
        Setting::Default | Setting::Fixed(_) => None,
    });
    matchers.flat_map(Matcher::single_changes)
}

/// Returns the number of letters to add, leave out or replace to turn one name into the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distances_between_names() {
        for (a, b, expected) in
            [("", "", 0), ("a", "", 1), ("newsort", "newsrot", 2), ("newsort", "newsor", 1), ("ab", "xaby", 2)]
        {
            assert_eq!((distance(a, b), distance(b, a)), (expected, expected), "{a} {b}");
        }
    }
}
