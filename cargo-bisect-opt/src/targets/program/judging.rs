//! What a run means: which failures count in it, as far as the runs before it have taught that.

use std::{collections::BTreeSet, sync::Arc};

use bisect_core::{
    ChangeId,
    search::{Outcome, Trial},
};

use super::{Failure, Failures, Learned, Program, attempt::Attempt, criteria::Criteria};
use crate::{
    cargo::Subcommand,
    lab::calibration::{Calibration, Side, another_note, left_note, made_by_changes_note},
    run::{error::RunError, result::Run},
};

impl Program {
    /// What counts in a run of everything for a trial; at its ends, if it is not known which.
    pub(super) fn together(&self, trial: Option<&Trial>) -> Criteria {
        let learned = self.learned();
        let calibration = Some(learned.together.for_runs_of(trial.map(|trial| &trial.selection)).into());
        Criteria { focus: learned.focus.clone(), calibration, same_failure: self.settings.same_failure }
    }

    /// What counts of a test that is run in a process of its own.
    pub(super) fn alone(&self, trial: Option<&Trial>) -> Criteria {
        let selection = trial.map(|trial| &trial.selection);
        let calibration = Some(self.learned().apart.for_runs_of(selection).into());
        Criteria { calibration, same_failure: self.settings.same_failure, ..Criteria::any() }
    }

    /// The changes that a trial leaves out; of one test, those that it comes by: others make no difference to it.
    fn left_out(&self, trial: &Trial, test: Option<&Failure>) -> BTreeSet<ChangeId> {
        let learned = self.learned();
        let reached = test.and_then(|test| learned.reached.get(test));
        let left_out = trial.selection.excluded.iter().copied();
        left_out.filter(|id| reached.is_none_or(|reached| reached.contains(id))).collect()
    }

    /// Learns from a run of everything at one end what counts: what fails with every change and with none was broken
    /// anyway.
    pub(super) fn learn_from(&self, side: Side, attempt: &Attempt) -> Result<(), RunError> {
        let mut learned = self.learned();
        calibrate(Arc::make_mut(&mut learned.together), side, attempt);
        if !learned.focus.wants(side) {
            return Ok(());
        }
        if self.settings.subcommand == Subcommand::Test && attempt.parts().all(|part| part.tests == Some(0)) {
            let command = self.project.command_line();
            let why = if self.project.names_tests() {
                "no name of a test matches what is asked for"
            } else {
                "there is none in what it builds (documentation tests are not searched: make a test of the example)"
            };
            return Err(RunError::Unusable(format!("`{command}` runs no test: {why}")));
        }
        let focus = Arc::make_mut(&mut learned.focus);
        let notes = match attempt.failures() {
            None => focus.give_up(),
            Some(failures) => {
                let causes = attempt.parts().flat_map(|part| &part.causes);
                let unended = causes.filter(|(_, cause)| cause.is_unended());
                focus.learn_unended(unended.map(|(failure, _)| failure.clone()));
                focus.learn(side, failures)
            }
        };
        learned.notes.extend(notes);
        learned.dependent.extend(attempt.dependent.iter().cloned());
        let Learned { focus, dependent, notes, .. } = &mut *learned;
        let searched = focus.searched().map_or(0, Failures::len);
        notes.extend(Arc::make_mut(focus).repeat_others(dependent, self.is_separate(searched)));
        Ok(())
    }

    /// Where the culprits found so far are left out and what is left fails in another way, that failure is what is searched
    /// for next. The result is whether that is so. The trial is of one test, or of everything.
    pub(super) fn learn_left(
        &self,
        trial: &Trial,
        test: Option<&Failure>,
        criteria: &Criteria,
        attempt: &Attempt,
    ) -> bool {
        let fails = attempt.parts().any(|part| criteria.judge(part).0 == Outcome::Fail);
        let another = attempt.parts().find_map(|part| criteria.another(part)).filter(|_| !fails);
        let Some(words) = another else { return false };
        let left_out = self.left_out(trial, test);
        let mut learned = self.learned();
        learned.notes.push(left_note(words));
        let left = Arc::make_mut(if test.is_some() { &mut learned.apart } else { &mut learned.together });
        let failed = attempt.parts().flat_map(|part| criteria.counting(part));
        for (failure, cause) in failed.filter(|(_, cause)| cause.environment().is_none()) {
            left.learn_left(&left_out, failure, cause);
        }
        true
    }

    /// What the search is told of a run. The first time that it failed in another way than counts, the user is told.
    pub(super) fn judge_by(&self, criteria: &Criteria, attempt: Attempt) -> Run {
        let another = attempt.parts().find_map(|part| criteria.another(part));
        let made_by_changes = attempt.parts().find_map(|part| criteria.made_by_changes(part));
        if let Some(environment) = made_by_changes {
            self.note_once(made_by_changes_note(environment));
        }
        let failures = attempt.failures();
        let run = attempt.judge(criteria);
        if run.outcome == Outcome::Fail {
            self.learned().failed.extend(failures.unwrap_or_default());
        }
        if let (Some(another), Outcome::Unresolved(_)) = (another, run.outcome) {
            let mut learned = self.learned();
            if !std::mem::replace(&mut learned.saw_another, true) {
                learned.notes.push(another_note(another));
            }
        }
        run
    }

    /// Tells the user something, unless it was said before.
    pub(super) fn note_once(&self, note: String) {
        let mut learned = self.learned();
        if learned.said.insert(note.clone()) {
            learned.notes.push(note);
        }
    }
}

/// Learns how things fail at one end.
pub(super) fn calibrate(calibration: &mut Calibration<Failure>, side: Side, attempt: &Attempt) {
    let causes = attempt.parts().flat_map(|part| &part.causes);
    causes.for_each(|(failure, cause)| calibration.learn(side, failure, cause));
}
