//! What the search asks of a target, and what it gets back.

use alloc::vec::Vec;

use super::{
    rank::{Order, Rank},
    selection::Selection,
};
use crate::{ChangeId, Pattern};

/// Names a trial of one search; trials are numbered from 0 in the order in which they were first wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrialId(pub usize);

/// One question put to the target: does it fail with this selection? One or more runs answer it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Its name.
    pub id: TrialId,
    /// What the search wants to know.
    pub question: Question,
    /// The changes to switch.
    pub selection: Selection,
    /// The tests whose outcomes are wanted, in ascending order; `[0]` unless the search was
    /// [split](crate::search::Search::split).
    pub tests: Vec<usize>,
}

impl Trial {
    /// The selection as text for the target. It asks for reports without text: text costs time, locks and memory, so a run
    /// with it would be another experiment.
    ///
    /// # Panics
    /// If nothing is selected: no pattern says that.
    #[must_use]
    pub fn pattern(&self) -> Pattern {
        self.selection.pattern()
    }
}

/// Why a trial is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    /// What does the target do with every change enabled?
    AllOn,
    /// What does the target do with no change enabled?
    AllOff,
    /// Does this prefix fail? It halves the changes that may be the last one needed.
    Prefix,
    /// Do the changes found so far fail on their own?
    FoundAlone,
    /// Does anything else fail, with the sets found so far left out?
    AllButFound,
    /// Does the target still pass where it passed at first? Else the set just found is no culprit.
    Baseline,
}

/// What one run showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Whether it failed.
    pub outcome: Outcome,
    /// The changes that it reported, in any order; one reported twice counts once.
    pub reported: Vec<Rank>,
}

impl Observation {
    /// Returns what a run showed that reported changes by their IDs.
    pub fn of_ids(order: Order, outcome: Outcome, ids: impl IntoIterator<Item = ChangeId>) -> Self {
        Self { outcome, reported: ids.into_iter().map(|id| order.rank(id)).collect() }
    }
}

/// How a run ended, as far as the search is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The target is content.
    Pass,
    /// It shows the failure that is searched for.
    Fail,
    /// The run does not tell.
    Unresolved(Reason),
}

/// Why a run does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The target does not build with this selection.
    Build,
    /// It could not be started.
    Spawn,
    /// It took too long, where that is not a failure.
    Timeout,
    /// It failed by what surrounds it: killed from outside, disk full, address in use.
    Environment,
    /// It asked to be skipped, or failed in another way than the one searched for.
    Skip,
}
