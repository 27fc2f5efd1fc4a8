//! Checks of a profile that decide about a culprit: facts in plain words, and advice on what to look for.

use std::path::Path;

use super::sources;
use crate::{
    axes::compilation::Compilation,
    cargo::{graph::Package, profiles::CHECKS},
    output::events::Fact,
    units,
};

/// The maximum number of places that the advice lists.
const MAX_PLACES: usize = 3;

/// A check with which the target passes or fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CheckKind {
    /// `debug-assertions`
    Assertions,
    /// `overflow-checks`
    Overflow,
}

/// The check that decides about a culprit.
#[derive(Debug)]
pub(super) struct Decisive<'a> {
    check: CheckKind,
    /// The key of the profile.
    key: &'static str,
    /// Set if the target passes with it.
    passes_with: bool,
    /// The packages of the culprit.
    packages: &'a [&'a Package],
}

impl<'a> Decisive<'a> {
    /// Returns those of the checks `keys` whose value in these packages is known.
    pub(super) fn among(
        keys: impl IntoIterator<Item = &'static str>,
        compilation: &Compilation,
        packages: &'a [&'a Package],
    ) -> Vec<Self> {
        let decisive = |key: &'static str| {
            let check = if key == CHECKS[0] { CheckKind::Assertions } else { CheckKind::Overflow };
            let good = |package: &&&Package| compilation.good_keys(package).find(|&(other, _)| other == key);
            let good = packages.iter().find_map(|package| Some(good(&package)?.1 == "true"));
            let bad = || packages.iter().find_map(|package| Some(compilation.bad_value(package, key)? != "true"));
            Some(Self { check, key, passes_with: good.or_else(bad)?, packages })
        };
        keys.into_iter().filter_map(decisive).collect()
    }

    fn names(&self) -> String {
        self.packages.iter().map(|package| format!("`{}`", package.name)).collect::<Vec<_>>().join(" and ")
    }

    /// Returns the fact that the target passes with the check, or without it, and what the check is about.
    pub(super) fn fact(&self) -> Fact {
        let (on, why) = match (self.check, self.passes_with) {
            (CheckKind::Assertions, true) => {
                ("on", "without them, `debug_assert!` evaluates nothing and `cfg(debug_assertions)` is false")
            }
            (CheckKind::Assertions, false) => {
                ("off", "with them, `debug_assert!` is evaluated and `cfg(debug_assertions)` is true")
            }
            (CheckKind::Overflow, true) => ("on", "without them, an arithmetic overflow wraps and no panic reports it"),
            (CheckKind::Overflow, false) => {
                ("off", "with them, an arithmetic overflow is a panic where it wrapped before")
            }
        };
        let krate = if self.packages.len() == 1 { "crate" } else { "crates" };
        let text = format!("`{}` {on} in {krate} {}: {why}", self.key, self.names());
        Fact { of: "needs", text }
    }

    /// Returns the advice. `root` is the directory of the workspace; `is_test` is set if tests are run.
    pub(super) fn advice(&self, root: &Path, is_test: bool) -> Vec<String> {
        let names = self.names();
        match (self.check, self.passes_with) {
            (CheckKind::Assertions, _) => {
                let places = self.places(root);
                let places = if places.is_empty() {
                    "the source contains neither, so a macro of another crate may expand to one".to_owned()
                } else {
                    units::listed(places)
                };
                let mut advice = vec![format!(
                    "look in {names} for a `debug_assert!` with a side effect, and for code under \
                     `cfg(debug_assertions)`: {places}"
                )];
                if self.passes_with {
                    let remedy = "move the side effect out of the assertion: `let is_new = set.insert(x); \
                                  debug_assert!(is_new);`; use `assert!` for what must hold in release, too";
                    advice.push(remedy.to_owned());
                }
                advice
            }
            (CheckKind::Overflow, true) => {
                let mut advice = vec![format!(
                    "an arithmetic overflow in {names}, or in inlined and generic code that is compiled there, wraps in \
                     release: where it can happen, use `checked_add` and the like, or keep overflow-checks on"
                )];
                if is_test {
                    let place = "the panic with overflow-checks names the line: run the command after `passes:` with \
                                 `--nocapture` at its end";
                    advice.push(place.to_owned());
                }
                advice
            }
            (CheckKind::Overflow, false) => vec![format!(
                "the message of the panic names the line in {names}: if its arithmetic is meant to wrap, use `wrapping_add` \
                 and the like"
            )],
        }
    }

    /// Returns the first places that name debug assertions.
    fn places(&self, root: &Path) -> Vec<String> {
        let mut places = Vec::new();
        for package in self.packages {
            for file in sources::source_files(&package.directory) {
                let Ok(text) = fs_err::read_to_string(&file) else { continue };
                let shown = file.strip_prefix(root).unwrap_or(&file).display();
                let lines = (1..).zip(text.lines()).filter(|(_, line)| names_assertions(line));
                places.extend(lines.map(|(number, _)| format!("{shown}:{number}")));
            }
        }
        let left = places.len().saturating_sub(MAX_PLACES);
        places.truncate(MAX_PLACES);
        places.extend((left > 0).then(|| format!("{left} more")));
        places
    }
}

/// Returns true if a line names `debug_assert!` and its like or `debug_assertions`, outside comments.
fn names_assertions(line: &str) -> bool {
    let mut words = sources::code_words(line);
    words.any(|word| matches!(word, "debug_assert" | "debug_assert_eq" | "debug_assert_ne" | "debug_assertions"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_assertions_are_found_by_their_words() {
        for (line, expected) in [
            ("debug_assert!(self.open.insert(number));", true),
            ("    std::debug_assert_eq!(a, b);", true),
            ("if cfg!(debug_assertions) {", true),
            ("#[cfg(not(debug_assertions))]", true),
            ("// debug_assert!(x);", false),
            ("assert!(x);", false),
            ("fn debug_assert_all() {}", false),
        ] {
            assert_eq!(names_assertions(line), expected, "{line}");
        }
    }
}
