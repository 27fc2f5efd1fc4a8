//! What one run showed.

use std::{io, time::Duration};

use bisect_core::search::Outcome;
use serde::Serialize;

use crate::report::scan::Reports;

/// What one run showed, of everything or of one test.
#[derive(Clone, Debug)]
pub(crate) struct RunResult {
    /// Pass, fail or unresolved.
    pub(crate) outcome: Outcome,
    /// More about the outcome, for people: `timeout`, `signal 11`, `exit status 101`; empty if it passed.
    pub(crate) reason: String,
    /// The changes that it reported.
    pub(crate) reports: Reports,
    /// The tests that failed, where they are known.
    pub(crate) failed_tests: Vec<String>,
    /// How it failed, as far as failures are told apart.
    pub(crate) failures: Vec<Failed>,
    /// How long its executions took together.
    pub(crate) duration: Duration,
    /// How often the target was executed.
    pub(crate) executions: usize,
    /// Outcomes of executions that count beside the outcome of the run.
    pub(crate) extra_outcomes: Vec<Outcome>,
    /// How long the build of this selection took, once for all executions.
    pub(crate) build_time: Duration,
}

/// How something failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Failed {
    /// The test; `None`: the whole target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) test: Option<String>,
    /// `panic at src/lib.rs:3:5`, `signal 11`, `timeout`.
    pub(crate) how: String,
}

/// Something that the user should know, said once in a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// What it is about: of several notes about the same, the first is shown.
    pub(crate) about: String,
    /// The words.
    pub(crate) text: String,
}

impl Note {
    /// Returns a note that is shown whenever its words are new.
    pub(crate) fn new(text: String) -> Self {
        Self { about: text.clone(), text }
    }

    /// Returns the note that logs are not complete.
    pub(crate) fn lost_log(error: &io::Error) -> Self {
        let text = format!("what runs print cannot be logged: {error}; the search goes on without");
        Self { about: "lost log".to_owned(), text }
    }
}

/// Notes for the user: each is taken once, and none is said twice.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    said: std::collections::BTreeSet<String>,
    waiting: Vec<String>,
}

impl Notes {
    /// Adds notes that were not said before.
    pub(crate) fn add(&mut self, notes: impl IntoIterator<Item = Note>) {
        for note in notes {
            if self.said.insert(note.about) {
                self.waiting.push(note.text);
            }
        }
    }

    /// Adds words, also if they were said before.
    pub(crate) fn repeat(&mut self, texts: impl IntoIterator<Item = String>) {
        self.waiting.extend(texts);
    }

    /// Takes the notes that were added since the last call.
    pub(crate) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.waiting)
    }
}
