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
        // A repeated run with the same outcome is no trial of its own.
        let is_repeat = matches!(event, Event::Trial(trial) if trial.is_repeat);
        if is_repeat
            || matches!(
                event,
                Event::Run(_)
                    | Event::Smallest(_)
                    | Event::Preliminary(_)
                    | Event::Groups(_)
                    | Event::List(_)
                    | Event::Searched(_)
                    | Event::Note(_)
                    | Event::OutputLost(_)
                    | Event::Answer(_)
            )
        {
            return Ok(());
        }
        json_lines::add(&mut self.0, &Line::new(event))?;
        self.0.flush()
    }
}
