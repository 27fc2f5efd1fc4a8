//! Events as lines of JSON: `--json` on standard output.

use std::io::{self, Write};

use serde::Serialize;

use super::{
    events::{Event, Sink},
    json_lines,
};

/// Version of the format.
const VERSION: u32 = 1;

/// One line.
#[derive(Debug, Serialize)]
pub(crate) struct Line<'a, T> {
    v: u32,
    #[serde(flatten)]
    event: &'a T,
}

impl<'a, T> Line<'a, T> {
    /// Adds the version of the format to an event.
    pub(crate) fn new(event: &'a T) -> Self {
        Self { v: VERSION, event }
    }
}

/// A listener that writes each event as one line.
#[derive(Debug)]
pub(crate) struct Json<W>(pub(crate) W);

impl<W: Write> Sink for Json<W> {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        let is_shown = match event {
            Event::Start(_) | Event::Found(_) | Event::End(_) => true,
            // A repeated run with the same outcome is no trial of its own.
            Event::Trial(trial) => !trial.is_repeat,
            _ => false,
        };
        if !is_shown {
            return Ok(());
        }
        json_lines::add(&mut self.0, &Line::new(event))?;
        self.0.flush()
    }
}
