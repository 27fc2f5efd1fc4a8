//! One run: built if need be, and everything that is to be run started, one after the other.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    ffi::OsString,
    io,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use bisect_core::{
    Matcher, Pattern,
    search::{Outcome, Reason},
};

use super::{
    Axis, Program,
    attempt::{Attempt, Execution, judge, raw_outcome},
    axis,
    criteria::{Criteria, Part},
    failures::{Failure, Failures, Focus, Share},
};
use crate::{
    axes::Level,
    cargo::{Artifacts, BuildOutput, BuildOverrides, CargoError, Executable, Subcommand, libtest, toggles},
    lab::calibration::environment_note,
    process::{self, Ending, Finished, ProcessSpec, ReadAlong, scratch_dir::ScratchDir},
    report::scan::Reports,
    run::{
        cause::Cause,
        error::RunError,
        outcome::{SEARCHED, classify},
        repetition::Repetition,
        spec::Request,
    },
};

/// Why there is nothing to run, for people; the log says more.
#[derive(Debug)]
pub(super) struct Unbuilt(pub(super) String);

impl Program {
    /// What this run is of: what was built first, or what is built for it, if that builds.
    pub(super) fn build(&self, request: &Request<'_>) -> Result<Result<Cow<'_, Artifacts>, Unbuilt>, RunError> {
        if !self.axis.builds() {
            return Ok(Ok(Cow::Borrowed(self.first_artifacts())));
        }
        let with = self.build_with(request)?;
        let output = BuildOutput::Log(request.log);
        match self.project.build_in(request.slot, &with, output, request.scratch.path(), request.interrupt) {
            Ok(artifacts) => {
                self.count_build(&artifacts);
                self.artifacts.get_or_init(|| artifacts.clone());
                Ok(Ok(Cow::Owned(artifacts)))
            }
            Err(CargoError::Build { messages, .. }) => {
                let cause = Cause::of_messages(messages.as_bytes());
                Ok(Err(Unbuilt(format!("does not build: {cause}"))))
            }
            Err(error) => Err(unusable(error)),
        }
    }

    /// What the build for this run is made with.
    pub(super) fn build_with(&self, request: &Request<'_>) -> Result<BuildOverrides, RunError> {
        let Some(with) = self.axis.build_with(&self.toggles, request.pattern, request.report_file) else {
            return Err(RunError::Unusable(
                "with all passes it passes and without any it fails; what can be searched is the other way round"
                    .to_owned(),
            ));
        };
        let is_plain = with.is_plain || self.settings.subcommand.is_build();
        Ok(BuildOverrides { only: self.needed_targets(), is_plain, ..with })
    }

    pub(super) fn count_build(&self, artifacts: &Artifacts) {
        let (builds, invocations) = &mut self.learned().rebuilds;
        *builds += 1;
        *invocations += artifacts.rustc_invocations;
    }

    /// What still has to be built, once it is known which tests are repeated: not the harnesses of the others. `None`: all
    /// that the user's arguments select, where tests might start a program that is not built just for them.
    pub(super) fn needed_targets(&self) -> Option<Vec<OsString>> {
        let (focus, artifacts) = (self.focus(), self.artifacts.get()?);
        if self.settings.subcommand != Subcommand::Test || !focus.is_settled() {
            return None;
        }
        let (tests, programs): (Vec<_>, Vec<_>) =
            artifacts.executables.iter().partition(|executable| executable.is_test);
        let is_needed = |test: &&Executable| focus.share(&test.key()) != Share::Nothing;
        let needed: Vec<_> = tests.into_iter().filter(is_needed).collect();
        let is_there = |program: &&Executable| needed.iter().all(|test| test.has(program));
        if !programs.iter().all(is_there) {
            return None;
        }
        let options: BTreeSet<_> = needed.into_iter().map(Executable::options).collect();
        Some(options.into_iter().flatten().collect())
    }

    /// Runs everything that is to be run, in one go; several times, if that is asked for.
    pub(super) fn attempt(&self, request: &Request<'_>) -> Result<Attempt, RunError> {
        let mut reports = self.new_reports(request.pattern);
        let begun = Instant::now();
        let artifacts = match self.build(request)? {
            Ok(artifacts) => artifacts,
            Err(Unbuilt(words)) => {
                self.read_messages(None, request, &mut reports)?;
                reports.read_file(request.report_file)?;
                return Ok(Attempt::unresolved(Reason::Build, &words, reports, begun.elapsed()));
            }
        };
        let started_in = begun.elapsed();
        self.read_messages(Some(&artifacts), request, &mut reports)?;
        let started = Instant::now();
        let repetition = request.repetition;
        let executions = self.repeat(repetition, &self.together(None), || {
            self.execute(&self.focus(), &artifacts, request, &mut reports)
        })?;
        let duration = started.elapsed();
        reports.read_file(request.report_file)?;
        let attempt = Attempt { executions, repetition, reports, started_in, duration, dependent: Failures::new() };
        let dependent = self.dependent(&attempt, &artifacts, request)?;
        Ok(Attempt { dependent, ..attempt })
    }

    /// Adds what compiling has reported.
    pub(super) fn read_messages(
        &self,
        artifacts: Option<&Artifacts>,
        request: &Request<'_>,
        reports: &mut Reports,
    ) -> io::Result<()> {
        match &self.axis {
            Axis::Codegen(level) => level.report(request.pattern, artifacts, reports),
            // What is only built does not get to say itself what was compiled in.
            Axis::BuildTime(names) if self.settings.subcommand.is_build() => {
                toggles::report(&self.toggles, names, request.pattern, reports);
                Ok(())
            }
            // The compiler's messages, repeated by cargo where nothing had to be compiled.
            Axis::Flags(_) => reports.read_file(request.log),
            _ if artifacts.is_none() => reports.read_file(request.log),
            _ => Ok(()),
        }
    }

    /// Executes as often as it takes to decide the run.
    pub(super) fn repeat(
        &self,
        repetition: Repetition,
        criteria: &Criteria,
        mut execute: impl FnMut() -> Result<Execution, RunError>,
    ) -> Result<Vec<Execution>, RunError> {
        let mut executions = Vec::new();
        for _ in 0..repetition.times() {
            let mut execution = execute()?;
            if let Some(environment) = execution.iter().find_map(|part| criteria.disturbance(part)) {
                self.note_once(environment_note(environment));
                execution = execute()?;
            }
            let ends = if criteria.focus.is_settled() || self.settings.subcommand != Subcommand::Test {
                repetition.ends_with(judge(&execution, criteria).0)
            } else {
                // Before it is known which failures count, none of them ends anything.
                repetition == Repetition::Once
                    || matches!(repetition, Repetition::UntilPass(_)) && raw_outcome(&execution) == Outcome::Pass
            };
            executions.push(execution);
            if ends {
                break;
            }
        }
        Ok(executions)
    }

    /// Runs everything once that is to be run.
    pub(super) fn execute(
        &self,
        focus: &Focus,
        artifacts: &Artifacts,
        request: &Request<'_>,
        reports: &mut Reports,
    ) -> Result<Execution, RunError> {
        let started = Instant::now();
        let mut parts = Vec::new();
        for executable in self.project.executables(artifacts).map_err(unusable)? {
            let share = focus.share(&executable.key());
            if share == Share::Nothing {
                continue;
            }
            let (report_file, log) = (request.report_file, request.log);
            let limit = self.settings.timeout;
            let start = Start { artifacts, executable, share, started, limit, report_file, log };
            let finished = self.start(&start, request, reports)?;
            let timed_out = finished.ending == Ending::TimedOut;
            let part = self.part(executable, &finished)?;
            parts.push(self.name_unended(part, &finished, &start, request, reports)?);
            if timed_out {
                break;
            }
        }
        Ok(parts)
    }

    /// Runs an executable to its end.
    pub(super) fn start(
        &self,
        start: &Start<'_>,
        request: &Request<'_>,
        reports: &mut Reports,
    ) -> Result<Finished, RunError> {
        let (command, _temporary) = self.command(start, &self.arguments(start.share), request)?;
        check(start.artifacts)?;
        // Where the report file cannot be reached, reports come with the output.
        let mut scanner = self.settings.launcher.is_some().then(|| reports.scanner());
        let finished = process::run(ProcessSpec {
            command,
            timeout: start.limit.map(|limit| limit.saturating_sub(start.started.elapsed())),
            log: start.log,
            append: true,
            interrupt: request.interrupt,
            reader: scanner.as_mut().map(|scanner| scanner as &mut dyn ReadAlong),
            tail: SEARCHED,
        })?;
        if finished.ending == Ending::Interrupted {
            return Err(RunError::Interrupted);
        }
        // Also between the look before and the start.
        check(start.artifacts)?;
        if let Some(error) = &finished.lost_log {
            self.note_lost_log(error);
        }
        Ok(finished)
    }

    /// The command, and its directory for temporary files.
    pub(super) fn command(
        &self,
        start: &Start<'_>,
        arguments: &[OsString],
        request: &Request<'_>,
    ) -> io::Result<(Command, ScratchDir)> {
        let mut command = self.project.launch(start.artifacts, start.executable).command(arguments);
        let temporary = request.set_apart(&mut command)?;
        command.env("BISECT_REPORT", start.report_file);
        if let Some(value) = self.axis.run_with(request.pattern) {
            command.env("BISECT_PATTERN", value);
        }
        let command = match &self.settings.launcher {
            Some(launcher) => launcher.wrap(&command, self.settings.skip_code),
            None => command,
        };
        Ok((command, temporary))
    }

    /// The arguments of an executable that is run.
    pub(super) fn arguments(&self, share: Share<'_>) -> Vec<OsString> {
        let arguments = self.project.arguments();
        match share {
            Share::Nothing | Share::Everything => arguments,
            Share::Tests(tests) => libtest::repeat(&arguments, tests),
        }
    }

    pub(super) fn part(&self, executable: &Executable, finished: &Finished) -> Result<Part, RunError> {
        let code = match finished.ending {
            Ending::Exited(status) => status.code(),
            Ending::TimedOut | Ending::Stopped(_) | Ending::Interrupted => None,
        };
        if let Some(refusal) = axis::refusal(code, &finished.output) {
            return Err(RunError::Unusable(format!("{executable} refuses the pattern: {refusal}")));
        }
        let tests = libtest::started_tests(&finished.output);
        let (outcome, reason) = classify(finished, self.settings.skip_code, self.settings.fail_when.as_ref());
        let lost = self.lost_reports.in_output(&finished.output)?;
        if outcome == Outcome::Fail
            && let Some(lost) = lost
        {
            // Else a change that makes the target fail would seem to have nothing to do with it.
            let (outcome, reason) = (Outcome::Unresolved(Reason::Environment), format!("{executable}: {lost}"));
            return Ok(Part { outcome, reason, failures: Failures::new(), causes: [].into(), tests });
        }
        let causes = if outcome == Outcome::Fail { self.causes(executable, finished, code) } else { Vec::new() };
        // Where the executable as a whole has failed, that is the failure.
        let whole = causes.iter().find(|(failure, _)| failure.test.is_none());
        let failures: Failures = match whole {
            Some((failure, _)) => [failure.clone()].into(),
            None => causes.iter().map(|(failure, _)| failure.clone()).collect(),
        };
        let causes = causes.into_iter().collect();
        Ok(Part { outcome, reason, failures, causes, tests })
    }

    /// How what failed in an executable has failed.
    fn causes(&self, executable: &Executable, finished: &Finished, code: Option<i32>) -> Vec<(Failure, Cause)> {
        let failure = |test| Failure { executable: executable.key(), test };
        let tests = if code == Some(libtest::FAILED) { libtest::failed_tests(&finished.output) } else { None };
        if let Some(tests) = tests {
            let cause = |test: libtest::FailedTest| (failure(Some(test.name)), Cause::of_test(&test.printed));
            return tests.into_iter().map(cause).collect();
        }
        if self.settings.subcommand == Subcommand::Run {
            return vec![(failure(None), Cause::of_program(finished))];
        }
        let before = libtest::failed_before_the_end(&finished.output).into_iter();
        let before = before.map(|test| (failure(Some(test)), Cause::UNKNOWN));
        let whole = Cause::of_harness(finished);
        let is_optimized = self.level().is_some_and(Level::is_about_optimization);
        let whole = if is_optimized { whole.under_optimization() } else { whole };
        before.chain([(failure(None), whole)]).collect()
    }
}

/// One executable to run.
pub(super) struct Start<'a> {
    pub(super) artifacts: &'a Artifacts,
    pub(super) executable: &'a Executable,
    pub(super) share: Share<'a>,
    /// When the execution began.
    pub(super) started: Instant,
    /// How long it may take.
    pub(super) limit: Option<Duration>,
    pub(super) report_file: &'a Path,
    pub(super) log: &'a Path,
}

/// Whether what is run is what was built.
fn check(artifacts: &Artifacts) -> Result<(), RunError> {
    artifacts.exchanged().map_or(Ok(()), |file| {
        Err(RunError::Unusable(format!(
            "`{}` was exchanged or deleted while it was searched, so runs before and after are not of the same program; \
             search again, and build nothing in `{}` meanwhile",
            file.display(),
            artifacts.target_dir.display()
        )))
    })
}

impl Program {
    /// No reports yet; their text is kept where it is asked for, or there is text anyway.
    pub(super) fn new_reports(&self, pattern: &Pattern) -> Reports {
        let is_asked_for = Matcher::new(pattern).is_some_and(|matcher| matcher.verbose());
        Reports::new(is_asked_for || self.level().is_some())
    }
}

/// In the middle of a search, nobody can mend it.
pub(super) fn unusable(error: CargoError) -> RunError {
    match error {
        CargoError::Spawn(error) => RunError::Spawn(error),
        CargoError::Io(error) => RunError::Io(error),
        CargoError::Interrupted => RunError::Interrupted,
        error => RunError::Unusable(error.to_string()),
    }
}
