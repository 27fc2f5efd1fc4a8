//! The typed model of the run directory: `result.json` and `trials.jsonl`, as they are written and read back.
//!
//! Fields that this version does not know are ignored, and most of those that it does not find have a default.

pub(crate) mod culprit;

use std::path::Path;

use bisect_core::search::Mode;
use serde::{Deserialize, Serialize};

use super::events::is_zero;
use crate::{
    process::shell,
    record::{mode_name, noise::NoiseEstimate, trial::TrialContext},
};
use culprit::RecordedCulprit;

/// Everything that a search has recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordedRun {
    /// `result.json`.
    pub(crate) result: RecordedResult,
    /// The lines of `trials.jsonl`.
    pub(crate) trials: Vec<RecordedTrial>,
    /// The text of `result.json`, if it was read from there.
    pub(crate) file: Option<String>,
}

/// `result.json`: the result so far. It is complete if it has an end.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RecordedResult {
    /// The last search that began.
    #[serde(default)]
    pub(crate) start: Option<RecordedSearch>,
    /// The culprits, in the order in which they were found.
    pub(crate) found: Vec<RecordedCulprit>,
    /// The numbers of the culprits that the search has listed, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) listed: Vec<usize>,
    /// The smallest set of changes that has failed in the search for the present culprit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) smallest: Option<RecordedSmallest>,
    /// Present once the command has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) end: Option<RecordedEnd>,
    /// Outputs that could not be written, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) lost: Vec<String>,
    /// All searches of the command, in their order.
    #[serde(default)]
    pub(crate) searches: Vec<RecordedSearch>,
    /// The notes that were shown.
    #[serde(default)]
    pub(crate) notes: Vec<String>,
    #[serde(flatten)]
    pub(crate) provenance: Provenance,
}

/// The command that made a search, and what it ran on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Provenance {
    /// The words of the command line.
    #[serde(default)]
    pub(crate) command: Vec<String>,
    /// The run directory as the command names it.
    #[serde(default)]
    pub(crate) run_dir: String,
    /// The directory that the user's own code is below.
    #[serde(default)]
    pub(crate) root: String,
    /// The version of the driver.
    #[serde(default)]
    pub(crate) driver: String,
    /// The first line of `rustc -vV`, if the driver called it.
    #[serde(default)]
    pub(crate) rustc: Option<String>,
    /// The operating system.
    #[serde(default)]
    pub(crate) os: String,
    /// The architecture of the processor.
    #[serde(default)]
    pub(crate) arch: String,
}

impl Provenance {
    /// Returns the command line, as a shell reads it.
    pub(crate) fn command_line(&self) -> String {
        shell::line(&self.command)
    }

    /// Returns a path relative to the root, if it is below the root.
    pub(crate) fn shorten<'a>(&self, file: &'a str) -> &'a str {
        Path::new(file).strip_prefix(&self.root).ok().and_then(Path::to_str).unwrap_or(file)
    }
}

/// The beginning of a search, and the changes known at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordedSearch {
    /// The number of the search, from 1.
    #[serde(default)]
    pub(crate) search: usize,
    pub(crate) axis: String,
    /// The noun for a change.
    #[serde(default)]
    pub(crate) noun: String,
    /// A description of what is searched, where the axis does not say it.
    #[serde(default)]
    pub(crate) subject: Option<String>,
    pub(crate) target: String,
    pub(crate) jobs: usize,
    pub(crate) seed: u64,
    /// The order of the changes: `hash`, `given` or `counter`.
    #[serde(default)]
    pub(crate) order: String,
    /// The number of the culprit that the search examines, if it examines one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) within: Option<usize>,
    /// The number of changes that were known at its end; `None` if it has not ended.
    #[serde(default)]
    pub(crate) changes: Option<usize>,
    /// The positions of the culprits' changes among them.
    #[serde(default)]
    pub(crate) culprits: Vec<CulpritPositions>,
}

/// The positions of a culprit's changes among all changes of its search, in the order of the search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CulpritPositions {
    /// The number of the culprit.
    pub(crate) set: usize,
    pub(crate) positions: Vec<usize>,
}

/// The smallest failing set of changes so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordedSmallest {
    /// The operation that breaks the target.
    #[serde(with = "mode_name")]
    pub(crate) mode: Mode,
    /// The number of its changes.
    pub(crate) changes: usize,
    /// The number of all changes known by then.
    pub(crate) of: usize,
    /// The tests that failed, where that is known.
    #[serde(default)]
    pub(crate) tests: Vec<String>,
    /// A command line that runs the target with exactly these changes.
    pub(crate) reproduce: String,
}

/// The end of a command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RecordedEnd {
    /// The exit status.
    pub(crate) status: u8,
    pub(crate) sets: usize,
    pub(crate) trials: usize,
    pub(crate) runs: usize,
    /// The number of command lines of culprits that were run to check them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) pasted: usize,
    /// The time of the search, in milliseconds.
    pub(crate) ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) noise: Option<NoiseEstimate>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) answers: Vec<RecordedAnswer>,
    /// The kind of the conclusion, if the exit status does not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) conclusion: Option<String>,
    /// The conclusion, for people.
    #[serde(default)]
    pub(crate) message: String,
    /// The end of a log, if it explains the conclusion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) log: Option<RecordedLog>,
    /// Command lines that a user may run next.
    #[serde(default)]
    pub(crate) next: Vec<String>,
}

/// The common answer of several searches about one culprit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordedAnswer {
    /// The number of the culprit.
    pub(crate) set: usize,
    pub(crate) facts: Vec<RecordedFact>,
    /// The next steps.
    pub(crate) advice: Vec<String>,
}

/// A fact about a culprit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordedFact {
    /// The subject, in one word.
    pub(crate) of: String,
    pub(crate) text: String,
}

/// The last lines of a run's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordedLog {
    pub(crate) path: String,
    pub(crate) lines: Vec<String>,
}

/// A line of `trials.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RecordedTrial {
    /// The number of the trial, from 1. Repeated runs with the same outcome have 0.
    pub(crate) n: usize,
    /// True for a repeated run with the same outcome.
    #[serde(default)]
    pub(crate) repeat: bool,
    pub(crate) pattern: String,
    /// The number of distinct changes that were reported.
    pub(crate) matches: usize,
    /// `pass`, `fail` or `unresolved`.
    pub(crate) outcome: String,
    pub(crate) reason: String,
    /// The number of runs.
    pub(crate) runs: usize,
    /// The time of all runs together, in milliseconds.
    pub(crate) ms: u64,
    #[serde(flatten)]
    pub(crate) context: TrialContext,
}
