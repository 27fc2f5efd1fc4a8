//! The knowledge from the runs so far: which failures count.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bisect_core::search::{Mode, Outcome, Question, Rank, Trial};

use super::{
    attempt::Attempt,
    criteria::Criteria,
    options::{PerTest, ProjectOptions},
    runner::{KnownFailures, Parts, ProjectRun, ProjectRunner, Solo},
    test_selection::{Failure, Failures, TestSelection},
    unmatched_name,
};
use crate::{
    cargo::BuildCounts,
    lab::calibration::{BothFail, Calibration, another_note, made_by_changes_note, usual_note},
    run::{
        cause::Cause,
        error::RunError,
        lost_reports::LostReports,
        result::{Note, Notes, RunResult},
        spec::EndState,
    },
};

/// The knowledge from the runs so far.
#[derive(Debug, Default)]
pub(super) struct Knowledge {
    /// The tests that are repeated, and those that count.
    pub(super) tests: Arc<TestSelection>,
    /// The failures of tests that run together, in one go.
    pub(super) together: Arc<Calibration<Failure>>,
    /// The failures of each test in its own process, which may differ from those of tests that run together.
    apart: Arc<BTreeMap<Failure, Calibration<Failure>>>,
    /// The changes that each test reaches at the end states that were run.
    reached: BTreeMap<Failure, BTreeSet<Rank>>,
    /// The tests that failed at an end state, and need others to fail.
    dependent: Failures,
    /// The failures in runs that count as failed.
    pub(super) failed: Failures,
    /// The counts of builds that were made for runs.
    pub(super) builds: BuildCounts,
    pub(super) notes: Notes,
    lost_reports: LostReports,
    /// See [`ProjectOptions::direction`].
    direction: Option<Mode>,
}

impl Knowledge {
    /// Returns the knowledge before the first run.
    pub(super) fn new(options: &ProjectOptions) -> Self {
        let tests = TestSelection::new(options.all_tests, options.direction);
        let together = Calibration::new(options.direction);
        Self { tests: Arc::new(tests), together: Arc::new(together), direction: options.direction, ..Self::default() }
    }

    /// Returns the knowledge for a search by another axis, about the failures that `tests` selects.
    pub(super) fn narrowed(&self, tests: TestSelection) -> Self {
        Self { tests: Arc::new(tests), together: self.together.clone(), direction: self.direction, ..Self::default() }
    }

    /// Returns the knowledge for a run that begins now.
    pub(super) fn known_failures(&self, options: &ProjectOptions) -> KnownFailures {
        KnownFailures {
            tests: self.tests.clone(),
            together: self.together.clone(),
            apart: self.apart.clone(),
            separate: self.separate_tests(options).unwrap_or_default(),
            has_compiled: self.builds.has_compiled,
        }
    }

    /// Returns the tests that are searched separately, in order; `None` if the search is about all of them together.
    pub(super) fn separate_tests(&self, options: &ProjectOptions) -> Option<Vec<Failure>> {
        let tests: Vec<_> = self.tests.searched()?.iter().cloned().collect();
        (is_separate(options, tests.len()) && !self.tests.needs_others()).then_some(tests)
    }

    /// Learns from a run.
    ///
    /// # Errors
    /// If the target cannot be searched.
    pub(super) fn learn(&mut self, trial: &Trial, shown: &ProjectRun, runner: &ProjectRunner) -> Result<(), RunError> {
        self.notes.add(shown.notes.iter().cloned());
        self.builds.add_all(shown.builds);
        let attempts: Vec<_> = match &shown.parts {
            Parts::Together(attempt) => vec![attempt],
            Parts::Separate(solos) => solos.iter().map(|solo| &solo.attempt).collect(),
        };
        for part in attempts.into_iter().flat_map(Attempt::parts) {
            self.lost_reports.count(part.lost_reports.as_deref())?;
        }
        match (EndState::of(trial.question), &shown.parts) {
            (Some(end), Parts::Together(attempt)) => {
                self.learn_end(end, attempt, runner)?;
            }
            (Some(end), Parts::Separate(solos)) => {
                let (numbering, mode) = (runner.axis.numbering(), Mode::of(&trial.selection));
                let apart = Arc::make_mut(&mut self.apart);
                for Solo { test, attempt } in solos {
                    let known = apart.entry(test.clone()).or_insert_with(|| Calibration::new(self.direction));
                    calibrate(known, end, attempt);
                    let reached = attempt.reports.ids().iter().map(|&id| numbering.rank(mode, id));
                    self.reached.entry(test.clone()).or_default().extend(reached);
                }
            }
            (None, Parts::Together(attempt)) => {
                if let Some(failures) = attempt.failures() {
                    self.notes.repeat(Arc::make_mut(&mut self.tests).learn_late(&failures));
                }
            }
            (None, Parts::Separate(_)) => {}
        }
        Ok(())
    }

    /// Learns from a run of everything at one end state which failures count. A test that fails at both was broken
    /// anyway.
    fn learn_end(&mut self, end: EndState, attempt: &Attempt, runner: &ProjectRunner) -> Result<(), RunError> {
        let ProjectRunner { options, project, .. } = runner;
        calibrate(Arc::make_mut(&mut self.together), end, attempt);
        if !self.tests.wants(end) {
            return Ok(());
        }
        let is_test = options.subcommand.is_test();
        if is_test && !runner.may_lack_tests(Some(end)) && attempt.parts().all(|part| part.tests == Some(0)) {
            let command = project.command_line();
            let why = if project.names_tests() {
                format!("no test name matches the arguments{}", unmatched_name::suggested(runner))
            } else {
                "there is none in what it builds (documentation tests are not searched: make a test of the example)"
                    .to_owned()
            };
            return Err(RunError::Unusable(format!("`{command}` runs no test: {why}")));
        }
        let tests = Arc::make_mut(&mut self.tests);
        let notes = match attempt.failures() {
            None => tests.give_up(),
            Some(failures) => {
                let causes = attempt.parts().flat_map(|part| &part.causes);
                let unended = causes.filter(|(_, cause)| cause.is_unended());
                tests.learn_unended(unended.map(|(failure, _)| failure.clone()));
                tests.learn(end, failures)
            }
        };
        self.dependent.extend(attempt.dependent.iter().cloned());
        let searched = tests.searched().map_or(0, Failures::len);
        let others = tests.repeat_others(&self.dependent, is_separate(options, searched));
        self.notes.repeat(notes.into_iter().chain(others));
        Ok(())
    }

    /// Assumes that no other run at an end state will come.
    pub(super) fn assume_no_more_ends(&mut self) {
        if !self.tests.is_settled() {
            self.notes.repeat(Arc::make_mut(&mut self.tests).give_up());
        }
    }

    /// Returns true if the judgement of a run of everything depends on other runs.
    pub(super) fn must_wait_with(&self, attempt: &Attempt) -> bool {
        attempt.failed() && !self.tests.is_settled()
    }

    /// Returns true if a run of everything but the culprits must be compared with others before it is judged: it failed
    /// in another way. Without a test, the run is of everything.
    pub(super) fn needs_controls(
        &mut self,
        trial: &Trial,
        test: Option<&Failure>,
        attempt: &Attempt,
        options: &ProjectOptions,
    ) -> bool {
        if trial.question != Question::AllButFound {
            return false;
        }
        let criteria = self.criteria(trial, test, options);
        let another = only_another(&criteria, attempt).into_iter();
        self.known_mut(test).record_unconfirmed(&trial.selection, another)
    }

    /// Returns how the build, or the only test that fails, does so at both ends, if it does so in different ways.
    pub(super) fn both_fail(&self, options: &ProjectOptions) -> Option<BothFail> {
        let searched = self.tests.searched().filter(|searched| !searched.is_empty());
        let failed: BTreeSet<_> =
            searched.map_or_else(|| self.together.keys().collect(), |searched| searched.iter().collect());
        let mut failed = failed.into_iter();
        let (Some(failure), None, true) = (failed.next(), failed.next(), options.same_failure) else { return None };
        self.apart.get(failure).unwrap_or(&self.together).both_fail(failure)
    }

    /// Judges a run for a trial: of one test, or of everything.
    pub(super) fn judge(
        &mut self,
        trial: &Trial,
        test: Option<&Failure>,
        attempt: Attempt,
        options: &ProjectOptions,
    ) -> RunResult {
        if trial.question == Question::AllButFound {
            let another = self.criteria(trial, test, options);
            let left_out = self.left_out(trial, test);
            let again = only_another(&another, &attempt).into_iter();
            let decided = self.known_mut(test).decide(&trial.selection, &left_out, again);
            self.notes.repeat(decided.map(|decided| decided.note(another.describe(&decided.key, &decided.cause))));
        }
        self.judge_by(&self.criteria(trial, test, options), attempt, options)
    }

    /// Returns the criteria for a trial of a test that is run in its own process, or of everything.
    fn criteria(&self, trial: &Trial, test: Option<&Failure>, options: &ProjectOptions) -> Criteria {
        let (tests, known) = match test {
            Some(test) => (Criteria::any().tests, self.apart.get(test)),
            None => (self.tests.clone(), Some(&*self.together)),
        };
        let calibration = known.map(|known| known.for_runs_of(Some(&trial.selection))).unwrap_or_default();
        Criteria { tests, calibration: Some(calibration.into()), same_failure: options.same_failure }
    }

    /// Returns the changes that a trial leaves out. For one test, these are only those that it reaches: others make no
    /// difference to it.
    fn left_out(&self, trial: &Trial, test: Option<&Failure>) -> BTreeSet<Rank> {
        let reached = test.and_then(|test| self.reached.get(test));
        let left_out = trial.selection.excluded.iter().copied();
        left_out.filter(|change| reached.is_none_or(|reached| reached.contains(change))).collect()
    }

    /// Returns what is known about the failures of a test that is run in its own process, or of everything.
    fn known_mut(&mut self, test: Option<&Failure>) -> &mut Calibration<Failure> {
        match test {
            Some(test) => {
                let apart = Arc::make_mut(&mut self.apart).entry(test.clone());
                apart.or_insert_with(|| Calibration::new(self.direction))
            }
            None => Arc::make_mut(&mut self.together),
        }
    }

    fn judge_by(&mut self, criteria: &Criteria, attempt: Attempt, options: &ProjectOptions) -> RunResult {
        let another = attempt.parts().find_map(|part| criteria.another(part));
        let usual = attempt.parts().find_map(|part| criteria.usual(part));
        let made_by_changes = attempt.parts().find_map(|part| criteria.made_by_changes(part));
        self.notes.add(made_by_changes.map(|environment| Note::new(made_by_changes_note(environment))));
        let failures = attempt.failures();
        let result = attempt.judge(criteria);
        if result.outcome == Outcome::Fail {
            self.failed.extend(failures.unwrap_or_default());
        }
        if let (Some(usual), Outcome::Pass) = (usual, result.outcome) {
            let text = self.both_fail(options).map_or_else(|| usual_note(usual), |both| both.note());
            self.notes.add([Note { about: "usual failure".to_owned(), text }]);
        }
        if let (Some(another), Outcome::Unresolved(_)) = (another, result.outcome) {
            self.notes.add([Note { about: "another failure".to_owned(), text: another_note(another) }]);
        }
        result
    }
}

/// Returns true if the search continues for each of this number of failing tests.
fn is_separate(options: &ProjectOptions, tests: usize) -> bool {
    let several = match options.per_test {
        PerTest::Auto => tests > 1,
        PerTest::Always => tests > 0,
        PerTest::Never => false,
    };
    several && options.subcommand.is_test() && !options.all_tests
}

/// Returns the failures of an attempt, if they are of another kind and the searched one did not occur.
fn only_another<'a>(criteria: &'a Criteria, attempt: &'a Attempt) -> Vec<(&'a Failure, &'a Cause)> {
    let fails = attempt.parts().any(|part| criteria.judge(part).0 == Outcome::Fail);
    if fails || attempt.parts().all(|part| criteria.another(part).is_none()) {
        return Vec::new();
    }
    let failed = attempt.parts().flat_map(|part| criteria.counting(part));
    failed.filter(|(_, cause)| cause.environment().is_none()).collect()
}

/// Learns the causes of failures at one end state.
fn calibrate(calibration: &mut Calibration<Failure>, end: EndState, attempt: &Attempt) {
    attempt.executions.iter().for_each(|_| calibration.learn_execution(end));
    let causes = attempt.parts().flat_map(|part| &part.causes);
    causes.for_each(|(failure, cause)| calibration.learn(end, failure, cause));
}
