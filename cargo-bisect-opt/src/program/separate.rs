//! Tests run each in a process of its own, so that each run says of each of them whether it fails and what it reports.
//!
//! One process for all tests would say who failed only as far as its text for people can be trusted, would mix the reports
//! of all of them, and a crash would hide the others. The harness's JSON is unstable. A process costs a millisecond or
//! two (see BENCHMARKS.md); cargo-nextest has made the same choice.

use std::{
    io,
    path::{Path, PathBuf},
    slice,
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use bisect_core::search::{Outcome, Reason};

use super::{
    Attempt, Axis, Failure, PerTest, Program,
    failures::Share,
    run::{Start, new_reports},
};
use crate::{
    cargo::{Artifacts, Subcommand, libtest},
    reports::Reports,
    target::{Request, Run, RunError},
};

impl Program {
    /// The tests that are searched each on its own, in order; `None` if it is about all of them together.
    pub(super) fn separate_tests(&self) -> Option<Vec<Failure>> {
        let tests: Vec<_> = self.focus().searched()?.iter().cloned().collect();
        let several = match self.settings.per_test {
            PerTest::Auto => tests.len() > 1,
            PerTest::Always => !tests.is_empty(),
            PerTest::Never => false,
        };
        (several && self.settings.subcommand == Subcommand::Test && !self.settings.all_tests).then_some(tests)
    }

    /// A test for people: its name, or that of the executable of which no more is known.
    pub(super) fn name(&self, failure: &Failure) -> String {
        failure.test.clone().unwrap_or_else(|| {
            let executables = &self.first_artifacts().executables;
            let executable = executables.iter().find(|executable| executable.key() == failure.executable);
            executable.map_or_else(|| failure.executable.clone(), ToString::to_string)
        })
    }

    /// Runs single tests, as many at once as the harness would.
    pub(super) fn run_separately(&self, tests: &[usize], request: &Request<'_>) -> Result<Vec<Run>, RunError> {
        let built = self.build(request)?;
        let mut reports = new_reports(request.pattern);
        if built.is_none() || matches!(self.axis, Axis::Flags(_)) {
            // What the compiler said holds for each test.
            reports.read_file(request.log)?;
            reports.read_file(request.report_file)?;
        }
        let Some(artifacts) = built else {
            let run = Attempt::unbuilt(reports).judge(&self.focus());
            return Ok(tests.iter().map(|_| run.clone()).collect());
        };
        let all = self.separate_tests().unwrap_or_default();
        let solos: Vec<_> = tests.iter().map(|&test| Solo::new(&all[test], test, request)).collect();
        let (next, broken) = (AtomicUsize::new(0), AtomicBool::new(false));
        let started = Instant::now();
        thread::scope(|scope| {
            for _ in 0..libtest::threads(&self.project.arguments()).min(solos.len()) {
                scope.spawn(|| {
                    while let Some(solo) = solos.get(next.fetch_add(1, Ordering::Relaxed))
                        && !broken.load(Ordering::Relaxed)
                    {
                        let result = self.run_solo(solo, &artifacts, reports.clone(), request);
                        broken.fetch_or(result.is_err(), Ordering::Relaxed);
                        // Each is run by one thread only.
                        let _ = solo.result.set(result);
                    }
                });
            }
        });
        for solo in &solos {
            append(&solo.log, request.log)?;
            append(&solo.report_file, request.report_file)?;
        }
        // They are one run, which takes as long as it takes. After an error some are missing, but then the error is there.
        let duration = started.elapsed();
        let results = solos.into_iter().filter_map(|solo| solo.result.into_inner());
        results.map(|result| result.map(|run| Run { duration, ..run })).collect()
    }

    fn run_solo(
        &self,
        solo: &Solo<'_>,
        artifacts: &Artifacts,
        mut reports: Reports,
        request: &Request<'_>,
    ) -> Result<Run, RunError> {
        let Solo { failure, log, report_file, .. } = solo;
        fs_err::File::create(report_file)?;
        let started = Instant::now();
        let untold = |reason: &str, reports| Run {
            outcome: Outcome::Unresolved(Reason::Skip),
            reason: reason.to_owned(),
            reports,
            failed_tests: Vec::new(),
            duration: Duration::ZERO,
        };
        let Some(executable) = artifacts.executables.iter().find(|other| other.key() == failure.executable) else {
            return Ok(untold("its executable is not there with these changes", reports));
        };
        let share = failure.test.as_ref().map_or(Share::Everything, |test| Share::Tests(slice::from_ref(test)));
        let start = Start { artifacts, executable, share, started, report_file, log };
        let finished = self.start(&start, request, &mut reports)?;
        let part = self.part(executable, &finished)?;
        reports.read_file(report_file)?;
        if part.tests == Some(0) {
            return Ok(untold("it is not there with these changes", reports));
        }
        let failed_tests = if part.outcome == Outcome::Fail { vec![self.name(failure)] } else { Vec::new() };
        Ok(Run { outcome: part.outcome, reason: part.reason, reports, failed_tests, duration: Duration::ZERO })
    }
}

/// A test that is run in a process of its own.
struct Solo<'a> {
    failure: &'a Failure,
    log: PathBuf,
    report_file: PathBuf,
    result: OnceLock<Result<Run, RunError>>,
}

impl<'a> Solo<'a> {
    fn new(failure: &'a Failure, test: usize, request: &Request<'_>) -> Self {
        let file = |extension| request.scratch.path().join(format!("{test}.{extension}"));
        Self { failure, log: file("log"), report_file: file("reports"), result: OnceLock::new() }
    }
}

/// Adds one file to the end of another; one that is not there is empty.
fn append(from: &Path, to: &Path) -> io::Result<()> {
    match fs_err::File::open(from) {
        Ok(mut from) => io::copy(&mut from, &mut fs_err::OpenOptions::new().append(true).open(to)?).map(drop),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
