//! The cause of a failure: a panic, a signal or an exit status, which distinguishes one failure from another.
//!
//! The location of a panic is the best signature: it stays the same when values, addresses and thread numbers change.
//! If the output shows too little, two failures count as the same: a failure that is wrongly ignored misleads a search
//! more than one that wrongly counts. Failures of tests that run together are compared separately from those of tests that
//! run alone.

mod build;
mod compiled;
mod environment;

use std::{fmt, sync::LazyLock};

use regex::bytes::Regex;
use serde::{Deserialize, Serialize};

use crate::process::{self, Ending, Finished, is_crash, is_crash_in_shell, plain_text};
pub(crate) use environment::Environment;

/// The cause of a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cause {
    manner: Manner,
    /// The lines of output that identify it; empty if none is known.
    signatures: Vec<Signature>,
    /// The cause outside of the target, if there is one.
    environment: Option<Environment>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Manner {
    /// A failure that cannot be distinguished from others.
    Unknown,
    /// A failed test of the standard harness, which continues with the next one.
    Test,
    TimedOut,
    /// A failed build, whose status says nothing.
    Unbuilt,
    /// An exit, as [`process::describe`] words it.
    Ended(String),
    /// A fault of the process itself, as [`process::describe`] words it. Which one is a matter of chance.
    Crashed(String),
}

/// A line of output that identifies a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Signature {
    /// The location of a panic, as `file:line:column`; else the kind of message, for people.
    place: String,
    /// The first line of the message.
    message: String,
}

/// Stands for the location where a test, or `main`, returned an error.
const RETURNED: &str = "an error that was returned";
/// Stands for the location where a test should have panicked.
const SHOULD_PANIC: &str = "a panic that should have been";
/// Stands for the location where a stack overflowed.
const STACK_OVERFLOW: &str = "stack overflow";
/// The messages of panics that only follow from another one.
const CONSEQUENCES: [&str; 2] = ["panic in a function that cannot unwind", "panic in a destructor during cleanup"];

impl Cause {
    /// The cause of a failure about which nothing is known.
    pub(crate) const UNKNOWN: Cause = Cause { manner: Manner::Unknown, signatures: Vec::new(), environment: None };

    /// A timeout. The place where the process was at that moment is arbitrary.
    pub(crate) const TIMEOUT: Cause = Cause { manner: Manner::TimedOut, signatures: Vec::new(), environment: None };

    /// Returns the cause of a test's failure, from the output that the harness shows.
    pub(crate) fn of_test(printed: &str) -> Self {
        let mut signatures = panics(printed.as_bytes());
        if signatures.is_empty() {
            signatures.extend(
                last_line(printed, "note: test did not panic", SHOULD_PANIC)
                    .or_else(|| last_line(printed, "Error: ", RETURNED)),
            );
        }
        let environment = Environment::of_text(printed.as_bytes());
        if signatures.is_empty() && environment.is_none() {
            Self::UNKNOWN
        } else {
            Self { manner: Manner::Test, signatures, environment }
        }
    }

    /// Returns the cause of a program's failure, from its end and its output. If the program ran a compiler, and that
    /// failed, it is that of a failed build.
    pub(crate) fn of_program(finished: &Finished) -> Self {
        let status = match finished.ending {
            Ending::TimedOut | Ending::Stopped(_) | Ending::Interrupted => return Self::TIMEOUT,
            Ending::Exited(status) => status,
        };
        let environment = environment_of(finished);
        let text = plain_text(&finished.output);
        if let Some(signatures) = compiled::failure(&text) {
            return Self { manner: Manner::Unbuilt, signatures, environment };
        }
        let mut signatures = panics(text.as_bytes());
        let has_crashed = is_crash(status) || is_crash_in_shell(status);
        if signatures.is_empty() {
            let of_crash = || abort(&finished.output).filter(|_| has_crashed);
            signatures.extend(last_line(&text, "Error: ", RETURNED).or_else(of_crash));
        }
        let description = process::describe(status);
        let manner = if has_crashed { Manner::Crashed(description) } else { Manner::Ended(description) };
        Self { manner, signatures, environment }
    }

    /// Returns the cause of a build's failure, from its end and the messages of cargo and the compiler.
    pub(crate) fn of_build(finished: &Finished) -> Self {
        match finished.ending {
            Ending::TimedOut | Ending::Stopped(_) | Ending::Interrupted => Self::TIMEOUT,
            Ending::Exited(status) => {
                let cause = Self::of_messages(&finished.output);
                Self { environment: cause.environment.or_else(|| Environment::of_status(status)), ..cause }
            }
        }
    }

    /// Returns the cause of a build's failure, from the messages of cargo and the compiler.
    pub(crate) fn of_messages(messages: &[u8]) -> Self {
        let signatures = build::signatures(messages);
        let of_signal =
            |signature: &Signature| Environment::of_signal(signature.place.strip_prefix("signal ")?.parse().ok()?);
        let environment = signatures.iter().find_map(of_signal).or_else(|| Environment::of_text(messages));
        Self { manner: Manner::Unbuilt, signatures, environment }
    }

    /// Returns the cause of the failure of a test executable that did not finish, or did not list its failed tests.
    pub(crate) fn of_harness(finished: &Finished) -> Self {
        let manner = match finished.ending {
            Ending::TimedOut | Ending::Stopped(_) | Ending::Interrupted => Manner::TimedOut,
            // The status of another harness can mean anything. But a crash is a crash.
            Ending::Exited(status) if status.code().is_some_and(|code| code >= 0) => Manner::Unknown,
            Ending::Exited(status) if is_crash(status) => Manner::Crashed(process::describe(status)),
            Ending::Exited(status) => Manner::Ended(process::describe(status)),
        };
        // It is unknown which tests panicked, and whether they should. Only a panic that aborted the process is its end.
        let has_crashed = matches!(manner, Manner::Crashed(_));
        let signatures = if has_crashed { abort(&finished.output).into_iter().collect() } else { Vec::new() };
        Self { manner, signatures, environment: environment_of(finished) }
    }

    /// Returns the location of the panic, as `file:line:column`, if a panic is the cause.
    pub(crate) fn place(&self) -> Option<&str> {
        let Signature { place, .. } = self.signatures.first()?;
        (self.environment.is_none() && is_place(place)).then_some(place)
    }

    /// Returns the first line of the message of the panic, of the compiler, or of the runtime that aborted the process,
    /// unless the location already contains it. Of `assert_eq!` and its like, it is only the user's message.
    pub(crate) fn message(&self) -> Option<&str> {
        let Signature { place, message } = self.signatures.first()?;
        let is_said = self.is_unbuilt() && (place == "error" || place.ends_with(message));
        if self.environment.is_some() || is_said || place == SHOULD_PANIC {
            return None;
        }
        let users = match message.strip_prefix("assertion `left ") {
            Some(comparison) => comparison.split_once(" right` failed").map_or("", |(_, users)| users),
            None => message,
        };
        Some(users.trim_start_matches(": ")).filter(|users| !users.is_empty())
    }

    /// Returns the cause outside of the target, if there is one.
    pub(crate) fn environment(&self) -> Option<Environment> {
        self.environment
    }

    /// Returns whether nothing is known that distinguishes it from other causes.
    pub(crate) fn is_unknown(&self) -> bool {
        self.manner == Manner::Unknown && self.environment.is_none()
    }

    /// Returns the cause for a search over versions of the source code: there, the line of a failure differs, so that
    /// errors of a failed build differ only in their messages.
    #[must_use]
    pub(crate) fn without_lines(mut self) -> Self {
        let is_unbuilt = self.is_unbuilt();
        for Signature { place, message } in &mut self.signatures {
            let file = place.trim_end_matches(|c: char| c.is_ascii_digit() || c == ':').len();
            if place[file..].starts_with(':') {
                place.truncate(file);
            }
            if is_unbuilt && !message.is_empty() && !is_place(place) && place != "error" {
                *place = format!("{place}: {message}");
            }
        }
        self
    }

    /// Returns the name of the failure in a sentence: `E0716`, `` `Error: no bread` ``, or else as
    /// [`Display`](fmt::Display) does.
    pub(crate) fn brief(&self) -> String {
        let name = |Signature { place, message }: &Signature| match place.strip_prefix("error[") {
            Some(coded) => coded.split_once(']').map(|(code, _)| code.to_owned()),
            None => (place == RETURNED).then(|| format!("`Error: {message}`")),
        };
        let first = self.signatures.first().filter(|_| self.environment.is_none());
        first.and_then(name).unwrap_or_else(|| self.to_string())
    }

    /// Returns whether nothing ran, because it did not compile.
    pub(crate) fn is_unbuilt(&self) -> bool {
        self.manner == Manner::Unbuilt
    }

    /// Returns whether the process ended by a fault of its own.
    pub(crate) fn is_crash(&self) -> bool {
        matches!(self.manner, Manner::Crashed(_))
    }

    /// Returns whether the process did not finish: it crashed or timed out.
    pub(crate) fn is_unended(&self) -> bool {
        self.is_crash() || self.is_timeout()
    }

    /// Returns whether it is a timeout.
    pub(crate) fn is_timeout(&self) -> bool {
        self.manner == Manner::TimedOut
    }

    /// Returns whether both may be the same failure.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        if self.environment != other.environment {
            return false;
        }
        if self.is_unknown() || other.is_unknown() {
            return true;
        }
        // Of several panics one may be the failure, and the others its consequences, or intended.
        let is_shared = |mine: &Signature| other.signatures.iter().any(|other| mine.is_like(other));
        let is_like = || self.signatures.iter().any(is_shared);
        let manner = self.manner == other.manner || self.is_crash() && other.is_crash();
        manner && (self.signatures.is_empty() || other.signatures.is_empty() || is_like())
    }
}

impl fmt::Display for Cause {
    /// Formats it as `panic at src/lib.rs:3:5`, `panic at src/lib.rs:3:5, signal 6`, `signal 11` or `timeout`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(environment) = self.environment {
            return environment.fmt(f);
        }
        match (&self.manner, self.signatures.first()) {
            (Manner::Unknown, _) => f.write_str("unknown cause"),
            (Manner::TimedOut, _) => f.write_str("timeout"),
            (_, Some(Signature { place, .. })) if place == RETURNED || place == SHOULD_PANIC => f.write_str(place),
            (Manner::Unbuilt, Some(Signature { place, message })) if place == "error" => {
                write!(f, "{place}: {message}")
            }
            (Manner::Unbuilt, Some(Signature { place, .. })) if !is_place(place) => f.write_str(place),
            (Manner::Ended(description) | Manner::Crashed(description), Some(Signature { place, .. }))
                if place == STACK_OVERFLOW =>
            {
                write!(f, "{place}, {description}")
            }
            (Manner::Crashed(description), Some(Signature { place, .. })) => {
                write!(f, "panic at {place}, {description}")
            }
            (_, Some(Signature { place, .. })) => write!(f, "panic at {place}"),
            (Manner::Ended(description) | Manner::Crashed(description), None) => f.write_str(description),
            (Manner::Test, None) => f.write_str("a test"),
            (Manner::Unbuilt, None) => f.write_str("the build"),
        }
    }
}

/// Returns the cause outside of a process, if there is one. A crash is its own fault, whatever it printed before.
fn environment_of(finished: &Finished) -> Option<Environment> {
    let Ending::Exited(status) = finished.ending else { return None };
    let has_crashed = status.code().is_none_or(|code| code < 0);
    let of_text = || Environment::of_text(&finished.output).filter(|_| !has_crashed);
    Environment::of_status(status).or_else(of_text)
}

/// Returns the signature in the last line of a text that begins with `prefix`.
fn last_line(text: &str, prefix: &str, place: &str) -> Option<Signature> {
    let message = text.lines().rev().find_map(|line| line.strip_prefix(prefix))?;
    Some(Signature { place: place.to_owned(), message: message.to_owned() })
}

/// Returns whether a text is a location and nothing else.
fn is_place(text: &str) -> bool {
    !text.contains(' ') && text.contains(':')
}

impl Signature {
    /// Returns whether both may identify the same failure. A helper function that panics has one location and many
    /// messages. So two messages of one location differ if neither their first nor their last words are equal.
    fn is_like(&self, other: &Self) -> bool {
        // Each run may have its own directory of generated code.
        let name = |place: &str| {
            let (kind, path) = place.split_once(" at ").unwrap_or(("", place));
            path.rsplit(['/', '\\']).next().map(|file| (kind.to_owned(), file.to_owned()))
        };
        if name(&self.place) != name(&other.place) {
            return false;
        }
        let (mine, others) = (stable_words(&self.message), stable_words(&other.message));
        mine.is_empty() || others.is_empty() || mine.first() == others.first() || mine.last() == others.last()
    }
}

/// Returns the words of a message that are the same in every run: no numbers, addresses or paths.
fn stable_words(message: &str) -> Vec<&str> {
    let is_path = |text: &&str| text.contains(['/', '\\']);
    let texts = message.split_whitespace().filter(|text| !is_path(text));
    let words = texts.flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_'));
    words.filter(|word| !word.is_empty() && !word.contains(|c: char| c.is_ascii_digit())).collect()
}

/// Returns the panics that the standard library's hook has printed, each once.
fn panics(output: &[u8]) -> Vec<Signature> {
    let mut signatures = Vec::new();
    for (_, signature) in panics_of_threads(output) {
        if !signatures.contains(&signature) {
            signatures.push(signature);
        }
    }
    signatures
}

/// Returns all panics that the standard library's hook has printed, with the names of their threads.
fn panics_of_threads(output: &[u8]) -> impl DoubleEndedIterator<Item = (String, Signature)> {
    static PANIC: LazyLock<Regex> = LazyLock::new(|| {
        // Since Rust 1.91 with the number of the thread.
        Regex::new(r"thread ('[^\n]*' (?:\([0-9]+\) )?)panicked at ([^\n]*:[0-9]+:[0-9]+):\r?(?:\n([^\r\n]*))?")
            .expect("the expression is valid")
    });
    let found = PANIC.captures_iter(output).map(|captures| {
        let text =
            |i| captures.get(i).map_or(String::new(), |found| String::from_utf8_lossy(found.as_bytes()).into_owned());
        (text(1), Signature { place: text(2), message: text(3) })
    });
    found.collect::<Vec<_>>().into_iter()
}

/// Returns the panic or the stack overflow that aborted the process, if its output says so.
fn abort(output: &[u8]) -> Option<Signature> {
    static OVERFLOW: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?m)^(thread '[^\n]*') (?:\([0-9]+\) )?has overflowed its stack").expect("the expression is valid")
    });
    if let Some(found) = OVERFLOW.captures(output) {
        let message = format!("{} has overflowed its stack", String::from_utf8_lossy(&found[1]));
        return Some(Signature { place: STACK_OVERFLOW.to_owned(), message });
    }
    let end = memchr::memmem::rfind(output, b"thread caused non-unwinding panic. aborting.")?;
    let mut panics = panics_of_threads(&output[..end]).rev();
    let (thread, last) = panics.next()?;
    let is_consequence = |panic: &Signature| CONSEQUENCES.contains(&panic.message.as_str());
    if !is_consequence(&last) {
        return Some(last);
    }
    let mut own = panics.filter_map(|(of, panic)| (of == thread).then_some(panic));
    Some(own.find(|panic| !is_consequence(panic)).unwrap_or(last))
}

#[cfg(all(test, unix))]
#[path = "cause_tests.rs"]
mod tests;
