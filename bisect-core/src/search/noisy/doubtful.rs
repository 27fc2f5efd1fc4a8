//! Something is about to be named, of a target that has not contradicted itself. How likely is it that it is wrong, and
//! that a certain run shows that?
//!
//! A run that ends otherwise than expected is a contradiction, and a reliable target has none. So all other explanations
//! of what was seen are asked how the run would end: another change and a run that misled, either way round, or only noise.

use alloc::vec::Vec;

use super::{
    direction::Direction,
    history::Run,
    narrowing::{Context, Narrowing},
};
use crate::{
    ChangeId,
    search::model::{
        order::Order,
        selection::Selection,
        verdict::{Culprit, Mode},
    },
};

/// The other explanations of what was seen.
pub(in crate::search) struct Doubts {
    others: Vec<Other>,
}

/// That the changes before the one at some place of the set are needed, and that this one is not.
struct Other {
    weight: f64,
    narrowing: Narrowing,
    /// The place of the change among the candidates, if it is one.
    named: Option<usize>,
    is_alone: bool,
}

impl Doubts {
    /// What these runs say of this culprit, where these sets were found before.
    pub(in crate::search) fn new(
        order: Order,
        known: &[ChangeId],
        found: &[Vec<ChangeId>],
        runs: &[Run],
        culprit: &Culprit,
    ) -> Self {
        let direction = Direction::of(order, runs);
        let mut others = Vec::new();
        for mode in [Mode::Enable, Mode::Disable] {
            let context = Context { order, mode, known, found, runs, costs: (1.0, 1.0) };
            let mut weight = direction.probability(mode);
            for (place, &change) in culprit.changes.iter().enumerate() {
                let (before, is_alone) = (&culprit.changes[..place], place + 1 == culprit.changes.len());
                let Some(narrowing) = Narrowing::new(context, before.to_vec()) else { break };
                let named = narrowing.index(change).filter(|_| mode == culprit.mode);
                let is = narrowing.point().is(named, is_alone);
                others.push(Other { weight, narrowing, named, is_alone });
                weight *= is;
            }
        }
        Self { others }
    }

    /// How likely the culprit is wrong, and a run with this selection fails, or passes.
    pub(in crate::search) fn of(&self, selection: &Selection, failed: bool) -> f64 {
        let of = |other: &Other| {
            let part = other.narrowing.part(selection, |id| selection.contains(id))?;
            Some(other.weight * other.narrowing.point().is_not(other.named, other.is_alone, part, failed))
        };
        self.others.iter().filter_map(of).sum()
    }
}
