//! The listeners of a search and the use of colour, as the options ask for them.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::options::{Color, ShowArgs};
use crate::output::{
    closing::Closing,
    formats,
    formatted::Formatted,
    json::Json,
    listeners::{Listener, Listeners},
    record::Record,
    recorded::Provenance,
    results::Results,
    run_dir::RunDir,
    terminal,
    trace::Trace,
};

/// Returns the listeners of a search.
pub(super) fn listeners<'a>(
    run_dir: &'a RunDir,
    out_dir: &Path,
    provenance: Provenance,
    show: &ShowArgs,
) -> Listeners<'a> {
    const TRACE: &str = "the trace on standard error";
    const ANSWER: &str = "the answer on standard output";
    // The record is first: every event that is shown is already stored.
    let root = &PathBuf::from(&provenance.root);
    let record = Listener::new("the run directory", Record::new(run_dir, provenance.clone()));
    Listeners::new([
        record,
        if show.quiet {
            Listener::new(TRACE, Closing)
        } else {
            Listener::new(TRACE, Trace::new(show.verbose, out_dir))
        },
        match show.format.or(show.message_format).filter(|format| format.name != formats::TEXT) {
            _ if show.json => Listener::new(ANSWER, Json(io::stdout())),
            Some(format) => Listener::new(ANSWER, Formatted::new(format, provenance)),
            None => Listener::new(ANSWER, Results::new(root)).or(Results::beside_trace(root)),
        },
    ])
}

impl Color {
    /// Sets the use of colour in the whole process.
    pub(super) fn apply(self) {
        terminal::set_colors(match self {
            Color::Auto => None,
            Color::Always => Some(true),
            Color::Never => Some(false),
        });
    }
}
