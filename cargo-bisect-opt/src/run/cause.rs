//! How something failed: by which panic, signal or exit status, so that one failure can be told from another.
//!
//! The place of a panic is the best sign: it stays when values, addresses and thread numbers change. Where the output says
//! too little, one failure is taken for another: a failure that is wrongly left out misleads a search more than one that
//! wrongly counts.

mod build;
mod crash;
mod environment;

use std::{fmt, sync::LazyLock};

use regex::bytes::Regex;

use crate::process::{self, Ending, Finished};
pub(crate) use environment::Environment;

/// How something failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cause {
    how: Manner,
    /// What was said about it; empty: nothing that can be read.
    signs: Vec<Signature>,
    /// That it came from outside.
    environment: Option<Environment>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Manner {
    /// In a way that cannot be told from others.
    Unknown,
    /// As a test of the standard harness does, which goes on to the next.
    Test,
    TimedOut,
    /// As what cargo builds does, whose status says nothing.
    Unbuilt,
    /// In the words of [`process::describe`].
    Ended(String),
    /// By a fault of its own, in these words.
    Crashed {
        words: String,
        is_undefined: bool,
    },
}

/// One line that tells a failure from others.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Signature {
    /// The place of a panic, as `file:line:column`; or what else it is that speaks, for people.
    place: String,
    /// The first line of what it says.
    message: String,
}

/// The words of a place that is none: what a test returned.
const RETURNED: &str = "an error that was returned";
/// What the harness says of a test that should have panicked.
const SHOULD_PANIC: &str = "a panic that should have been";

impl Cause {
    /// Of something of which no more is known than that it failed.
    pub(crate) const UNKNOWN: Cause = Cause { how: Manner::Unknown, signs: Vec::new(), environment: None };

    /// Of something that took too long. Where it was is where it happened to be.
    pub(crate) const TIMEOUT: Cause = Cause { how: Manner::TimedOut, signs: Vec::new(), environment: None };

    /// Of a test, from what the harness shows of its output.
    pub(crate) fn of_test(printed: &str) -> Self {
        let mut signs = panics(printed.as_bytes());
        if signs.is_empty() {
            let sign = |prefix: &str, place: &str| {
                let message = printed.lines().rev().find_map(|line| line.strip_prefix(prefix))?;
                Some(Signature { place: place.to_owned(), message: message.to_owned() })
            };
            signs.extend(sign("note: test did not panic", SHOULD_PANIC).or_else(|| sign("Error: ", RETURNED)));
        }
        let environment = Environment::of_text(printed.as_bytes());
        if signs.is_empty() && environment.is_none() {
            Self::UNKNOWN
        } else {
            Self { how: Manner::Test, signs, environment }
        }
    }

    /// Of a program, from its end and its output.
    pub(crate) fn of_program(finished: &Finished) -> Self {
        let how = match finished.ending {
            Ending::TimedOut | Ending::Stopped(_) | Ending::Interrupted => return Self::TIMEOUT,
            Ending::Exited(status) => Manner::Ended(process::describe(status)),
        };
        Self { how, signs: panics(&finished.output), environment: environment_of(finished) }
    }

    /// Of a build, from its end and what cargo and the compiler said.
    pub(crate) fn of_build(finished: &Finished) -> Self {
        match finished.ending {
            Ending::TimedOut | Ending::Stopped(_) | Ending::Interrupted => Self::TIMEOUT,
            Ending::Exited(status) => {
                let cause = Self::of_messages(&finished.output);
                Self { environment: cause.environment.or_else(|| Environment::of_status(status)), ..cause }
            }
        }
    }

    /// Of a build that failed, from what cargo and the compiler said.
    pub(crate) fn of_messages(messages: &[u8]) -> Self {
        let signs = build::signs(messages);
        let of_sign = |sign: &Signature| Environment::of_signal(sign.place.strip_prefix("signal ")?.parse().ok()?);
        let environment = signs.iter().find_map(of_sign).or_else(|| Environment::of_text(messages));
        Self { how: Manner::Unbuilt, signs, environment }
    }

    /// Of an executable with tests that did not come to an end, or did not say which of them failed.
    pub(crate) fn of_harness(finished: &Finished) -> Self {
        let how = match finished.ending {
            Ending::TimedOut | Ending::Stopped(_) | Ending::Interrupted => Manner::TimedOut,
            // Anything may be behind the status of another harness. But a crash is a crash.
            Ending::Exited(status) if status.code().is_some_and(|code| code >= 0) => Manner::Unknown,
            Ending::Exited(status) => match crash::of(status) {
                Some(crash) => Manner::Crashed { words: process::describe(status), is_undefined: crash.is_undefined() },
                None => Manner::Ended(process::describe(status)),
            },
        };
        // Panics of which tests, and whether these were meant to be, nobody knows.
        Self { how, signs: Vec::new(), environment: environment_of(finished) }
    }

    /// What surrounds the target and made it fail, if that is so.
    pub(crate) fn environment(&self) -> Option<Environment> {
        self.environment
    }

    /// Whether nothing is known that could tell it from others.
    pub(crate) fn is_unknown(&self) -> bool {
        self.how == Manner::Unknown && self.environment.is_none()
    }

    /// The same where the compiler's work on undefined behaviour is what may have failed: every crash may be due to that.
    #[must_use]
    pub(crate) fn under_optimization(self) -> Self {
        match self.how {
            Manner::Crashed { words, .. } => Self { how: Manner::Crashed { words, is_undefined: true }, ..self },
            _ => self,
        }
    }

    /// Whether the process ended by a fault of its own.
    pub(crate) fn is_crash(&self) -> bool {
        matches!(self.how, Manner::Crashed { .. })
    }

    /// Whether what was running did not come to its end.
    pub(crate) fn is_unended(&self) -> bool {
        self.is_crash() || self.is_timeout()
    }

    /// Whether it took too long.
    pub(crate) fn is_timeout(&self) -> bool {
        self.how == Manner::TimedOut
    }

    /// Whether these may be the same failure.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        if self.environment != other.environment {
            return false;
        }
        if self.is_unknown() || other.is_unknown() {
            return true;
        }
        let is_chance = |one: &Manner, another: &Manner| match (one, another) {
            // How a crash shows itself is a matter of chance.
            (Manner::Crashed { .. }, Manner::Crashed { .. }) => true,
            // What undefined behaviour has written to is found by an assertion, or by the processor.
            (Manner::Crashed { is_undefined, .. }, Manner::Test) => *is_undefined,
            _ => false,
        };
        if is_chance(&self.how, &other.how) || is_chance(&other.how, &self.how) {
            return true;
        }
        // Of several panics one may be the failure, and the others its consequences, or meant to be.
        let shares_sign = || self.signs.iter().any(|sign| other.signs.iter().any(|other| sign.is_like(other)));
        self.how == other.how && (self.signs.is_empty() || other.signs.is_empty() || shares_sign())
    }
}

impl fmt::Display for Cause {
    /// As `panic at src/lib.rs:3:5`, `signal 6`, `timeout`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(environment) = self.environment {
            return environment.fmt(f);
        }
        match (&self.how, self.signs.first()) {
            (Manner::Unknown, _) => f.write_str("untold"),
            (Manner::TimedOut, _) => f.write_str("timeout"),
            (_, Some(Signature { place, .. })) if place == RETURNED || place == SHOULD_PANIC => f.write_str(place),
            (Manner::Unbuilt, Some(Signature { place, message })) if place == "error" => {
                write!(f, "{place}: {message}")
            }
            (Manner::Unbuilt, Some(Signature { place, .. })) if !is_place(place) => f.write_str(place),
            (_, Some(Signature { place, .. })) => write!(f, "panic at {place}"),
            (Manner::Ended(words) | Manner::Crashed { words, .. }, None) => f.write_str(words),
            (Manner::Test, None) => f.write_str("a test"),
            (Manner::Unbuilt, None) => f.write_str("the build"),
        }
    }
}

/// What surrounds a process and made it fail. A crash is its own, whatever it printed before.
fn environment_of(finished: &Finished) -> Option<Environment> {
    let Ending::Exited(status) = finished.ending else { return None };
    let has_crashed = status.code().is_none_or(|code| code < 0);
    let of_text = || Environment::of_text(&finished.output).filter(|_| !has_crashed);
    Environment::of_status(status).or_else(of_text)
}

/// Whether it is a place and no more.
fn is_place(text: &str) -> bool {
    !text.contains(' ') && text.contains(':')
}

impl Signature {
    /// Whether these may say the same. A function that panics for others has one place and many messages; so what is
    /// said at the same place is another failure if it neither begins nor ends with the same word.
    fn is_like(&self, other: &Self) -> bool {
        // Generated code may be in another directory in each run.
        let name = |place: &str| place.rsplit(['/', '\\']).next().map(str::to_owned);
        if name(&self.place) != name(&other.place) {
            return false;
        }
        let (mine, others) = (words(&self.message), words(&other.message));
        mine.is_empty() || others.is_empty() || mine.first() == others.first() || mine.last() == others.last()
    }
}

/// The words of a message that are the same in every run: no numbers, addresses or paths.
fn words(message: &str) -> Vec<&str> {
    let is_path = |text: &&str| text.contains(['/', '\\']);
    let texts = message.split_whitespace().filter(|text| !is_path(text));
    let words = texts.flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_'));
    words.filter(|word| !word.is_empty() && !word.contains(|c: char| c.is_ascii_digit())).collect()
}

/// The panics that the standard library's hook has told, each once.
fn panics(output: &[u8]) -> Vec<Signature> {
    static PANIC: LazyLock<Regex> = LazyLock::new(|| {
        // Since Rust 1.91 with the number of the thread.
        Regex::new(r"thread '[^\n]*' (?:\([0-9]+\) )?panicked at ([^\n]*:[0-9]+:[0-9]+):\r?(?:\n([^\r\n]*))?")
            .expect("the expression is sound")
    });
    let mut signs = Vec::new();
    for captures in PANIC.captures_iter(output) {
        let text =
            |i| captures.get(i).map_or(String::new(), |found| String::from_utf8_lossy(found.as_bytes()).into_owned());
        let sign = Signature { place: text(1), message: text(2) };
        if !signs.contains(&sign) {
            signs.push(sign);
        }
    }
    signs
}

#[cfg(all(test, unix))]
#[path = "cause_tests.rs"]
mod tests;
