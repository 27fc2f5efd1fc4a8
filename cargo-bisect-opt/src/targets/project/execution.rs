//! One attempt: builds if necessary, then runs the selected tests, or the program, in one go.

use std::{
    borrow::Cow,
    time::{Duration, Instant},
};

use bisect_core::search::{Outcome, Reason};

use super::{
    attempt::{Attempt, Execution},
    criteria::Part,
    process_per_test,
    run_context::{ExecutableRun, RunContext, Unbuilt, unusable},
    test_selection::{Failures, Subset, TestSelection},
    unended,
};
use crate::{
    cargo::{Artifacts, BuildCounts, CargoError, Subcommand},
    process::Ending,
    report::scan::Reports,
    run::error::RunError,
};

/// Runs everything that is to be run, in one go, several times if that is requested. Also returns what was run, if it
/// could be built.
pub(super) fn attempt<'a>(
    run: &RunContext<'a>,
    builds: &mut BuildCounts,
) -> Result<(Attempt, Option<Cow<'a, Artifacts>>), RunError> {
    let mut reports = run.new_reports();
    let begun = Instant::now();
    let artifacts = match run.build(builds)? {
        Ok(artifacts) => artifacts,
        Err(Unbuilt(words)) => {
            run.collect(None, &mut reports)?;
            run.read_reports(&run.spec.report_file, &mut reports)?;
            return Ok((Attempt::unresolved(Reason::Build, &words, reports, begun.elapsed()), None));
        }
    };
    let build_time = begun.elapsed();
    run.collect(Some(&artifacts), &mut reports)?;
    let started = Instant::now();
    let repetition = run.spec.repetition;
    let executions =
        run.repeat(repetition, &run.together(), || execute(run, &run.known_failures.tests, &artifacts, &mut reports))?;
    // Zero means that there was nothing to run: such a run passes, but no command line does.
    let duration = if executions.iter().all(Vec::is_empty) { Duration::ZERO } else { started.elapsed() };
    run.read_reports(&run.spec.report_file, &mut reports)?;
    let attempt = Attempt { executions, repetition, reports, build_time, duration, dependent: Failures::new() };
    Ok((attempt, Some(artifacts)))
}

/// Executes everything that is to be run once.
pub(super) fn execute(
    run: &RunContext<'_>,
    tests: &TestSelection,
    artifacts: &Artifacts,
    reports: &mut Reports,
) -> Result<Execution, RunError> {
    let started = Instant::now();
    let mut parts = Vec::new();
    let is_of_other_tests = run.is_of_other_code() && !run.runner.axis.facts().decides_which_tests_there_are;
    let mut executables = match run.project.executables(artifacts) {
        Ok(executables) => executables,
        Err(error) if is_of_other_tests => return Ok(vec![not_there(error.to_string())]),
        Err(CargoError::Nothing(_)) if run.may_lack_tests() => return Ok(Vec::new()),
        Err(error) => return Err(unusable(error)),
    };
    if run.project.subcommand == Subcommand::Nextest {
        parts = process_per_test::execute(run, tests, artifacts, &executables, reports)?;
        // Each test has ended by itself, or named itself.
        executables.clear();
    }
    for executable in executables {
        let subset = tests.subset(&executable.key());
        if subset == Subset::Nothing {
            continue;
        }
        let (report_file, log) = (run.spec.report_file.as_path(), run.spec.log.as_path());
        let limit = run.runner.options.timeout;
        let start = ExecutableRun { artifacts, executable, subset, started, limit, report_file, log };
        let finished = run.start(&start, reports)?;
        let timed_out = finished.ending == Ending::TimedOut;
        let part = run.part(executable, &finished)?;
        parts.push(unended::name(run, part, &finished, &start, reports)?);
        if timed_out {
            break;
        }
    }
    if is_of_other_tests && lacks_tests(tests, &parts) {
        parts.push(not_there("the test is not there".to_owned()));
    }
    Ok(parts)
}

/// Returns an unresolved part of an execution, for what the source code of this run does not have.
fn not_there(reason: String) -> Part {
    Part { outcome: Outcome::Unresolved(Reason::Skip), reason, ..Part::default() }
}

/// Returns true if an execution ran fewer tests than were selected, or none.
fn lacks_tests(tests: &TestSelection, parts: &[Part]) -> bool {
    // A custom harness does not say how many tests it runs.
    let run: Option<usize> = parts.iter().map(|part| part.tests).sum();
    run.is_some_and(|run| run < tests.least_tests())
}
