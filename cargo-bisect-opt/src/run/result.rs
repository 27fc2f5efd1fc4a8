//! What one run showed.

use std::time::Duration;

use bisect_core::search::Outcome;
use serde::Serialize;

use crate::report::scan::Reports;

/// What a run showed.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// Pass, fail or unresolved.
    pub(crate) outcome: Outcome,
    /// More about the outcome, for people: `timeout`, `signal 11`, `exit status 101`; empty if it passed.
    pub(crate) reason: String,
    /// The changes it reported.
    pub(crate) reports: Reports,
    /// The tests that failed, where they are known.
    pub(crate) failed_tests: Vec<String>,
    /// How it failed, as far as failures are told from one another.
    pub(crate) failures: Vec<Failed>,
    /// How long its executions took together.
    pub(crate) duration: Duration,
    /// How often the target was executed.
    pub(crate) executions: usize,
    /// How the executions ended that count beside the outcome of the run.
    pub(crate) also: Vec<Outcome>,
    /// How long it took before that, once for all of them: the build of this selection.
    pub(crate) started_in: Duration,
}

/// How something failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Failed {
    /// The test; nothing, if it is the whole target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) test: Option<String>,
    /// `panic at src/lib.rs:3:5`, `signal 11`, `timeout`.
    pub(crate) how: String,
}

/// That what runs print is not kept, for people.
pub(crate) fn lost_log_note(error: &std::io::Error) -> String {
    format!("what runs print cannot be logged: {error}; the search goes on without")
}
