//! The page of an answer as a file.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{
    events::{Event, Sink},
    page,
    recorded::{Provenance, RecordedRun},
    recording::Recording,
};

/// Writes the page about what a search has recorded.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn write(file: &Path, run: &RecordedRun) -> io::Result<()> {
    fs_err::write(file, page::render(run))
}

/// A listener that writes the page when the search has ended.
#[derive(Debug)]
pub(crate) struct PageFile {
    file: PathBuf,
    recording: Recording,
}

impl PageFile {
    /// Creates the listener of a search.
    pub(crate) fn new(file: PathBuf, provenance: Provenance) -> Self {
        Self { file, recording: Recording::new(provenance).with_trials() }
    }
}

impl Sink for PageFile {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.recording.learn(event);
        let Event::End(_) = event else { return Ok(()) };
        write(&self.file, self.recording.run()).map_err(|error| {
            let next = "to write it elsewhere: cargo bisect-opt report --html FILE";
            io::Error::new(error.kind(), format!("{error}; {next}"))
        })
    }
}
