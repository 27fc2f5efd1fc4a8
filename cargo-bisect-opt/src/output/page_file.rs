//! The page of an answer as a file.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{
    events::{Event, Sink},
    page,
};
use crate::record::CommandRecord;

/// Writes the page about what a search has recorded.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn write(file: &Path, run: &CommandRecord) -> io::Result<()> {
    fs_err::write(file, page::render(run))
}

/// A listener that writes the page to this file when the search has ended.
#[derive(Debug)]
pub(crate) struct PageFile(pub(crate) PathBuf);

impl Sink for PageFile {
    fn event(&mut self, event: &Event<'_>, record: &CommandRecord) -> io::Result<()> {
        let Event::End(_) = event else { return Ok(()) };
        write(&self.0, record).map_err(|error| {
            let next = "to write it elsewhere: cargo bisect-opt report --html FILE";
            io::Error::new(error.kind(), format!("{error}; {next}"))
        })
    }
}
