//! Events as files: `trials.jsonl` and `result.json` in the run directory.

use std::{io, path::Path};

use serde::{Deserialize, Serialize, de::IgnoredAny};

use super::{
    events::{Event, Replay, Sink},
    exit_status::Exit,
    json::Line,
    run_dir::{RunDir, RunDirError},
};

/// A listener that keeps the search in its run directory.
#[derive(Debug)]
pub(crate) struct Record<'a> {
    run_dir: &'a RunDir,
    start: serde_json::Value,
    found: Vec<serde_json::Value>,
    smallest: Option<serde_json::Value>,
    lost: Vec<String>,
}

/// `result.json`: the result so far. It is complete if it has an end.
#[derive(Debug, Serialize)]
struct Outcome<'a> {
    start: &'a serde_json::Value,
    found: &'a [serde_json::Value],
    /// The smallest set of changes that has failed in the search for the present culprit.
    #[serde(skip_serializing_if = "Option::is_none")]
    smallest: Option<&'a serde_json::Value>,
    /// Present once the search has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<serde_json::Value>,
    /// Outputs that could not be written, and why.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    lost: &'a [String],
}

/// The answer of an earlier search, as far as it is read back.
#[derive(Debug, Deserialize)]
pub(crate) struct Recorded {
    /// The culprits.
    pub(crate) found: Vec<RecordedCulprit>,
    /// Present once the search has ended.
    end: Option<IgnoredAny>,
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

/// Reads the answer of the search in a run directory; `None` if the search has not ended.
///
/// # Errors
/// If it is no run directory of this version, or cannot be read.
pub(crate) fn read(run_dir: &Path) -> Result<Option<Recorded>, RunDirError> {
    Ok(RunDir::read_result(run_dir)?.filter(|recorded: &Recorded| recorded.end.is_some()))
}

impl<'a> Record<'a> {
    /// Creates a record in `run_dir`.
    pub(crate) fn new(run_dir: &'a RunDir) -> Self {
        Self { run_dir, start: serde_json::Value::Null, found: Vec::new(), smallest: None, lost: Vec::new() }
    }

    /// Writes what is known so far.
    fn write(&self, end: Option<serde_json::Value>) -> io::Result<()> {
        let (start, found, smallest) = (&self.start, &self.found[..], self.smallest.as_ref());
        self.run_dir.write_result(&Line::new(&Outcome { start, found, smallest, end, lost: &self.lost }))
    }
}

impl Sink for Record<'_> {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Start(start) => {
                self.start = serde_json::to_value(start)?;
                self.smallest = None;
            }
            Event::Trial(trial) if trial.is_repeat => {}
            Event::Trial(_) => self.run_dir.append_trial(&Line::new(event))?,
            Event::Smallest(smallest) => {
                self.smallest = Some(serde_json::to_value(smallest)?);
                self.write(None)?;
            }
            Event::Found(found) => {
                let mut value = serde_json::to_value(found)?;
                value["replay"] = serde_json::to_value(&found.replay)?;
                self.found.push(value);
                self.smallest = None;
                self.write(None)?;
            }
            Event::Preliminary(_) => self.smallest = None,
            Event::OutputLost(what) => self.lost.push((*what).to_owned()),
            Event::End(end) => {
                if !matches!(end.status, Exit::Interrupted | Exit::Limit) {
                    self.smallest = None;
                }
                self.write(Some(serde_json::to_value(end)?))?;
            }
            Event::Run(_) | Event::Groups(_) | Event::List(_) | Event::Note(_) | Event::Answer(_) => {}
        }
        Ok(())
    }
}
