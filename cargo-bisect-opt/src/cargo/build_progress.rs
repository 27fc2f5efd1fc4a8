//! The progress of a build of a run: the crates that cargo has reported, read along with its messages.

use serde::Deserialize;

use crate::{
    process::ReadAlong,
    run::in_flight::{Activity, RunEntry},
};

/// A reader of cargo's messages that records each reported crate.
#[derive(Debug)]
pub(super) struct BuildProgress<'a> {
    seat: &'a RunEntry,
    total: Option<usize>,
    done: usize,
    /// The beginning of a message.
    line: Vec<u8>,
}

/// The parts of a message of cargo that progress needs.
#[derive(Deserialize)]
struct ProgressMessage {
    reason: String,
    target: Option<ProgressTarget>,
}

/// The target of an artifact.
#[derive(Deserialize)]
struct ProgressTarget {
    name: String,
}

impl<'a> BuildProgress<'a> {
    /// Returns the reader for a build of the run with this entry. An earlier build had `total` units.
    pub(super) fn new(seat: &'a RunEntry, total: Option<usize>) -> Self {
        seat.set(Activity::Building);
        Self { seat, total, done: 0, line: Vec::new() }
    }

    fn message(&mut self) {
        // Other lines are output of build tools.
        let message = serde_json::from_slice::<ProgressMessage>(&self.line);
        self.line.clear();
        let Ok(ProgressMessage { reason, target }) = message else { return };
        self.done += usize::from(matches!(reason.as_str(), "compiler-artifact" | "build-script-executed"));
        if let (Some(target), "compiler-artifact") = (target, reason.as_str()) {
            self.seat.set(Activity::Compiling { name: target.name, done: self.done, total: self.total });
        }
    }
}

impl ReadAlong for BuildProgress<'_> {
    fn read(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.message();
            }
        }
    }

    fn end(&mut self) {
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::in_flight::InFlight;

    #[test]
    fn each_reported_crate_is_shown_however_the_output_is_cut() {
        let in_flight = InFlight::default();
        let seat = in_flight.begin(0, 1);
        let shown = || in_flight.states()[0].1.activity.to_string();
        let mut progress = BuildProgress::new(&seat, Some(3));
        assert_eq!(shown(), "building");
        let text = "noise {\n{\"reason\":\"build-script-executed\",\"package_id\":\"x\"}\n\
                    {\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"foo\",\"kind\":[\"lib\"]}}\n\
                    {\"reason\":\"compiler-message\",\"target\":{\"name\":\"bar\"}}\n";
        text.as_bytes().chunks(7).for_each(|bytes| progress.read(bytes));
        assert_eq!(shown(), "building foo 2/3");
        progress.read(b"{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"bar\"}}\n");
        progress.read(b"{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"baz\"}}\n");
        progress.end();
        assert_eq!(shown(), "building baz 4", "the earlier build had fewer crates");
    }
}
