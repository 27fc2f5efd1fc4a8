//! Several trials in flight without a second search algorithm: the questions that follow each outcome are asked early.
//!
//! The procedure makes one trial after the other. To keep more than one in flight, copies of the procedure receive the
//! possible answers, the more likely ones first, and the questions that these copies ask next are wanted too. With *n*
//! prefixes at once, this is about as efficient as an (*n*+1)-ary search, and it also looks beyond the end of a set.
//! Where [group tests](super::group_tests) are possible, they come first.
//! The result is that of one trial after the other, because only the answers to the original procedure count.

use alloc::{collections::BinaryHeap, rc::Rc, sync::Arc, vec::Vec};
use core::cmp::{Ordering, Reverse};

use super::beliefs::Beliefs;
use crate::search::{
    ledger::Asked,
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
    /// The beliefs that explain all runs of this future, if only beliefs explain those that were made; else none.
    beliefs: Beliefs,
    /// The outcome of the trial that the procedure waits for. It is applied only when the future is examined.
    outcome: Option<Outcome>,
}

impl Future {
    /// Returns the procedure and the beliefs after the outcome.
    fn examine(self) -> (Rc<Procedure>, Beliefs) {
        let Some(outcome) = self.outcome else { return (self.procedure, self.beliefs) };
        let mut procedure = self.procedure.after(&Answer::assumed(outcome));
        let asked = self.procedure.question().ok();
        let beliefs =
            asked.map(|asked| self.beliefs.after(procedure.mode(), &asked.selection, outcome)).unwrap_or_default();
        beliefs.steer(&mut procedure);
        (Rc::new(procedure), beliefs)
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

/// The answer to a trial that is over, but whose question the procedure has not reached.
pub(in crate::search) type Early<'a> = (TrialId, Outcome, &'a Arc<[Rank]>);

/// Returns the `count` questions whose answers are most likely to be needed; the one that the procedure waits for is
/// first.
pub(in crate::search) fn wanted<'a>(
    procedure: &Procedure,
    beliefs: Beliefs,
    count: usize,
    early_answer: impl Fn(&Asked) -> Option<Early<'a>>,
) -> Vec<(Asked, f64)> {
    let mut wanted: Vec<(Asked, f64)> = Vec::new();
    let mut futures = BinaryHeap::new();
    let mut turns = 0;
    let mut think_of = |futures: &mut BinaryHeap<Future>, likelihood, procedure, beliefs, outcome| {
        turns += 1;
        futures.push(Future { likelihood, turn: Reverse(turns), procedure, beliefs, outcome });
    };
    think_of(&mut futures, CERTAIN, Rc::new(procedure.clone()), beliefs, None);
    for _ in 0..count * tuning::FUTURES_PER_TRIAL {
        let Some(future) = futures.pop() else { break };
        let likelihood = future.likelihood;
        // Unlikely questions are not worth a run. Without this limit, one long run would let the others run ever
        // further ahead.
        if likelihood < CERTAIN / count as u64 {
            break;
        }
        let (procedure, beliefs) = future.examine();
        let Ok(asked) = procedure.question() else { continue };
        if let Some((trial, outcome, reported)) = early_answer(&asked) {
            let mut after = procedure.after(&Answer { trial: Some(trial), outcome, reported: Some(reported) });
            beliefs.steer(&mut after);
            think_of(&mut futures, likelihood, Rc::new(after), beliefs, None);
            continue;
        }
        if lookahead::asks_about_made_up(&procedure) {
            continue;
        }
        let believed = beliefs.odds_of_failure(procedure.mode(), &asked.selection);
        let fails = likelihood / 256 * believed.unwrap_or_else(|| lookahead::odds_of_failure(&procedure));
        if !wanted.iter().any(|(other, _)| *other == asked) {
            wanted.push((asked, likelihood as f64 / CERTAIN as f64));
            if wanted.len() == count {
                break;
            }
        }
        think_of(&mut futures, fails, procedure.clone(), beliefs.clone(), Some(Outcome::Fail));
        think_of(&mut futures, likelihood - fails, procedure, beliefs, Some(Outcome::Pass));
    }
    wanted
}
