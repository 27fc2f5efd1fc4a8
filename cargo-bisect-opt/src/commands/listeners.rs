//! The listeners of a search and the use of colour, as the options ask for them.

use std::{io, path::Path};

use super::options::{Color, ShowArgs};
use crate::{
    output::{
        closing::Closing,
        formats,
        formatted::FormattedAnswer,
        json::Json,
        listeners::{Listener, Listeners},
        live::{self, BesideLive},
        page_file::PageFile,
        recording::Recording,
        results::Results,
        run_dir::RunDir,
        run_dir_files::RunDirFiles,
        terminal,
        trace::Trace,
    },
    record::Provenance,
    run::in_flight::InFlight,
};

/// Returns the listeners of a search.
pub(super) fn listeners<'a>(
    run_dir: &'a RunDir,
    out_dir: &Path,
    provenance: Provenance,
    show: &ShowArgs,
    in_flight: &InFlight,
) -> Listeners<'a> {
    const TRACE: &str = "the trace on standard error";
    const ANSWER: &str = "the answer on standard output";
    // The run directory is first: every event that is shown is already stored.
    let run_dir_files = Listener::new("the run directory", RunDirFiles::new(run_dir)).lasting();
    let out_dir = out_dir.to_owned();
    let trace = Trace::new(show.verbose, out_dir.clone());
    let has_live_lines = show.color != Color::Never && live::are_wanted(show.has_live_lines);
    let format = show.format.or(show.message_format).filter(|format| format.name != formats::TEXT && !show.json);
    let recording = Recording::new(provenance);
    let recording = if format.is_some() || show.html.is_some() { recording.with_trials() } else { recording };
    let page = show.html.clone().map(|file| Listener::new("the page", PageFile(file)));
    let always = [
        run_dir_files,
        match (show.quiet, has_live_lines) {
            (true, _) => Listener::new(TRACE, Closing { out_dir }),
            (false, true) => Listener::new(TRACE, trace.with_live_lines(in_flight, show.live_width)),
            (false, false) => Listener::new(TRACE, trace),
        },
        match format {
            Some(format) => Listener::new(ANSWER, BesideLive::new(FormattedAnswer(format), false)),
            None if show.json => {
                Listener::new(ANSWER, BesideLive::new(Json(io::stdout()), true)).with_certain_culprits()
            }
            None => {
                let results = |results: Results| BesideLive::new(results.verbose(show.verbose), false);
                Listener::new(ANSWER, results(Results::default()))
                    .or(results(Results::beside_trace()))
                    .with_certain_culprits()
            }
        },
    ];
    Listeners::new(recording, always.into_iter().chain(page))
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
