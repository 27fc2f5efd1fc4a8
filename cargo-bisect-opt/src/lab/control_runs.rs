//! Runs that show whether a failure of another kind depends on the changes. They answer no question of the search.
//!
//! Where everything but the culprits fails in another way, the search would go on for that failure. But a test that
//! fails by chance, or because of what an earlier run has left behind, fails in another way as well. So the run is made
//! once more, in place of the first one, and then one at the end that passes.
//!
//! If the second run repeats the failure, and the end that passes does not show it, the failure is searched for in all
//! runs that leave out these culprits.

use bisect_core::search::{Question, Selection, Trial};

use super::{
    session::{Controls, Session, SideRun},
    target::{Runner, Target},
    workers,
};
use crate::run::spec::{Purpose, RunSpec};

/// Asks for the runs that this run must be compared with, if it fails in another way than what is searched for. Returns
/// true if its judgement has to wait for them.
pub(super) fn want<T: Target>(
    session: &mut Session<'_, '_, '_, '_, T>,
    trial: &Trial,
    shown: &<T::Runner as Runner>::Observations,
) -> bool {
    if trial.question != Question::AllButFound {
        return false;
    }
    if session.controls.is_some() {
        return true;
    }
    let left = session.lab.runs_left().map(|left| left.saturating_sub(session.search.progress().runs()));
    if left.is_some_and(|left| left < 2) || !session.target.needs_controls(trial, shown) {
        return false;
    }
    let inverted = !trial.selection.inverted;
    let end = if inverted { Question::AllOff } else { Question::AllOn };
    let nothing = Selection { inverted, ..Selection::all() };
    let control = Trial { question: end, selection: nothing, ..trial.clone() };
    let wanted = vec![(Purpose::Control, control), (Purpose::Repeat, trial.clone())];
    session.controls = Some(Controls { trial: trial.id, wanted, is_in_flight: false });
    true
}

/// Starts the next of these runs, if there is one. Returns true if the search has to wait.
pub(super) fn start<T: Target>(session: &mut Session<'_, '_, '_, '_, T>) -> bool {
    let Some(controls) = &mut session.controls else { return false };
    if !controls.is_in_flight
        && let Some(slot) = session.workers.free_slot()
        && let Some((purpose, trial)) = controls.wanted.pop()
    {
        controls.is_in_flight = true;
        let choice = session.target.axis().numbering().choice(&trial.selection);
        let repetition = session.repetition();
        session.start_beside_search(slot, SideRun { purpose, trial, choice, repetition });
    }
    true
}

/// Takes the result of a control run.
pub(super) fn take<T: Target>(
    session: &mut Session<'_, '_, '_, '_, T>,
    spec: &RunSpec,
    shown: <T::Runner as Runner>::Observations,
) {
    workers::delete_reports(spec);
    let Some(controls) = &mut session.controls else { return };
    controls.is_in_flight = false;
    let of = controls.trial;
    if controls.wanted.is_empty() {
        session.controls = None;
    }
    if spec.purpose == Purpose::Repeat
        && let Some((_, first)) = session.awaiting_judgement.iter_mut().find(|(spec, _)| spec.trial.id == of)
    {
        *first = shown;
    }
}
