//! The model of a command's searches: what the run directory keeps, and what every output shows.
//!
//! It is `result.json` and `trials.jsonl`, as they are written and read back. Events are its increments. Fields that
//! this version does not know are ignored, and most of those that it does not find have a default.

pub(crate) mod change;
pub(crate) mod conclusion_kind;
pub(crate) mod culprit;
pub(crate) mod end;
pub(crate) mod exit_status;
pub(crate) mod headline;
pub(crate) mod milliseconds;
pub(crate) mod noise;
pub(crate) mod pasted;
pub(crate) mod snippets;
pub(crate) mod source_place;
pub(crate) mod trial;

use std::path::Path;

use bisect_core::search::Mode;
use serde::{Deserialize, Serialize};

use crate::process::shell;
use culprit::{CulpritRecord, ModeName};
use end::End;
use trial::TrialRecord;

/// Everything that a command has recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommandRecord {
    /// `result.json`.
    pub(crate) result: ResultRecord,
    /// The lines of `trials.jsonl`.
    pub(crate) trials: Vec<TrialRecord>,
    /// The text of `result.json`, if it was read from there.
    pub(crate) file: Option<String>,
}

/// `result.json`: the result so far. It is complete if it has an end.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ResultRecord {
    /// The last search that began.
    #[serde(default)]
    pub(crate) start: Option<SearchRecord>,
    /// The culprits, in the order in which they were found.
    pub(crate) found: Vec<CulpritRecord>,
    /// The numbers of the culprits that the search has listed, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) listed: Vec<usize>,
    /// The smallest set of changes that has failed in the search for the present culprit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) smallest: Option<SmallestSet>,
    /// Present once the command has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) end: Option<End>,
    /// Outputs that could not be written, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) lost: Vec<String>,
    /// All searches of the command, in their order.
    #[serde(default)]
    pub(crate) searches: Vec<SearchRecord>,
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
pub(crate) struct SearchRecord {
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
pub(crate) struct SmallestSet {
    /// The operation that breaks the target.
    #[serde(with = "ModeName")]
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
