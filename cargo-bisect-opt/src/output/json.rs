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

/// A listener that writes each event as one line. Culprits come when their search has ended: until then, it may withdraw
/// them.
#[derive(Debug)]
pub(crate) struct Json<W> {
    out: W,
    /// The culprits of the present search: their numbers and their lines.
    found: Vec<(usize, Vec<u8>)>,
}

impl<W: Write> Json<W> {
    /// Creates a listener that writes to `out`.
    pub(crate) fn new(out: W) -> Self {
        Self { out, found: Vec::new() }
    }
}

impl<W: Write> Sink for Json<W> {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Found(found) => {
                let mut line = Vec::new();
                json_lines::add(&mut line, &Line::new(event))?;
                self.found.push((found.set, line));
                return Ok(());
            }
            Event::Withdrawn(culprits) => self.found.retain(|(set, _)| !culprits.contains(set)),
            Event::Searched(_) | Event::End(_) => {
                self.found.drain(..).try_for_each(|(_, line)| self.out.write_all(&line))?;
                self.out.flush()?;
            }
            _ => {}
        }
        // A repeated run with the same outcome is no trial of its own.
        let is_shown = match event {
            Event::Start(_) | Event::End(_) => true,
            Event::Trial(trial) => !trial.is_repeat,
            _ => false,
        };
        if !is_shown {
            return Ok(());
        }
        json_lines::add(&mut self.out, &Line::new(event))?;
        self.out.flush()
    }
}
