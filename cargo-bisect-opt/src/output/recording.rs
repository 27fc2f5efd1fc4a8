//! The record of a search in memory, as its events build it up.

use super::events::Event;
use crate::record::{
    CommandRecord, Provenance, ResultRecord, SmallestSet, culprit::CulpritRecord, end::End, exit_status::Exit,
    trial::TrialRecord,
};

/// A record in the making.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    record: CommandRecord,
    /// True if trials are kept, too.
    keeps_trials: bool,
}

impl Recording {
    /// Creates the record of a command that has not searched yet.
    pub(crate) fn new(provenance: Provenance) -> Self {
        let result = ResultRecord { provenance, ..ResultRecord::default() };
        Self { record: CommandRecord { result, ..CommandRecord::default() }, keeps_trials: false }
    }

    /// Keeps trials, too.
    pub(crate) fn with_trials(self) -> Self {
        Self { keeps_trials: true, ..self }
    }

    /// Returns everything that was recorded so far.
    pub(crate) fn record(&self) -> &CommandRecord {
        &self.record
    }

    /// Learns from an event.
    pub(crate) fn learn(&mut self, event: &Event<'_>) {
        let result = &mut self.record.result;
        match event {
            Event::Start(start) => {
                if start.rustc.is_some() {
                    result.provenance.rustc.clone_from(&start.rustc);
                }
                result.searches.push(start.search.clone());
                result.start = Some(start.search.clone());
                result.smallest = None;
            }
            Event::Trial(_, trial) if self.keeps_trials => self.record.trials.push(TrialRecord::clone(trial)),
            Event::Smallest(smallest) => result.smallest = Some(SmallestSet::clone(smallest)),
            Event::Found(found) => {
                result.found.push(CulpritRecord::clone(found));
                result.smallest = None;
            }
            Event::Withdrawn(culprits) => result.found.retain(|found| !culprits.contains(&found.set)),
            Event::Preliminary(_) => result.smallest = None,
            Event::Searched(searched) => {
                if let Some(search) = result.searches.last_mut() {
                    search.changes = Some(searched.changes);
                    search.culprits.clone_from(&searched.culprits);
                }
            }
            Event::Note(note) => result.notes.push((*note).to_owned()),
            Event::OutputLost(what) => result.lost.push((*what).to_owned()),
            Event::End(end) => {
                if !matches!(end.status, Exit::Interrupted | Exit::Limit) {
                    result.smallest = None;
                }
                result.end = Some(End::clone(end));
            }
            Event::List(culprits) => result.listed = culprits.iter().map(|found| found.set).collect(),
            Event::Trial(..) | Event::Run(_) | Event::Groups(_) | Event::Answer(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::output::formats::FORMATS;

    #[test]
    fn no_format_has_a_culprit_that_was_withdrawn() {
        let reproduce = "./accuses".to_owned();
        let found = CulpritRecord { set: 1, confirmed: true, reproduce, ..CulpritRecord::default() };
        let mut recording = Recording::new(Provenance::default());
        recording.learn(&Event::Found(&Rc::new(found)));
        let accuses = |recording: &Recording| {
            FORMATS.iter().filter(|format| (format.render)(recording.record()).contains("./accuses")).count()
        };
        assert!(accuses(&recording) > 5);
        recording.learn(&Event::Withdrawn(&[1]));
        assert_eq!(accuses(&recording), 0);
    }
}
