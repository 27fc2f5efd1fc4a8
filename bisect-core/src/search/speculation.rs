//! Several trials at once, without another search: what will be asked next, whichever way the trials in flight end?
//!
//! The procedure is one trial after the other, and it stays so. To keep more than one in flight, copies of it are given
//! the answers that may come, the likelier first, and the questions that they go on to ask are wanted too. Of *n*
//! prefixes at once this asks about as cleverly as an (*n*+1)-ary search would, it looks beyond the end of a set as well, and what
//! is found is what one trial after the other finds, because those are the answers that count.

use alloc::{collections::BinaryHeap, vec::Vec};
use core::cmp::{Ordering, Reverse};

use super::{
    procedure::{Answer, Asked, Procedure},
    trial::{Outcome, TrialId},
};
use crate::ChangeId;

/// A likelihood, as a fraction of this.
const CERTAIN: u64 = 1 << 48;

/// Of so many possible futures each trial in flight may cost a look; the least likely are not looked at.
const LOOKS: usize = 3;

/// A possible future.
struct Future {
    likelihood: u64,
    /// Among equally likely ones, the one thought of first.
    turn: Reverse<usize>,
    procedure: Procedure,
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
pub(super) type Early = (TrialId, Outcome, Vec<ChangeId>);

/// The `count` questions whose answers are most likely to be needed, the one that the procedure waits for first.
pub(super) fn wanted(
    procedure: &Procedure,
    count: usize,
    early_answer: impl Fn(&Asked) -> Option<Early>,
) -> Vec<Asked> {
    let mut wanted: Vec<Asked> = Vec::new();
    let mut futures = BinaryHeap::new();
    let mut turns = 0;
    let mut think_of = |futures: &mut BinaryHeap<Future>, likelihood, procedure| {
        turns += 1;
        futures.push(Future { likelihood, turn: Reverse(turns), procedure });
    };
    think_of(&mut futures, CERTAIN, procedure.clone());
    for _ in 0..count * LOOKS {
        let Some(Future { likelihood, procedure, .. }) = futures.pop() else { break };
        let Ok(asked) = procedure.question() else { continue };
        if let Some((trial, outcome, reported)) = early_answer(&asked) {
            think_of(&mut futures, likelihood, procedure.after(&Answer { trial, outcome, reported: &reported }));
            continue;
        }
        if !wanted.contains(&asked) {
            wanted.push(asked);
            if wanted.len() == count {
                break;
            }
        }
        let reported = procedure.expected_reports();
        let fails = likelihood / 256 * procedure.odds_of_failure();
        for (outcome, likelihood) in [(Outcome::Fail, fails), (Outcome::Pass, likelihood - fails)] {
            // No culprit is looked at before its trial is over, so it does not matter which one it is said to be.
            let answer = Answer { trial: TrialId(usize::MAX), outcome, reported: &reported };
            think_of(&mut futures, likelihood, procedure.after(&answer));
        }
    }
    wanted
}
