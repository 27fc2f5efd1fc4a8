//! Several trials in flight, without a second search algorithm: what will be asked next, whichever way they end?
//!
//! The procedure is one trial after the other, and it stays so. To keep more than one in flight, copies of it are given
//! the answers that may come, the likelier first, and the questions that they go on to ask are wanted too. Of *n*
//! prefixes at once this asks about as cleverly as an (*n*+1)-ary search would, it looks beyond the end of a set as well, and what
//! is found is what one trial after the other finds, because those are the answers that count.

use alloc::{collections::BinaryHeap, rc::Rc, sync::Arc, vec::Vec};
use core::cmp::{Ordering, Reverse};

use super::procedure::{Answer, Asked, Procedure};
use crate::search::tuning;
use crate::{
    search::model::rank::Rank,
    search::model::trial::{Outcome, TrialId},
};

/// A likelihood, as a fraction of this.
const CERTAIN: u64 = 1 << 48;

/// A possible future.
struct Future {
    likelihood: u64,
    /// Among equally likely ones, the one thought of first.
    turn: Reverse<usize>,
    procedure: Rc<Procedure>,
    /// How the trial that it waits for has ended; worked out only for futures that are looked at.
    outcome: Option<Outcome>,
}

impl Future {
    fn procedure(self) -> Rc<Procedure> {
        let Some(outcome) = self.outcome else { return self.procedure };
        // No culprit is looked at before its trial is over, so it does not matter which one it is said to be.
        Rc::new(self.procedure.after(&Answer { trial: TrialId(usize::MAX), outcome, reported: None }))
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

/// The answer to a trial that is over, while the procedure has not come to it.
pub(in crate::search) type Early<'a> = (TrialId, Outcome, &'a Arc<[Rank]>);

/// The `count` questions whose answers are most likely to be needed, the one that the procedure waits for first.
pub(in crate::search) fn wanted<'a>(
    procedure: &Procedure,
    count: usize,
    early_answer: impl Fn(&Asked) -> Option<Early<'a>>,
) -> Vec<Asked> {
    let mut wanted: Vec<Asked> = Vec::new();
    let mut futures = BinaryHeap::new();
    let mut turns = 0;
    let mut think_of = |futures: &mut BinaryHeap<Future>, likelihood, procedure: &Rc<Procedure>, outcome| {
        turns += 1;
        futures.push(Future { likelihood, turn: Reverse(turns), procedure: procedure.clone(), outcome });
    };
    think_of(&mut futures, CERTAIN, &Rc::new(procedure.clone()), None);
    for _ in 0..count * tuning::FUTURES_PER_TRIAL {
        let Some(future) = futures.pop() else { break };
        let likelihood = future.likelihood;
        // Unlikely questions are not worth a run. Without this limit, one long run would let the others run ever further ahead.
        if likelihood < CERTAIN / count as u64 {
            break;
        }
        let procedure = future.procedure();
        let Ok(asked) = procedure.question() else { continue };
        if let Some((trial, outcome, reported)) = early_answer(&asked) {
            let after = procedure.after(&Answer { trial, outcome, reported: Some(reported) });
            think_of(&mut futures, likelihood, &Rc::new(after), None);
            continue;
        }
        if procedure.asks_about_made_up() {
            continue;
        }
        if !wanted.contains(&asked) {
            wanted.push(asked);
            if wanted.len() == count {
                break;
            }
        }
        let fails = likelihood / 256 * procedure.odds_of_failure();
        think_of(&mut futures, fails, &procedure, Some(Outcome::Fail));
        think_of(&mut futures, likelihood - fails, &procedure, Some(Outcome::Pass));
    }
    wanted
}
