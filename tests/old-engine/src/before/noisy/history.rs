//! Runs as evidence: the changes that each run switched, and its outcome.

use alloc::vec::Vec;

use crate::before::model::{
    rank::Rank,
    selection::{Prefix, Selection},
    trial::{Observation, Outcome, TrialId},
};

/// One resolved run.
#[derive(Clone, Debug)]
pub(in crate::before) struct Run {
    pub(in crate::before) trial: TrialId,
    pub(in crate::before) selection: Selection,
    /// The changes that the selection names one by one and that the run reached: a change that it did not reach cannot
    /// have mattered.
    pub(super) reached: Vec<Rank>,
    pub(in crate::before) failed: bool,
    /// True if a coin of this search, or of that of another test, selected this run instead of another one: its place in
    /// the sequence of runs is random.
    pub(super) by_coin: bool,
}

impl Run {
    /// Returns the run of an observation of a trial with this selection; `None` if it is unresolved.
    pub(in crate::before) fn new(trial: TrialId, selection: &Selection, observation: &Observation) -> Option<Self> {
        let failed = match observation.outcome {
            Outcome::Pass => false,
            Outcome::Fail => true,
            Outcome::Unresolved(_) => return None,
        };
        let reached = selection.forced.iter().copied().filter(|id| observation.reported.contains(id)).collect();
        Some(Self { trial, selection: selection.clone(), reached, failed, by_coin: false })
    }

    /// Returns a run that is expected to have this outcome, and to reach all changes that its selection names.
    pub(in crate::before) fn expected(selection: &Selection, failed: bool) -> Self {
        let reached = selection.forced.clone();
        Self { trial: TrialId(usize::MAX), selection: selection.clone(), reached, failed, by_coin: false }
    }

    /// Returns true if the run switched a change, in the direction of its selection.
    pub(super) fn has(&self, change: Rank) -> bool {
        self.has_in_prefix(change) || self.reached.contains(&change) && !self.selection.excluded.contains(&change)
    }

    /// Returns true if the change belongs to the prefix that the run switched.
    pub(super) fn has_in_prefix(&self, change: Rank) -> bool {
        self.selection.has_rank(change) && !self.selection.excluded.contains(&change)
    }

    pub(super) fn has_all(&self, changes: &[Rank]) -> bool {
        changes.iter().all(|&change| self.has(change))
    }

    /// Returns true if the run switched exactly these changes.
    pub(in crate::before) fn is_exactly(&self, changes: &[Rank]) -> bool {
        names_exactly(&self.selection, changes) && self.has_all(changes)
    }
}

/// Returns true if a selection names exactly these changes, which are distinct. A run need not reach all of them.
pub(super) fn names_exactly(selection: &Selection, changes: &[Rank]) -> bool {
    let Selection { prefix, forced, excluded, .. } = selection;
    let named = |change: &Rank| forced.contains(change) && !excluded.contains(change);
    let count = forced.iter().filter(|change| !excluded.contains(change)).count();
    *prefix == Prefix::NONE && count == changes.len() && changes.iter().all(named)
}
