//! Runs of tests in separate processes: a run shows for each test whether it fails and what it reports.
//!
//! With one process for all tests, the failed tests would be known only as far as text for people can be trusted. The
//! reports of all tests would be mixed, and a crash would hide the other failures. The harness's JSON is unstable. A
//! process costs a few milliseconds (`tests/benches/details/driver.md`); cargo-nextest has made the same choice.

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

use bisect_core::search::Reason;

use super::{
    attempt::Attempt,
    criteria::Part,
    run_context::{ExecutableRun, RunContext, Unbuilt},
    runner::Solo,
    test_selection::{Failure, Failures, Subset},
};
use crate::{
    cargo::{Artifacts, BuildCounts, libtest},
    process::own_file,
    report::scan::Reports,
    run::{error::RunError, repetition::Repetition, result::Note},
};

/// Runs tests by their numbers, as many in parallel as the harness would. Returns a note if their output is lost.
pub(super) fn run(
    run: &RunContext<'_>,
    tests: &[usize],
    builds: &mut BuildCounts,
) -> Result<(Vec<Solo>, Option<Note>), RunError> {
    let all = &run.known_failures.separate;
    let begun = Instant::now();
    let built = run.build(builds)?;
    let build_time = begun.elapsed();
    let mut reports = run.new_reports();
    // The compiler's messages apply to each test.
    run.collect(built.as_deref().ok(), &mut reports)?;
    if built.is_err() || run.runner.axis.facts().builds {
        reports.read_file(&run.spec.report_file)?;
    }
    let artifacts = match built {
        Ok(artifacts) => artifacts,
        Err(Unbuilt(words)) => {
            let attempt = Attempt::unresolved(Reason::Build, &words, reports, build_time);
            let solo = |&test: &usize| Solo { test: all[test].clone(), attempt: attempt.clone() };
            return Ok((tests.iter().map(solo).collect(), None));
        }
    };
    let places = tests.iter().map(|&test| TestRun::new(&all[test], test, run)).collect();
    let started = Instant::now();
    let (mut solos, note) = run_each(run, places, &artifacts, &reports)?;
    // All tests together are one run, which has one duration.
    let duration = started.elapsed();
    for Solo { attempt, .. } in &mut solos {
        (attempt.build_time, attempt.duration) = (build_time, duration);
    }
    Ok((solos, note))
}

/// Runs each test in its own process, as many in parallel as the harness would. Appends their output and their reports
/// to those of the run.
pub(super) fn run_each(
    run: &RunContext<'_>,
    tests: Vec<TestRun<'_>>,
    artifacts: &Artifacts,
    reports: &Reports,
) -> Result<(Vec<Solo>, Option<Note>), RunError> {
    let (next, broken) = (AtomicUsize::new(0), AtomicBool::new(false));
    let run_some = || {
        while let Some(test) = tests.get(next.fetch_add(1, Ordering::Relaxed))
            && !broken.load(Ordering::Relaxed)
        {
            let result = run_alone(run, test, artifacts, reports.clone());
            broken.fetch_or(result.is_err(), Ordering::Relaxed);
            // Only one thread runs each test, so the result is not set yet.
            let _ = test.result.set(result);
        }
    };
    thread::scope(|scope| {
        // This thread is one of them. Where the system starts no more, fewer tests run in parallel.
        let threads = libtest::threads(&run.project.arguments()).min(tests.len());
        let _ = (1..threads).try_for_each(|_| thread::Builder::new().spawn_scoped(scope, run_some).map(drop));
        run_some();
    });
    let mut note = None;
    for test in &tests {
        // The results were read before; these files are for people.
        let appended = append(&test.log, &run.spec.log);
        if let Err(error) = appended.and_then(|()| append(&test.report_file, &run.spec.report_file)) {
            note = Some(Note::lost_log(&error));
        }
    }
    // After an error some results are missing, but the error is among the others.
    let solo = |test: TestRun<'_>| {
        let attempt = test.result.into_inner()?;
        Some(attempt.map(|attempt| Solo { test: test.test.clone(), attempt }))
    };
    let solos = tests.into_iter().filter_map(solo).collect::<Result<_, _>>()?;
    Ok((solos, note))
}

fn run_alone(
    run: &RunContext<'_>,
    test_run: &TestRun<'_>,
    artifacts: &Artifacts,
    mut reports: Reports,
) -> Result<Attempt, RunError> {
    let TestRun { test, log, report_file, .. } = test_run;
    for file in [report_file, log] {
        own_file::create(file)?;
    }
    let repetition = test_run.repetition;
    let (build_time, duration) = (Duration::ZERO, Duration::ZERO);
    let passes_if_missing = run.runner.axis.facts().decides_which_tests_there_are;
    let unresolved = |words, reports| Attempt::unresolved(Reason::Skip, words, reports, Duration::ZERO);
    let Some(executable) = artifacts.executables.iter().find(|other| other.key() == test.executable) else {
        if passes_if_missing {
            let (executions, dependent) = (vec![Vec::new()], Failures::new());
            return Ok(Attempt { executions, repetition, reports, build_time, duration, dependent });
        }
        return Ok(unresolved("its executable is not there with these changes", reports));
    };
    let subset = test.test.as_ref().map_or(Subset::Everything, |test| Subset::Tests(slice::from_ref(test)));
    let executions = run.repeat(repetition, &run.alone(test), || {
        let limit = test_run.limit.or(run.runner.options.timeout);
        let start = ExecutableRun { artifacts, executable, subset, started: Instant::now(), limit, report_file, log };
        let finished = run.start(&start, &mut reports)?;
        let part = run.part(executable, &finished)?;
        Ok(vec![if test.test.is_some() { all_by(test, part) } else { part }])
    })?;
    run.read_reports(report_file, &mut reports)?;
    if !passes_if_missing && executions.iter().flatten().all(|part| part.tests == Some(0)) {
        return Ok(unresolved("it is not there with these changes", reports));
    }
    Ok(Attempt { executions, repetition, reports, build_time, duration, dependent: Failures::new() })
}

/// Attributes all failures in a process with one test to that test.
fn all_by(test: &Failure, part: Part) -> Part {
    let whole = part.causes.iter().find(|(failure, _)| failure.test.is_none());
    let cause = whole.or(part.causes.iter().next()).map(|(_, cause)| (test.clone(), cause.clone()));
    let causes: BTreeMap<_, _> = cause.into_iter().collect();
    Part { failures: causes.keys().cloned().collect(), causes, ..part }
}

/// A test that is run in its own process, with the paths of its files.
pub(super) struct TestRun<'a> {
    test: &'a Failure,
    /// The rule for executions.
    repetition: Repetition,
    /// The time limit, if it differs from that of a run.
    limit: Option<Duration>,
    log: PathBuf,
    report_file: PathBuf,
    result: OnceLock<Result<Attempt, RunError>>,
}

impl<'a> TestRun<'a> {
    pub(super) fn new(test: &'a Failure, number: usize, run: &RunContext<'_>) -> Self {
        let file = |extension| run.surroundings.scratch.path().join(format!("{number}.{extension}"));
        let repetition = run.spec.repetition;
        Self { test, repetition, limit: None, log: file("log"), report_file: file("reports"), result: OnceLock::new() }
    }

    /// Makes one execution, of the several of a run.
    pub(super) fn once(self) -> Self {
        Self { repetition: Repetition::Once, ..self }
    }

    /// Sets the time limit; `None` for that of a run.
    pub(super) fn with_limit(self, limit: Option<Duration>) -> Self {
        Self { limit, ..self }
    }
}

/// Appends one file to another. A file that does not exist counts as empty.
fn append(from: &Path, to: &Path) -> io::Result<()> {
    match own_file::open(from) {
        Ok(mut from) => io::copy(&mut from, &mut own_file::append(to)?).map(drop),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
