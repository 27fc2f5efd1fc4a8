//! The listeners of a search and the use of colour, as the options ask for them.

use std::{io, path::Path};

use super::options::{Color, ShowArgs};
use crate::output::{
    closing::Closing,
    json::Json,
    listeners::{Listener, Listeners},
    record::Record,
    results::Results,
    run_dir::RunDir,
    terminal,
    trace::Trace,
};

/// Returns the listeners of a search. The user's own code is below `root`.
pub(super) fn listeners<'a>(run_dir: &'a RunDir, out_dir: &Path, root: &Path, show: &ShowArgs) -> Listeners<'a> {
    const TRACE: &str = "the trace on standard error";
    const ANSWER: &str = "the answer on standard output";
    // The record is first: every event that is shown is already stored.
    let record = Listener::new("the run directory", Record::new(run_dir));
    Listeners::new([
        record,
        if show.quiet {
            Listener::new(TRACE, Closing)
        } else {
            Listener::new(TRACE, Trace::new(show.verbose, out_dir))
        },
        if show.json {
            Listener::new(ANSWER, Json(io::stdout()))
        } else {
            Listener::new(ANSWER, Results::new(root)).or(Results::beside_trace(root))
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
