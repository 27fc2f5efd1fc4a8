//! The minimization of a set that fails often enough: does it fail without one of its changes?
//!
//! A coin decides whether the next run is of the set or of the others. Runs of both that follow a fixed order may be in
//! step with something that runs leave behind: where each run creates a file or removes it, one fails always and the
//! other never. Of the runs with the others and without the change, only those that a coin selected count. The control
//! runs of proofs are among them.

use alloc::vec::Vec;

use super::{
    history::{Run, names_exactly},
    noisy_bracket::SearchContext,
};
use crate::before::model::{rank::Rank, selection::Selection};
use crate::before::posterior::{CandidateSet, ChangePoint, Evidence};
use crate::before::tuning;

/// A set of several changes, each of which is left out in turn.
#[derive(Clone, Debug)]
pub(super) struct Minimizing {
    set: Vec<Rank>,
    /// The index of the change that is left out.
    index: usize,
    others: Vec<Rank>,
    /// The selection without any change of the set.
    base: Selection,
    /// The posterior with one candidate: the other changes suffice.
    point: ChangePoint,
}

impl Minimizing {
    pub(super) fn new(context: SearchContext<'_>, set: Vec<Rank>, index: usize) -> Self {
        let others = without(&set, index);
        let base = context.mode.nothing();
        let mut known = Evidence::new();
        let found = |run: &&Run| context.found.iter().any(|found| run.has_all(found));
        let unexplained = || context.runs.iter().filter(|run| !found(run));
        for run in unexplained() {
            if run.has_all(&set) {
                known.observe(true, run.failed);
            } else if run.selection != base && !set.iter().any(|&change| run.has(change)) {
                known.observe(false, run.failed);
            }
        }
        let mut point = ChangePoint::new(1, &known);
        point.set_prior_of_nothing(tuning::PRIOR_NEEDED);
        point.set_costs(context.costs.0, context.costs.1);
        let mut this = Self { set, index, others, base, point };
        for run in unexplained() {
            this.observe(run);
        }
        this
    }

    /// Returns the same question with all runs of this context.
    pub(super) fn with_runs(&self, context: SearchContext<'_>) -> Self {
        Self::new(context, self.set.clone(), self.index)
    }

    pub(super) fn set(&self) -> &[Rank] {
        &self.set
    }

    pub(super) fn index(&self) -> usize {
        self.index
    }

    pub(super) fn point(&self) -> &ChangePoint {
        &self.point
    }

    /// Returns the set without the change that is left out.
    pub(super) fn others(&self) -> &[Rank] {
        &self.others
    }

    /// Returns true if a run of the other changes is worth more than a run of none.
    pub(super) fn wants_others(&self, in_flight: &[CandidateSet]) -> bool {
        self.point.next(in_flight).plus.is_some()
    }

    /// Returns true if a selection is one of those that are compared.
    pub(super) fn is_about(&self, selection: &Selection) -> bool {
        *selection == self.base || [&self.set, &self.others].iter().any(|changes| names_exactly(selection, changes))
    }

    fn observe(&mut self, run: &Run) {
        let asked = |change: &Rank| run.selection.contains(*change);
        if run.by_coin && self.others.iter().all(asked) && !asked(&self.set[self.index]) {
            self.point.observe(CandidateSet::alone(0), run.failed);
        } else if run.selection == self.base {
            self.point.observe(CandidateSet::prefix(0), run.failed);
        }
    }
}

fn without(set: &[Rank], index: usize) -> Vec<Rank> {
    let others = set.iter().enumerate().filter(|&(i, _)| i != index);
    others.map(|(_, &change)| change).collect()
}
