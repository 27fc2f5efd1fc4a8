//! Proposers that replace the real one in tests: no answer may depend on what is proposed.
//!
//! `--cfg bisect_proposer` enables them, and `--cfg bisect_proposer="NAME"` selects one: `none` leaves free slots empty,
//! `random` fills them with random groups and moves cuts to random places, and `adversarial` proposes groups that tell
//! little, moves cuts to the ends, and always suspects the first candidate. `.ci/run proposers` runs the tests of the
//! engine with each of them.

use alloc::vec::Vec;

use super::{Proposal, asks_what_is_started, may_test_groups, parts::selection_of};
use crate::search::{
    ledger::{Asked, Entry, Ledger},
    model::{
        options::Options,
        rank::{Rank, simplest_cut},
        rng::SeededRng,
        selection::Prefix,
        trial::Question,
    },
    sequential::{Procedure, lookahead},
};

/// The names of these proposers.
#[derive(Clone, Copy)]
enum Proposer {
    Nothing,
    Random,
    Adversarial,
}

const PROPOSER: Proposer = if cfg!(bisect_proposer = "random") {
    Proposer::Random
} else if cfg!(bisect_proposer = "adversarial") {
    Proposer::Adversarial
} else {
    Proposer::Nothing
};

/// No more groups are proposed after this number of prefixes and groups.
const STOP_AFTER_PREFIXES: usize = 200;

/// See `propose` of the real proposer.
pub(in crate::search) fn propose(procedure: &Procedure, ledger: &Ledger, options: &Options) -> Proposal {
    let mut rng = rng(ledger);
    let mut wanted: Vec<Asked> = procedure.question().into_iter().collect();
    let Some((forced, bracket)) = lookahead::present_set(procedure).filter(|_| may_test_groups(options)) else {
        return Proposal { wanted, sole_suspect: None };
    };
    let is_open = |change: &Rank| !forced.contains(change);
    let candidates: Vec<_> = bracket.candidates().iter().copied().filter(is_open).collect();
    // Runs in flight are kept: otherwise each step would end them and begin others.
    for running in ledger.iter().filter(|entry| entry.in_flight() > 0).map(Entry::asked) {
        if !wanted.contains(&running) {
            wanted.push(running);
        }
    }
    wanted.truncate(options.in_flight.get());
    let prefixes = ledger.iter().filter(|entry| entry.trial.question == Question::Prefix).count();
    // Without this limit, a test that always ends the prover's run last would get proposals without end.
    while wanted.len() < options.in_flight.get() && candidates.len() > 1 && prefixes < STOP_AFTER_PREFIXES {
        let left_out = rng.below(candidates.len());
        let group = (0..candidates.len()).map(|place| match PROPOSER {
            Proposer::Nothing => false,
            Proposer::Random => rng.coin(),
            Proposer::Adversarial => place != left_out,
        });
        let Some((prefix, gaps)) = selection_of(&candidates, &group.collect::<Vec<_>>(), Prefix::All) else { break };
        let asked = lookahead::group(procedure, prefix, gaps);
        if wanted.contains(&asked) {
            break;
        }
        wanted.push(asked);
    }
    let sole_suspect = candidates.first().copied().filter(|_| matches!(PROPOSER, Proposer::Adversarial));
    Proposal { wanted, sole_suspect }
}

/// See `steer` of the real proposer.
pub(in crate::search) fn steer(procedure: &mut Procedure, ledger: &Ledger, options: &Options) {
    if !may_test_groups(options) || asks_what_is_started(procedure, ledger) {
        return;
    }
    let Some((_, bracket)) = procedure.narrowing().filter(|(_, bracket)| bracket.may_steer()) else { return };
    let (candidates, mut rng) = (bracket.candidates(), rng(ledger));
    let last = candidates.len() - 1;
    let place = match PROPOSER {
        Proposer::Nothing => None,
        Proposer::Random => Some(1 + rng.below(last)),
        Proposer::Adversarial => Some(if rng.coin() { 1 } else { last }),
    };
    lookahead::steer(procedure, place.map(|place| simplest_cut(candidates[place - 1], candidates[place])));
}

fn rng(ledger: &Ledger) -> SeededRng {
    SeededRng::new(ledger.next_id().0 as u64)
}
