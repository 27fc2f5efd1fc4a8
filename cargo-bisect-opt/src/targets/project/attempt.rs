//! The executions of one run, and their meaning for the search.

use std::{collections::BTreeSet, time::Duration};

use bisect_core::search::{Outcome, Reason};
use serde::{Deserialize, Serialize};

use super::{
    criteria::{Criteria, Part},
    test_selection::Failures,
};
use crate::{
    report::scan::Reports,
    run::{
        repetition::Repetition,
        result::{Note, RunResult},
    },
};

/// An unjudged run of everything that is to be run, or of one test.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Attempt {
    /// The executions, in order.
    pub(crate) executions: Vec<Execution>,
    /// The rule that allows several executions.
    pub(crate) repetition: Repetition,
    /// The changes that the executions reported.
    pub(crate) reports: Reports,
    /// The time to build what is executed.
    pub(crate) build_time: Duration,
    /// The duration of all executions together.
    pub(crate) duration: Duration,
    /// The tests that need others to fail.
    pub(crate) dependent: Failures,
}

/// One execution: the results of the executables, in the order in which they ran. None is run after a timeout.
pub(crate) type Execution = Vec<Part>;

impl Attempt {
    /// Returns an unresolved run in which nothing was executed.
    pub(crate) fn unresolved(reason: Reason, words: &str, reports: Reports, build_time: Duration) -> Self {
        let part = Part { outcome: Outcome::Unresolved(reason), reason: words.to_owned(), ..Part::default() };
        let (executions, repetition) = (vec![vec![part]], Repetition::Once);
        let (duration, dependent) = (Duration::ZERO, Failures::new());
        Self { executions, repetition, reports, build_time, duration, dependent }
    }

    /// Returns the results of all executables, in all executions.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Part> {
        self.executions.iter().flatten()
    }

    /// Returns true if anything failed, whether it counts or not.
    pub(crate) fn failed(&self) -> bool {
        self.parts().any(|part| part.outcome == Outcome::Fail)
    }

    /// Returns everything that failed in this run; `None` if the run is inconclusive.
    pub(crate) fn failures(&self) -> Option<Failures> {
        let tells = |execution: &&Execution| !matches!(raw_outcome(execution), Outcome::Unresolved(_));
        let failures =
            |execution: &Execution| execution.iter().flat_map(|part| part.failures.iter().cloned()).collect();
        let mut told = self.executions.iter().filter(tells).map(failures);
        let first: Failures = told.next()?;
        let is_one_missing = self.executions.iter().any(|execution| !tells(&execution));
        match self.repetition {
            // Here a test that passed once has passed; in the other case a test that failed once has failed.
            Repetition::UntilPass(_) => Some(told.fold(first, |all, one| all.intersection(&one).cloned().collect())),
            Repetition::Once | Repetition::UntilFailure(_) | Repetition::Each(_) => {
                let all = told.fold(first, |all, one| all.union(&one).cloned().collect());
                (!all.is_empty() || !is_one_missing).then_some(all)
            }
        }
    }

    /// Returns the notes for the user.
    pub(crate) fn notes(&self) -> Vec<Note> {
        self.parts().flat_map(|part| part.notes.iter().cloned()).collect()
    }

    /// Returns the result by these criteria.
    pub(crate) fn judge(self, criteria: &Criteria) -> RunResult {
        let mut verdicts: Vec<_> = self.executions.iter().map(|execution| judge(execution, criteria)).collect();
        let outcomes: Vec<_> = verdicts.iter().map(|&(outcome, _)| outcome).collect();
        let decisive = self.repetition.decisive(&outcomes);
        let (outcome, reason) = verdicts.swap_remove(decisive);
        let extra_outcomes = self.repetition.also(&outcomes).to_vec();
        let decisive =
            if extra_outcomes.is_empty() { &self.executions[decisive..=decisive] } else { &self.executions[..] };
        let failed_tests: BTreeSet<_> =
            decisive.iter().flatten().flat_map(|part| criteria.failed_tests(part)).collect();
        RunResult {
            outcome,
            reason,
            reports: self.reports,
            failed_tests: failed_tests.into_iter().collect(),
            failures: criteria.told(decisive.iter().flatten()),
            duration: self.duration,
            executions: self.executions.len(),
            extra_outcomes,
            build_time: self.build_time,
        }
    }
}

/// Returns a failure if any part failed, whether it counts or not; otherwise an unresolved outcome if any part has one.
pub(crate) fn raw_outcome(execution: &Execution) -> Outcome {
    judge(execution, &Criteria::any()).0
}

/// Returns the outcome of an execution and its reason. One failure that counts is a failure, even if other parts are
/// unresolved.
pub(crate) fn judge(execution: &Execution, criteria: &Criteria) -> (Outcome, String) {
    let mut verdict = (Outcome::Pass, String::new());
    for part in execution {
        let (outcome, reason) = criteria.judge(part);
        let is_worse = match outcome {
            // It has a reason if it failed as at the other end.
            Outcome::Pass => verdict == (Outcome::Pass, String::new()),
            Outcome::Fail => verdict.0 != Outcome::Fail,
            Outcome::Unresolved(_) => verdict.0 == Outcome::Pass,
        };
        if is_worse {
            verdict = (outcome, reason);
        }
    }
    verdict
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;

    use crate::{
        lab::calibration::Calibration,
        run::cause::Cause,
        run::spec::EndState,
        targets::project::test_selection::{Failure, TestSelection},
    };

    const SKIP: Outcome = Outcome::Unresolved(Reason::Skip);

    fn part(outcome: Outcome, tests: &[&str]) -> Part {
        let failure = |&test: &&str| Failure { executable: "x".to_owned(), test: Some(test.to_owned()) };
        let failures: Failures = tests.iter().map(failure).collect();
        let causes = failures.iter().map(|failure| (failure.clone(), Cause::UNKNOWN)).collect();
        let reason = if outcome == Outcome::Pass { String::new() } else { format!("{outcome:?}") };
        Part { outcome, reason, failures, causes, ..Part::default() }
    }

    fn failing(tests: &[&str]) -> Part {
        part(Outcome::Fail, tests)
    }

    fn attempt(executions: Vec<Execution>, repetition: Repetition) -> Attempt {
        let (reports, build_time, duration) = (Reports::new(false), Duration::ZERO, Duration::ZERO);
        Attempt { executions, repetition, reports, build_time, duration, dependent: Failures::new() }
    }

    /// Returns the outcome, its reason, and the failed tests.
    fn verdict(attempt: Attempt) -> (Outcome, String, Vec<String>) {
        let mut tests = TestSelection::default();
        tests.learn(EndState::AllOn, failing(&["a", "broken"]).failures);
        tests.learn(EndState::AllOff, failing(&["broken"]).failures);
        let run = attempt.judge(&Criteria { tests: tests.into(), ..Criteria::any() });
        (run.outcome, run.reason, run.failed_tests)
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn one_failure_that_counts_decides() {
        for (parts, outcome, failed) in [
            (vec![], Outcome::Pass, &[] as &[&str]),
            (vec![part(Outcome::Pass, &[])], Outcome::Pass, &[]),
            (vec![part(SKIP, &[]), failing(&["a"])], Outcome::Fail, &["a"]),
            (vec![failing(&["a", "broken"]), part(SKIP, &[])], Outcome::Fail, &["a"]),
            (vec![failing(&["broken"])], Outcome::Pass, &[]),
            (vec![failing(&["broken"]), part(SKIP, &[])], SKIP, &[]),
            (vec![failing(&["new"])], Outcome::Fail, &["new"]),
        ] {
            let reason = if outcome == Outcome::Pass { String::new() } else { format!("{outcome:?}") };
            assert_eq!(verdict(attempt(vec![parts], Repetition::Once)), (outcome, reason, names(failed)));
        }
    }

    #[test]
    fn a_run_that_fails_as_at_the_other_end_says_so() {
        let failure = Failure { executable: "check".to_owned(), test: None };
        let causes = ["E0277", "E0716"]
            .map(|code| Cause::of_messages(format!("error[{code}]: no\n --> src/lib.rs:1:1\n").as_bytes()));
        let mut calibration = Calibration::default();
        for (end, cause) in [EndState::AllOn, EndState::AllOff].into_iter().zip(&causes) {
            calibration.learn_execution(end);
            calibration.learn(end, &failure, cause);
        }
        let criteria = Criteria { calibration: Some(calibration.into()), ..Criteria::any() };
        let run = |cause: &Cause| {
            let failed = Part { causes: [(failure.clone(), cause.clone())].into(), ..failing(&[]) };
            let run = attempt(vec![vec![failed]], Repetition::Once).judge(&criteria);
            (run.outcome, run.reason)
        };
        assert_eq!(run(&causes[0]).0, Outcome::Fail);
        assert_eq!(run(&causes[1]), (Outcome::Pass, "error[E0716] at src/lib.rs:1:1, as at the other end".to_owned()));
    }

    #[test]
    fn what_was_broken_anyway_decides_no_execution() {
        let three = NonZeroUsize::new(3).unwrap();
        let (repeat, any_pass) = (Repetition::UntilFailure(three), Repetition::UntilPass(three));
        for (lists, repetition, outcome, failed) in [
            (["broken", "broken"], repeat, Outcome::Pass, &[] as &[&str]),
            (["broken", "a broken"], repeat, Outcome::Fail, &["a"]),
            (["a broken", "broken"], any_pass, Outcome::Pass, &[]),
            (["a broken", "a"], any_pass, Outcome::Fail, &["a"]),
        ] {
            let execution = |list: &str| vec![failing(&list.split_whitespace().collect::<Vec<_>>())];
            let (found, _, tests) = verdict(attempt(lists.map(execution).into(), repetition));
            assert_eq!((found, tests), (outcome, names(failed)), "{lists:?} {repetition:?}");
        }
    }

    #[test]
    fn what_fails_in_several_executions() {
        let three = NonZeroUsize::new(3).unwrap();
        let (repeat, any_pass) = (Repetition::UntilFailure(three), Repetition::UntilPass(three));
        let (a, b, ab) = (|| vec![failing(&["a"])], || vec![failing(&["b"])], || vec![failing(&["a", "b"])]);
        let (pass, skip) = (|| vec![part(Outcome::Pass, &[])], || vec![part(SKIP, &[])]);
        for (executions, of_repeat, of_any_pass) in [
            (vec![a()], Some("a"), Some("a")),
            (vec![pass(), a(), b()], Some("a b"), Some("")),
            (vec![a(), ab()], Some("a b"), Some("a")),
            (vec![pass(), pass()], Some(""), Some("")),
            (vec![skip(), a()], Some("a"), Some("a")),
            (vec![skip(), pass()], None, Some("")),
            (vec![skip(), skip()], None, None),
        ] {
            let failures = |repetition| attempt(executions.clone(), repetition).failures();
            let expected = |tests: Option<&str>| {
                tests.map(|tests| failing(&tests.split_whitespace().collect::<Vec<_>>()).failures)
            };
            assert_eq!(failures(repeat), expected(of_repeat), "{executions:?}");
            assert_eq!(failures(any_pass), expected(of_any_pass), "{executions:?}");
        }
    }
}
