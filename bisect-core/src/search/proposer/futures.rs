//! Several trials in flight without a second search algorithm: the questions that follow each outcome are asked early.
//!
//! The procedure makes one trial after the other. To keep more than one in flight, copies of the procedure receive the
//! possible answers, the more likely ones first, and the questions that these copies ask next are wanted too. With *n*
//! prefixes at once, this is about as efficient as an (*n*+1)-ary search, and it also looks beyond the end of a set.
//! The result is that of one trial after the other, because only the answers to the original procedure count.

use alloc::{collections::BinaryHeap, rc::Rc, sync::Arc, vec::Vec};
use core::cmp::{Ordering, Reverse};

use super::explanations::Explanations;
use crate::search::{
    ledger::{Asked, Ledger},
    model::{
        rank::Rank,
        trial::{Outcome, TrialId},
    },
    sequential::{Answer, Procedure, lookahead},
    tuning,
};

/// The likelihood of a certain event; other likelihoods are fractions of this number.
const CERTAIN: u64 = 1 << 48;

/// A possible future.
struct Future {
    likelihood: u64,
    /// The order of creation, by which the first of equally likely futures is examined first.
    turn: Reverse<usize>,
    procedure: Rc<Procedure>,
    /// The hypotheses that explain all runs of this future; empty if there is no estimate.
    explanations: Explanations,
    /// The outcome of the trial that the procedure waits for. It is applied only when the future is examined.
    outcome: Option<Outcome>,
}

impl Future {
    /// Returns the procedure and the explanations after the outcome.
    fn examine(self) -> (Rc<Procedure>, Explanations) {
        let Some(outcome) = self.outcome else { return (self.procedure, self.explanations) };
        let mut procedure = self.procedure.after(&Answer::assumed(outcome));
        let asked = self.procedure.question().ok();
        let explanations =
            asked.map(|asked| self.explanations.after(procedure.mode(), &asked.selection, outcome)).unwrap_or_default();
        explanations.steer(&mut procedure);
        (Rc::new(procedure), explanations)
    }
}

impl Ord for Future {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.likelihood, self.turn).cmp(&(other.likelihood, other.turn))
    }
}

impl PartialOrd for Future {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Future {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Future {}

/// Returns the answer to a question that was asked before the procedure reached it.
fn early_answer<'a>(asked: &Asked, ledger: &'a Ledger) -> Option<(TrialId, Outcome, &'a Arc<[Rank]>)> {
    let entry = ledger.find(asked)?;
    let (outcome, reported) = entry.answer(0)?;
    Some((entry.trial.id, outcome, reported))
}

/// Returns at most `count` questions: those whose answers are most likely to be needed, each with this probability; the one that the
/// procedure waits for is first.
pub(super) fn wanted(
    procedure: &Procedure,
    explanations: Explanations,
    count: usize,
    ledger: &Ledger,
) -> Vec<(Asked, f64)> {
    let mut wanted: Vec<(Asked, f64)> = Vec::new();
    let mut futures = BinaryHeap::new();
    let mut turns = 0;
    let mut think_of = |futures: &mut BinaryHeap<Future>, likelihood, procedure, explanations, outcome| {
        turns += 1;
        futures.push(Future { likelihood, turn: Reverse(turns), procedure, explanations, outcome });
    };
    think_of(&mut futures, CERTAIN, Rc::new(procedure.clone()), explanations, None);
    for _ in 0..count * tuning::FUTURES_PER_TRIAL {
        let Some(future) = futures.pop() else { break };
        let likelihood = future.likelihood;
        // Unlikely questions are not worth a run. Without this limit, one long run would let the others run ever
        // further ahead.
        if likelihood < CERTAIN / count as u64 {
            break;
        }
        let (procedure, explanations) = future.examine();
        let Ok(asked) = procedure.question() else { continue };
        if let Some((trial, outcome, reported)) = early_answer(&asked, ledger) {
            let mut after = procedure.after(&Answer { trial: Some(trial), outcome, reported: Some(reported) });
            explanations.steer(&mut after);
            think_of(&mut futures, likelihood, Rc::new(after), explanations, None);
            continue;
        }
        if lookahead::asks_about_made_up(&procedure) {
            continue;
        }
        let believed = explanations.odds_of_failure(procedure.mode(), &asked.selection);
        let fails = likelihood / 256 * believed.unwrap_or_else(|| lookahead::odds_of_failure(&procedure));
        if !wanted.iter().any(|(other, _)| *other == asked) {
            wanted.push((asked, probability(likelihood)));
            if wanted.len() == count {
                break;
            }
        }
        think_of(&mut futures, fails, procedure.clone(), explanations.clone(), Some(Outcome::Fail));
        think_of(&mut futures, likelihood - fails, procedure, explanations, Some(Outcome::Pass));
    }
    wanted
}

/// Returns a likelihood as a probability.
#[expect(clippy::cast_precision_loss, reason = "a probability is approximate")]
fn probability(likelihood: u64) -> f64 {
    likelihood as f64 / CERTAIN as f64
}
