//! Intervals of candidates that no run has separated, and the runs with them and without.

use alloc::boxed::Box;

use super::{
    candidate_set::CandidateSet,
    rate_grid::{Likelihood, Prior, Weight},
};

/// The likelihoods of the runs without the change, and of those with it.
pub(super) type Sides = [Likelihood; 2];

#[derive(Clone, Debug)]
pub(super) struct Interval {
    /// The cut at the end of the interval.
    pub(super) end: usize,
    /// The likelihoods if the change is one of these candidates, together with others.
    in_company: Sides,
    /// The likelihoods if the change is one of these candidates, alone. `None` if the candidate was never run alone,
    /// because then both kinds have the same likelihoods.
    alone: Option<Box<Sides>>,
}

impl Interval {
    pub(super) fn new(end: usize, without: Likelihood, with: Likelihood) -> Self {
        Self { end, in_company: [without, with], alone: None }
    }

    /// Returns the part of the interval before a cut.
    pub(super) fn until(&self, cut: usize) -> Self {
        Self { end: cut, ..self.clone() }
    }

    /// Takes one more run. The interval must be on one side of each of the set's cuts.
    pub(super) fn observe(&mut self, prior: &Prior, set: CandidateSet, failed: bool) {
        let before = set.has_before(self.end);
        let itself = set.plus.is_some_and(|plus| plus + 1 == self.end);
        if itself {
            self.alone.get_or_insert_with(|| Box::new(self.in_company.clone()));
        }
        if let Some(alone) = &mut self.alone {
            alone[usize::from(before || itself)].observe(prior, failed);
        }
        if itself && set.prefix > 0 {
            // The changes that this candidate needs may be before the cut, or not.
            self.in_company[0].observe_uninformative();
        } else {
            self.in_company[usize::from(before)].observe(prior, failed);
        }
    }

    /// Returns the likelihoods of both rates if the change is one of these candidates alone, and if it is one together
    /// with others. Both references are the same if the kind makes no difference.
    pub(super) fn sides(&self) -> [&Sides; 2] {
        [self.alone.as_deref().unwrap_or(&self.in_company), &self.in_company]
    }

    /// Returns the likelihood of the observations for both kinds, summed over the rates.
    pub(super) fn weigh(&self, prior: &Prior) -> [Weight; 2] {
        let of = |[without, with]: &Sides| prior.weigh(without, with);
        let in_company = of(&self.in_company);
        [self.alone.as_deref().map_or(in_company, of), in_company]
    }
}
