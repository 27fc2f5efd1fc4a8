//! Events as files: `trials.jsonl` and `result.json` in the run directory.

use std::{io, path::Path};

use serde::{Deserialize, Serialize};

use super::{
    events::{Event, Replay, Sink},
    json::Line,
    run_dir::{RunDir, RunDirError},
};

/// A listener that keeps the search in its run directory.
#[derive(Debug)]
pub(crate) struct Record<'a> {
    run_dir: &'a RunDir,
    start: serde_json::Value,
    found: Vec<serde_json::Value>,
    lost: Vec<String>,
}

/// `result.json`: the events that matter once the search is over.
#[derive(Debug, Serialize)]
struct Outcome<'a> {
    start: &'a serde_json::Value,
    found: &'a [serde_json::Value],
    end: serde_json::Value,
    /// Outputs that could not be written, and why.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    lost: &'a [String],
}

/// The answer of an earlier search, as far as it is read back.
#[derive(Debug, Deserialize)]
pub(crate) struct Recorded {
    /// The culprits.
    pub(crate) found: Vec<RecordedCulprit>,
}

/// A culprit of an earlier search.
#[derive(Debug, Deserialize)]
pub(crate) struct RecordedCulprit {
    /// Its number, from 1.
    pub(crate) set: usize,
    /// The number of the culprit that it is a part of, if it is.
    pub(crate) within: Option<usize>,
    /// Its changes.
    pub(crate) changes: Vec<RecordedChange>,
    /// The command lines that run the target once more.
    pub(crate) replay: Replay,
}

/// A change of a [`RecordedCulprit`].
#[derive(Debug, Deserialize)]
pub(crate) struct RecordedChange {
    /// The ID, as reports write it.
    pub(crate) id: String,
    /// The kind of the change.
    pub(crate) kind: String,
}

/// Reads the answer of the search in a run directory; `None` if it has none yet.
///
/// # Errors
/// If it is no run directory of this version, or cannot be read.
pub(crate) fn read(run_dir: &Path) -> Result<Option<Recorded>, RunDirError> {
    RunDir::read_result(run_dir)
}

impl<'a> Record<'a> {
    /// Creates a record in `run_dir`.
    pub(crate) fn new(run_dir: &'a RunDir) -> Self {
        Self { run_dir, start: serde_json::Value::Null, found: Vec::new(), lost: Vec::new() }
    }
}

impl Sink for Record<'_> {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Start(start) => self.start = serde_json::to_value(start)?,
            Event::Trial(trial) if trial.is_repeat => {}
            Event::Trial(_) => self.run_dir.append_trial(&Line::new(event))?,
            Event::Found(found) => {
                let mut value = serde_json::to_value(found)?;
                value["replay"] = serde_json::to_value(&found.replay)?;
                self.found.push(value);
            }
            Event::OutputLost(what) => self.lost.push((*what).to_owned()),
            Event::End(end) => {
                let end = serde_json::to_value(end)?;
                let outcome = Outcome { start: &self.start, found: &self.found, end, lost: &self.lost };
                self.run_dir.write_result(&Line::new(&outcome))?;
            }
            Event::Run(_)
            | Event::Preliminary(_)
            | Event::Groups(_)
            | Event::List(_)
            | Event::Note(_)
            | Event::Answer(_) => {}
        }
        Ok(())
    }
}
