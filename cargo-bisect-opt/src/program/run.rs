//! One run: built if need be, and everything that is to be run started, one after the other.

use std::{borrow::Cow, ffi::OsString, path::Path, process::Command, time::Instant};

use bisect_core::{Matcher, Pattern, search::Outcome};

use super::{
    Axis, Program,
    attempt::{Attempt, Part},
    axis,
    failures::{Failure, Failures, Share},
};
use crate::{
    cargo::{Artifacts, CargoError, Executable, Output, libtest},
    outcome::{SEARCHED, classify},
    process::{self, Ending, Finished, Job},
    reports::Reports,
    target::{Request, RunError},
};

impl Program {
    /// What this run is of: what was built first, or what is built for it; `None` if that does not build, and the log says
    /// why.
    pub(super) fn build(&self, request: &Request<'_>) -> Result<Option<Cow<'_, Artifacts>>, RunError> {
        if !self.axis.builds() {
            return Ok(Some(Cow::Borrowed(self.first_artifacts())));
        }
        let with = self.axis.build_with(&self.toggles, request.pattern, request.report_file);
        let output = Output::Log(request.log);
        match self.project.build_in(request.slot, &with, output, request.scratch.path(), request.interrupt) {
            Ok(artifacts) => {
                let mut learned = self.learned();
                learned.rebuilds.0 += 1;
                learned.rebuilds.1 += artifacts.rustc_invocations;
                drop(learned);
                self.artifacts.get_or_init(|| artifacts.clone());
                Ok(Some(Cow::Owned(artifacts)))
            }
            Err(CargoError::Build { .. }) => Ok(None),
            Err(error) => Err(unusable(error)),
        }
    }

    /// Runs everything that is to be run, in one go.
    pub(super) fn attempt(&self, request: &Request<'_>) -> Result<Attempt, RunError> {
        let mut reports = new_reports(request.pattern);
        let Some(artifacts) = self.build(request)? else {
            reports.read_file(request.log)?;
            reports.read_file(request.report_file)?;
            return Ok(Attempt::unbuilt(reports));
        };
        if let Axis::Flags(_) = self.axis {
            // The compiler's messages, repeated by cargo where nothing had to be compiled.
            reports.read_file(request.log)?;
        }
        let focus = self.focus();
        let started = Instant::now();
        let mut parts = Vec::new();
        for executable in self.project.executables(&artifacts).map_err(unusable)? {
            let share = focus.share(&executable.key());
            if share == Share::Nothing {
                continue;
            }
            let start = Start {
                artifacts: &artifacts,
                executable,
                share,
                started,
                report_file: request.report_file,
                log: request.log,
            };
            let finished = self.start(&start, request, &mut reports)?;
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

    /// Runs an executable to its end.
    pub(super) fn start(
        &self,
        start: &Start<'_>,
        request: &Request<'_>,
        reports: &mut Reports,
    ) -> Result<Finished, RunError> {
        let finished = process::run(Job {
            command: self.command(start, request),
            timeout: self.settings.timeout.map(|timeout| timeout.saturating_sub(start.started.elapsed())),
            log: start.log,
            append: true,
            interrupt: request.interrupt,
            // Where the report file cannot be reached, reports come with the output.
            markers: self.settings.launcher.is_some().then_some(reports),
            tail: SEARCHED,
        })?;
        if finished.ending == Ending::Interrupted {
            return Err(RunError::Interrupted);
        }
        Ok(finished)
    }

    fn command(&self, start: &Start<'_>, request: &Request<'_>) -> Command {
        let arguments = self.arguments(start.share);
        let mut command = self.project.launch(start.artifacts, start.executable).command(&arguments);
        request.set_apart(&mut command);
        command.env("BISECT_REPORT", start.report_file);
        if let Some(value) = self.axis.run_with(request.pattern) {
            command.env("BISECT_PATTERN", value);
        }
        match &self.settings.launcher {
            Some(launcher) => launcher.wrap(&command, self.settings.skip_code),
            None => command,
        }
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
}

/// One executable to run.
pub(super) struct Start<'a> {
    pub(super) artifacts: &'a Artifacts,
    pub(super) executable: &'a Executable,
    pub(super) share: Share<'a>,
    /// When the run began.
    pub(super) started: Instant,
    pub(super) report_file: &'a Path,
    pub(super) log: &'a Path,
}

/// No reports yet; their text is kept where the target is asked for it.
pub(super) fn new_reports(pattern: &Pattern) -> Reports {
    Reports::new(Matcher::new(pattern).is_some_and(|matcher| matcher.verbose()))
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
