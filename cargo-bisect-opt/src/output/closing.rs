//! The last lines of a search on standard error: its conclusion, and the end of a log.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::{
    events::{Event, Sink},
    style::{BOLD, DIM, ODD},
    terminal,
};
use crate::{
    record::{
        CommandRecord,
        end::{End, LogEnd},
        exit_status::Exit,
        milliseconds::to_whole_milliseconds,
    },
    units::{plural, seconds},
};

/// Shows the end of a search, and how it can be continued if it was stopped.
///
/// # Errors
/// If it cannot be written.
pub(super) fn show_end(err: &mut impl Write, end: &End, out_dir: &Path) -> io::Result<()> {
    show_conclusion(err, end)?;
    // The conclusion of an interrupted search says what is kept.
    if end.status == Exit::Limit {
        let directory = out_dir.display();
        writeln!(err, "{DIM}all logs, and result.json with the answers so far, are in {directory}{DIM:#}")?;
    }
    let Some(line) = &end.continuation else { return Ok(()) };
    writeln!(err, "{BOLD}to continue:{BOLD:#}\n  {line}")
}

/// Shows a conclusion, without a continuation.
///
/// # Errors
/// If it cannot be written.
pub(super) fn show_conclusion(err: &mut impl Write, end: &End) -> io::Result<()> {
    let (trials, runs) = (plural(end.trials, "trial"), plural(end.runs, "run"));
    writeln!(err, "{} {DIM}({trials}, {runs}, {}){DIM:#}", end.words, seconds(to_whole_milliseconds(end.duration)))?;
    let Some(LogEnd { path, lines }) = &end.log else { return Ok(()) };
    writeln!(err, "\n{BOLD}the end of {}:{BOLD:#}", path.display())?;
    lines.iter().try_for_each(|line| writeln!(err, "  {DIM}|{DIM:#} {line}"))
}

/// A substitute for the trace that only says why nothing was found.
#[derive(Debug)]
pub(crate) struct Closing {
    /// The run directory, as messages show it.
    pub(crate) out_dir: PathBuf,
}

impl Closing {
    /// Shows an event on this terminal.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn show(&self, err: &mut impl Write, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::End(end) if end.status != Exit::Found => show_end(err, end, &self.out_dir),
            Event::OutputLost(note) => writeln!(err, "{ODD}note{ODD:#}: {note}"),
            _ => Ok(()),
        }
    }
}

impl Sink for Closing {
    fn event(&mut self, event: &Event<'_>, _: &CommandRecord) -> io::Result<()> {
        self.show(&mut terminal::stderr(), event)
    }
}
