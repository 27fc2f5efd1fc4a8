//! The target of `test` and `run`: what cargo builds, run with a pattern; and that of `build` and `check`: the build itself.
//!
//! Toggles that are decided at run time need one build, before the search. For those that are decided while compiling,
//! and for `--rustflags`, each run begins with a build of what the selection changes.

mod attempt;
mod axis;
mod company;
mod compile;
mod criteria;
mod failures;
mod judging;
mod listing;
mod reproduce;
mod run;
mod separate;
mod unended;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, Once, OnceLock, PoisonError},
    time::Duration,
};

use bisect_core::{
    ChangeId, Pattern,
    search::{Question, Trial},
};
use regex::bytes::Regex;

pub(crate) use crate::cargo::{CargoError, Project, Subcommand};
use attempt::Attempt;
use axis::Axis;
use failures::{Failure, Failures, Focus, Share};
use judging::calibrate;
use separate::Solo;

use crate::{
    axes::Level,
    cargo::{
        Artifacts, BuildOutput, BuildOverrides,
        toggles::{self, Toggle},
    },
    lab::{
        calibration::{Calibration, Side},
        target::Target,
    },
    output::events::{Change, StopGap},
    process::{interrupt::Interrupt, launcher::Launcher},
    report::{kind::ChangeKind, scan::Reports},
    run::{
        error::RunError,
        lost_reports::LostReports,
        result::{Run, lost_log_note},
        spec::Request,
    },
};

/// What the user has asked for.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Cargo's subcommand: what is run, if anything is.
    pub(crate) subcommand: Subcommand,
    /// Cargo's arguments.
    pub(crate) cargo: Vec<OsString>,
    /// The words behind `--`: for the tests or the program.
    pub(crate) target: Vec<OsString>,
    /// The toggles to search; empty: all that are decided at run time, else all that are decided while compiling.
    pub(crate) toggles: Vec<String>,
    /// Repeat everything in every run, not only the tests whose outcome depends on the changes.
    pub(crate) all_tests: bool,
    /// Whether the search goes on for each failing test.
    pub(crate) per_test: PerTest,
    /// Flags for the compiler with PATTERN in them; then no toggle is searched.
    pub(crate) rustflags: Option<String>,
    /// A run that takes longer has failed; building does not count, unless it is the target.
    pub(crate) timeout: Option<Duration>,
    /// The exit status of a run that does not tell.
    pub(crate) skip_code: i32,
    /// Only a failure with output that matches counts.
    pub(crate) fail_when: Option<Regex>,
    /// Only failures like those at the end of the search that fails count.
    pub(crate) same_failure: bool,
    /// What starts the executables.
    pub(crate) launcher: Option<Launcher>,
    /// Keep quiet about the build, as long as it goes well.
    pub(crate) quiet: bool,
}

/// Whether the search goes on for each failing test on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PerTest {
    /// If there are several.
    Auto,
    /// Also if there is one.
    Always,
    /// Their failures are one failure.
    Never,
}

/// What cargo has built, ready to be run with patterns.
#[derive(Debug)]
pub(crate) struct Program {
    settings: Settings,
    project: Arc<Project>,
    /// The first build.
    artifacts: OnceLock<Artifacts>,
    toggles: BTreeSet<Toggle>,
    axis: Axis,
    learned: Mutex<Learned>,
    lost_log: Once,
    lost_reports: LostReports,
    root: PathBuf,
}

/// What the runs so far have taught.
#[derive(Debug, Default)]
struct Learned {
    focus: Arc<Focus>,
    /// How everything fails, run in one go.
    together: Arc<Calibration<Failure>>,
    /// How tests fail, each in a process of its own: not always as in company.
    apart: Arc<Calibration<Failure>>,
    /// The changes that each test comes by at the end that fails.
    reached: BTreeMap<Failure, BTreeSet<ChangeId>>,
    /// The tests that failed at an end, and need others for it.
    dependent: Failures,
    saw_another: bool,
    told_unstarted: bool,
    /// What has failed in runs that count as failed.
    failed: Failures,
    notes: Vec<String>,
    /// Notes that are not repeated.
    said: BTreeSet<String>,
    /// Whether cargo came to compiling in any run that was a build and nothing else.
    has_compiled: bool,
    /// Builds that were made for runs, and how often they started rustc.
    rebuilds: (usize, usize),
    /// What an executable needs in its environment, by its key.
    needed_variables: HashMap<String, Arc<BTreeMap<String, OsString>>>,
}

/// What a run showed, before it is known which failures count.
#[derive(Debug)]
pub(crate) enum Shown {
    /// Of everything.
    Together(Attempt),
    /// Of single tests.
    Separate(Vec<Solo>),
}

/// The toggles in what cargo builds for these arguments: what `cargo bisect-opt toggles` lists.
///
/// # Errors
/// If it does not build, or does not list them.
pub(crate) fn toggles(
    cargo: &[OsString],
    target: &[OsString],
    quiet: bool,
    interrupt: &Interrupt,
) -> Result<BTreeSet<Toggle>, CargoError> {
    let project = Project::load(Subcommand::Test, cargo, target)?;
    let scratch = tempfile::tempdir()?;
    let artifacts = first_build(&project, quiet, scratch.path(), interrupt)?;
    project.toggles(&artifacts, scratch.path(), interrupt)
}

fn first_build(project: &Project, quiet: bool, scratch: &Path, interrupt: &Interrupt) -> Result<Artifacts, CargoError> {
    let log = scratch.join("build.log");
    let output = if quiet { BuildOutput::Log(&log) } else { BuildOutput::Shown };
    project.build(&BuildOverrides::default(), output, scratch, interrupt)
}

impl Program {
    /// Builds, and finds out what there is to search.
    ///
    /// # Errors
    /// If that cannot be built, or has no such toggles.
    pub(crate) fn prepare(settings: Settings, interrupt: &Interrupt) -> Result<Self, CargoError> {
        if let (true, Some(_)) = (settings.subcommand.is_build(), &settings.launcher) {
            return Err(CargoError::Usage(
                "--launcher starts what was built, and of a build nothing is started".to_owned(),
            ));
        }
        let flags = settings.rustflags.as_deref().map(|text| axis::check_flags(text, &settings.toggles)).transpose()?;
        let project = Project::load(settings.subcommand, &settings.cargo, &settings.target)?;
        let mut program = Self::new(settings, Arc::new(project), Axis::RunTime(Vec::new()));
        match flags {
            // Each run builds; building without any of the flags first would be one build too many.
            Some(text) => program.axis = Axis::Flags(text),
            None if program.settings.subcommand.is_build() => program.choose_build_time(interrupt)?,
            None => program.choose_toggles(interrupt)?,
        }
        Ok(program)
    }

    fn new(settings: Settings, project: Arc<Project>, axis: Axis) -> Self {
        let focus = Arc::new(Focus::new(settings.all_tests));
        Self {
            root: project.root(),
            settings,
            project,
            artifacts: OnceLock::new(),
            toggles: BTreeSet::new(),
            axis,
            learned: Mutex::new(Learned { focus, ..Learned::default() }),
            lost_log: Once::new(),
            lost_reports: LostReports::default(),
        }
    }

    /// The same project, compiled in different ways.
    pub(crate) fn compiled(settings: Settings, project: Arc<Project>, level: Box<dyn Level>) -> Self {
        Self::new(settings, project, Axis::Codegen(level))
    }

    /// The same, searched for what makes these tests fail, as they were seen to fail; for what made anything fail, if it is
    /// not known which do.
    pub(crate) fn narrowed(&self, tests: &[String], level: Box<dyn Level>) -> Self {
        let settings = Settings { per_test: PerTest::Never, ..self.settings.clone() };
        let mut focus = self.focus();
        if !tests.is_empty() {
            Arc::make_mut(&mut focus).narrow(|failure| tests.contains(&self.name(failure)));
        }
        let program = Self::compiled(settings, self.project.clone(), level);
        let together = self.learned().together.clone();
        *program.learned() = Learned { focus, together, ..Learned::default() };
        if let Some(artifacts) = self.artifacts.get() {
            program.artifacts.get_or_init(|| artifacts.clone());
        }
        program
    }

    /// Builds what is repeated, with this, and does not run it. Where the build itself is the target it may fail: what it
    /// made by then, and what the compiler said by then, counts.
    ///
    /// # Errors
    /// If it does not build.
    pub(crate) fn build_beside(&self, with: BuildOverrides, interrupt: &Interrupt) -> Result<Artifacts, CargoError> {
        let scratch = tempfile::tempdir()?;
        let log = scratch.path().join("build.log");
        let with = BuildOverrides { only: self.needed_targets(), ..with };
        if self.settings.subcommand.is_build() {
            let timeout = self.settings.timeout;
            let built =
                self.project.attempt_in(0, &with, BuildOutput::Log(&log), scratch.path(), timeout, interrupt)?;
            return Ok(built.artifacts);
        }
        self.project.build(&with, BuildOutput::Log(&log), scratch.path(), interrupt)
    }

    /// Builds without any change, beside a search of what is compiled in.
    ///
    /// # Errors
    /// If it does not build.
    pub(crate) fn build_without(&self, interrupt: &Interrupt) -> Result<(), CargoError> {
        let with = self.level().and_then(|level| level.build_with(&Pattern::all().inverted(true)));
        self.build_beside(with.unwrap_or_default(), interrupt).map(drop)
    }

    /// What kind of change a toggle's are, where that is known.
    fn kind(&self, toggle: &str) -> Option<ChangeKind> {
        self.toggles.iter().find(|known| known.name == toggle).map(|toggle| toggle.key.kind())
    }

    /// How things are compiled, if that is what is searched.
    fn level(&self) -> Option<&dyn Level> {
        match &self.axis {
            Axis::Codegen(level) => Some(level.as_ref()),
            _ => None,
        }
    }

    /// Builds, and chooses among the toggles that are in it.
    fn choose_toggles(&mut self, interrupt: &Interrupt) -> Result<(), CargoError> {
        let scratch = tempfile::tempdir()?;
        let artifacts = first_build(&self.project, self.settings.quiet, scratch.path(), interrupt)?;
        self.project.executables(&artifacts)?;
        self.toggles = self.project.toggles(&artifacts, scratch.path(), interrupt)?;
        self.artifacts = artifacts.into();
        let choice = toggles::choose(&self.toggles, &self.settings.toggles)?;
        self.learned().notes.extend(choice.note);
        self.axis = if choice.build_time { Axis::BuildTime(choice.names) } else { Axis::RunTime(choice.names) };
        Ok(())
    }

    fn learned(&self) -> MutexGuard<'_, Learned> {
        // Nothing that is done under the lock stops halfway.
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn focus(&self) -> Arc<Focus> {
        self.learned().focus.clone()
    }

    /// What was built first; nothing, before any run has built it.
    fn first_artifacts(&self) -> &Artifacts {
        static NONE: OnceLock<Artifacts> = OnceLock::new();
        self.artifacts.get().unwrap_or_else(|| NONE.get_or_init(Artifacts::default))
    }

    /// Tells the user once that logs are not complete.
    fn note_lost_log(&self, error: &io::Error) {
        self.lost_log.call_once(|| self.learned().notes.push(lost_log_note(error)));
    }
}

impl Target for Program {
    type Shown = Shown;

    fn run(&self, request: &Request<'_>) -> Result<Shown, RunError> {
        // The runtime only appends to a file that exists.
        fs_err::File::create(request.report_file)?;
        if let Err(error) = fs_err::File::create(request.log) {
            self.note_lost_log(&error);
        }
        match request.tests {
            None if self.settings.subcommand.is_build() => self.compile(request).map(Shown::Together),
            None => self.attempt(request).map(Shown::Together),
            Some(tests) => self.run_separately(tests, request).map(Shown::Separate),
        }
    }

    fn learn(&self, trial: &Trial, shown: &Shown) -> Result<(), RunError> {
        match (Side::of(trial.question), shown) {
            (Some(side), Shown::Together(attempt)) => self.learn_from(side, attempt),
            (Some(side), Shown::Separate(solos)) => {
                let mut learned = self.learned();
                let Learned { apart, reached, .. } = &mut *learned;
                let apart = Arc::make_mut(apart);
                for Solo { test, attempt } in solos {
                    calibrate(apart, side, attempt);
                    reached.entry(test.clone()).or_default().extend(attempt.reports.ids());
                }
                Ok(())
            }
            (None, Shown::Together(attempt)) => {
                let mut learned = self.learned();
                if let Some(failures) = attempt.failures() {
                    let note = Arc::make_mut(&mut learned.focus).learn_late(&failures);
                    learned.notes.extend(note);
                }
                Ok(())
            }
            (None, Shown::Separate(_)) => Ok(()),
        }
    }

    fn settle(&self) {
        let mut learned = self.learned();
        if !learned.focus.is_settled() {
            let notes = Arc::make_mut(&mut learned.focus).give_up();
            learned.notes.extend(notes);
        }
    }

    fn judge(&self, trial: &Trial, shown: Shown) -> Result<Vec<Run>, Shown> {
        match shown {
            Shown::Separate(solos) => Ok(self.judge_separately(trial, solos)),
            Shown::Together(attempt) => {
                let mut criteria = self.together(Some(trial));
                if attempt.failed() && !criteria.focus.is_settled() {
                    return Err(Shown::Together(attempt));
                }
                if trial.question == Question::Rest && self.learn_left(trial, None, &criteria, &attempt) {
                    criteria = self.together(Some(trial));
                }
                Ok(vec![self.judge_by(&criteria, attempt)])
            }
        }
    }

    fn reports<'a>(&self, shown: &'a Shown) -> Vec<&'a Reports> {
        match shown {
            Shown::Separate(solos) => solos.iter().map(|solo| &solo.attempt.reports).collect(),
            Shown::Together(attempt) => vec![&attempt.reports],
        }
    }

    fn needs_text_run(&self) -> bool {
        self.level().is_none()
    }

    fn tests(&self) -> Option<Vec<String>> {
        let searched = self.separate_tests()?;
        Some(searched.iter().map(|failure| self.name(failure)).collect())
    }

    fn describe(&self) -> String {
        self.project.command_line()
    }

    fn root(&self) -> &Path {
        &self.root
    }

    fn axis(&self) -> &'static str {
        self.axis.name()
    }

    fn subject(&self) -> Option<String> {
        Some(self.level().map_or_else(|| self.axis.subject(&self.toggles), Level::subject))
    }

    fn headline(&self, changes: usize) -> Option<String> {
        self.level().map(|level| level.headline(changes))
    }

    fn is_build(&self) -> bool {
        self.settings.subcommand.is_build()
    }

    fn change(&self, id: ChangeId, text: &[String]) -> Change {
        if let Axis::Codegen(level) = &self.axis {
            return level.describe(id, text, &self.root);
        }
        Change::reported(id, text, |name| self.kind(name))
    }

    fn stop_gap(&self, ids: &[ChangeId], changes: &[Change]) -> Option<StopGap> {
        self.level()?.stop_gap(ids, changes)
    }

    fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut self.learned().notes)
    }

    fn summary(&self) -> Option<String> {
        if let Some(level) = self.level() {
            return level.summary();
        }
        let (builds, invocations) = self.learned().rebuilds;
        self.axis.builds().then(|| format!("{builds} builds for these runs started rustc {invocations} times"))
    }

    fn reproduce(&self, pattern: &Pattern, tests: &[String]) -> String {
        self.reproduce_line(pattern, tests)
    }
}

#[cfg(test)]
#[path = "program_tests.rs"]
mod tests;
