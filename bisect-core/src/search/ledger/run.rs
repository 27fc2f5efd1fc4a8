//! Runs as evidence: the changes that each run switched, and its outcome.

use alloc::vec::Vec;

use crate::search::model::{
    rank::Rank,
    selection::{Prefix, Selection},
    trial::{Observation, Outcome, TrialId},
};

/// One resolved run.
#[derive(Clone, Debug)]
pub(in crate::search) struct Run {
    pub(in crate::search) trial: TrialId,
    pub(in crate::search) selection: Selection,
    /// The changes that the selection names one by one and that the run reached: a change that it did not reach cannot
    /// have mattered.
    pub(in crate::search) reached: Vec<Rank>,
    pub(in crate::search) failed: bool,
    /// True if a coin of this search, or of that of another test, selected this run instead of another one: its place in
    /// the sequence of runs is random.
    pub(in crate::search) by_coin: bool,
}

impl Run {
    /// Returns the run of an observation of a trial with this selection; `None` if it is unresolved.
    pub(in crate::search) fn new(trial: TrialId, selection: &Selection, observation: &Observation) -> Option<Self> {
        let failed = match observation.outcome {
            Outcome::Pass => false,
            Outcome::Fail => true,
            Outcome::Unresolved(_) => return None,
        };
        let reached = selection.forced.iter().copied().filter(|id| observation.reported.contains(id)).collect();
        Some(Self { trial, selection: selection.clone(), reached, failed, by_coin: false })
    }

    /// Returns the run of a future trial that is expected to have this outcome, and to reach all changes that its
    /// selection names.
    pub(in crate::search) fn expected(trial: TrialId, selection: &Selection, failed: bool) -> Self {
        let reached = selection.forced.clone();
        Self { trial, selection: selection.clone(), reached, failed, by_coin: false }
    }

    /// Returns true if the run switched a change, in the direction of its selection.
    pub(in crate::search) fn has(&self, change: Rank) -> bool {
        self.has_in_prefix(change) || self.reached.contains(&change) && !self.selection.excluded.contains(&change)
    }

    /// Returns true if the change belongs to the prefix that the run switched.
    pub(in crate::search) fn has_in_prefix(&self, change: Rank) -> bool {
        self.selection.has_rank(change) && !self.selection.excluded.contains(&change)
    }

    pub(in crate::search) fn has_all(&self, changes: &[Rank]) -> bool {
        changes.iter().all(|&change| self.has(change))
    }

    /// Returns true if the run switched exactly these changes.
    pub(in crate::search) fn is_exactly(&self, changes: &[Rank]) -> bool {
        names_exactly(&self.selection, changes) && self.has_all(changes)
    }
}

/// Returns true if a selection names exactly these changes, which are distinct. A run need not reach all of them.
pub(in crate::search) fn names_exactly(selection: &Selection, changes: &[Rank]) -> bool {
    let Selection { prefix, forced, excluded, .. } = selection;
    let named = |change: &Rank| forced.contains(change) && !excluded.contains(change);
    let count = forced.iter().filter(|change| !excluded.contains(change)).count();
    *prefix == Prefix::NONE && count == changes.len() && changes.iter().all(named)
}
