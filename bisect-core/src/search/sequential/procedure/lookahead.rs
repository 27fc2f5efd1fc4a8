//! Guesses about the outcomes of the next trials, and what follows from them. A guess never replaces an answer.

use alloc::{sync::Arc, vec::Vec};
use core::{cmp::Ordering, ops::Range};

use super::{Answer, Procedure, state::State};
use crate::search::{
    ledger::{Asked, Entry},
    model::{
        options::Options,
        rank::{Order, Rank},
        selection::{Prefix, Selection},
        trial::{Outcome, Question},
    },
    sequential::bracket::{Bracket, BracketStep},
    tuning,
};

/// Returns made-up reports of the first run. Hashes are spread evenly, so the first cuts halve their space, apart
/// from the slack that brackets use for simple cuts, and can be asked before any change is known.
pub(super) fn made_up(options: &Options) -> Arc<[Rank]> {
    let evenly = |i: u64| Rank((2 * i + 1) * (u64::MAX / tuning::MADE_UP_CHANGES / 2));
    match options.order {
        Order::ByHash if !options.favours => (0..tuning::MADE_UP_CHANGES).map(evenly).collect(),
        Order::ByHash | Order::Given | Order::Counter => Arc::new([]),
    }
}

/// Returns the changes reported by a run that leaves out the excluded changes and `left_out`. If that run was not made,
/// guesses them from the known changes.
pub(super) fn reported_of_rest(procedure: &Procedure, answer: &Answer<'_>, left_out: &[Rank]) -> Arc<[Rank]> {
    answer.reported.cloned().unwrap_or_else(|| rest_of_known(procedure, left_out).into())
}

/// Returns the known changes without the excluded ones and `left_out`, in order.
pub(in crate::search) fn rest_of_known(procedure: &Procedure, left_out: &[Rank]) -> Vec<Rank> {
    let excluded = procedure.excluded();
    let is_left = |id: &&Rank| !excluded.contains(id) && !left_out.contains(id);
    procedure.known.iter().filter(is_left).copied().collect()
}

/// Returns the forced changes of the present set, and the bracket of the next change, if they do not suffice.
pub(in crate::search) fn present_set(procedure: &Procedure) -> Option<(&[Rank], &Bracket)> {
    match &procedure.state {
        State::Narrow { forced, bracket } | State::FoundAlone { forced, rest: bracket } => Some((forced, bracket)),
        _ => None,
    }
}

/// Returns the question about a group: a prefix with gaps, together with the forced changes.
pub(in crate::search) fn group(procedure: &Procedure, prefix: Prefix, gaps: Vec<Range<Rank>>) -> Asked {
    let forced = present_set(procedure).map_or(&[][..], |(forced, _)| forced);
    let selection = Selection { gaps, ..procedure.select(prefix, forced) };
    Asked { question: Question::Prefix, selection, stage: procedure.stage() }
}

/// Proposes the next cut of the present bracket; `None`: it halves the likelihood again.
pub(in crate::search) fn steer(procedure: &mut Procedure, cut: Option<Rank>) {
    if let State::Narrow { bracket, .. } = &mut procedure.state {
        *bracket = bracket.clone().proposing(cut);
    }
}

/// Returns the questions before the first cut, and the procedure at that cut if they are answered as is likely;
/// `None` if no cut follows.
pub(in crate::search) fn to_first_cut(procedure: &Procedure) -> Option<(Vec<Asked>, Procedure)> {
    let (mut asked, mut procedure) = (Vec::new(), procedure.clone());
    while matches!(procedure.state, State::AllOn | State::AllOff { .. }) {
        asked.push(procedure.question().ok()?);
        let outcome = if odds_of_failure(&procedure) >= tuning::odds::EVEN { Outcome::Fail } else { Outcome::Pass };
        procedure.answer(&Answer::assumed(outcome));
    }
    present_set(&procedure).is_some().then_some((asked, procedure))
}

/// Returns true if the present question names changes that are only made up, so that no run can answer it.
pub(in crate::search) fn asks_about_made_up(procedure: &Procedure) -> bool {
    procedure.is_made_up && !matches!(procedure.state, State::AllOff { .. } | State::Narrow { .. })
}

/// Returns true if the procedure may still ask the question of a trial that was started early. Otherwise, its answer is
/// useless.
pub(in crate::search) fn may_ask(procedure: &Procedure, entry: &Entry) -> bool {
    let (question, selection) = (entry.trial.question, &entry.trial.selection);
    let is_of_this_stage = entry.stage == procedure.stage();
    let Prefix::Below(cut) = selection.prefix else { return is_of_this_stage };
    if !selection.gaps.is_empty() {
        // A group is no question of the procedure. It is useful until the stage ends.
        return is_of_this_stage;
    }
    let as_many_forced = |forced: &[Rank]| selection.forced.len().cmp(&forced.len());
    let of_this_set = match &procedure.state {
        State::Narrow { forced, bracket } if question == Question::Prefix => match as_many_forced(forced) {
            Ordering::Less => false,
            Ordering::Equal => bracket.may_ask(cut),
            Ordering::Greater => true,
        },
        State::FoundAlone { forced, .. } => as_many_forced(forced).is_ge(),
        _ => true,
    };
    is_of_this_stage && of_this_set
}

/// Returns the probability that the next trial fails, in 256ths.
pub(in crate::search) fn odds_of_failure(procedure: &Procedure) -> u64 {
    match &procedure.state {
        State::AllOn | State::FirstSolo => tuning::odds::ALL_ON,
        // If the target passes with every change, the user probably expects it to fail with none.
        State::AllOff { all: Outcome::Pass, .. } => tuning::odds::ALL_OFF_AFTER_PASS,
        State::Narrow { bracket, .. } => match bracket.narrowing() {
            BracketStep::Ask(cut) => bracket.odds_of_failure(cut),
            BracketStep::Needed(_) | BracketStep::Unexplained => tuning::odds::EVEN,
        },
        // Most culprits are one change.
        State::FoundAlone { forced, .. } if forced.len() == 1 => tuning::odds::ONE_ALONE,
        State::FoundAlone { .. } | State::Sweep => tuning::odds::EVEN,
        State::AllButFound { .. } | State::Branch => tuning::odds::REST,
        State::Minimize { .. } => tuning::odds::PART,
        State::AllOff { .. } | State::Baseline { .. } => tuning::odds::BASELINE,
        State::Done(_) => 0,
    }
}
