//! The last lines of a search on standard error: its conclusion, and the end of a log.

use std::{
    io::{self, Write},
    time::Duration,
};

use super::{
    events::{Event, Sink},
    exit_status::Exit,
    recorded::{RecordedEnd, RecordedLog},
    style::{BOLD, DIM, ODD},
    terminal,
};
use crate::units::{plural, seconds};

/// Shows the end of a search.
///
/// # Errors
/// If it cannot be written.
pub(super) fn show_end(err: &mut impl Write, end: &RecordedEnd) -> io::Result<()> {
    let (trials, runs) = (plural(end.trials, "trial"), plural(end.runs, "run"));
    writeln!(err, "{} {DIM}({trials}, {runs}, {}){DIM:#}", end.message, seconds(Duration::from_millis(end.ms)))?;
    let Some(RecordedLog { path, lines }) = &end.log else { return Ok(()) };
    writeln!(err, "\n{BOLD}the end of {path}:{BOLD:#}")?;
    lines.iter().try_for_each(|line| writeln!(err, "  {DIM}|{DIM:#} {line}"))
}

/// A substitute for the trace that only says why nothing was found.
#[derive(Debug)]
pub(crate) struct Closing;

impl Closing {
    /// Shows an event on this terminal.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn show(err: &mut impl Write, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::End(end) if end.status != Exit::Found => show_end(err, &RecordedEnd::from(*end)),
            Event::OutputLost(note) => writeln!(err, "{ODD}note{ODD:#}: {note}"),
            _ => Ok(()),
        }
    }
}

impl Sink for Closing {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        Self::show(&mut terminal::stderr(), event)
    }
}
