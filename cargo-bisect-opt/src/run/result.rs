//! The result of one run.

use std::{io, time::Duration};

use bisect_core::search::Outcome;
use serde::{Deserialize, Serialize};

use super::{cause::Cause, outcome::TIMEOUT};
use crate::report::scan::Reports;

/// The result of one run, of everything or of one test.
#[derive(Clone, Debug)]
pub(crate) struct RunResult {
    /// Pass, fail or unresolved.
    pub(crate) outcome: Outcome,
    /// Details of the outcome, for people: `timeout`, `signal 11`, `exit status 101`; empty if nothing failed.
    pub(crate) reason: String,
    /// The changes that the run reported.
    pub(crate) reports: Reports,
    /// The tests that failed, where they are known.
    pub(crate) failed_tests: Vec<String>,
    /// The failures, if they are distinguished by their causes.
    pub(crate) failures: Vec<Failed>,
    /// The duration of all executions together.
    pub(crate) duration: Duration,
    /// The number of executions of the target.
    pub(crate) executions: usize,
    /// The outcomes of executions that count in addition to the outcome of the run.
    pub(crate) extra_outcomes: Vec<Outcome>,
    /// The time to build this selection, once for all executions.
    pub(crate) build_time: Duration,
}

impl RunResult {
    /// Returns true if the run failed because the target hung.
    pub(crate) fn hung(&self) -> bool {
        self.outcome == Outcome::Fail && self.reason.ends_with(TIMEOUT)
    }
}

/// A failure and its cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failed {
    /// The test; `None` for the whole target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) test: Option<String>,
    /// The cause: `panic at src/lib.rs:3:5`, `signal 11`, `timeout`.
    pub(crate) how: String,
    /// The location of the panic, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) place: Option<String>,
    /// The first line of the message, if it says more than the location.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
}

impl Failed {
    /// Returns the failure of a test, or of the whole target, with this cause.
    pub(crate) fn new(test: Option<String>, cause: &Cause) -> Self {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Self { test, how: cause.to_string(), place: owned(cause.place()), message: owned(cause.message()) }
    }

    /// Returns true if it is the failure of the same test with the same cause. Messages may differ in numbers.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (&self.test, &self.how) == (&other.test, &other.how)
    }

    /// Returns true if the location of this failure, or else its error code, is known and not in the output.
    pub(crate) fn is_absent_from(&self, output: &str) -> bool {
        let place = self.place.as_deref().and_then(|place| place.rsplit(['/', '\\']).next());
        let error = || self.how.starts_with("error[").then(|| self.how.split_inclusive(']').next()).flatten();
        place.or_else(error).is_some_and(|cause| !output.contains(cause))
    }

    /// Describes the cause, with the message, for people.
    pub(crate) fn describe(&self) -> String {
        match &self.message {
            Some(message) => format!("{}: {message}", self.how),
            None => self.how.clone(),
        }
    }
}

/// A note for the user, which is shown once in a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Note {
    /// The topic. Of several notes on the same topic, the first is shown.
    pub(crate) about: String,
    /// The text.
    pub(crate) text: String,
}

impl Note {
    /// Returns a note that is shown whenever its text is new.
    pub(crate) fn new(text: String) -> Self {
        Self { about: text.clone(), text }
    }

    /// Returns the note that logs are not complete.
    pub(crate) fn lost_log(error: &io::Error) -> Self {
        let text = format!("what runs print cannot be logged: {error}; the search goes on without");
        Self { about: "lost log".to_owned(), text }
    }
}

/// Notes for the user. Each is taken once. Of several notes on one topic, [`add`](Self::add) keeps the first.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    said: std::collections::BTreeSet<String>,
    waiting: Vec<String>,
}

impl Notes {
    /// Adds notes on new topics.
    pub(crate) fn add(&mut self, notes: impl IntoIterator<Item = Note>) {
        for note in notes {
            if self.said.insert(note.about) {
                self.waiting.push(note.text);
            }
        }
    }

    /// Adds texts, even if they were added before.
    pub(crate) fn repeat(&mut self, texts: impl IntoIterator<Item = String>) {
        self.waiting.extend(texts);
    }

    /// Takes the notes that were added since the last call.
    pub(crate) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.waiting)
    }
}
