//! The answer in another format than text, on standard output.

use std::io::{self, Write};

use super::{
    events::{Event, Sink},
    formats::AnswerFormat,
    terminal,
};
use crate::{hidden::escaped_in_json, record::CommandRecord};

/// Writes what a search has recorded to standard output.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn show(format: &AnswerFormat, run: &CommandRecord) -> io::Result<()> {
    if format.is_for_terminal {
        return write_to(&mut terminal::stdout(), format, run);
    }
    write_to(&mut io::stdout().lock(), format, run)
}

fn write_to(out: &mut impl Write, format: &AnswerFormat, run: &CommandRecord) -> io::Result<()> {
    let text = (format.render)(run);
    // The others are for a terminal, which shows hidden characters, or a page, which has none.
    let text = if format.is_for_terminal { text.into() } else { escaped_in_json(&text) };
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// A listener that writes the answer when the search has ended.
#[derive(Debug)]
pub(crate) struct FormattedAnswer(pub(crate) &'static AnswerFormat);

impl Sink for FormattedAnswer {
    fn event(&mut self, event: &Event<'_>, record: &CommandRecord) -> io::Result<()> {
        let Event::End(_) = event else { return Ok(()) };
        show(self.0, record).inspect_err(|error| {
            // The reader closed the pipe on purpose; in any other case the answer must not be lost.
            if error.kind() != io::ErrorKind::BrokenPipe {
                let _ = write_to(&mut terminal::stderr(), self.0, record);
            }
        })
    }
}
