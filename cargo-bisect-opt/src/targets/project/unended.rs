//! Detects the tests that hang or crash, if an executable did not finish.
//!
//! The harness names most tests only when they have ended.
//!
//! The tests that were running at the end are the first of those that have not ended, as many as the harness runs in
//! parallel. Some of them may be slow, may have waited for another one, or may only have been running when another one
//! crashed. So each is run again in its own process. A test is named if it does not finish there either, but finishes
//! with the changes of the other end state (this is checked unless it takes a build). If no test is named, only the
//! executable as a whole is known to fail. So misleading output (text that looks like the harness's, another order,
//! another harness) may hide a test, but accuses none.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use bisect_core::search::Outcome;

use super::{
    criteria::Part,
    run_context::{ExecutableRun, RunContext},
    runner::Solo,
    separately::{TestRun, run_each},
    test_selection::{Failure, Failures, Subset, names, too_many_arguments},
};
use crate::{
    cargo::libtest,
    process::{self, Ending, Finished, ProcessSpec, own_file},
    report::scan::Reports,
    run::{
        cause::Cause,
        error::RunError,
        outcome::SEARCHED,
        repetition::Repetition,
        result::Note,
        spec::{EndState, RunSpec},
    },
};

/// The tests that did not finish, with the causes.
type Unended = BTreeMap<Failure, Cause>;

/// The facts known about an executable that did not finish.
#[derive(Clone, Copy)]
struct UnendedFacts<'a> {
    /// The cause of its failure.
    cause: &'a Cause,
    /// The time limit of each of its tests alone, beyond which the test is proved to hang; `None` for the limit of a
    /// run.
    limit: Option<Duration>,
}

/// Returns the result of an executable. If the executable did not finish, the result names the tests that are
/// responsible, as far as they can be determined.
pub(super) fn name(
    run: &RunContext<'_>,
    part: Part,
    finished: &Finished,
    start: &ExecutableRun<'_>,
    reports: &mut Reports,
) -> Result<Part, RunError> {
    let executable = Failure { executable: start.executable.key(), test: None };
    let cause = part.causes.get(&executable).filter(|cause| cause.is_unended()).cloned();
    let Some(cause) = cause.filter(|_| part.outcome == Outcome::Fail && part.tests.is_some()) else {
        return Ok(part);
    };
    if !run.runner.options.subcommand.is_test() || !run.runner.axis.facts().reporter.names_unended_tests() {
        return Ok(part);
    }
    let whole = UnendedFacts { cause: &cause, limit: limit_alone(run, &cause, finished, start) };
    let tests = tests_of(run, start)?;
    if part.tests != Some(tests.len()) {
        return Ok(part);
    }
    let ended = libtest::ended_tests(&finished.output);
    let open = tests.iter().filter(|&test| !ended.contains(test));
    let mut open = open.map(|test| Failure { test: Some(test.clone()), ..executable.clone() });
    let running: Vec<_> = open.by_ref().take(libtest::threads(&run.project.arguments())).collect();
    let unended = match running.as_slice() {
        // Repeating the only test would repeat the executable.
        [only] if tests.len() == 1 => [(only.clone(), cause.clone())].into(),
        running => unended(run, running, whole, start)?,
    };
    if unended.is_empty() {
        return Ok(part);
    }
    // A test that was running when another one crashed may fail, too.
    let interrupted = running.into_iter().filter(|test| cause.is_crash() && !unended.contains_key(test));
    let (later, note) = later_tests(run, &open.chain(interrupted).collect(), whole, start, reports)?;
    // Other tests may have failed before.
    let is_test = |failure: &Failure| failure.test.as_ref().is_some_and(|test| tests.contains(test));
    let failed = part.causes.into_iter().filter(|(failure, _)| is_test(failure));
    let causes: BTreeMap<_, _> = failed.chain(unended).chain(later).collect();
    let notes = part.notes.into_iter().chain(note).collect();
    Ok(Part { failures: causes.keys().cloned().collect(), causes, notes, ..part })
}

/// Returns the tests that an executable is to run; none if it does not list them.
fn tests_of(run: &RunContext<'_>, start: &ExecutableRun<'_>) -> Result<Vec<String>, RunError> {
    if let Subset::Tests(tests) = start.subset {
        return Ok(tests.to_vec());
    }
    let file = |name| run.surroundings.scratch.path().join(name);
    let (log, report_file) = (file("list.log"), file("list.reports"));
    // The option comes first, because an argument may end the options.
    let arguments = [vec!["--list".into()], run.arguments(start.subset)].concat();
    let (command, _temporary) = run.command(&ExecutableRun { report_file: &report_file, ..*start }, &arguments)?;
    let finished = process::run(ProcessSpec {
        command,
        timeout: run.runner.options.timeout,
        log: &log,
        append: false,
        interrupt: run.surroundings.interrupt,
        reader: None,
        tail: SEARCHED,
    })?;
    match finished.ending {
        Ending::Interrupted => Err(RunError::Interrupted),
        Ending::Exited(status) if status.success() => Ok(libtest::listed_tests(&finished.output)),
        Ending::Exited(_) | Ending::TimedOut | Ending::Stopped(_) => Ok(Vec::new()),
    }
}

/// Returns the running tests that do not finish.
fn unended(
    run: &RunContext<'_>,
    running: &[Failure],
    whole: UnendedFacts<'_>,
    start: &ExecutableRun<'_>,
) -> Result<Unended, RunError> {
    if run.known_failures.tests.is_settled() {
        // Later runs do not need the proof again.
        let fails_so = |known: &Cause| !known.is_unknown() && known.is_like(whole.cause);
        let known = running.iter().filter(|test| run.known_failures.together.of(test).any(fails_so));
        let known: Unended = known.map(|test| (test.clone(), whole.cause.clone())).collect();
        if !known.is_empty() {
            return Ok(known);
        }
    }
    let unended = unended_alone(run, running, whole, start)?;
    if run.runner.axis.facts().builds || unended.is_empty() {
        return Ok(unended);
    }
    // A test that needs another one fails alone whatever is enabled. It must not be separated from that test.
    let end = if run.spec.choice.end_state() == Some(EndState::AllOff) { EndState::AllOn } else { EndState::AllOff };
    let report_file = run.surroundings.scratch.path().join("other-end.reports");
    own_file::create(&report_file)?;
    let spec = RunSpec { choice: run.spec.choice.at_end(end), report_file, ..run.spec.clone() };
    let tests: Vec<_> = unended.keys().cloned().collect();
    let anyway = unended_alone(&run.beside(&spec)?, &tests, whole, start)?;
    Ok(unended.into_iter().filter(|(test, _)| !anyway.contains_key(test)).collect())
}

/// Returns the tests that fail like the executable, each in its own process.
fn unended_alone(
    run: &RunContext<'_>,
    tests: &[Failure],
    whole: UnendedFacts<'_>,
    start: &ExecutableRun<'_>,
) -> Result<Unended, RunError> {
    let spec = RunSpec { repetition: Repetition::Once, ..run.spec.clone() };
    let run = run.beside(&spec)?;
    let alone = |(i, test)| TestRun::new(test, i, &run).with_limit(whole.limit);
    let test_runs = tests.iter().enumerate().map(alone).collect();
    let (solos, _) = run_each(&run, test_runs, start.artifacts, &run.new_reports())?;
    let cause = |Solo { test, attempt }: Solo| {
        let cause = attempt.parts().find_map(|part| part.causes.get(&test))?.clone();
        (!cause.is_unknown() && cause.is_like(whole.cause)).then_some((test, cause))
    };
    Ok(solos.into_iter().filter_map(cause).collect())
}

/// Returns the time limit of each test alone; `None` for the limit of a run.
fn limit_alone(
    run: &RunContext<'_>,
    cause: &Cause,
    finished: &Finished,
    start: &ExecutableRun<'_>,
) -> Option<Duration> {
    let timeout = run.runner.options.timeout.filter(|_| cause.is_timeout())?;
    let modified = fs_err::metadata(start.log).and_then(|log| log.modified()).ok()?;
    let silence = SystemTime::now().duration_since(modified).ok()?;
    Some(proof(timeout, finished.duration.saturating_sub(silence)))
}

/// Returns the failures of tests that had not started, or not ended, when the executable crashed. If they cannot be
/// found out, for example because a timeout leaves no time for them, a note names the tests.
fn later_tests(
    run: &RunContext<'_>,
    unstarted: &Failures,
    whole: UnendedFacts<'_>,
    start: &ExecutableRun<'_>,
    reports: &mut Reports,
) -> Result<(Unended, Option<Note>), RunError> {
    let is_settled = run.known_failures.tests.is_settled();
    let is_final = !run.runner.options.all_tests && !is_settled;
    let is_end = run.spec.choice.end_state().is_some();
    // A test that is not named at an end state counts as one that passes there.
    if is_settled && !(whole.cause.is_crash() && is_end) || unstarted.is_empty() {
        return Ok((Unended::new(), None));
    }
    let tests: Vec<_> = unstarted.iter().filter_map(|failure| failure.test.clone()).collect();
    let left_out = if whole.cause.is_crash() && !too_many_arguments(&tests) {
        let start = ExecutableRun { subset: Subset::Tests(&tests), ..*start };
        let finished = run.start(&start, reports)?;
        let part = run.part(start.executable, &finished)?;
        let part = name(run, part, &finished, &start, reports)?;
        if part.causes.keys().all(|failure| failure.test.is_some()) {
            return Ok((part.causes, None));
        }
        "they crash the process, but none of them alone does"
    } else if whole.cause.is_crash() {
        "the crash came before it was their turn"
    } else {
        "the timeout came before it was their turn"
    };
    let note = is_final.then(|| {
        let text = format!("left out, because {left_out}: {}", names(unstarted));
        Note { about: "unstarted tests".to_owned(), text }
    });
    Ok((Unended::new(), note))
}

/// Returns the time after which a test that runs alone is considered to hang. `others` is the time from the start of
/// the executable to the last output of its tests. Since then, the test had all the remaining time already, and now it
/// has no other test to wait for. A test that finishes needs a time of the order of `others`. If a test is wrongly
/// considered to hang, later runs show that, because they have the whole time limit.
fn proof(timeout: Duration, others: Duration) -> Duration {
    const LEAST: Duration = Duration::from_secs(1);
    (others * 2).max(timeout / 8).max(LEAST).min(timeout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn that_a_test_hangs_is_proved_in_less_than_another_time_limit() {
        for (timeout, others, expected) in
            [(60_000, 0, 7_500), (60_000, 5_000, 10_000), (60_000, 50_000, 60_000), (2_000, 10, 1_000), (500, 10, 500)]
        {
            let [timeout, others, expected] = [timeout, others, expected].map(Duration::from_millis);
            assert_eq!(proof(timeout, others), expected, "{timeout:?} {others:?}");
        }
    }
}
