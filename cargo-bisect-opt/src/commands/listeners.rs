//! The listeners of a search and the use of colour, as the options ask for them.

use std::{io, path::Path};

use super::{
    command_line, continuation,
    options::{Color, ShowArgs},
};
use crate::output::{
    closing::{Closing, Continuation},
    json::Json,
    listeners::{Listener, Listeners},
    live::{self, BesideLive},
    record::Record,
    results::Results,
    run_dir::RunDir,
    terminal,
    trace::Trace,
};
use crate::run::in_flight::InFlight;

/// Returns the listeners of a search. The user's own code is below `root`.
pub(super) fn listeners<'a>(
    run_dir: &'a RunDir,
    out_dir: &Path,
    root: &Path,
    show: &ShowArgs,
    in_flight: &InFlight,
) -> Listeners<'a> {
    const TRACE: &str = "the trace on standard error";
    const ANSWER: &str = "the answer on standard output";
    // The record is first: every event that is shown is already stored.
    let record = Listener::new("the run directory", Record::new(run_dir));
    let line = continuation::line(&command_line::command());
    let continuation = Continuation { out_dir: out_dir.to_owned(), line };
    let trace = Trace::new(show.verbose, continuation.clone());
    let has_live_lines = show.color != Color::Never && live::are_wanted();
    Listeners::new([
        record,
        match (show.quiet, has_live_lines) {
            (true, _) => Listener::new(TRACE, Closing(continuation)),
            (false, true) => Listener::new(TRACE, trace.with_live_lines(in_flight)),
            (false, false) => Listener::new(TRACE, trace),
        },
        if show.json {
            Listener::new(ANSWER, BesideLive::new(Json(io::stdout()), true))
        } else {
            let results = |results: Results| BesideLive::new(results.verbose(show.verbose), false);
            Listener::new(ANSWER, results(Results::new(root))).or(results(Results::beside_trace(root)))
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
