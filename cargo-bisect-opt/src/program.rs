//! The target of `test` and `run`: what cargo builds, run with a pattern.
//!
//! Toggles that are decided at run time need one build, before the search. For those that are decided while compiling,
//! and for `--rustflags`, each run begins with a build of what the selection changes.

mod attempt;
mod axis;
mod failures;
mod reproduce;

use std::{
    collections::BTreeSet,
    ffi::OsString,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use bisect_core::{Matcher, Pattern, search::Outcome};
use regex::bytes::Regex;

pub use crate::cargo::{CargoError, Subcommand};
use crate::{
    cargo::{
        Artifacts, Executable, Output, Project, With, libtest,
        toggles::{self, Toggle},
    },
    interrupt::Interrupt,
    outcome::{SEARCHED, classify},
    process::{self, Ending, Finished, Job},
    reports::Reports,
    target::{Kind, Request, Run, RunError, Target},
};
use attempt::{Attempt, Part};
use axis::Axis;
use failures::{Failure, Failures, Focus, Share, Side};

/// What the user has asked for.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `test` or `run`.
    pub subcommand: Subcommand,
    /// Cargo's arguments.
    pub cargo: Vec<OsString>,
    /// The words behind `--`: for the tests or the program.
    pub target: Vec<OsString>,
    /// The toggles to search; empty: all that are decided at run time, else all that are decided while compiling.
    pub toggles: Vec<String>,
    /// Repeat everything in every run, not only the tests whose outcome depends on the changes.
    pub all_tests: bool,
    /// Flags for the compiler with PATTERN in them; then no toggle is searched.
    pub rustflags: Option<String>,
    /// A run that takes longer has failed; building does not count.
    pub timeout: Option<Duration>,
    /// The exit status of a run that does not tell.
    pub skip_code: i32,
    /// Only a failure with output that matches counts.
    pub fail_when: Option<Regex>,
    /// Keep quiet about the build, as long as it goes well.
    pub quiet: bool,
}

/// What cargo has built, ready to be run with patterns.
#[derive(Debug)]
pub struct Program {
    settings: Settings,
    project: Project,
    artifacts: Artifacts,
    toggles: BTreeSet<Toggle>,
    axis: Axis,
    focus: Focus,
    /// The run with everything disabled, where it was made before it was asked for.
    early: Option<Early>,
    notes: Vec<String>,
    /// Builds that were made for runs, and how often they started rustc.
    rebuilds: (usize, usize),
    root: PathBuf,
    scratch: tempfile::TempDir,
}

/// An attempt, and where its files are.
#[derive(Debug)]
struct Early {
    attempt: Attempt,
    log: PathBuf,
    report_file: PathBuf,
}

/// The toggles in what cargo builds for these arguments: what `cargo bisect-opt toggles` lists.
///
/// # Errors
/// If it does not build, or does not list them.
pub fn toggles(
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
    let output = if quiet { Output::Log(&log) } else { Output::Shown };
    project.build(&With::default(), output, scratch, interrupt)
}

impl Program {
    /// Builds, and finds out what there is to search.
    ///
    /// # Errors
    /// If that cannot be built, or has no such toggles.
    pub fn prepare(settings: Settings, interrupt: &Interrupt) -> Result<Self, CargoError> {
        let flags = settings.rustflags.as_deref().map(|text| axis::check_flags(text, &settings.toggles)).transpose()?;
        let project = Project::load(settings.subcommand, &settings.cargo, &settings.target)?;
        let mut program = Self {
            root: project.root(),
            focus: Focus::new(settings.all_tests),
            settings,
            project,
            artifacts: Artifacts::default(),
            toggles: BTreeSet::new(),
            axis: Axis::RunTime(Vec::new()),
            early: None,
            notes: Vec::new(),
            rebuilds: (0, 0),
            scratch: tempfile::tempdir()?,
        };
        match flags {
            // Each run builds; building without any of the flags first would be one build too many.
            Some(text) => program.axis = Axis::Flags(text),
            None => program.choose_toggles(interrupt)?,
        }
        Ok(program)
    }

    /// Builds, and chooses among the toggles that are in it.
    fn choose_toggles(&mut self, interrupt: &Interrupt) -> Result<(), CargoError> {
        let scratch = self.scratch.path();
        self.artifacts = first_build(&self.project, self.settings.quiet, scratch, interrupt)?;
        self.project.executables(&self.artifacts)?;
        self.toggles = self.project.toggles(&self.artifacts, scratch, interrupt)?;
        let choice = toggles::choose(&self.toggles, &self.settings.toggles)?;
        self.notes.extend(choice.note);
        self.axis = if choice.build_time { Axis::BuildTime(choice.names) } else { Axis::RunTime(choice.names) };
        Ok(())
    }

    /// Runs everything that is to be run.
    fn attempt(&mut self, request: &Request<'_>) -> Result<Attempt, RunError> {
        for file in [request.log, request.report_file] {
            // The runtime only appends to a file that exists; logs are appended to as well.
            fs_err::File::create(file)?;
        }
        let verbose = Matcher::new(request.pattern).is_some_and(|matcher| matcher.verbose());
        let mut reports = Reports::new(verbose);
        if self.axis.builds() && !self.rebuild(request)? {
            reports.read_file(request.log)?;
            reports.read_file(request.report_file)?;
            return Ok(Attempt::unbuilt(reports));
        }
        if let Axis::Flags(_) = self.axis {
            // The compiler's messages, repeated by cargo where nothing had to be compiled.
            reports.read_file(request.log)?;
        }
        let started = Instant::now();
        let mut parts = Vec::new();
        for executable in self.project.executables(&self.artifacts).map_err(unusable)? {
            let share = self.focus.share(&executable.key());
            if share == Share::Nothing {
                continue;
            }
            let finished = self.start(executable, share, request, started)?;
            let timed_out = finished.ending == Ending::TimedOut;
            parts.push(self.part(executable, &finished)?);
            if timed_out {
                break;
            }
        }
        let duration = started.elapsed();
        reports.read_file(request.report_file)?;
        Ok(Attempt { parts, reports, duration })
    }

    /// Builds with this selection. Whether that worked; if not, the log says why.
    fn rebuild(&mut self, request: &Request<'_>) -> Result<bool, RunError> {
        let with = self.axis.build_with(&self.toggles, request.pattern, request.report_file);
        match self.project.build(&with, Output::Log(request.log), self.scratch.path(), request.interrupt) {
            Ok(artifacts) => {
                self.rebuilds.0 += 1;
                self.rebuilds.1 += artifacts.rustc_invocations;
                self.artifacts = artifacts;
                Ok(true)
            }
            Err(CargoError::Build { .. }) => Ok(false),
            Err(error) => Err(unusable(error)),
        }
    }

    fn start(
        &self,
        executable: &Executable,
        share: Share<'_>,
        request: &Request<'_>,
        started: Instant,
    ) -> Result<Finished, RunError> {
        let arguments = self.arguments(share);
        let mut command = self.project.launch(&self.artifacts, executable).command(&arguments);
        command.env("BISECT_REPORT", request.report_file);
        if let Some(value) = self.axis.run_with(request.pattern) {
            command.env("BISECT_PATTERN", value);
        }
        let finished = process::run(Job {
            command,
            timeout: self.settings.timeout.map(|timeout| timeout.saturating_sub(started.elapsed())),
            log: request.log,
            append: true,
            interrupt: request.interrupt,
            markers: None,
            tail: SEARCHED,
        })?;
        if finished.ending == Ending::Interrupted {
            return Err(RunError::Interrupted);
        }
        Ok(finished)
    }

    /// The arguments of an executable that is run.
    fn arguments(&self, share: Share<'_>) -> Vec<OsString> {
        let arguments = self.project.arguments();
        match share {
            Share::Nothing | Share::Everything => arguments,
            Share::Tests(tests) => libtest::repeat(&arguments, tests),
        }
    }

    fn part(&self, executable: &Executable, finished: &Finished) -> Result<Part, RunError> {
        let code = match finished.ending {
            Ending::Exited(status) => status.code(),
            Ending::TimedOut | Ending::Interrupted => None,
        };
        if let Some(refusal) = axis::refusal(code, &finished.output) {
            return Err(RunError::Unusable(format!("{executable} refuses the pattern: {refusal}")));
        }
        let (outcome, reason) = classify(finished, self.settings.skip_code, self.settings.fail_when.as_ref());
        let mut failures = Failures::new();
        if outcome == Outcome::Fail {
            let tests = if code == Some(libtest::FAILED) { libtest::failed_tests(&finished.output) } else { None };
            let failure = |test| Failure { executable: executable.key(), test };
            match tests {
                Some(tests) => failures.extend(tests.into_iter().map(Some).map(failure)),
                None => failures.extend([failure(None)]),
            }
        }
        Ok(Part { outcome, reason, failures, tests: libtest::started_tests(&finished.output) })
    }

    /// Learns from a run of everything; where that failed with everything enabled, finds out at once what fails with
    /// everything disabled: only what does not fail both ways counts.
    fn learn(&mut self, request: &Request<'_>, attempt: &Attempt) -> Result<(), RunError> {
        let Some(side) = side(request.pattern).filter(|&side| self.focus.wants(side)) else { return Ok(()) };
        if self.settings.subcommand == Subcommand::Test && attempt.parts.iter().all(|part| part.tests == Some(0)) {
            let command = self.project.command_line();
            return Err(RunError::Unusable(format!(
                "`{command}` runs no test: no name of a test matches what is asked for"
            )));
        }
        match attempt.outcome() {
            Outcome::Unresolved(_) => return Ok(()),
            Outcome::Pass | Outcome::Fail => self.notes.extend(self.focus.learn(side, attempt.failures())),
        }
        if side == Side::All && attempt.outcome() == Outcome::Fail && self.focus.wants(Side::None) {
            let pattern = Pattern::all().inverted(true);
            let (log, report_file) = (self.scratch.path().join("none.log"), self.scratch.path().join("none.reports"));
            let attempt =
                self.attempt(&Request { pattern: &pattern, log: &log, report_file: &report_file, ..*request })?;
            self.notes.extend(match attempt.outcome() {
                Outcome::Unresolved(_) => Vec::new(),
                Outcome::Pass | Outcome::Fail => self.focus.learn(Side::None, attempt.failures()),
            });
            self.early = Some(Early { attempt, log, report_file });
        }
        Ok(())
    }

    /// The attempt that was made before it was asked for, if this is what is asked for.
    fn take_early(&mut self, request: &Request<'_>) -> Result<Option<Attempt>, RunError> {
        let asked = *request.pattern == Pattern::all().inverted(true);
        let Some(early) = self.early.take_if(|_| asked) else { return Ok(None) };
        fs_err::copy(&early.log, request.log)?;
        fs_err::copy(&early.report_file, request.report_file)?;
        Ok(Some(early.attempt))
    }
}

/// Which end of the search a pattern is.
fn side(pattern: &Pattern) -> Option<Side> {
    let all = Pattern::all().verbose(pattern.verbose);
    if *pattern == all {
        Some(Side::All)
    } else if *pattern == all.inverted(true) {
        Some(Side::None)
    } else {
        None
    }
}

/// In the middle of a search, nobody can mend it.
fn unusable(error: CargoError) -> RunError {
    match error {
        CargoError::Spawn(error) => RunError::Spawn(error),
        CargoError::Io(error) => RunError::Io(error),
        CargoError::Interrupted => RunError::Interrupted,
        error => RunError::Unusable(error.to_string()),
    }
}

impl Target for Program {
    fn run(&mut self, request: &Request<'_>) -> Result<Run, RunError> {
        if let Some(attempt) = self.take_early(request)? {
            return Ok(attempt.judge(&self.focus));
        }
        let attempt = self.attempt(request)?;
        self.learn(request, &attempt)?;
        Ok(attempt.judge(&self.focus))
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

    fn kind(&self, toggle: &str) -> Option<Kind> {
        self.toggles.iter().find(|known| known.name == toggle).map(|toggle| toggle.key.kind())
    }

    fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    fn summary(&self) -> Option<String> {
        let (builds, invocations) = self.rebuilds;
        self.axis.builds().then(|| format!("{builds} builds for these runs started rustc {invocations} times"))
    }

    fn reproduce(&self, pattern: &Pattern, tests: &[String]) -> String {
        self.reproduce_line(pattern, tests)
    }
}

#[cfg(test)]
#[path = "program_tests.rs"]
mod tests;
