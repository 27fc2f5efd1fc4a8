//! Runs as evidence: what each had switched, and whether it failed.

use alloc::vec::Vec;

use crate::{
    search::model::rank::Rank,
    search::model::{
        selection::{Prefix, Selection},
        trial::{Observation, Outcome, TrialId},
        verdict::Mode,
    },
};

/// One run that told something.
#[derive(Clone, Debug)]
pub(in crate::search) struct Run {
    pub(in crate::search) trial: TrialId,
    pub(in crate::search) selection: Selection,
    /// Of the changes that the selection names one by one, those that it came by: another has not mattered.
    pub(super) reached: Vec<Rank>,
    pub(in crate::search) failed: bool,
}

impl Run {
    /// What an observation of a trial with this selection says; nothing, if it is unresolved.
    pub(in crate::search) fn new(trial: TrialId, selection: &Selection, observation: &Observation) -> Option<Self> {
        let failed = match observation.outcome {
            Outcome::Pass => false,
            Outcome::Fail => true,
            Outcome::Unresolved(_) => return None,
        };
        let reached = selection.forced.iter().copied().filter(|id| observation.reported.contains(id)).collect();
        Some(Self { trial, selection: selection.clone(), reached, failed })
    }

    /// A run that is expected to end so, and to come by all that its selection names.
    pub(in crate::search) fn expected(selection: &Selection, failed: bool) -> Self {
        let reached = selection.forced.clone();
        Self { trial: TrialId(usize::MAX), selection: selection.clone(), reached, failed }
    }

    /// Whether it switched a change, where changes are switched so.
    pub(super) fn has(&self, change: Rank) -> bool {
        self.has_in_prefix(change) || self.reached.contains(&change) && !self.selection.excluded.contains(&change)
    }

    /// Whether the change belongs to the prefix that it switched.
    pub(super) fn has_in_prefix(&self, change: Rank) -> bool {
        self.selection.has_rank(change) && !self.selection.excluded.contains(&change)
    }

    pub(super) fn has_all(&self, changes: &[Rank]) -> bool {
        changes.iter().all(|&change| self.has(change))
    }

    /// Whether it switched these changes and no others.
    pub(in crate::search) fn is_exactly(&self, changes: &[Rank]) -> bool {
        names_exactly(&self.selection, changes) && self.has_all(changes)
    }
}

/// Whether a selection names these changes, all of them different, and no others. Perhaps not all of them are come by.
pub(super) fn names_exactly(selection: &Selection, changes: &[Rank]) -> bool {
    let Selection { prefix, forced, excluded, .. } = selection;
    let named = |change: &Rank| forced.contains(change) && !excluded.contains(change);
    let count = forced.iter().filter(|change| !excluded.contains(change)).count();
    *prefix == Prefix::NONE && count == changes.len() && changes.iter().all(named)
}

/// The selection under which the target is as it passes, if `mode` is what breaks it.
pub(super) fn base(mode: Mode) -> Selection {
    Selection { inverted: mode == Mode::Enable, ..Selection::all() }
}

/// The selection under which it fails, if anything does.
pub(super) fn everything(mode: Mode) -> Selection {
    Selection { inverted: mode == Mode::Disable, ..Selection::all() }
}
