//! Many culprits: a set that needs many changes, or many changes that fail alone.

use alloc::{sync::Arc, vec, vec::Vec};

use super::{Answer, Procedure, inconsistent, state::AfterConfirm, state::State, sweep::Sweep};
use crate::before::{
    model::{
        noise::Noise,
        rank::{Order, Rank},
        ranked,
        selection::Selection,
        trial::{Question, TrialId},
        verdict::{Culprit, Inconsistency},
    },
    sequential::{bracket::Bracket, density::Density},
    tuning,
};

/// The message if a procedure in the state of a sweep has none.
const SWEEPS: &str = "a sweep is a field while its state lasts";

/// Returns true if the set that needs these changes is likely to need many more. It is taken for dense from then on,
/// until [`narrow`] finds its density low.
pub(super) fn needs_many(procedure: &mut Procedure, forced: &[Rank], rest: &Bracket) -> bool {
    procedure.is_dense |= procedure.options.order != Order::Counter && density(procedure, forced, rest).is_high();
    procedure.is_dense
}

/// Continues with a bracket where many changes are needed, so that the forced ones are not likely to suffice.
pub(super) fn narrow(procedure: &mut Procedure, forced: Vec<Rank>, bracket: Bracket, failed: TrialId) -> State {
    let density = density(procedure, &forced, &bracket);
    procedure.is_dense = !density.is_low(bracket.empty_groups().unwrap_or(0));
    let group = density.group(false);
    let is_too_large = procedure.options.max_set_size.is_some_and(|max| forced.len() >= max.get());
    if procedure.is_dense && group.size < bracket.candidates().len() && bracket.is_open() && !is_too_large {
        return State::Narrow { forced, bracket: bracket.with_group(Some(group)) };
    }
    let rest = bracket.with_group(None);
    // The first change was run alone.
    if forced.len() == 1 { procedure.narrow(forced, rest, failed) } else { State::FoundAlone { forced, rest } }
}

/// Returns the density of the changes that a set needs, after these.
fn density(procedure: &Procedure, forced: &[Rank], rest: &Bracket) -> Density {
    let left = rest.candidates().len();
    let place = |&change: &Rank| ranked::below(&procedure.known, change);
    let is_below = |change: &Rank| forced.last().is_some_and(|last| change < last);
    let excluded_below = procedure.excluded().into_iter().filter(is_below).count();
    Density {
        needed: forced.len(),
        adjacent: forced.windows(2).filter(|pair| place(&pair[0]) == place(&pair[1]) + 1).count(),
        examined: procedure.known.len().saturating_sub(left).max(forced.len()),
        since: forced.last().map_or(0, |last| place(last).saturating_sub(left + excluded_below)),
        left,
    }
}

/// Searches the rest after everything but the culprits has failed: for one set, or for single changes in a sweep.
pub(super) fn search_rest(procedure: &mut Procedure, failed: TrialId, reported: Arc<[Rank]>) -> State {
    let found = &procedure.found;
    let may_sweep = procedure.options.order != Order::Counter && procedure.branches.avoided().is_empty();
    if may_sweep && found.are_single() {
        // The start of the sweep must not depend on the runs in flight. It skips earlier changes, which are searched after
        // it.
        let next = ranked::below(&reported, found.changes().last().expect("a culprit was found"));
        procedure.sweep = Sweep::new(&reported, next, found.changes().collect(), failed, procedure.stage());
    }
    if procedure.sweep.is_some() { State::Sweep } else { procedure.narrow_all(failed, reported) }
}

/// Returns the question of the sweep.
///
/// # Panics
/// If there is no sweep.
pub(super) fn question(procedure: &Procedure) -> (Question, Selection) {
    let sweep = procedure.sweep.as_ref().expect(SWEEPS);
    match sweep.single() {
        Some(change) => (Question::FoundAlone, procedure.mode.exactly(&[change])),
        None => (Question::Prefix, sweep.selection(procedure.mode)),
    }
}

/// Takes the answer to the question of the sweep.
///
/// # Panics
/// If there is no sweep.
pub(super) fn answer(procedure: &mut Procedure, answer: &Answer<'_>) -> State {
    let sweep = procedure.sweep.as_mut().expect(SWEEPS);
    let single = sweep.single();
    let fails_alone = sweep.record(answer.outcome);
    let Some(change) = single.filter(|_| fails_alone) else { return sweep_on(procedure) };
    if answer.reported.is_some_and(|reported| !reported.contains(&change)) {
        return inconsistent(Inconsistency::Unexplained(answer.trial));
    }
    let culprit = Culprit { changes: vec![change], mode: procedure.mode, confirmed_by: answer.trial };
    if procedure.options.max_sets.is_some_and(|max| procedure.found.len() + 1 >= max.get()) {
        return State::Baseline { culprit, then: AfterConfirm::Stop };
    }
    let is_proved_later =
        procedure.options.noise == Noise::Refused && procedure.found.unproved() < tuning::MAX_UNPROVED_CULPRITS;
    if !is_proved_later {
        return State::Baseline { culprit, then: AfterConfirm::Sweep };
    }
    // A group that passes, or the rest after the sweep, will prove the culprit too.
    procedure.found.add(culprit);
    sweep_on(procedure)
}

/// Continues with the next group, or with all that is left after the last one.
pub(super) fn sweep_on(procedure: &mut Procedure) -> State {
    match procedure.sweep.take_if(|sweep| sweep.is_over()) {
        None => State::Sweep,
        // Without another culprit, the rest is the same as before.
        Some(sweep) if sweep.found() == 0 => procedure.narrow_all(sweep.failed, sweep.reported().clone()),
        Some(_) => State::Branch,
    }
}
