//! Reports with text, and the runs that will ask for it.

use std::collections::{BTreeSet, HashMap, VecDeque, hash_map::Entry};

use bisect_core::{ChangeId, search::Trial};

use crate::report::{content::Report, scan::Reports};

/// The text that is known about changes, and the runs that are to ask for more.
#[derive(Debug, Default)]
pub(super) struct Texts {
    pub(super) known: HashMap<ChangeId, Report>,
    /// The trials whose changes are still to be described, in this order.
    pub(super) wanted: VecDeque<Trial>,
    /// True while a run for text is in flight.
    pub(super) is_in_flight: bool,
    /// The number of runs that were made for each set of changes.
    pub(super) tries: HashMap<BTreeSet<ChangeId>, usize>,
    pub(super) of_all: OfAll,
}

/// The state of the text of all changes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum OfAll {
    /// No run has asked for it.
    #[default]
    Unknown,
    /// A run asks for it, and the search goes on meanwhile.
    Asked,
    /// A run asks for it, and the search waits.
    Awaited,
    /// It says which changes are on touched lines, and the search prefers these.
    Used,
}

impl Texts {
    /// Returns what was reported about a change, if that has text.
    pub(super) fn of(&self, id: ChangeId) -> Option<&Report> {
        self.known.get(&id)
    }

    /// Returns true if a run is still to be made, or to be waited for.
    pub(super) fn is_pending(&self) -> bool {
        self.is_in_flight || !self.wanted.is_empty()
    }

    /// Adds reports that have text.
    pub(super) fn learn(&mut self, reports: &Reports) {
        for id in reports.described() {
            if let Entry::Vacant(unknown) = self.known.entry(id) {
                let report = reports.get(id);
                if report.has_text() {
                    unknown.insert(report);
                }
            }
        }
    }
}
