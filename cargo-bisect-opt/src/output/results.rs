//! The answer of a search on standard output, as soon as its parts are certain.

use std::{
    io::{self, Write},
    path::Path,
};

use super::{
    events::{Event, Sink},
    formats::text::{self, AnswerText},
    style::ODD,
    terminal,
};
use crate::record::CommandRecord;

/// The answer, on standard output or, as a substitute, on standard error.
#[derive(Debug, Default)]
pub(crate) struct Results {
    is_beside_trace: bool,
    is_verbose: bool,
}

impl Results {
    /// Shows all frames of call stacks, and the code at several places.
    #[must_use]
    pub(crate) fn verbose(self, is_verbose: bool) -> Self {
        Self { is_verbose, ..self }
    }

    /// Creates results on standard error, after the trace.
    pub(crate) fn beside_trace() -> Self {
        Self { is_beside_trace: true, ..Self::default() }
    }

    /// Shows an event on this terminal.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn show(&self, out: &mut impl Write, event: &Event<'_>, record: &CommandRecord) -> io::Result<()> {
        let text = AnswerText { root: Path::new(&record.result.provenance.root), is_verbose: self.is_verbose };
        match event {
            // These come together, as groups.
            Event::Found(found) if found.is_of_tests => {}
            Event::Found(found) => text.culprit(out, found)?,
            Event::Groups(culprits) => text.groups(out, culprits.iter().copied())?,
            Event::List(culprits) => text::show_list(out, culprits)?,
            Event::Answer(answer) => text::show_answer(out, answer)?,
            // Beside the trace, the trace shows it.
            Event::OutputLost(note) if !self.is_beside_trace => writeln!(out, "{ODD}note{ODD:#}: {note}")?,
            _ => return Ok(()),
        }
        out.flush()
    }
}

impl Sink for Results {
    fn event(&mut self, event: &Event<'_>, record: &CommandRecord) -> io::Result<()> {
        if self.is_beside_trace {
            self.show(&mut terminal::stderr(), event, record)
        } else {
            self.show(&mut terminal::stdout(), event, record)
        }
    }
}
