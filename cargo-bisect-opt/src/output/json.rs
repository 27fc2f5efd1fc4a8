//! Events as lines of JSON: `--json` on standard output.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

use super::{
    events::{Event, Sink},
    json_lines,
};
use crate::record::CommandRecord;

/// Version of the format.
const VERSION: u32 = 1;
/// The fields of a search that only `result.json` has.
const OMITTED_FROM_START: [&str; 5] = ["noun", "subject", "order", "changes", "culprits"];
/// The fields of a culprit, its changes and their frames that only `result.json` has. A new field of one of these is
/// published unless its name is added here.
const OMITTED_FROM_FOUND: [&str; 9] =
    ["search", "headline", "is_of_tests", "replay", "noun", "details", "is_patch", "source", "own"];

/// One line.
#[derive(Debug, Serialize)]
pub(crate) struct Line<'a, T> {
    v: u32,
    /// The name of the event; `None` in `result.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<&'static str>,
    #[serde(flatten)]
    record: &'a T,
}

impl<'a, T> Line<'a, T> {
    /// Adds the version of the format to a record.
    pub(crate) fn new(record: &'a T) -> Self {
        Self { v: VERSION, event: None, record }
    }

    /// Adds the version of the format and the name of an event to a part of a record.
    pub(crate) fn of(event: &'static str, record: &'a T) -> Self {
        Self { event: Some(event), ..Self::new(record) }
    }
}

/// A listener that writes each event as one line.
#[derive(Debug)]
pub(crate) struct Json<W>(pub(crate) W);

impl<W: Write> Json<W> {
    fn write(&mut self, event: &'static str, record: &impl Serialize) -> io::Result<()> {
        json_lines::add(&mut self.0, &Line::of(event, record))?;
        self.0.flush()
    }
}

impl<W: Write> Sink for Json<W> {
    fn event(&mut self, event: &Event<'_>, _: &CommandRecord) -> io::Result<()> {
        match event {
            Event::Start(start) => self.write("start", &without(&OMITTED_FROM_START, &start.search)?),
            // A repeated run with the same outcome is no trial of its own.
            Event::Trial(_, trial) if !trial.is_repeat => self.write("trial", trial),
            Event::Found(found) => self.write("found", &without(&OMITTED_FROM_FOUND, &***found)?),
            Event::End(end) => self.write("end", end),
            _ => Ok(()),
        }
    }
}

/// Returns a record without these fields, at any depth.
fn without(fields: &[&str], record: &impl Serialize) -> io::Result<Value> {
    let mut value = serde_json::to_value(record)?;
    remove(fields, &mut value);
    Ok(value)
}

fn remove(names: &[&str], value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !names.contains(&name.as_str()));
            fields.values_mut().for_each(|value| remove(names, value));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| remove(names, value)),
        _ => {}
    }
}
