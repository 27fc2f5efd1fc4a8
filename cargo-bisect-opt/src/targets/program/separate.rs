//! Tests run each in a process of its own, so that each run says of each of them whether it fails and what it reports.
//!
//! One process for all tests would say who failed only as far as its text for people can be trusted, would mix the reports
//! of all of them, and a crash would hide the others. The harness's JSON is unstable. A process costs a millisecond or
//! two (see BENCHMARKS.md); cargo-nextest has made the same choice.

use std::{
    collections::BTreeMap,
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

use bisect_core::search::{Outcome, Question, Reason, Trial};

use super::{
    Attempt, Axis, Failure, Failures, PerTest, Program,
    criteria::Part,
    failures::Share,
    run::{Start, Unbuilt},
};
use crate::{
    cargo::{Artifacts, Subcommand, libtest},
    report::scan::Reports,
    run::{error::RunError, result::Run, spec::Request},
};

impl Program {
    /// The tests that are searched each on its own, in order; `None` if it is about all of them together.
    pub(super) fn separate_tests(&self) -> Option<Vec<Failure>> {
        let focus = self.focus();
        let tests: Vec<_> = focus.searched()?.iter().cloned().collect();
        (self.is_separate(tests.len()) && !focus.needs_others()).then_some(tests)
    }

    /// Whether the search goes on for each of so many tests.
    pub(super) fn is_separate(&self, tests: usize) -> bool {
        let several = match self.settings.per_test {
            PerTest::Auto => tests > 1,
            PerTest::Always => tests > 0,
            PerTest::Never => false,
        };
        several && self.settings.subcommand == Subcommand::Test && !self.settings.all_tests
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
    pub(super) fn run_separately(&self, tests: &[usize], request: &Request<'_>) -> Result<Vec<Solo>, RunError> {
        let all = self.separate_tests().unwrap_or_default();
        let begun = Instant::now();
        let built = self.build(request)?;
        let started_in = begun.elapsed();
        let mut reports = self.new_reports(request.pattern);
        // What the compiler said holds for each test.
        self.read_messages(built.as_deref().ok(), request, &mut reports)?;
        if built.is_err() || matches!(self.axis, Axis::Flags(_)) {
            reports.read_file(request.report_file)?;
        }
        let artifacts = match built {
            Ok(artifacts) => artifacts,
            Err(Unbuilt(words)) => {
                let attempt = Attempt::unresolved(Reason::Build, &words, reports, started_in);
                let solo = |&test: &usize| Solo { test: all[test].clone(), attempt: attempt.clone() };
                return Ok(tests.iter().map(solo).collect());
            }
        };
        let places = tests.iter().map(|&test| Place::new(&all[test], test, request)).collect();
        let started = Instant::now();
        let mut solos = self.run_each(places, &artifacts, &reports, request)?;
        // They are one run, which takes as long as it takes.
        let duration = started.elapsed();
        for Solo { attempt, .. } in &mut solos {
            (attempt.started_in, attempt.duration) = (started_in, duration);
        }
        Ok(solos)
    }

    /// Runs each test in a process of its own, as many at once as the harness would. What they print and report goes behind
    /// that of the run.
    pub(super) fn run_each(
        &self,
        places: Vec<Place<'_>>,
        artifacts: &Artifacts,
        reports: &Reports,
        request: &Request<'_>,
    ) -> Result<Vec<Solo>, RunError> {
        let (next, broken) = (AtomicUsize::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            for _ in 0..libtest::threads(&self.project.arguments()).min(places.len()) {
                scope.spawn(|| {
                    while let Some(place) = places.get(next.fetch_add(1, Ordering::Relaxed))
                        && !broken.load(Ordering::Relaxed)
                    {
                        let result = self.run_solo(place, artifacts, reports.clone(), request);
                        broken.fetch_or(result.is_err(), Ordering::Relaxed);
                        // Each is run by one thread only.
                        let _ = place.result.set(result);
                    }
                });
            }
        });
        for place in &places {
            // What counts was read before; these are for people.
            let appended = append(&place.log, request.log);
            if let Err(error) = appended.and_then(|()| append(&place.report_file, request.report_file)) {
                self.note_lost_log(&error);
            }
        }
        // After an error some are missing, but then the error is there.
        let solo = |place: Place<'_>| {
            let attempt = place.result.into_inner()?;
            Some(attempt.map(|attempt| Solo { test: place.test.clone(), attempt }))
        };
        places.into_iter().filter_map(solo).collect()
    }

    fn run_solo(
        &self,
        place: &Place<'_>,
        artifacts: &Artifacts,
        mut reports: Reports,
        request: &Request<'_>,
    ) -> Result<Attempt, RunError> {
        let Place { test, log, report_file, .. } = place;
        for file in [report_file, log] {
            fs_err::File::create(file)?;
        }
        let untold = |words, reports| Attempt::unresolved(Reason::Skip, words, reports, Duration::ZERO);
        let Some(executable) = artifacts.executables.iter().find(|other| other.key() == test.executable) else {
            return Ok(untold("its executable is not there with these changes", reports));
        };
        let share = test.test.as_ref().map_or(Share::Everything, |test| Share::Tests(slice::from_ref(test)));
        let repetition = request.repetition;
        let executions = self.repeat(repetition, &self.alone(None), || {
            let limit = place.limit.or(self.settings.timeout);
            let start = Start { artifacts, executable, share, started: Instant::now(), limit, report_file, log };
            let finished = self.start(&start, request, &mut reports)?;
            let part = self.part(executable, &finished)?;
            Ok(vec![if test.test.is_some() { all_by(test, part) } else { part }])
        })?;
        reports.read_file(report_file)?;
        if executions.iter().flatten().all(|part| part.tests == Some(0)) {
            return Ok(untold("it is not there with these changes", reports));
        }
        let (started_in, duration) = (Duration::ZERO, Duration::ZERO);
        Ok(Attempt { executions, repetition, reports, started_in, duration, dependent: Failures::new() })
    }

    /// What a run of single tests means for each of them.
    pub(super) fn judge_separately(&self, trial: &Trial, solos: Vec<Solo>) -> Vec<Run> {
        let judge = |Solo { test, attempt }| {
            let mut criteria = self.alone(Some(trial));
            if trial.question == Question::Rest && self.learn_left(trial, Some(&test), &criteria, &attempt) {
                criteria = self.alone(Some(trial));
            }
            let run = self.judge_by(&criteria, attempt);
            let failed = run.outcome == Outcome::Fail;
            Run { failed_tests: failed.then(|| self.name(&test)).into_iter().collect(), ..run }
        };
        solos.into_iter().map(judge).collect()
    }
}

/// What one test showed in a process of its own.
#[derive(Debug)]
pub(crate) struct Solo {
    pub(super) test: Failure,
    pub(super) attempt: Attempt,
}

/// Whatever failed, and however, in a process with one test was that test.
fn all_by(test: &Failure, part: Part) -> Part {
    let whole = part.causes.iter().find(|(failure, _)| failure.test.is_none());
    let cause = whole.or(part.causes.iter().next()).map(|(_, cause)| (test.clone(), cause.clone()));
    let causes: BTreeMap<_, _> = cause.into_iter().collect();
    Part { failures: causes.keys().cloned().collect(), causes, ..part }
}

/// A test that is run in a process of its own, and where.
pub(super) struct Place<'a> {
    test: &'a Failure,
    /// How long it may take, if not as long as any run.
    limit: Option<Duration>,
    log: PathBuf,
    report_file: PathBuf,
    result: OnceLock<Result<Attempt, RunError>>,
}

impl<'a> Place<'a> {
    pub(super) fn new(test: &'a Failure, number: usize, request: &Request<'_>) -> Self {
        let file = |extension| request.scratch.path().join(format!("{number}.{extension}"));
        Self { test, limit: None, log: file("log"), report_file: file("reports"), result: OnceLock::new() }
    }

    /// The same, that may take so long; `None`: as long as any run.
    pub(super) fn with_limit(self, limit: Option<Duration>) -> Self {
        Self { limit, ..self }
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
