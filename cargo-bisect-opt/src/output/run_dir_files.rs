//! The record of a search as files: `trials.jsonl` and `result.json` in the run directory.

use std::{io, path::Path};

use super::{
    events::{Event, Sink},
    json::Line,
    run_dir::{RunDir, RunDirError},
};
use crate::record::{CommandRecord, ResultRecord};

/// A listener that keeps the search in its run directory. If a file cannot be written, it tries again with the end of the
/// search: the answer is worth more than all that was lost before.
#[derive(Debug)]
pub(crate) struct RunDirFiles<'a> {
    run_dir: &'a RunDir,
    /// True once a file could not be written.
    has_failed: bool,
}

/// Reads the answer of the search in a run directory; `None` if there is none yet.
///
/// # Errors
/// If it is no run directory of this version, or cannot be read.
pub(crate) fn read(run_dir: &Path) -> Result<Option<ResultRecord>, RunDirError> {
    Ok(read_all(run_dir)?.map(|run| run.result))
}

/// Reads everything that the search in a run directory has recorded; `None` if it has no answer yet.
///
/// # Errors
/// If it is no run directory of this version, or cannot be read.
pub(crate) fn read_all(run_dir: &Path) -> Result<Option<CommandRecord>, RunDirError> {
    let Some(text) = RunDir::read_result_text(run_dir)? else { return Ok(None) };
    let damaged = || RunDirError::Content { path: run_dir.to_owned() };
    let result = serde_json::from_str(&text).map_err(|_| damaged())?;
    Ok(Some(CommandRecord { result, trials: RunDir::read_trials(run_dir)?, file: Some(text) }))
}

impl<'a> RunDirFiles<'a> {
    /// Creates the listener of a command in `run_dir`.
    pub(crate) fn new(run_dir: &'a RunDir) -> Self {
        Self { run_dir, has_failed: false }
    }

    fn write(&self, event: &Event<'_>, record: &CommandRecord) -> io::Result<()> {
        match event {
            Event::Trial(_, trial) => self.run_dir.append_trial(&Line::of("trial", trial)),
            Event::Start(_) | Event::Smallest(_) | Event::Found(_) | Event::Withdrawn(_) | Event::End(_) => {
                self.run_dir.write_result(&Line::new(&record.result))
            }
            _ => Ok(()),
        }
    }
}

impl Sink for RunDirFiles<'_> {
    fn event(&mut self, event: &Event<'_>, record: &CommandRecord) -> io::Result<()> {
        let is_end = matches!(event, Event::End(_));
        if self.has_failed && !is_end {
            return Ok(());
        }
        if self.has_failed {
            // An outdated result looks like that of a search that was killed. Without it there is more space.
            self.run_dir.remove_result();
        }
        self.write(event, record).inspect_err(|_| {
            self.has_failed = true;
            if is_end {
                self.run_dir.remove_result();
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::{output::recording::Recording, record::culprit::CulpritRecord};

    #[test]
    fn a_culprit_that_is_withdrawn_is_removed_from_the_file_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        let run_dir = RunDir::create(&path).unwrap();
        let (mut recording, mut listener) = (Recording::default(), RunDirFiles::new(&run_dir));
        let mut culprits_after = |event: Event<'_>| {
            recording.learn(&event);
            listener.event(&event, recording.record()).unwrap();
            read(&path).unwrap().unwrap().found.len()
        };
        let found = Rc::new(CulpritRecord { set: 1, ..CulpritRecord::default() });
        assert_eq!(culprits_after(Event::Found(&found)), 1);
        assert_eq!(culprits_after(Event::Withdrawn(&[1])), 0);
    }
}
