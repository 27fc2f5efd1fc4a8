//! Something is about to be named, of a target that has not contradicted itself. Which runs, made once more, are the
//! likeliest to show that it is wrong?
//!
//! A run that ends otherwise than before is a contradiction, and a reliable target has none. So all other explanations of
//! what was seen are asked how each run would end: another change and a run that misled, either way round, or only noise.

use alloc::{vec, vec::Vec};

use super::{
    direction::Direction,
    history::Run,
    narrowing::{Context, Narrowing},
};
use crate::{
    ChangeId,
    search::{
        order::Order,
        trial::TrialId,
        verdict::{Culprit, Mode},
    },
};

/// The trials of so many runs that are best made once more before this culprit is named, the same one several times, maybe.
/// Each is chosen as if those before it will have ended as they did: else the rest need not be made.
pub(in crate::search) fn most_doubtful(
    order: Order,
    known: &[ChangeId],
    runs: &[Run],
    culprit: &Culprit,
    count: usize,
) -> Vec<TrialId> {
    let mut runs = runs.to_vec();
    let first = runs.len();
    for _ in 0..count {
        let doubts = doubts(order, known, &runs, culprit).into_iter().zip(&runs);
        // Of several that are as good, the last: what it needs may still be built.
        let Some((_, run)) = doubts.max_by(|(one, _), (other, _)| one.total_cmp(other)) else { break };
        let again = run.clone();
        runs.push(again);
    }
    runs[first..].iter().map(|run| run.trial).collect()
}

/// Of each run: how likely it is to end otherwise if it is made once more, because this is not the culprit.
fn doubts(order: Order, known: &[ChangeId], runs: &[Run], culprit: &Culprit) -> Vec<f64> {
    let direction = Direction::of(order, runs);
    let mut doubts = vec![0.0; runs.len()];
    for mode in [Mode::Enable, Mode::Disable] {
        let context = Context { order, mode, known, found: &[], runs, costs: (1.0, 1.0) };
        // That the changes before the present one are needed, and that this is not.
        let mut weight = direction.probability(mode);
        for (place, &change) in culprit.changes.iter().enumerate() {
            let (before, is_alone) = (&culprit.changes[..place], place + 1 == culprit.changes.len());
            let Some(narrowing) = Narrowing::new(context, before.to_vec()) else { break };
            let named = narrowing.index(change).filter(|_| mode == culprit.mode);
            for (run, doubt) in runs.iter().zip(&mut doubts) {
                if let Some(part) = narrowing.part(&run.selection, |id| run.has(id)) {
                    *doubt += weight * narrowing.point().is_not(named, is_alone, part, !run.failed);
                }
            }
            weight *= narrowing.point().is(named, is_alone);
        }
    }
    doubts
}
