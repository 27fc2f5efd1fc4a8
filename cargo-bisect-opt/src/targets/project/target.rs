//! A project of cargo as a searchable target: it decides which failures count, and words the answer.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use bisect_core::{
    ChangeId,
    search::{Outcome, Selection, Trial},
};

use super::{
    command_line::{CommandLine, NeededVariables},
    knowledge::Knowledge,
    options::{PerTest, ProjectOptions},
    runner::{KnownFailures, Parts, ProjectRun, ProjectRunner, Solo},
    test_selection::Failure,
};
use crate::{
    axes::{Axis, Files, FurtherSearch, LateChanges, facts::AxisFacts},
    cargo::{Artifacts, BuildCounts, BuildOutput, BuildOverrides, CargoError, Project},
    lab::{
        calibration::BothFail,
        target::{Judge, Judgement, Reproduction, Target},
    },
    output::terms::Terms,
    process::{interrupt::Interrupt, scratch_dir::ScratchDir},
    report::scan::Reports,
    run::{
        error::RunError,
        result::RunResult,
        spec::{Choice, EndState},
        target_kind::TargetKind,
    },
};

/// A project of cargo, ready to be searched by an axis.
#[derive(Debug)]
pub(crate) struct ProjectTarget {
    pub(super) runner: Arc<ProjectRunner>,
    pub(super) knowledge: Knowledge,
    /// A cache that is filled when shell command lines are made, also through shared references.
    pub(super) needed_variables: RefCell<NeededVariables>,
    root: PathBuf,
}

impl ProjectTarget {
    /// Returns a target without knowledge. `artifacts` was built before; if it is `None`, the first run builds.
    pub(crate) fn new(
        options: ProjectOptions,
        project: Arc<Project>,
        axis: Box<dyn Axis>,
        artifacts: Option<Artifacts>,
    ) -> Self {
        let built = OnceLock::new();
        if let Some(artifacts) = artifacts {
            built.get_or_init(|| artifacts);
        }
        let (root, knowledge) = (project.root(), Knowledge::new(&options));
        let runner = Arc::new(ProjectRunner { options, project, axis, artifacts: built });
        Self { runner, knowledge, needed_variables: RefCell::default(), root }
    }

    /// Returns the same project, for a search by another axis for the known failures of these tests; for all known
    /// failures, if the failing tests are not known.
    pub(crate) fn narrowed(&self, tests: &[String], axis: Box<dyn Axis>) -> Self {
        self.searched_by(tests, axis, PerTest::Never)
    }

    /// Returns the same project, for a search by another axis that may find other culprits of each of these tests.
    pub(crate) fn inside(&self, tests: &[String], axis: Box<dyn Axis>) -> Self {
        self.searched_by(tests, axis, self.runner.options.per_test)
    }

    /// Returns the same project, for a search from the beginning in which these changes are always disabled; `None` if
    /// there is no such search.
    pub(crate) fn holding(&self, held: &[ChangeId]) -> Option<Self> {
        let ProjectRunner { options, project, axis, artifacts } = &*self.runner;
        let axis = axis.further(FurtherSearch::Holding(held)).pop()?.ok()?;
        Some(Self::new(options.clone(), project.clone(), axis, artifacts.get().cloned()))
    }

    fn searched_by(&self, tests: &[String], axis: Box<dyn Axis>, per_test: PerTest) -> Self {
        let options = ProjectOptions { per_test, ..self.runner.options.clone() };
        let mut selected = (*self.knowledge.tests).clone();
        if !tests.is_empty() {
            selected.narrow(|failure| tests.contains(&self.name(failure)));
        }
        let artifacts = self.runner.artifacts.get().cloned();
        let narrowed = Self::new(options, self.runner.project.clone(), axis, artifacts);
        Self { knowledge: self.knowledge.narrowed(selected), ..narrowed }
    }

    /// Builds what is repeated, with these overrides, and does not run it. Where the build itself is the target it may
    /// fail: then what it has made and what the compiler has reported until then counts.
    ///
    /// # Errors
    /// If it does not build.
    pub(crate) fn build_beside(
        &self,
        overrides: BuildOverrides,
        interrupt: &Interrupt,
    ) -> Result<Artifacts, CargoError> {
        let ProjectRunner { options, project, .. } = &*self.runner;
        let scratch = ScratchDir::new()?;
        let log = scratch.path().join("build.log");
        let overrides = BuildOverrides { only: self.runner.needed_targets(&self.knowledge.tests), ..overrides };
        if options.subcommand.is_build() {
            let output = BuildOutput::Log(&log);
            let built = project.attempt_in(0, &overrides, output, scratch.path(), options.timeout, interrupt)?;
            return Ok(built.artifacts);
        }
        project.build_in(0, &overrides, BuildOutput::Log(&log), scratch.path(), interrupt)
    }

    /// Builds without any change, in addition to a search of build-time changes.
    ///
    /// # Errors
    /// If it does not build.
    pub(crate) fn build_without_changes(&self, interrupt: &Interrupt) -> Result<(), CargoError> {
        let none = Choice::of(self.runner.axis.numbering().order, &Selection::all()).at_end(EndState::AllOff);
        let application =
            self.runner.axis.apply(&none, &Files { directory: Path::new(""), stem: "", report_file: None });
        let overrides = application.ok().and_then(|application| application.build);
        self.build_beside(overrides.unwrap_or_default(), interrupt).map(drop)
    }

    /// Returns the names of the tests that fail with every change enabled and with every change disabled.
    pub(crate) fn fail_both_ways(&self) -> BTreeSet<String> {
        let [all, none] = [EndState::AllOn, EndState::AllOff].map(|end| self.knowledge.tests.failed_at(end));
        let both = all.into_iter().flatten().filter(|&failure| none.is_some_and(|none| none.contains(failure)));
        both.map(|failure| self.name(failure)).collect()
    }

    /// Returns the name of a test for people, or that of its executable if the test is unknown.
    fn name(&self, failure: &Failure) -> String {
        failure.test.clone().unwrap_or_else(|| {
            let executables = &self.runner.first_artifacts().executables;
            let executable = executables.iter().find(|executable| executable.key() == failure.executable);
            executable.map_or_else(|| failure.executable.clone(), ToString::to_string)
        })
    }
}

impl Judge for ProjectTarget {
    type Runner = ProjectRunner;

    fn runner(&self) -> Arc<ProjectRunner> {
        self.runner.clone()
    }

    fn known_failures(&self) -> Arc<KnownFailures> {
        Arc::new(self.knowledge.known_failures(&self.runner.options))
    }

    fn learn(&mut self, trial: &Trial, shown: &ProjectRun) -> Result<(), RunError> {
        self.knowledge.learn(trial, shown, &self.runner)?;
        let is_end = EndState::of(trial.question).is_some();
        let late = self.axis().late().filter(|_| is_end && self.knowledge.tests.fails_at_one_end());
        late.map_or(Ok(()), LateChanges::find)
    }

    fn needs_controls(&mut self, trial: &Trial, shown: &ProjectRun) -> bool {
        let options = &self.runner.options;
        match &shown.parts {
            Parts::Together(attempt) => self.knowledge.needs_controls(trial, None, attempt, options),
            Parts::Separate(solos) => solos.iter().fold(false, |needs_controls, Solo { test, attempt }| {
                self.knowledge.needs_controls(trial, Some(test), attempt, options) || needs_controls
            }),
        }
    }

    fn judge(&mut self, trial: &Trial, shown: ProjectRun) -> Judgement<ProjectRun> {
        let runner = self.runner.clone();
        match shown.parts {
            Parts::Together(ref attempt) if self.knowledge.must_wait_with(attempt) => Judgement::Pending(shown),
            Parts::Together(attempt) => {
                let mut result = self.knowledge.judge(trial, None, attempt, &runner.options);
                let failed_at_end = EndState::of(trial.question).is_some() && result.outcome == Outcome::Fail;
                if let Some(late) = runner.axis.late().filter(|_| failed_at_end) {
                    result.reports.add_known(late.unreported());
                }
                Judgement::Ready(vec![result])
            }
            Parts::Separate(solos) => {
                let mut judge = |Solo { test, attempt }| {
                    let result = self.knowledge.judge(trial, Some(&test), attempt, &runner.options);
                    let failed = result.outcome == Outcome::Fail;
                    RunResult { failed_tests: failed.then(|| self.name(&test)).into_iter().collect(), ..result }
                };
                Judgement::Ready(solos.into_iter().map(&mut judge).collect())
            }
        }
    }

    fn assume_no_more_ends(&mut self) {
        self.knowledge.assume_no_more_ends();
    }

    fn reports<'a>(&self, shown: &'a ProjectRun) -> Vec<&'a Reports> {
        match &shown.parts {
            Parts::Separate(solos) => solos.iter().map(|solo| &solo.attempt.reports).collect(),
            Parts::Together(attempt) => vec![&attempt.reports],
        }
    }

    fn tests(&mut self) -> Option<Vec<String>> {
        let searched = self.knowledge.separate_tests(&self.runner.options)?;
        Some(searched.iter().map(|failure| self.name(failure)).collect())
    }

    fn both_fail(&self) -> Option<BothFail> {
        self.knowledge.both_fail(&self.runner.options)
    }

    fn can_hold(&self) -> bool {
        !self.axis().further(FurtherSearch::Holding(&[])).is_empty()
    }

    fn take_notes(&mut self) -> Vec<String> {
        self.knowledge.notes.take()
    }
}

impl Target for ProjectTarget {
    fn axis(&self) -> &dyn Axis {
        &*self.runner.axis
    }

    fn terms(&self) -> Terms {
        let AxisFacts { terms, reporter, .. } = self.axis().facts();
        let may_be_lost = self.runner.project.has_runner && reporter.is_target();
        if may_be_lost { terms.through_runner() } else { terms }
    }

    fn describe(&self) -> String {
        self.runner.project.command_line()
    }

    fn line(&self) -> String {
        let line = self.describe();
        line.strip_prefix("cargo ").map_or_else(|| line.clone(), |rest| format!("cargo bisect-opt {rest}"))
    }

    fn root(&self) -> &Path {
        &self.root
    }

    fn kind(&self) -> TargetKind {
        self.runner.kind()
    }

    fn rustc(&self) -> Option<String> {
        self.runner.project.rustc_version().lines().next().map(str::to_owned)
    }

    fn builds(&self) -> BuildCounts {
        self.knowledge.builds
    }

    fn reproduce(&self, again: &Reproduction<'_>) -> String {
        let &Reproduction { selection, tests, directory, stem, reader, .. } = again;
        let limit = again.limit(self.runner.options.timeout);
        let Self { runner, knowledge, needed_variables, .. } = self;
        let needed_variables = &mut *needed_variables.borrow_mut();
        CommandLine { runner, knowledge, needed_variables, reader, limit }.of(
            &self.axis().numbering().choice(selection),
            tests,
            &Files { directory, stem, report_file: None },
        )
    }
}
