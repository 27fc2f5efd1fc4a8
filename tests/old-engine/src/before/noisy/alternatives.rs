//! The alternatives to a culprit that is about to be named, of a target that has not contradicted itself.
//!
//! A run with an unexpected outcome is a contradiction, and a reliable target has none. Each alternative explanation
//! predicts the outcome of a run: another change is the culprit and a run was misleading, in either direction, or there
//! is only noise. The best run is the one that is most likely to contradict the culprit.

use alloc::vec::Vec;

use super::{
    direction::Direction,
    history::Run,
    noisy_bracket::{NoisyBracket, SearchContext},
};
use crate::before::model::{mode::Mode, options::Options, rank::Rank, selection::Selection, verdict::Culprit};

/// The alternative explanations of the runs so far.
pub(in crate::before) struct Alternatives {
    others: Vec<Alternative>,
}

/// One alternative: the changes of the set before one index are needed, and the change at that index is not.
struct Alternative {
    weight: f64,
    narrowing: NoisyBracket,
    /// The index of that change among the candidates, if it is one.
    named: Option<usize>,
    is_alone: bool,
}

impl Alternatives {
    /// Returns the alternatives to a culprit, given all runs and the sets found before.
    pub(in crate::before) fn new(
        options: &Options,
        known: &[Rank],
        found: &[Vec<Rank>],
        runs: &[Run],
        culprit: &Culprit,
    ) -> Self {
        let (order, direction) = (options.order, Direction::of(runs, options.direction));
        let mut others = Vec::new();
        for mode in [Mode::Enable, Mode::Disable] {
            let context = SearchContext { order, mode, known, found, runs, merged: &[], costs: (1.0, 1.0) };
            let mut weight = direction.probability_of(mode);
            for (place, &change) in culprit.changes.iter().enumerate() {
                let (before, is_alone) = (&culprit.changes[..place], place + 1 == culprit.changes.len());
                let Some(narrowing) = NoisyBracket::new(context, before.to_vec()) else { break };
                let named = narrowing.index(change).filter(|_| mode == culprit.mode);
                let probability = narrowing.point().probability_of(named, is_alone);
                others.push(Alternative { weight, narrowing, named, is_alone });
                weight *= probability;
            }
        }
        Self { others }
    }

    /// Returns the joint probability that the culprit is wrong and that a run with this selection has this outcome.
    pub(in crate::before) fn probability_of(&self, selection: &Selection, failed: bool) -> f64 {
        let of = |other: &Alternative| {
            let tested = other.narrowing.candidate_set(selection, |id| selection.contains(id))?;
            Some(other.weight * other.narrowing.point().joint_surprise(other.named, other.is_alone, tested, failed))
        };
        self.others.iter().filter_map(of).sum()
    }
}
