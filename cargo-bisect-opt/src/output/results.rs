//! The answer of a search on standard output, as soon as its parts are certain.

use std::{
    cell::RefCell,
    io::{self, Write},
    path::{Path, PathBuf},
    rc::Rc,
};

use super::{
    events::{Event, Found, Sink},
    formats::text::{self, AnswerText},
    recorded::{RecordedAnswer, culprit::RecordedCulprit},
    snippets::Own,
    style::ODD,
    terminal,
};

/// The answer, on standard output or, as a substitute, on standard error.
#[derive(Debug)]
pub(crate) struct Results {
    root: PathBuf,
    is_beside_trace: bool,
    is_verbose: bool,
    /// The culprits of the present search. They are shown when it has ended: until then, it may withdraw them. A
    /// substitute has the same.
    found: Rc<RefCell<Vec<RecordedCulprit>>>,
}

impl Results {
    /// Creates results on standard output. The user's own code is below `root`.
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), is_beside_trace: false, is_verbose: false, found: Rc::default() }
    }

    /// Shows all frames of call stacks, and the code at several places.
    #[must_use]
    pub(crate) fn verbose(self, is_verbose: bool) -> Self {
        Self { is_verbose, ..self }
    }

    /// Returns a substitute on standard error, after the trace. It shows what these results could not show.
    pub(crate) fn beside_trace(&self) -> Self {
        Self { is_beside_trace: true, found: self.found.clone(), root: self.root.clone(), is_verbose: self.is_verbose }
    }

    /// Shows an event on this terminal.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn show(&self, out: &mut impl Write, event: &Event<'_>) -> io::Result<()> {
        let text = AnswerText { root: &self.root, is_verbose: self.is_verbose };
        match event {
            // These come together, as groups.
            Event::Found(found) if found.is_of_tests => {}
            Event::Found(found) => {
                let found = self.recorded(found);
                self.found.borrow_mut().push(found);
                return Ok(());
            }
            Event::Withdrawn(culprits) => {
                self.found.borrow_mut().retain(|found| !culprits.contains(&found.set));
                return Ok(());
            }
            Event::Searched(_) | Event::End(_) => {
                // A substitute gets the event again.
                self.found.borrow().iter().try_for_each(|found| text.culprit(out, found))?;
                self.found.borrow_mut().clear();
            }
            Event::Groups(culprits) => {
                let culprits: Vec<_> = culprits.iter().map(|found| self.recorded(found)).collect();
                text.groups(out, &culprits)?;
            }
            Event::List(culprits) => {
                let culprits: Vec<_> = culprits.iter().map(|found| RecordedCulprit::new(0, found, None)).collect();
                text::show_list(out, &culprits.iter().collect::<Vec<_>>())?;
            }
            Event::Answer(answer) => text::show_answer(out, &RecordedAnswer::from(*answer))?,
            // Beside the trace, the trace shows it.
            Event::OutputLost(note) if !self.is_beside_trace => writeln!(out, "{ODD}note{ODD:#}: {note}")?,
            _ => return Ok(()),
        }
        out.flush()
    }

    fn recorded(&self, found: &Found) -> RecordedCulprit {
        RecordedCulprit::new(0, found, Some(&Own::new(&self.root)))
    }
}

impl Sink for Results {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        if self.is_beside_trace {
            self.show(&mut terminal::stderr(), event)
        } else {
            self.show(&mut terminal::stdout(), event)
        }
    }
}
