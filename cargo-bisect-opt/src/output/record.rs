//! Events as files: `trials.jsonl` and `result.json` in the run directory.

use std::io;

use serde::Serialize;

use super::{
    events::{Event, Sink},
    json::Line,
    run_dir::RunDir,
};

/// A listener that keeps the search in its run directory.
#[derive(Debug)]
pub(crate) struct Record<'a> {
    run_dir: &'a RunDir,
    start: serde_json::Value,
    found: Vec<serde_json::Value>,
    lost: Vec<String>,
}

/// `result.json`: the events that matter once the search is over.
#[derive(Debug, Serialize)]
struct Outcome<'a> {
    start: &'a serde_json::Value,
    found: &'a [serde_json::Value],
    end: serde_json::Value,
    /// Outputs that could not be written, and why.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    lost: &'a [String],
}

impl<'a> Record<'a> {
    /// Creates a record in `run_dir`.
    pub(crate) fn new(run_dir: &'a RunDir) -> Self {
        Self { run_dir, start: serde_json::Value::Null, found: Vec::new(), lost: Vec::new() }
    }
}

impl Sink for Record<'_> {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Start(start) => self.start = serde_json::to_value(start)?,
            Event::Trial(trial) if trial.is_repeat => {}
            Event::Trial(_) => self.run_dir.append_trial(&Line::new(event))?,
            Event::Found(found) => self.found.push(serde_json::to_value(found)?),
            Event::OutputLost(what) => self.lost.push((*what).to_owned()),
            Event::End(end) => {
                let end = serde_json::to_value(end)?;
                let outcome = Outcome { start: &self.start, found: &self.found, end, lost: &self.lost };
                self.run_dir.write_result(&Line::new(&outcome))?;
            }
            Event::Run(_)
            | Event::Preliminary(_)
            | Event::Groups(_)
            | Event::List(_)
            | Event::Note(_)
            | Event::Answer(_) => {}
        }
        Ok(())
    }
}
