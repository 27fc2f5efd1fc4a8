//! Detects tests that fail only together with other tests.
//!
//! Only failing tests are repeated. But a failing test may need a passing one, which leaves a state in the process that
//! the failing test meets.
//!
//! The first run that fails is examined: its failing tests are run once more without the others, with the same changes.
//! A test that passes then is run in the same way again, and after that together with the others. A test that passes
//! twice without the others and fails twice with them needs them. For a reliable target, this costs one execution of
//! the failing tests.

use super::{
    attempt::Attempt,
    criteria::Part,
    execution::execute,
    run_context::RunContext,
    test_selection::{Failure, Failures, TestSelection},
};
use crate::{
    cargo::Artifacts,
    process::own_file,
    run::{cause::Cause, error::RunError, spec::RunSpec},
};

/// Returns the tests that failed in a run of everything, and that need passing tests to fail.
pub(super) fn find(run: &RunContext<'_>, attempt: &Attempt, artifacts: &Artifacts) -> Result<Failures, RunError> {
    let Some(end) = run.spec.choice.end_state() else { return Ok(Failures::new()) };
    let (options, tests) = (&run.runner.options, &run.known_failures.tests);
    let is_narrowed = options.subcommand.is_test() && !options.all_tests;
    if !is_narrowed || tests.is_settled() {
        return Ok(Failures::new());
    }
    let Some(mut open) = attempt.failures().filter(|failures| can_need_others(attempt, failures)) else {
        return Ok(Failures::new());
    };
    // Tests that were broken anyway are not searched.
    open.retain(|failure| !tests.failed_at(end.other()).is_some_and(|failed| failed.contains(failure)));
    if open.is_empty() {
        return Ok(open);
    }
    let report_file = run.surroundings.scratch.path().join("without-others.reports");
    own_file::create(&report_file)?;
    let spec = RunSpec { report_file, ..run.spec.clone() };
    let run = run.beside(&spec)?;
    let (alone, beside) = (TestSelection::only(&open), TestSelection::executables_of(&open));
    for (tests, fails) in [(&alone, false), (&alone, false), (&beside, true)] {
        let failed = failing_with(&run, tests, &open, artifacts)?;
        open.retain(|failure| failed.contains(failure) == fails);
        if open.is_empty() {
            break;
        }
    }
    Ok(open)
}

/// Returns the failures if only these tests are run: as often as in a run, or until all of `asked` have failed.
fn failing_with(
    run: &RunContext<'_>,
    tests: &TestSelection,
    asked: &Failures,
    artifacts: &Artifacts,
) -> Result<Failures, RunError> {
    let mut reports = run.new_reports();
    let mut failed = Failures::new();
    for _ in 0..run.spec.repetition.times() {
        let execution = execute(run, tests, artifacts, &mut reports)?;
        failed.extend(execution.into_iter().flat_map(|part| part.failures));
        if asked.is_subset(&failed) {
            break;
        }
    }
    Ok(failed)
}

/// Returns true if all failures are tests that failed by themselves, and other tests in one of their executables did
/// not fail.
fn can_need_others(attempt: &Attempt, failures: &Failures) -> bool {
    let causes = || attempt.parts().flat_map(|part| part.causes.values());
    let are_tests = failures.iter().all(|failure| failure.test.is_some());
    let by_themselves = causes().all(|cause: &Cause| !cause.is_unended() && cause.environment().is_none());
    are_tests && by_themselves && attempt.parts().any(|part| has_others(part, failures))
}

fn has_others(part: &Part, failures: &Failures) -> bool {
    let Some(Failure { executable, .. }) = part.failures.first() else { return false };
    let failed = failures.iter().filter(|failure| failure.executable == *executable).count();
    part.tests.is_none_or(|tests| tests > failed)
}
