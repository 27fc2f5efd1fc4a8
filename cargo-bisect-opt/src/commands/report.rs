//! `cargo bisect-opt report`: the answer of an earlier search again, in any format.

use std::{io, path::PathBuf};

use super::options::ReportCommand;
use crate::output::{
    formats::{self, TEXT},
    formatted, page_file,
    run_dir::RunDirError,
    run_dir_files,
};

/// A reason why there is no answer to show.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReportError {
    /// The run directory cannot be read.
    #[error("{0}")]
    RunDir(#[from] RunDirError),
    /// Nothing was recorded.
    #[error("`{}` has no answer: no search was made there (--verdict makes none), it was killed before its first run, or the directory was full; search again", .0.display())]
    NoAnswer(PathBuf),
    /// Standard output cannot be written.
    #[error("the answer cannot be written: {0}; free space, or send standard output to another place")]
    Output(#[source] io::Error),
    /// The page cannot be written.
    #[error("the page cannot be written: {0}; use --html with another file")]
    Page(#[source] io::Error),
}

/// Shows the answer of an earlier search.
///
/// # Errors
/// If there is none, or it cannot be written.
pub(super) fn report(command: &ReportCommand) -> Result<(), ReportError> {
    command.color.apply();
    let run =
        run_dir_files::read_all(&command.run_dir)?.ok_or_else(|| ReportError::NoAnswer(command.run_dir.clone()))?;
    if let Some(file) = &command.html {
        page_file::write(file, &run).map_err(ReportError::Page)?;
    }
    let default = if command.html.is_none() { formats::by_name(TEXT) } else { None };
    match command.format.or(default) {
        Some(format) => formatted::show(format, &run).map_err(ReportError::Output),
        None => Ok(()),
    }
}
