//! Changes that are decided at compile time: the state that is compiled in, and a check that the pattern asks for it.
//!
//! The variable of a package (`BISECT_BUILD_<name>_<version>`) is `on` or `off`, then any number of
//! `;name=file:line:column`. Each names a change that has the other state.

use std::fmt;

use super::{
    config::{Config, Setting},
    report,
    toggle::{Key, Place, Toggle},
};

/// Returns true if the variable enables the change at this place. If it is not set, all changes are on.
///
/// # Panics
/// If the variable begins with neither `on` nor `off`; in a constant that is a compile error.
#[must_use]
pub const fn is_enabled(variable: Option<&str>, name: &str, place: Place) -> bool {
    let Some(variable) = variable else { return true };
    let (mut rest, on) = match strip(variable.as_bytes(), b"on") {
        Some(rest) => (rest, true),
        None => match strip(variable.as_bytes(), b"off") {
            Some(rest) => (rest, false),
            None => panic!("the BISECT_BUILD_ variable of this package begins with neither `on` nor `off`"),
        },
    };
    while let Some(item) = strip(rest, b";") {
        if is_item(item, name, place) {
            return !on;
        }
        rest = from_semicolon(item);
    }
    assert!(rest.is_empty(), "the BISECT_BUILD_ variable of this package has more than `on` or `off` before a `;`");
    on
}

/// Returns true if `text` begins with the whole item of this change.
const fn is_item(text: &[u8], name: &str, place: Place) -> bool {
    let Some(rest) = strip(text, name.as_bytes()) else { return false };
    let Some(rest) = strip(rest, b"=") else { return false };
    let Some(rest) = strip(rest, place.file.as_bytes()) else { return false };
    let Some(rest) = strip(rest, b":") else { return false };
    let Some(rest) = strip_number(rest, place.line) else { return false };
    let Some(rest) = strip(rest, b":") else { return false };
    let Some(rest) = strip_number(rest, place.column) else { return false };
    matches!(rest, [] | [b';', ..])
}

const fn strip<'a>(text: &'a [u8], prefix: &[u8]) -> Option<&'a [u8]> {
    let Some((start, rest)) = text.split_at_checked(prefix.len()) else { return None };
    let mut i = 0;
    while i < prefix.len() {
        if start[i] != prefix[i] {
            return None;
        }
        i += 1;
    }
    Some(rest)
}

const fn strip_number(text: &[u8], number: u32) -> Option<&[u8]> {
    let (mut value, mut rest) = (0_u64, text);
    while let [digit @ b'0'..=b'9', tail @ ..] = rest {
        value = value.saturating_mul(10).saturating_add((*digit - b'0') as u64);
        rest = tail;
    }
    if rest.len() < text.len() && value == number as u64 { Some(rest) } else { None }
}

const fn from_semicolon(text: &[u8]) -> &[u8] {
    let mut rest = text;
    while let [first, tail @ ..] = rest {
        if *first == b';' {
            break;
        }
        rest = tail;
    }
    rest
}

/// Reports every build-time change that the pattern selects by its name.
///
/// # Errors
/// If a change is compiled in with another state than the pattern asks for.
pub(crate) fn report(config: &Config, toggles: &[&Toggle]) -> Result<(), Stale> {
    let mut stale = None;
    for toggle in toggles {
        let Key::Build(_, compiled_in) = toggle.key else { continue };
        // `unheard` reports these.
        if toggle.fixed().is_some() {
            continue;
        }
        let id = toggle.id(&toggle.place, None);
        let wanted = match config.named(toggle.name) {
            None | Some(Setting::Default) => continue,
            Some(Setting::Fixed(on)) => *on,
            Some(Setting::Search(matcher)) => {
                if matcher.should_report(id) {
                    let mut text = |text: &mut report::Text| {
                        text.line(format_args!("{}", toggle.title(&toggle.place)));
                    };
                    report::once(id, matcher.verbose().then_some(&mut text));
                }
                matcher.should_enable(id)
            }
        };
        if wanted != compiled_in {
            stale = stale.or(Some(Stale { toggle: (toggle.name, toggle.place), compiled_in }));
        }
    }
    stale.map_or(Ok(()), Err)
}

/// A build-time change that is compiled in with another state than the pattern asks for.
#[derive(Clone, Copy)]
pub(crate) struct Stale {
    toggle: (&'static str, Place),
    compiled_in: bool,
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, place) = self.toggle;
        let (is, asked) = if self.compiled_in { ("on", "off") } else { ("off", "on") };
        write!(f, "{name} at {place} is compiled as {is}, but asked to be {asked}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place::new("src/lib.rs", 12, 5);

    #[test]
    fn the_variable_lists_what_is_the_other_way_round() {
        for (variable, expected) in [
            (None, true),
            (Some("on"), true),
            (Some("off"), false),
            (Some("on;x=src/lib.rs:12:5"), false),
            (Some("off;x=src/lib.rs:12:5"), true),
            (Some("off;y=src/lib.rs:12:5;x=src/lib.rs:12:5;z=a:1:1"), true),
            (Some("off;y=src/lib.rs:12:5"), false),
            (Some("off;xx=src/lib.rs:12:5"), false),
            (Some("off;x=src/lib.rs:12:50"), false),
            (Some("off;x=src/lib.rs:12:"), false),
            (Some("off;x=src/lib.rs:112:5"), false),
            (Some("off;x=src/lib.rs:12:5:1"), false),
            (Some("off;x=src/main.rs:12:5"), false),
            (Some("off;x=src/lib.rs:99999999999999999999999:5"), false),
            (Some("off;"), false),
        ] {
            assert_eq!(is_enabled(variable, "x", PLACE), expected, "{variable:?}");
        }
    }

    #[test]
    fn a_malformed_variable_is_a_compile_error() {
        for variable in ["", "yes", "On", "only", "off:x=src/lib.rs:12:5", "offx"] {
            let decision = std::panic::catch_unwind(|| is_enabled(Some(variable), "x", PLACE));
            assert!(decision.is_err(), "{variable:?}");
        }
    }
}
