//! A set that fails often enough: does it without one of its changes?

use alloc::vec::Vec;

use super::{
    history::{Run, base},
    narrowing::Context,
};
use crate::{
    ChangeId,
    noise::{ChangePoint, Evidence, Part},
};

/// How likely it is at first that a change of a set is needed: that is why it is in it.
const NEEDED: f64 = 0.9;

/// A set of several changes, each of which is left out in turn.
#[derive(Clone, Debug)]
pub(super) struct Thinning {
    set: Vec<ChangeId>,
    /// The change that is left out.
    index: usize,
    /// One candidate: the others suffice.
    point: ChangePoint,
}

impl Thinning {
    pub(super) fn new(context: Context<'_>, set: Vec<ChangeId>, index: usize) -> Self {
        let others = without(&set, index);
        let mut known = Evidence::new();
        let unexplained = context.runs.iter().filter(|run| !context.found.iter().any(|found| run.has_all(found)));
        for run in unexplained {
            if run.selection == base(context.order, context.mode) {
                known.observe(false, run.failed);
            } else if run.has_all(&set) {
                known.observe(true, run.failed);
            } else if !set.iter().any(|&change| run.has(change)) {
                known.observe(false, run.failed);
            }
        }
        let mut point = ChangePoint::new(1, &known);
        point.set_nothing(NEEDED);
        point.set_costs(context.costs.0, context.costs.1);
        let mut this = Self { set, index, point };
        context.runs.iter().filter(|run| run.is_exactly(&others)).for_each(|run| this.observe(run));
        this
    }

    pub(super) fn set(&self) -> &[ChangeId] {
        &self.set
    }

    pub(super) fn index(&self) -> usize {
        self.index
    }

    pub(super) fn point(&self) -> &ChangePoint {
        &self.point
    }

    /// The set without the change.
    pub(super) fn others(&self) -> Vec<ChangeId> {
        without(&self.set, self.index)
    }

    /// Takes what a run showed.
    pub(super) fn observe(&mut self, run: &Run) {
        if run.is_exactly(&self.others()) {
            self.point.observe(Part::alone(0), run.failed);
        }
    }
}

fn without(set: &[ChangeId], index: usize) -> Vec<ChangeId> {
    let others = set.iter().enumerate().filter(|&(i, _)| i != index);
    others.map(|(_, &change)| change).collect()
}
