//! Steps of a counter that no run distinguishes from the next one: all runs that end at them are unresolved.

use alloc::vec::Vec;

use crate::before::{
    model::{rank::Rank, trial::Reason},
    tuning,
};

/// The unresolved runs of a counter, and the steps that they make indistinguishable.
#[derive(Clone, Debug, Default)]
pub(super) struct UntestableSteps {
    /// The numbers of steps that unresolved runs took, and the numbers of these runs.
    unresolved: Vec<(usize, usize)>,
    merged: Vec<Rank>,
    /// The reasons for these steps.
    reasons: Vec<Reason>,
}

impl UntestableSteps {
    /// Counts an unresolved run that took this number of steps, one at least. Returns true if this number is given up:
    /// then the next step stands for the last one too.
    pub(super) fn count(&mut self, steps: usize, reason: Reason) -> bool {
        let at = self.unresolved.iter().position(|&(of, _)| of == steps).unwrap_or_else(|| {
            self.unresolved.push((steps, 0));
            self.unresolved.len() - 1
        });
        self.unresolved[at].1 += 1;
        let is_given_up = self.unresolved[at].1 == tuning::MAX_UNRESOLVED_AT_FIRST;
        if is_given_up {
            self.merged.push(Rank::at(steps - 1));
            self.reasons.push(reason);
        }
        is_given_up
    }

    /// Returns the reason why a step also stands for the one before it, if it does.
    pub(super) fn reason_before(&self, step: Rank) -> Option<Reason> {
        let before = Rank(step.0.checked_sub(1)?);
        let at = self.merged.iter().position(|&merged| merged == before)?;
        Some(self.reasons[at])
    }

    /// Returns the steps for which the next one stands.
    pub(super) fn merged(&self) -> &[Rank] {
        &self.merged
    }
}
