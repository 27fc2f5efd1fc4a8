//! A listener that writes the whole record of a search when it has ended.

use std::io;

use super::{
    events::{Event, Sink},
    recording::Recording,
};
use crate::record::{Provenance, RunRecord};

/// A listener that passes the record of a search to a function when the search has ended.
pub(super) struct AtEnd<W> {
    recording: Recording,
    write: W,
}

impl<W: FnMut(&RunRecord) -> io::Result<()>> AtEnd<W> {
    /// Creates the listener of a search.
    pub(super) fn new(provenance: Provenance, write: W) -> Self {
        Self { recording: Recording::new(provenance).with_trials(), write }
    }
}

impl<W: FnMut(&RunRecord) -> io::Result<()>> Sink for AtEnd<W> {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.recording.learn(event);
        if let Event::End(_) = event { (self.write)(self.recording.run()) } else { Ok(()) }
    }
}
