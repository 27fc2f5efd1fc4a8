//! Candidates that no run has told apart, and the runs with them and without.

use alloc::boxed::Box;

use super::{
    candidate_set::CandidateSet,
    rate_grid::{Likelihood, Prior, Weight},
};

/// Of the runs without the change, and of those with it.
pub(super) type Sides = [Likelihood; 2];

#[derive(Clone, Debug)]
pub(super) struct Interval {
    /// The cut where it ends.
    pub(super) end: usize,
    /// If the change is one of these in company.
    in_company: Sides,
    /// If it is one of these alone, and that makes a difference: it was run by itself.
    alone: Option<Box<Sides>>,
}

impl Interval {
    pub(super) fn new(end: usize, without: Likelihood, with: Likelihood) -> Self {
        Self { end, in_company: [without, with], alone: None }
    }

    /// Those of its candidates that are before a cut.
    pub(super) fn until(&self, cut: usize) -> Self {
        Self { end: cut, ..self.clone() }
    }

    /// Takes one run more; the interval lies on one side of each cut that it is about.
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
            // Its company may be before the cut, or not.
            self.in_company[0].observe_uninformative();
        } else {
            self.in_company[usize::from(before)].observe(prior, failed);
        }
    }

    /// What is known of both rates if the change is one of these alone, and if it is one in company; the same place if that
    /// makes no difference.
    pub(super) fn sides(&self) -> [&Sides; 2] {
        [self.alone.as_deref().unwrap_or(&self.in_company), &self.in_company]
    }

    /// How likely what was observed is, for both.
    pub(super) fn weigh(&self, prior: &Prior) -> [Weight; 2] {
        let of = |[without, with]: &Sides| prior.weigh(without, with);
        let in_company = of(&self.in_company);
        [self.alone.as_deref().map_or(in_company, of), in_company]
    }
}
