//! The proposer: which runs to start in free slots beside the question that the prover waits for.
//!
//! A proposal proves nothing, and an error here costs only runs: the answer of a search follows from the prover's own
//! questions, whose cuts a proposal may move only where that makes no difference. It is a function of the prover, the
//! ledger and the number of slots, and has no state of its own.
//!
//! [`Explanations`] weighs hypotheses about the changes that are needed next. From them follow [`groups`], runs of arbitrary
//! changes that tell the hypotheses apart, and [`futures`], the questions that the prover will probably ask later. The
//! value of a group is what it is expected to tell, in bits; that of a question, the probability that it is needed. A free
//! slot gets the one with the greater value.

#![cfg_attr(bisect_proposer, allow(dead_code, reason = "another proposer is tested"))]

mod explanations;
mod futures;
mod groups;
mod hypotheses;
pub(super) mod parts;
#[cfg(bisect_proposer)]
mod replaced;
#[cfg(all(test, not(bisect_proposer)))]
mod tests;

use alloc::vec::Vec;

use explanations::Explanations;
use groups::Groups;

use super::{
    ledger::{Asked, Entry, Ledger},
    model::{
        options::Options,
        rank::{Order, Rank},
    },
    sequential::{Procedure, lookahead},
    tuning,
};

/// The runs that are proposed.
#[derive(Debug)]
pub(super) struct Proposal {
    /// The questions whose answers are wanted; the one that the procedure waits for is first, so that a group that hangs
    /// cannot block the search.
    pub(super) wanted: Vec<Asked>,
    /// The only change that explains all runs together with the forced ones, if it is likelier than several changes that
    /// are needed together.
    pub(super) sole_suspect: Option<Rank>,
}

#[cfg(bisect_proposer)]
pub(super) use replaced::{propose, steer};

/// Returns the runs that make the best use of all slots.
#[cfg(not(bisect_proposer))]
pub(super) fn propose(procedure: &Procedure, ledger: &Ledger, options: &Options) -> Proposal {
    with_groups(procedure, ledger, options).unwrap_or_else(|| {
        let futures = futures::wanted(procedure, Explanations::default(), options.in_flight.get(), ledger);
        Proposal { wanted: futures.into_iter().map(|(asked, _)| asked).collect(), sole_suspect: None }
    })
}

/// Moves the next cut of a procedure to where it halves the likelihood, unless a run of that cut is started.
#[cfg(not(bisect_proposer))]
pub(super) fn steer(procedure: &mut Procedure, ledger: &Ledger, options: &Options) {
    if may_test_groups(options) && !asks_what_is_started(procedure, ledger) {
        Explanations::of(procedure, ledger).unwrap_or_default().steer(procedure);
    }
}

/// Returns the proposal if groups are tested.
fn with_groups(procedure: &Procedure, ledger: &Ledger, options: &Options) -> Option<Proposal> {
    let count = options.in_flight.get();
    let (mut wanted, mut next) = lookahead::to_first_cut(procedure).filter(|_| may_test_groups(options))?;
    let explanations = Explanations::of(&next, ledger)?;
    // At the present question, only the prover moves its cut: a run must be able to answer that very question.
    let is_ahead = !wanted.is_empty();
    if is_ahead && !asks_what_is_started(&next, ledger) {
        explanations.steer(&mut next);
    }
    wanted.push(next.question().ok()?);
    for running in ledger.iter().filter(|entry| entry.in_flight() > 0) {
        let asked = running.asked();
        if explanations.information(next.mode(), &asked.selection) > tuning::MIN_BITS_OF_A_GROUP
            && !wanted.contains(&asked)
        {
            wanted.push(asked);
        }
    }
    let futures = futures::wanted(&next, explanations.clone(), count, ledger);
    let mut futures = futures.into_iter().peekable();
    let mut groups = Groups::new(&explanations, &next);
    for asked in &wanted {
        groups.note(&asked.selection);
    }
    while wanted.len() < count {
        while futures.next_if(|(asked, _)| wanted.contains(asked)).is_some() {}
        let likelihood = futures.peek().map_or(0.0, |&(_, likelihood)| likelihood);
        let group = groups.best().filter(|&(_, bits)| bits > likelihood.max(tuning::MIN_BITS_OF_A_GROUP));
        let Some((asked, _)) = group.or_else(|| futures.next()) else { break };
        groups.note(&asked.selection);
        wanted.push(asked);
    }
    wanted.truncate(count);
    Some(Proposal { wanted, sole_suspect: explanations.sole() })
}

/// Returns true if a run of the question of a procedure is started.
fn asks_what_is_started(procedure: &Procedure, ledger: &Ledger) -> bool {
    procedure.question().is_ok_and(|asked| ledger.find(&asked).is_some_and(Entry::is_started))
}

/// Returns true if groups are tested. A counter can only be run with a prefix of its steps.
fn may_test_groups(options: &Options) -> bool {
    options.in_flight.get() > 1 && options.order != Order::Counter
}
