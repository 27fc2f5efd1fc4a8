//! Keys of a profile that decide about a culprit as a whole: facts in plain words, and advice on what to look for.
//!
//! If the target fails with a check, the message of its panic says which check that is. Only if there is no message, the
//! advice names all that it may be.

use std::{fs, path::Path};

use super::{advice::Known, contributors::first_names, sources};
use crate::{
    axes::compilation::Compilation,
    cargo::{
        graph::Package,
        profiles::{CHECKS, OPT_LEVEL},
    },
    record::end::Fact,
    run::result::Failed,
    units,
};

/// The words of code that depends on debug assertions.
const ASSERTIONS: [&str; 4] = ["debug_assert", "debug_assert_eq", "debug_assert_ne", "debug_assertions"];

/// The text instead of places, if there are none.
const NO_PLACES: &str = "the source contains neither, so a macro of another crate may expand to one";

/// A key with which the target passes or fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyKind {
    /// `debug-assertions`
    Assertions,
    /// `overflow-checks`
    Overflow,
    /// `opt-level`: the target passes with it.
    Level,
}

/// A cause that the message of a failure shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShownCause {
    /// A check of the compiler or of the standard library found undefined behaviour.
    UndefinedBehaviour,
    /// An arithmetic operation overflowed.
    ArithmeticOverflow,
    /// The stack of a thread was too small.
    StackOverflow,
    /// A panic of the program itself.
    Panic,
}

impl ShownCause {
    /// Returns the cause that a message shows, as the compiler, the standard library or the program words it.
    fn of(message: &str) -> Self {
        let begins = |beginnings: &[&str]| beginnings.iter().any(|beginning| message.starts_with(beginning));
        let of_unsafe_code = [
            "misaligned pointer dereference",
            "null pointer dereference occurred",
            "unsafe precondition(s) violated",
            "trying to construct an enum from an invalid value",
        ];
        if begins(&of_unsafe_code) {
            Self::UndefinedBehaviour
        } else if message.starts_with("attempt to ") && message.ends_with(" overflow") {
            Self::ArithmeticOverflow
        } else if message.ends_with(" has overflowed its stack") {
            Self::StackOverflow
        } else {
            Self::Panic
        }
    }
}

/// The key that decides about a culprit.
#[derive(Debug)]
pub(super) struct Decisive<'a> {
    kind: KeyKind,
    /// The key of the profile.
    key: &'static str,
    /// Set if the target passes with it.
    passes_with: bool,
    /// The value with which the target passes, as TOML.
    good: String,
    /// The packages of the culprit.
    packages: &'a [&'a Package],
    /// The ways in which the target fails.
    failures: &'a [Failed],
}

impl<'a> Decisive<'a> {
    /// Returns those of these keys whose value in these packages is known.
    pub(super) fn among(
        keys: impl IntoIterator<Item = &'static str>,
        compilation: &Compilation,
        packages: &'a [&'a Package],
        failures: &'a [Failed],
    ) -> Vec<Self> {
        let decisive = |key: &'static str| {
            let kind = match key {
                OPT_LEVEL => KeyKind::Level,
                _ if key == CHECKS[0] => KeyKind::Assertions,
                _ => KeyKind::Overflow,
            };
            let good = |package: &&Package| compilation.good_keys(package).find(|&(other, _)| other == key);
            let good = packages.iter().find_map(|package| Some(good(package)?.1.to_owned()));
            let opposite = |package: &&Package| (compilation.bad_value(package, key) != "true").to_string();
            let good = good.or_else(|| packages.first().map(opposite))?;
            let passes_with = kind == KeyKind::Level || good == "true";
            Some(Self { kind, key, passes_with, good, packages, failures })
        };
        keys.into_iter().filter_map(decisive).collect()
    }

    fn names(&self) -> String {
        self.packages.iter().map(|package| format!("`{}`", package.name)).collect::<Vec<_>>().join(" and ")
    }

    /// Returns the fact that the target passes with the key, or without it, and what the key is about.
    pub(super) fn fact(&self) -> Fact {
        let krate = format!("{} {}", if self.packages.len() == 1 { "crate" } else { "crates" }, self.names());
        let (on, why) = match (self.kind, self.passes_with) {
            (KeyKind::Assertions, true) => {
                ("on", "without them, `debug_assert!` evaluates nothing and `cfg(debug_assertions)` is false")
            }
            (KeyKind::Assertions, false) => (
                "off",
                "with them, `debug_assert!` is evaluated, `cfg(debug_assertions)` is true, and the compiler adds its own \
                 checks of unsafe code",
            ),
            (KeyKind::Overflow, true) => ("on", "without them, an arithmetic overflow wraps and no panic reports it"),
            (KeyKind::Overflow, false) => ("off", "with them, an arithmetic overflow panics; without them, it wraps"),
            (KeyKind::Level, _) => {
                let why = "without optimization, its stack frames are larger and it takes more time";
                let level = self.good.trim_matches('"');
                return Fact::new("needs", format!("`{}={level}` in {krate}: {why}", self.key));
            }
        };
        Fact::new("needs", format!("`{}` {on} in {krate}: {why}", self.key))
    }

    /// Returns the causes that messages show, each with the location and the message.
    fn findings(&self) -> impl Iterator<Item = (ShownCause, Option<&str>, &str)> {
        let finding = |failed: &'a Failed| {
            let message = failed.message.as_deref().unwrap_or_default();
            let is_known = failed.message.is_some() || failed.place.is_some();
            is_known.then(|| (ShownCause::of(message), failed.place.as_deref(), message))
        };
        self.failures.iter().filter_map(finding)
    }

    /// Returns the advice if the target fails with debug assertions.
    fn of_failing_assertions(&self, known: &Known<'_>) -> Vec<String> {
        let names = self.names();
        let mut advice = Vec::new();
        for (finding, place, message) in self.findings() {
            let at = place.map(|place| format!(" at {place}")).unwrap_or_default();
            match finding {
                ShownCause::UndefinedBehaviour => {
                    advice.push(format!(
                        "a check of unsafe code failed{at}: {message}. This is undefined behaviour, which is not checked without \
                         debug-assertions: the code is wrong in release, too"
                    ));
                    advice.push(format!("Miri shows where it comes from: {}", known.miri()));
                }
                _ if place.is_some_and(|place| is_assertion(known.root, place)) => advice.push(format!(
                    "the `debug_assert!`{at} does not hold: mend what it checks or, if it is wrong, the assertion"
                )),
                _ => advice.push(format!(
                    "what panics{at} may depend on code under `cfg(debug_assertions)` in {names}: {}",
                    listed(sources::places(self.packages, known.root, &ASSERTIONS))
                )),
            }
        }
        if advice.is_empty() { self.of_unknown_assertions(known) } else { advice }
    }

    /// Returns the advice if the target fails with debug assertions and shows no message.
    fn of_unknown_assertions(&self, known: &Known<'_>) -> Vec<String> {
        let names = self.names();
        let places = sources::places(self.packages, known.root, &ASSERTIONS);
        let own = known.contributors.with_unsafe_code();
        let with_unsafe_code = if own.is_empty() { known.contributors.dependencies_with_unsafe_code() } else { own };
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
        if known.subcommand.is_test() {
            let place = "the message of the panic says which check failed, and its backtrace where: set `RUST_BACKTRACE=1`, and \
                         run the command after `fails:` with `--nocapture` at its end";
            advice.push(place.to_owned());
        }
        advice
    }

    /// Returns the advice if the target passes only if the packages are optimized.
    fn of_level(&self) -> Vec<String> {
        let names = self.names();
        if self.findings().any(|(finding, ..)| finding == ShownCause::StackOverflow) {
            return vec![format!(
                "the stack of a thread is too small for the frames of {names} without optimization: bound the depth of a \
                 recursion or make it a loop, move large values to the heap, or give the thread more stack (of tests: \
                 RUST_MIN_STACK, in bytes)"
            )];
        }
        vec![format!(
            "what may depend on optimization in {names}: time (a timeout, a race), the size of stack frames, floating point, \
             and undefined behaviour"
        )]
    }

    /// Returns the advice.
    pub(super) fn advice(&self, known: &Known<'_>) -> Vec<String> {
        let names = self.names();
        match (self.kind, self.passes_with) {
            (KeyKind::Assertions, true) => {
                let places = listed(sources::places(self.packages, known.root, &ASSERTIONS));
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
            (KeyKind::Assertions, false) => self.of_failing_assertions(known),
            (KeyKind::Overflow, true) => {
                let mut advice = vec![format!(
                    "an arithmetic overflow in {names}, or in inlined and generic code that is compiled there, wraps in \
                     release: where it can happen, use `checked_add` and the like, or keep overflow-checks on"
                )];
                if known.subcommand.is_test() {
                    let place = "the panic with overflow-checks names the line: run the command after `passes:` with \
                                 `--nocapture` at its end";
                    advice.push(place.to_owned());
                }
                advice
            }
            (KeyKind::Overflow, false) => {
                let overflows = self.findings().filter(|(finding, ..)| *finding == ShownCause::ArithmeticOverflow);
                let found: Vec<_> = overflows
                    .map(|(_, place, message)| {
                        format!(
                            "{message} at {}: if this arithmetic is meant to wrap, use `wrapping_add` and the like; if not, \
                             the result is wrong in release, too",
                            place.unwrap_or("an unknown place")
                        )
                    })
                    .collect();
                if !found.is_empty() {
                    return found;
                }
                vec![format!(
                    "the message of the panic names the line, in {names} or in inlined and generic code that is compiled there: if its \
                     arithmetic is meant to wrap, use `wrapping_add` and the like; if not, it is wrong in release, too"
                )]
            }
            (KeyKind::Level, _) => self.of_level(),
        }
    }
}

/// Returns true if there is a debug assertion at the location of a panic. `root` is the directory of the workspace.
fn is_assertion(root: &Path, place: &str) -> bool {
    let mut parts = place.rsplitn(3, ':');
    let (Some(_), Some(line), Some(file)) = (parts.next(), parts.next(), parts.next()) else { return false };
    let Ok(line) = line.parse::<usize>() else { return false };
    let text = fs::read_to_string(root.join(file)).unwrap_or_default();
    text.lines().nth(line.saturating_sub(1)).is_some_and(|line| sources::names_any(line, &ASSERTIONS[..3]))
}

/// Formats places for people.
fn listed(places: Vec<String>) -> String {
    if places.is_empty() { NO_PLACES.to_owned() } else { units::listed(places) }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::{super::contributors::tests::package, *};
    use crate::{
        axes::compared_options::ComparedOptions, cargo::Subcommand, commands::codegen::contributors::Contributors,
    };

    /// Compares the fact and the advice for a crate with this source, which has a dependency with that source.
    fn expect_advice(
        (key, passes_with): (&'static str, bool),
        (source, dependency): (&str, &str),
        failures: &[Failed],
        expected: &Expect,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let dependency = package(dir.path(), "block", dependency, &[]);
        let package = package(dir.path(), "pages", source, &[&dependency]);
        let contributors = Contributors { own: vec![&package], dependencies: vec![&dependency] };
        let kind = match key {
            OPT_LEVEL => KeyKind::Level,
            _ if key == CHECKS[0] => KeyKind::Assertions,
            _ => KeyKind::Overflow,
        };
        let good = if kind == KeyKind::Level { "3".to_owned() } else { passes_with.to_string() };
        let decisive = Decisive { kind, key, passes_with, good, packages: &[&package], failures };
        let known = Known {
            contributors: &contributors,
            files: Vec::new(),
            tests: &["it_reads".to_owned()],
            triple: "t",
            contrast: &ComparedOptions::default(),
            root: dir.path(),
            subcommand: Subcommand::Test,
        };
        let fact = decisive.fact().text;
        let text = [fact].into_iter().chain(decisive.advice(&known)).collect::<Vec<_>>().join("\n") + "\n";
        expected.assert_eq(&text);
    }

    fn failed(place: &str, message: &str) -> [Failed; 1] {
        let place = (!place.is_empty()).then(|| place.to_owned());
        [Failed { test: None, how: "signal 6".to_owned(), place, message: Some(message.to_owned()) }]
    }

    const UNSAFE: &str = "fn f() { unsafe {} }";
    const ASSERTION: &str = "fn f(x: u8) { debug_assert!(x > 0); }";

    #[test]
    fn without_a_message_all_that_debug_assertions_check_is_named() {
        let assertions = (CHECKS[0], false);
        expect_advice(
            assertions,
            (UNSAFE, ""),
            &[],
            &expect![[r"
            `debug-assertions` off in crate `pages`: with them, `debug_assert!` is evaluated, `cfg(debug_assertions)` is true, and the compiler adds its own checks of unsafe code
            there is unsafe code in pages. The compiler's own checks end the program at some undefined behaviour: a null or misaligned pointer, or a violated precondition of an unsafe function. Where such a check fails, the code is wrong in release, too
            the message of the panic says which check failed, and its backtrace where: set `RUST_BACKTRACE=1`, and run the command after `fails:` with `--nocapture` at its end
        "]],
        );
        expect_advice(
            assertions,
            (ASSERTION, UNSAFE),
            &[],
            &expect![[r"
            `debug-assertions` off in crate `pages`: with them, `debug_assert!` is evaluated, `cfg(debug_assertions)` is true, and the compiler adds its own checks of unsafe code
            there is unsafe code in block. The compiler's own checks end the program at some undefined behaviour: a null or misaligned pointer, or a violated precondition of an unsafe function. Where such a check fails, the code is wrong in release, too
            look in `pages` for a `debug_assert!` that does not hold, and for code under `cfg(debug_assertions)`: pages/src/lib.rs:1
            the message of the panic says which check failed, and its backtrace where: set `RUST_BACKTRACE=1`, and run the command after `fails:` with `--nocapture` at its end
        "]],
        );
        expect_advice(
            assertions,
            (ASSERTION, ""),
            &[],
            &expect![[r"
            `debug-assertions` off in crate `pages`: with them, `debug_assert!` is evaluated, `cfg(debug_assertions)` is true, and the compiler adds its own checks of unsafe code
            look in `pages` for a `debug_assert!` that does not hold, and for code under `cfg(debug_assertions)`: pages/src/lib.rs:1
            the message of the panic says which check failed, and its backtrace where: set `RUST_BACKTRACE=1`, and run the command after `fails:` with `--nocapture` at its end
        "]],
        );
    }

    #[test]
    fn a_check_of_unsafe_code_is_named_by_its_message() {
        let message = "misaligned pointer dereference: address must be a multiple of 0x4 but is 0x3";
        let failures = failed("pages/src/lib.rs:1:14", message);
        expect_advice(
            (CHECKS[0], false),
            (UNSAFE, ASSERTION),
            &failures,
            &expect![[r"
            `debug-assertions` off in crate `pages`: with them, `debug_assert!` is evaluated, `cfg(debug_assertions)` is true, and the compiler adds its own checks of unsafe code
            a check of unsafe code failed at pages/src/lib.rs:1:14: misaligned pointer dereference: address must be a multiple of 0x4 but is 0x3. This is undefined behaviour, which is not checked without debug-assertions: the code is wrong in release, too
            Miri shows where it comes from: cargo +nightly miri test -- --exact it_reads
        "]],
        );
    }

    #[test]
    fn an_assertion_that_does_not_hold_is_named_by_its_place() {
        expect_advice(
            (CHECKS[0], false),
            (ASSERTION, UNSAFE),
            &failed("pages/src/lib.rs:1:15", "0 > 0"),
            &expect![[r"
            `debug-assertions` off in crate `pages`: with them, `debug_assert!` is evaluated, `cfg(debug_assertions)` is true, and the compiler adds its own checks of unsafe code
            the `debug_assert!` at pages/src/lib.rs:1:15 does not hold: mend what it checks or, if it is wrong, the assertion
        "]],
        );
        expect_advice(
            (CHECKS[0], false),
            (ASSERTION, UNSAFE),
            &failed("app/src/lib.rs:9:9", "no"),
            &expect![[r"
            `debug-assertions` off in crate `pages`: with them, `debug_assert!` is evaluated, `cfg(debug_assertions)` is true, and the compiler adds its own checks of unsafe code
            what panics at app/src/lib.rs:9:9 may depend on code under `cfg(debug_assertions)` in `pages`: pages/src/lib.rs:1
        "]],
        );
    }

    #[test]
    fn a_side_effect_is_searched_where_assertions_are_needed() {
        expect_advice(
            (CHECKS[0], true),
            (ASSERTION, UNSAFE),
            &failed("app/src/lib.rs:9:9", "no"),
            &expect![[r"
            `debug-assertions` on in crate `pages`: without them, `debug_assert!` evaluates nothing and `cfg(debug_assertions)` is false
            look in `pages` for a `debug_assert!` with a side effect, and for code under `cfg(debug_assertions)`: pages/src/lib.rs:1
            move the side effect out of the assertion: `let is_new = set.insert(x); debug_assert!(is_new);`; use `assert!` for what must hold in release, too
        "]],
        );
    }

    #[test]
    fn an_overflow_is_named_by_its_place() {
        let failures = failed("pages/src/lib.rs:3:5", "attempt to add with overflow");
        expect_advice(
            (CHECKS[1], false),
            ("", ""),
            &failures,
            &expect![[r"
            `overflow-checks` off in crate `pages`: with them, an arithmetic overflow panics; without them, it wraps
            attempt to add with overflow at pages/src/lib.rs:3:5: if this arithmetic is meant to wrap, use `wrapping_add` and the like; if not, the result is wrong in release, too
        "]],
        );
        expect_advice(
            (CHECKS[1], false),
            ("", ""),
            &[],
            &expect![[r"
            `overflow-checks` off in crate `pages`: with them, an arithmetic overflow panics; without them, it wraps
            the message of the panic names the line, in `pages` or in inlined and generic code that is compiled there: if its arithmetic is meant to wrap, use `wrapping_add` and the like; if not, it is wrong in release, too
        "]],
        );
    }

    #[test]
    fn a_stack_that_is_too_small_is_named_by_its_message() {
        let failures = failed("", "thread 'deep' has overflowed its stack");
        expect_advice(
            (OPT_LEVEL, true),
            ("", ""),
            &failures,
            &expect![[r"
            `opt-level=3` in crate `pages`: without optimization, its stack frames are larger and it takes more time
            the stack of a thread is too small for the frames of `pages` without optimization: bound the depth of a recursion or make it a loop, move large values to the heap, or give the thread more stack (of tests: RUST_MIN_STACK, in bytes)
        "]],
        );
        expect_advice(
            (OPT_LEVEL, true),
            ("", ""),
            &[],
            &expect![[r"
            `opt-level=3` in crate `pages`: without optimization, its stack frames are larger and it takes more time
            what may depend on optimization in `pages`: time (a timeout, a race), the size of stack frames, floating point, and undefined behaviour
        "]],
        );
    }

    #[test]
    fn causes_are_known_by_messages() {
        for (message, expected) in [
            ("misaligned pointer dereference: address must be a multiple of 0x4", ShownCause::UndefinedBehaviour),
            ("null pointer dereference occurred", ShownCause::UndefinedBehaviour),
            ("unsafe precondition(s) violated: slice::from_raw_parts requires the", ShownCause::UndefinedBehaviour),
            ("trying to construct an enum from an invalid value 0x7", ShownCause::UndefinedBehaviour),
            ("attempt to add with overflow", ShownCause::ArithmeticOverflow),
            ("attempt to shift left with overflow", ShownCause::ArithmeticOverflow),
            ("attempt to calculate the remainder with overflow", ShownCause::ArithmeticOverflow),
            ("attempt to divide by zero", ShownCause::Panic),
            ("thread 'deep' has overflowed its stack", ShownCause::StackOverflow),
            ("index out of bounds: the len is 2 but the index is 3", ShownCause::Panic),
        ] {
            assert_eq!(ShownCause::of(message), expected, "{message}");
        }
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
