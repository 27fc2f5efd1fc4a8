//! The context of one run: it builds if necessary, and starts everything that is to be run, one after the other.

use std::{
    borrow::Cow,
    ffi::OsString,
    io,
    path::Path,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use bisect_core::search::{Outcome, Reason};

use bisect_core::protocol::names;

use super::{
    attempt::{Execution, judge, raw_outcome},
    criteria::{Criteria, Part},
    runner::{KnownFailures, ProjectRunner},
    test_selection::{Failure, Failures, Subset},
};
use crate::{
    axes::{AfterBuild, Application, Files, Place},
    cargo::{
        Artifacts, BuildCounts, BuildOutput, BuildOverrides, CargoError, Executable, IfMissing, Project, Subcommand,
        has_missing_name, libtest,
    },
    lab::calibration::{environment_note, unbuilt},
    process::{self, Ending, Finished, ProcessSpec, ReadAlong, own_file, scratch_dir::ScratchDir},
    report::scan::Reports,
    run::{
        cause::Cause,
        error::RunError,
        in_flight::Activity,
        lost_reports,
        outcome::{SEARCHED, classify},
        repetition::Repetition,
        result::Note,
        spec::{EndState, RunSpec, Surroundings},
    },
};

/// The context of one run: its specification, its surroundings, and the runner and the knowledge that it uses.
#[derive(Debug)]
pub(super) struct RunContext<'a> {
    pub(super) runner: &'a ProjectRunner,
    pub(super) known_failures: &'a KnownFailures,
    pub(super) spec: &'a RunSpec,
    pub(super) surroundings: &'a Surroundings<'a>,
    /// The project at the place of this run.
    pub(super) project: Arc<Project>,
    /// The means by which the axis enables the selection.
    application: Application,
    /// The reason why there is nothing to build.
    missing: Option<String>,
}

/// The reason why there is nothing to run, for people. The log has more details.
#[derive(Debug)]
pub(super) struct Unbuilt(pub(super) String);

impl<'a> RunContext<'a> {
    /// Returns the context of the run with this specification.
    ///
    /// # Errors
    /// If the axis cannot apply it.
    pub(super) fn new(
        runner: &'a ProjectRunner,
        known_failures: &'a KnownFailures,
        spec: &'a RunSpec,
        surroundings: &'a Surroundings<'a>,
    ) -> Result<Self, RunError> {
        let files = Files::of_run(surroundings, spec);
        let application = runner.axis.apply(&spec.choice, &files)?;
        let (project, missing) =
            match runner.axis.copies().map(|copies| copies.place(&spec.choice, spec.slot)).transpose()? {
                None => (runner.project.clone(), None),
                Some(Place::Missing(why)) => (runner.project.clone(), Some(why)),
                Some(Place::At(place)) => match runner.project.in_copy(&place) {
                    Ok(project) => (Arc::new(project), None),
                    Err(error) => (runner.project.clone(), Some(error.to_string())),
                },
            };
        if let Some(missing) = &missing {
            own_file::write(&spec.log, missing)?;
        }
        Ok(Self { runner, known_failures, spec, surroundings, project, application, missing })
    }

    /// Returns the context of another run that is made as a part of this one.
    ///
    /// # Errors
    /// If the axis cannot apply it.
    pub(super) fn beside<'b>(&self, spec: &'b RunSpec) -> Result<RunContext<'b>, RunError>
    where
        'a: 'b,
    {
        let application = self.runner.axis.apply(&spec.choice, &Files::of_run(self.surroundings, spec))?;
        let Self { runner, known_failures, surroundings, .. } = *self;
        Ok(RunContext {
            runner,
            known_failures,
            spec,
            surroundings,
            project: self.project.clone(),
            application,
            missing: None,
        })
    }

    /// Returns the reason why there is nothing to build or to run at the place of this run.
    pub(super) fn missing(&self) -> Option<&str> {
        self.missing.as_deref()
    }

    /// Returns true if other runs have other source code, which may lack what is to be run.
    pub(super) fn is_of_other_code(&self) -> bool {
        self.runner.axis.facts().sources.differ()
    }

    /// Builds what this run executes, if the axis wants a build; otherwise returns the first complete build.
    pub(super) fn build(&self, builds: &mut BuildCounts) -> Result<Result<Cow<'a, Artifacts>, Unbuilt>, RunError> {
        if let Some(missing) = self.missing() {
            return Ok(Err(Unbuilt(missing.to_owned())));
        }
        let Some(overrides) = self.build_overrides() else {
            return Ok(Ok(Cow::Borrowed(self.runner.first_artifacts())));
        };
        let Surroundings { scratch, interrupt, .. } = self.surroundings;
        let output = self.build_output();
        let built = self.project.attempt_in(self.spec.slot, &overrides, output, scratch.path(), None, interrupt);
        let built = built.map_err(unusable)?;
        if built.artifacts.is_complete {
            builds.add(&built.artifacts);
            if !self.may_lack_tests() {
                self.runner.artifacts.get_or_init(|| built.artifacts.clone());
            }
            return Ok(Ok(Cow::Owned(built.artifacts)));
        }
        // Only a run without some changes may lack what the user names.
        if !built.began && self.spec.choice.end_state() == Some(EndState::AllOn) && has_missing_name(&self.project) {
            let what = if has_missing_name(&self.runner.project) {
                "correct the name of the package or the target: with every change enabled, cargo does not find it"
            } else {
                "your files have this package or target, but with every change enabled, cargo does not find it: untracked \
                 files are not in worktrees. Commit it to each version, or search with `cargo bisect-opt exec` and a script \
                 that adds it"
            };
            return Err(RunError::Unusable(format!("{what}: {}", built.to_error())));
        }
        let cause = Cause::of_messages(&built.messages);
        Ok(Err(Unbuilt(unbuilt(cause))))
    }

    /// Returns the destination of the messages of this run's builds.
    pub(super) fn build_output(&self) -> BuildOutput<'a> {
        let total = self.runner.artifacts.get().map(|artifacts| artifacts.units);
        BuildOutput::Run { log: &self.spec.log, seat: self.surroundings.seat, total }
    }

    /// Returns the overrides of the build for this run, if there is one.
    pub(super) fn build_overrides(&self) -> Option<BuildOverrides> {
        let build = self.application.build.clone()?;
        let is_plain = build.is_plain || self.runner.options.subcommand.is_build();
        let if_missing = if self.may_lack_tests() { IfMissing::LeaveOut } else { IfMissing::Refuse };
        Some(BuildOverrides {
            only: self.runner.needed_targets(&self.known_failures.tests),
            is_plain,
            if_missing,
            ..build
        })
    }

    /// Returns true if the selected tests or targets may be missing, so that nothing fails.
    pub(super) fn may_lack_tests(&self) -> bool {
        self.runner.may_lack_tests(self.spec.choice.end_state())
    }

    /// Adds reports that do not come from the processes of the run.
    pub(super) fn collect(&self, artifacts: Option<&Artifacts>, reports: &mut Reports) -> io::Result<()> {
        self.runner.axis.collect(&self.spec.choice, &AfterBuild { artifacts, log: &self.spec.log }, reports)
    }

    /// Adds the reports in this file, to which the processes of the run have written.
    pub(super) fn read_reports(&self, report_file: &Path, reports: &mut Reports) -> io::Result<()> {
        self.runner.axis.read_reports(&self.spec.choice, report_file, reports)
    }

    /// Returns the criteria for a run of everything, which compare it with the failures at the end states.
    pub(super) fn together(&self) -> Criteria {
        let calibration = Some(self.known_failures.together.for_runs_of(None).into());
        let (tests, same_failure) = (self.known_failures.tests.clone(), self.runner.options.same_failure);
        Criteria { tests, calibration, same_failure }
    }

    /// Returns the criteria for a test in its own process, which compare it with its failures at the end states.
    pub(super) fn alone(&self, test: &Failure) -> Criteria {
        let known = self.known_failures.apart.get(test).map(|known| known.for_runs_of(None));
        let calibration = Some(known.unwrap_or_default().into());
        Criteria { calibration, same_failure: self.runner.options.same_failure, ..Criteria::any() }
    }

    /// Returns empty reports. They keep text if the run asks for it, or if every run has text anyway.
    pub(super) fn new_reports(&self) -> Reports {
        Reports::new(self.spec.choice.asks_for_text() || !self.runner.axis.facts().reporter.needs_text_run())
    }

    /// Executes as often as necessary to decide the run.
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
                execution = execute()?;
                if let Some(part) = execution.first_mut() {
                    part.notes.push(Note::new(environment_note(environment)));
                }
            }
            let ends = if criteria.tests.is_settled() || !self.runner.options.subcommand.is_test() {
                repetition.ends_with(judge(&execution, criteria).0)
            } else {
                // Until it is known which failures count, no failure ends the run.
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

    /// Runs an executable to its end.
    pub(super) fn start(&self, start: &ExecutableRun<'_>, reports: &mut Reports) -> Result<Finished, RunError> {
        let (command, _temporary) = self.command(start, &self.arguments(start.subset))?;
        check(start.artifacts)?;
        // A launcher or a runner may start the executable where the report file cannot be reached: then reports come with
        // the output.
        let is_elsewhere = self.runner.options.launcher.is_some() || self.project.has_runner;
        let has_reports = is_elsewhere && self.runner.axis.facts().reporter.is_target();
        self.surroundings.seat.set(match start.subset {
            Subset::Tests(tests) => Activity::Tests(tests.len()),
            Subset::Nothing | Subset::Everything => Activity::Program(start.executable.to_string()),
        });
        let mut scanner = has_reports.then(|| reports.scanner());
        let finished = process::run(ProcessSpec {
            command,
            timeout: start.limit.map(|limit| limit.saturating_sub(start.started.elapsed())),
            log: start.log,
            append: true,
            interrupt: self.surroundings.interrupt,
            reader: scanner.as_mut().map(|scanner| scanner as &mut dyn ReadAlong),
            tail: SEARCHED,
        })?;
        if finished.ending == Ending::Interrupted {
            return Err(RunError::Interrupted);
        }
        // A file may also have been exchanged between the first check and the start.
        check(start.artifacts)?;
        Ok(finished)
    }

    /// Returns the command, and its directory for temporary files.
    pub(super) fn command(
        &self,
        start: &ExecutableRun<'_>,
        arguments: &[OsString],
    ) -> io::Result<(Command, ScratchDir)> {
        let launch = self.project.launch(start.artifacts, start.executable);
        let mut command = launch.command(arguments);
        let temporary = self.surroundings.set_apart(&mut command, self.spec.slot)?;
        command.env(names::REPORT, start.report_file);
        launch.with_libraries(&self.application.variables).apply(&mut command);
        let command = match &self.runner.options.launcher {
            Some(launcher) => launcher.wrap(&command, self.runner.options.skip_code),
            None => command,
        };
        Ok((command, temporary))
    }

    /// Returns the arguments for an executable.
    pub(super) fn arguments(&self, subset: Subset<'_>) -> Vec<OsString> {
        let arguments = self.project.arguments();
        match subset {
            Subset::Nothing | Subset::Everything => arguments,
            Subset::Tests(tests) => libtest::repeat(&arguments, tests),
        }
    }

    /// Returns the result of an executable.
    pub(super) fn part(&self, executable: &Executable, finished: &Finished) -> Result<Part, RunError> {
        let code = match finished.ending {
            Ending::Exited(status) => status.code(),
            Ending::TimedOut | Ending::Stopped(_) | Ending::Interrupted => None,
        };
        if let Some(refusal) = refusal(code, &finished.output) {
            return Err(RunError::Unusable(format!("{executable} refuses the pattern: {refusal}")));
        }
        let tests = libtest::started_tests(&finished.output);
        let (outcome, reason) =
            classify(finished, self.runner.options.skip_code, self.runner.options.fail_when.as_ref());
        let lost_reports = lost_reports::in_output(&finished.output);
        let notes = finished.lost_log.iter().map(Note::lost_log).collect();
        if let (Outcome::Fail, Some(lost)) = (outcome, &lost_reports) {
            // Otherwise a change that makes the target fail would seem to be unrelated.
            let (outcome, reason) = (Outcome::Unresolved(Reason::Environment), format!("{executable}: {lost}"));
            return Ok(Part { outcome, reason, tests, lost_reports, notes, ..Part::default() });
        }
        let mut causes = if outcome == Outcome::Fail { self.causes(executable, finished, code) } else { Vec::new() };
        if self.is_of_other_code() {
            causes = causes.into_iter().map(|(failure, cause)| (failure, cause.without_lines())).collect();
        }
        // If the executable failed as a whole, that is the failure.
        let whole = causes.iter().find(|(failure, _)| failure.test.is_none());
        let failures: Failures = match whole {
            Some((failure, _)) => [failure.clone()].into(),
            None => causes.iter().map(|(failure, _)| failure.clone()).collect(),
        };
        let causes = causes.into_iter().collect();
        Ok(Part { outcome, reason, failures, causes, tests, lost_reports, notes })
    }

    /// Returns the failures in an executable, with their causes.
    fn causes(&self, executable: &Executable, finished: &Finished, code: Option<i32>) -> Vec<(Failure, Cause)> {
        let failure = |test| Failure { executable: executable.key(), test };
        let tests = if code == Some(libtest::FAILED) { libtest::failed_tests(&finished.output) } else { None };
        if let Some(tests) = tests {
            let cause = |test: libtest::FailedTest| (failure(Some(test.name)), Cause::of_test(&test.printed));
            return tests.into_iter().map(cause).collect();
        }
        if self.runner.options.subcommand == Subcommand::Run {
            return vec![(failure(None), Cause::of_program(finished))];
        }
        let before = libtest::failed_before_the_end(&finished.output).into_iter();
        let before = before.map(|test| (failure(Some(test)), Cause::UNKNOWN));
        before.chain([(failure(None), Cause::of_harness(finished))]).collect()
    }
}

/// One executable to run.
pub(super) struct ExecutableRun<'a> {
    pub(super) artifacts: &'a Artifacts,
    pub(super) executable: &'a Executable,
    pub(super) subset: Subset<'a>,
    /// The time at which the execution began.
    pub(super) started: Instant,
    /// The time limit.
    pub(super) limit: Option<Duration>,
    pub(super) report_file: &'a Path,
    pub(super) log: &'a Path,
}

/// Checks that the files to run are those that were built.
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

/// The exit status of a program whose runtime refuses its variables.
const REFUSED: i32 = 2;

/// Returns the message of the runtime, if it stopped the program before `main`.
fn refusal(code: Option<i32>, output: &[u8]) -> Option<String> {
    if code != Some(REFUSED) {
        return None;
    }
    lost_reports::runtime_message(output)
}

/// Converts an error of cargo into one of a run: in the middle of a search, the user cannot fix the cause.
pub(super) fn unusable(error: CargoError) -> RunError {
    match error {
        CargoError::Spawn(error) => RunError::Spawn(error),
        CargoError::Io(error) => RunError::Io(error),
        CargoError::Interrupted => RunError::Interrupted,
        error => RunError::Unusable(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_from_a_failure() {
        let output = b"x\nbisect-rt: BISECT_PATTERN=\"+\": a term is missing\n";
        assert_eq!(refusal(Some(2), output).unwrap(), "BISECT_PATTERN=\"+\": a term is missing");
        assert_eq!(refusal(Some(101), output), None);
        assert_eq!(refusal(None, output), None);
        assert_eq!(refusal(Some(2), b"usage: bisect-rt: x"), None);
    }
}
