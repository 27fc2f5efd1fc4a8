//! The page of an answer as a file.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{at_end::AtEnd, events::Sink, page};
use crate::record::{Provenance, RunRecord};

/// Writes the page about what a search has recorded.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn write(file: &Path, run: &RunRecord) -> io::Result<()> {
    fs_err::write(file, page::render(run))
}

/// Returns a listener that writes the page when the search has ended.
pub(crate) fn listener(file: PathBuf, provenance: Provenance) -> impl Sink {
    AtEnd::new(provenance, move |run| {
        write(&file, run).map_err(|error| {
            let next = "to write it elsewhere: cargo bisect-opt report --html FILE";
            io::Error::new(error.kind(), format!("{error}; {next}"))
        })
    })
}
