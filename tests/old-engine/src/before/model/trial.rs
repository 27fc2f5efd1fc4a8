//! Trials, which the search asks for, and observations, which it receives.

use alloc::vec::Vec;

use super::{
    rank::{Order, Rank},
    selection::Selection,
};
use crate::{ChangeId, Pattern};

/// The number of a trial of one search. Trials are numbered from 0 in the order in which the search first wanted them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrialId(pub usize);

/// One question to the target: does it fail with this selection? One or more runs answer it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The number of the trial.
    pub id: TrialId,
    /// The question that this trial answers.
    pub question: Question,
    /// The changes to switch.
    pub selection: Selection,
    /// The tests whose outcomes are wanted, in ascending order; `[0]` unless the search was
    /// [split](crate::before::Search::split).
    pub tests: Vec<usize>,
}

impl Trial {
    /// Returns the selection as text for the target. The pattern requests reports without text: text costs time, locks
    /// and memory, so a run with text would be another experiment.
    ///
    /// # Panics
    /// If nothing is selected, because no pattern expresses that.
    #[must_use]
    pub fn pattern(&self) -> Pattern {
        self.selection.pattern()
    }
}

/// The purpose of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    /// Does the target fail with every change enabled?
    AllOn,
    /// Does the target fail with no change enabled?
    AllOff,
    /// Does this prefix fail? It halves the changes that may be the last one needed.
    Prefix,
    /// Do the changes found so far fail on their own?
    FoundAlone,
    /// Does anything else fail, without the sets found so far?
    AllButFound,
    /// Does the target still pass at the end that passed at first? If not, the set just found is no culprit.
    Baseline,
}

/// The result of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The outcome of the run.
    pub outcome: Outcome,
    /// The changes that the run reported, in any order; duplicates count once.
    pub reported: Vec<Rank>,
}

impl Observation {
    /// Returns the result of a run that reported changes by their IDs.
    pub fn of_ids(order: Order, outcome: Outcome, ids: impl IntoIterator<Item = ChangeId>) -> Self {
        Self { outcome, reported: ids.into_iter().map(|id| order.rank(id)).collect() }
    }
}

/// The outcome of a run, from the view of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The target passes.
    Pass,
    /// The target shows the failure that is searched for.
    Fail,
    /// The run is neither a pass nor a failure.
    Unresolved(Reason),
}

/// The reason why a run is unresolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The target does not build with this selection.
    Build,
    /// The target could not be started.
    Spawn,
    /// The run took too long, where that is not a failure.
    Timeout,
    /// The run failed because of its environment: killed from outside, disk full, address in use.
    Environment,
    /// The target asked to skip the run, or failed in another way than the one searched for.
    Skip,
}
