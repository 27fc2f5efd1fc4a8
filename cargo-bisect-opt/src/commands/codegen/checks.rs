//! Checks of a profile that decide about a culprit: facts in plain words, and advice on what to look for.

use std::path::Path;

use super::{
    contributors::{Contributors, first_names},
    sources,
};
use crate::{
    axes::compilation::Compilation,
    cargo::{graph::Package, profiles::CHECKS},
    output::events::Fact,
    units,
};

/// The words of code that depends on debug assertions.
const ASSERTIONS: [&str; 4] = ["debug_assert", "debug_assert_eq", "debug_assert_ne", "debug_assertions"];

/// The text instead of places, if there are none.
const NO_PLACES: &str = "the source contains neither, so a macro of another crate may expand to one";

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
            (CheckKind::Assertions, false) => (
                "off",
                "with them, `debug_assert!` is evaluated, `cfg(debug_assertions)` is true, and the compiler adds its own \
                 checks of unsafe code",
            ),
            (CheckKind::Overflow, true) => ("on", "without them, an arithmetic overflow wraps and no panic reports it"),
            (CheckKind::Overflow, false) => ("off", "with them, an arithmetic overflow panics; without them, it wraps"),
        };
        let krate = if self.packages.len() == 1 { "crate" } else { "crates" };
        let text = format!("`{}` {on} in {krate} {}: {why}", self.key, self.names());
        Fact { of: "needs", text }
    }

    /// Returns the advice if the target fails with debug assertions.
    fn of_failing_assertions(&self, contributors: &Contributors<'_>, root: &Path, is_test: bool) -> Vec<String> {
        let names = self.names();
        let places = sources::places(self.packages, root, &ASSERTIONS);
        let own = contributors.with_unsafe_code();
        let with_unsafe_code = if own.is_empty() { contributors.dependencies_with_unsafe_code() } else { own };
        let mut advice = Vec::new();
        if !with_unsafe_code.is_empty() {
            advice.push(format!(
                "there is unsafe code in {}. The compiler's own checks end the program at some undefined behaviour: a null or \
                 misaligned pointer, or a violated precondition of an unsafe function. Where such a check fails, the code \
                 is wrong in release, too",
                first_names(&with_unsafe_code)
            ));
        }
        if !places.is_empty() || with_unsafe_code.is_empty() {
            let places = listed(places);
            advice.push(format!(
                "look in {names} for a `debug_assert!` that does not hold, and for code under `cfg(debug_assertions)`: {places}"
            ));
        }
        if is_test {
            let place = "the message of the panic says which check failed, and its backtrace where: set `RUST_BACKTRACE=1`, and \
                         run the command after `fails:` with `--nocapture` at its end";
            advice.push(place.to_owned());
        }
        advice
    }

    /// Returns the advice. `root` is the directory of the workspace; `is_test` is set if tests are run.
    pub(super) fn advice(&self, contributors: &Contributors<'_>, root: &Path, is_test: bool) -> Vec<String> {
        let names = self.names();
        match (self.check, self.passes_with) {
            (CheckKind::Assertions, true) => {
                let places = listed(sources::places(self.packages, root, &ASSERTIONS));
                vec![
                    format!(
                        "look in {names} for a `debug_assert!` with a side effect, and for code under \
                         `cfg(debug_assertions)`: {places}"
                    ),
                    "move the side effect out of the assertion: `let is_new = set.insert(x); debug_assert!(is_new);`; use \
                     `assert!` for what must hold in release, too"
                        .to_owned(),
                ]
            }
            (CheckKind::Assertions, false) => self.of_failing_assertions(contributors, root, is_test),
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
                "the message of the panic names the line, in {names} or in inlined and generic code that is compiled there: if its \
                 arithmetic is meant to wrap, use `wrapping_add` and the like; if not, it is wrong in release, too"
            )],
        }
    }
}

/// Formats places for people.
fn listed(places: Vec<String>) -> String {
    if places.is_empty() { NO_PLACES.to_owned() } else { units::listed(places) }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::{super::contributors::tests::package, *};

    #[test]
    fn the_compilers_own_checks_are_named_where_code_is_unsafe() {
        let dir = tempfile::tempdir().unwrap();
        let advice = |check, passes_with, source: &str, dependency: &str| {
            let dependency = package(dir.path(), "block", dependency, &[]);
            let package = package(dir.path(), "pages", source, &[&dependency]);
            let contributors = Contributors { own: vec![&package], dependencies: vec![&dependency] };
            let key = if check == CheckKind::Assertions { CHECKS[0] } else { CHECKS[1] };
            let decisive = Decisive { check, key, passes_with, packages: &[&package] };
            let fact = decisive.fact().text;
            [fact].into_iter().chain(decisive.advice(&contributors, dir.path(), true)).collect::<Vec<_>>().join("\n")
                + "\n"
        };
        let (code, assertion) = ("fn f() { unsafe {} }", "fn f(x: u8) { debug_assert!(x > 0); }");
        expect![[r"
            `debug-assertions` off in crate `pages`: with them, `debug_assert!` is evaluated, `cfg(debug_assertions)` is true, and the compiler adds its own checks of unsafe code
            there is unsafe code in pages. The compiler's own checks end the program at some undefined behaviour: a null or misaligned pointer, or a violated precondition of an unsafe function. Where such a check fails, the code is wrong in release, too
            the message of the panic says which check failed, and its backtrace where: set `RUST_BACKTRACE=1`, and run the command after `fails:` with `--nocapture` at its end
        "]].assert_eq(&advice(CheckKind::Assertions, false, code, ""));
        expect![[r"
            `debug-assertions` off in crate `pages`: with them, `debug_assert!` is evaluated, `cfg(debug_assertions)` is true, and the compiler adds its own checks of unsafe code
            there is unsafe code in block. The compiler's own checks end the program at some undefined behaviour: a null or misaligned pointer, or a violated precondition of an unsafe function. Where such a check fails, the code is wrong in release, too
            look in `pages` for a `debug_assert!` that does not hold, and for code under `cfg(debug_assertions)`: pages/src/lib.rs:1
            the message of the panic says which check failed, and its backtrace where: set `RUST_BACKTRACE=1`, and run the command after `fails:` with `--nocapture` at its end
        "]].assert_eq(&advice(CheckKind::Assertions, false, assertion, code));
        expect![[r"
            `debug-assertions` off in crate `pages`: with them, `debug_assert!` is evaluated, `cfg(debug_assertions)` is true, and the compiler adds its own checks of unsafe code
            look in `pages` for a `debug_assert!` that does not hold, and for code under `cfg(debug_assertions)`: pages/src/lib.rs:1
            the message of the panic says which check failed, and its backtrace where: set `RUST_BACKTRACE=1`, and run the command after `fails:` with `--nocapture` at its end
        "]].assert_eq(&advice(CheckKind::Assertions, false, assertion, ""));
        expect![[r"
            `debug-assertions` on in crate `pages`: without them, `debug_assert!` evaluates nothing and `cfg(debug_assertions)` is false
            look in `pages` for a `debug_assert!` with a side effect, and for code under `cfg(debug_assertions)`: pages/src/lib.rs:1
            move the side effect out of the assertion: `let is_new = set.insert(x); debug_assert!(is_new);`; use `assert!` for what must hold in release, too
        "]].assert_eq(&advice(CheckKind::Assertions, true, assertion, code));
        expect![[r"
            `overflow-checks` off in crate `pages`: with them, an arithmetic overflow panics; without them, it wraps
            the message of the panic names the line, in `pages` or in inlined and generic code that is compiled there: if its arithmetic is meant to wrap, use `wrapping_add` and the like; if not, it is wrong in release, too
        "]].assert_eq(&advice(CheckKind::Overflow, false, "", ""));
    }

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
            assert_eq!(sources::names_any(line, &ASSERTIONS), expected, "{line}");
        }
    }
}
