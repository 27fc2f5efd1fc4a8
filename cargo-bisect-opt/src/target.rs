//! What is run again and again: the interface between the search loop and the things that can be searched.

use std::{path::Path, time::Duration};

use bisect_core::{Pattern, search::Outcome};
use serde::Serialize;

use crate::{interrupt::Interrupt, process::SpawnError, reports::Reports};

/// Something that runs with a pattern and passes or fails.
pub trait Target {
    /// Runs once.
    ///
    /// # Errors
    /// Where this run, and so the whole search, cannot go on: see [`RunError`]. What concerns this selection only (it does
    /// not build with it) is an unresolved outcome, not an error.
    fn run(&mut self, request: &Request<'_>) -> Result<Run, RunError>;

    /// What is run, on one line, for the trace and for `start` in the JSON.
    fn describe(&self) -> String;

    /// Paths in reports are relative to this directory, and what lies below it is the user's own code.
    fn root(&self) -> &Path;

    /// What is searched, as `start.axis` in the JSON.
    fn axis(&self) -> &'static str {
        "toggles"
    }

    /// What kind of change a toggle's are, where that is known.
    fn kind(&self, _toggle: &str) -> Option<Kind> {
        None
    }

    /// What the user should be told, since this was last asked.
    fn take_notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// What all runs together cost beyond their time, for people.
    fn summary(&self) -> Option<String> {
        None
    }

    /// A command line that a user can paste into a shell to run the target once more with this pattern; of its tests, where
    /// it has any, only these, unless none are named.
    fn reproduce(&self, pattern: &Pattern, tests: &[String]) -> String;
}

/// Kinds of changes, as the JSON names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The place itself.
    Site,
    /// A place, by who called it.
    Caller,
    /// A place, by its whole call stack.
    Stack,
    /// Decided while compiling.
    Build,
}

/// One run to make.
#[derive(Debug)]
pub struct Request<'a> {
    /// The changes to switch.
    pub pattern: &'a Pattern,
    /// Where everything that the run prints goes.
    pub log: &'a Path,
    /// Where its reports go (`BISECT_REPORT`), as an absolute path. The target creates this file.
    pub report_file: &'a Path,
    /// Set when the user wants to stop.
    pub interrupt: &'a Interrupt,
}

/// What a run showed.
#[derive(Debug)]
pub struct Run {
    /// Pass, fail or unresolved.
    pub outcome: Outcome,
    /// More about the outcome, for people: `timeout`, `signal 11`, `exit status 101`; empty if it passed.
    pub reason: String,
    /// The changes it reported.
    pub reports: Reports,
    /// The tests that failed, where they are known.
    pub failed_tests: Vec<String>,
    /// How long it took.
    pub duration: Duration,
}

/// Why a run could not be made at all.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The executable cannot be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The user stopped it; everything it started is gone.
    #[error("interrupted")]
    Interrupted,
    /// The run's files could not be written or read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// It runs, but not as a target does; the words say what to do.
    #[error("{0}")]
    Unusable(String),
}
