//! The minimization of a set that fails alone, but may be too large.

use alloc::{sync::Arc, vec, vec::Vec};

use super::{Answer, Procedure, state::State};
use crate::before::{
    model::{likely_groups::LikelyGroups, rank::Rank, selection::Prefix, trial::Outcome, verdict::Culprit},
    sequential::bracket::Bracket,
};

/// The reasons why the present set may contain changes that it does not need.
#[derive(Clone, Debug, Default)]
pub(super) struct Doubts {
    /// A trial for the set was unresolved.
    pub(super) had_unresolved: bool,
    /// The changes that others hid in earlier runs for the set.
    pub(super) revealed: Vec<Rank>,
}

impl Doubts {
    /// Returns true if this set may be too large.
    pub(super) fn concern(&self, culprit: &Culprit) -> bool {
        self.had_unresolved || culprit.changes.iter().any(|change| self.revealed.contains(change))
    }
}

/// Takes the answer to the question if a part of the set fails.
pub(super) fn answer(procedure: &mut Procedure, culprit: Culprit, index: usize, answer: &Answer<'_>) -> State {
    match answer.outcome {
        // The part is treated like any other set that fails alone, and minimized further.
        Outcome::Fail => {
            let rest = Bracket::new(Prefix::NONE, Arc::new([]), LikelyGroups::none());
            let left = part(&culprit, index);
            // None of its changes fails alone: those parts were tried first.
            let tried = left.len();
            procedure.after_failing_alone(left, rest, tried, answer)
        }
        Outcome::Pass | Outcome::Unresolved(_) if index + 1 < parts(&culprit) => {
            State::Minimize { culprit, part: index + 1 }
        }
        Outcome::Pass | Outcome::Unresolved(_) => procedure.confirm(culprit),
    }
}

/// Returns a part of a set that may be too large. First come single changes, as most culprits are one change; then the
/// set without one change. For a pair both are the same.
pub(super) fn part(culprit: &Culprit, index: usize) -> Vec<Rank> {
    let changes = &culprit.changes;
    let Some(left_out) = index.checked_sub(changes.len()) else { return vec![changes[index]] };
    let others = changes.iter().enumerate().filter(|&(i, _)| i != left_out);
    others.map(|(_, &change)| change).collect()
}

/// Returns the number of these parts.
pub(super) fn parts(culprit: &Culprit) -> usize {
    match culprit.changes.len() {
        1 => 0,
        2 => 2,
        changes => 2 * changes,
    }
}
