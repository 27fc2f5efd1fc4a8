//! The answer in another format than text, on standard output.

use std::io::{self, Write};

use super::{
    events::{Event, Sink},
    formats::AnswerFormat,
    recorded::{Provenance, RecordedRun},
    recording::Recording,
    terminal,
};

/// Writes what a search has recorded to standard output.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn show(format: &AnswerFormat, run: &RecordedRun) -> io::Result<()> {
    if format.is_for_terminal {
        return write_to(&mut terminal::stdout(), format, run);
    }
    write_to(&mut io::stdout().lock(), format, run)
}

fn write_to(out: &mut impl Write, format: &AnswerFormat, run: &RecordedRun) -> io::Result<()> {
    out.write_all((format.render)(run).as_bytes())?;
    out.flush()
}

/// A listener that writes the answer when the search has ended.
#[derive(Debug)]
pub(crate) struct Formatted {
    format: &'static AnswerFormat,
    recording: Recording,
}

impl Formatted {
    /// Creates the listener of a search.
    pub(crate) fn new(format: &'static AnswerFormat, provenance: Provenance) -> Self {
        Self { format, recording: Recording::new(provenance).with_trials() }
    }
}

impl Sink for Formatted {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.recording.learn(event);
        let Event::End(_) = event else { return Ok(()) };
        let run = self.recording.run();
        show(self.format, run).inspect_err(|error| {
            // The reader closed the pipe on purpose; in any other case the answer must not be lost.
            if error.kind() != io::ErrorKind::BrokenPipe {
                let _ = write_to(&mut terminal::stderr(), self.format, run);
            }
        })
    }
}
