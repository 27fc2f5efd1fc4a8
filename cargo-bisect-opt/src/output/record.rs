//! Events as files: `trials.jsonl` and `result.json` in the run directory.

use std::{io, path::Path};

use super::{
    events::{Event, Sink},
    json::Line,
    recorded::{Provenance, RecordedResult, RecordedRun},
    recording::Recording,
    run_dir::{RunDir, RunDirError},
};

/// A listener that keeps the search in its run directory.
#[derive(Debug)]
pub(crate) struct Record<'a> {
    run_dir: &'a RunDir,
    recording: Recording,
}

/// Reads the answer of the search in a run directory; `None` if there is none yet.
///
/// # Errors
/// If it is no run directory of this version, or cannot be read.
pub(crate) fn read(run_dir: &Path) -> Result<Option<RecordedResult>, RunDirError> {
    Ok(read_all(run_dir)?.map(|run| run.result))
}

/// Reads everything that the search in a run directory has recorded; `None` if it has no answer yet.
///
/// # Errors
/// If it is no run directory of this version, or cannot be read.
pub(crate) fn read_all(run_dir: &Path) -> Result<Option<RecordedRun>, RunDirError> {
    let Some(text) = RunDir::read_result_text(run_dir)? else { return Ok(None) };
    let damaged = || RunDirError::Content { path: run_dir.to_owned() };
    let result = serde_json::from_str(&text).map_err(|_| damaged())?;
    Ok(Some(RecordedRun { result, trials: RunDir::read_trials(run_dir)?, file: Some(text) }))
}

impl<'a> Record<'a> {
    /// Creates the record of a command in `run_dir`.
    pub(crate) fn new(run_dir: &'a RunDir, provenance: Provenance) -> Self {
        Self { run_dir, recording: Recording::new(provenance) }
    }
}

impl Sink for Record<'_> {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        if let Event::Trial(_) = event {
            self.run_dir.append_trial(&Line::new(event))?;
        }
        if self.recording.learn(event) {
            self.run_dir.write_result(&Line::new(&self.recording.run().result))?;
        }
        Ok(())
    }
}
