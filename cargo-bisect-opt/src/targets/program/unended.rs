//! Which tests hang or crash, where an executable did not come to its end: the harness names most tests only when they have
//! ended.
//!
//! What was running in the end are the first of those that have not ended, as many as the harness runs at once. Some of
//! them may be slow, have waited for another one, or just have been there when another one crashed. So each is run again in
//! a process of its own, and is named if it does not come to its end there either, but not with the changes of the other end,
//! as far as that takes no build. Where none is, only the executable as a whole is known to fail. So what misleads (output
//! that looks like the harness's, another order, another harness) may hide a test, but accuses none.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use bisect_core::{Pattern, search::Outcome};

use super::{
    Failure, Failures, Program, Share,
    criteria::Part,
    failures::{names, too_many_arguments},
    run::Start,
    separate::{Place, Solo},
};
use crate::{
    cargo::{Subcommand, libtest},
    process::{self, Ending, Finished, ProcessSpec},
    report::scan::Reports,
    run::{cause::Cause, error::RunError, outcome::SEARCHED, repetition::Repetition, spec::Request},
};

/// Tests that did not come to their end, and how.
type Unended = BTreeMap<Failure, Cause>;

/// What is known of an executable that did not come to its end.
#[derive(Clone, Copy)]
struct Whole<'a> {
    /// How it failed.
    cause: &'a Cause,
    /// How long each of its tests may take by itself until that proves anything; `None`: as long as a run may.
    limit: Option<Duration>,
}

impl Program {
    /// What an executable showed, and if it did not come to its end, by which tests, as far as that can be told.
    pub(super) fn name_unended(
        &self,
        part: Part,
        finished: &Finished,
        start: &Start<'_>,
        request: &Request<'_>,
        reports: &mut Reports,
    ) -> Result<Part, RunError> {
        let executable = Failure { executable: start.executable.key(), test: None };
        let cause = part.causes.get(&executable).filter(|cause| cause.is_unended()).cloned();
        let Some(cause) = cause.filter(|_| part.outcome == Outcome::Fail && part.tests.is_some()) else {
            return Ok(part);
        };
        if self.settings.subcommand != Subcommand::Test {
            return Ok(part);
        }
        let whole = Whole { cause: &cause, limit: self.limit_alone(&cause, finished, start) };
        let tests = self.tests_of(start, request)?;
        if part.tests != Some(tests.len()) {
            return Ok(part);
        }
        let ended = libtest::ended_tests(&finished.output);
        let open = tests.iter().filter(|&test| !ended.contains(test));
        let mut open = open.map(|test| Failure { test: Some(test.clone()), ..executable.clone() });
        let running: Vec<_> = open.by_ref().take(libtest::threads(&self.project.arguments())).collect();
        let unended = match running.as_slice() {
            // To repeat the only test is to repeat the executable.
            [only] if tests.len() == 1 => [(only.clone(), cause.clone())].into(),
            running => self.unended(running, whole, start, request)?,
        };
        if unended.is_empty() {
            return Ok(part);
        }
        let later = self.later_tests(&open.collect(), whole, start, request, reports)?;
        // Beside them, tests may have failed before.
        let is_test = |failure: &Failure| failure.test.as_ref().is_some_and(|test| tests.contains(test));
        let failed = part.causes.into_iter().filter(|(failure, _)| is_test(failure));
        let causes: BTreeMap<_, _> = failed.chain(unended).chain(later).collect();
        Ok(Part { failures: causes.keys().cloned().collect(), causes, ..part })
    }

    /// The tests that an executable is to run; none, if it does not list them.
    fn tests_of(&self, start: &Start<'_>, request: &Request<'_>) -> Result<Vec<String>, RunError> {
        if let Share::Tests(tests) = start.share {
            return Ok(tests.to_vec());
        }
        let file = |name| request.scratch.path().join(name);
        let (log, report_file) = (file("list.log"), file("list.reports"));
        // Before what could end the options.
        let arguments = [vec!["--list".into()], self.arguments(start.share)].concat();
        let (command, _temporary) =
            self.command(&Start { report_file: &report_file, ..*start }, &arguments, request)?;
        let finished = process::run(ProcessSpec {
            command,
            timeout: self.settings.timeout,
            log: &log,
            append: false,
            interrupt: request.interrupt,
            reader: None,
            tail: SEARCHED,
        })?;
        match finished.ending {
            Ending::Interrupted => Err(RunError::Interrupted),
            Ending::Exited(status) if status.success() => Ok(libtest::listed_tests(&finished.output)),
            Ending::Exited(_) | Ending::TimedOut | Ending::Stopped(_) => Ok(Vec::new()),
        }
    }

    /// Those of the tests that were running that do not come to their end.
    fn unended(
        &self,
        running: &[Failure],
        whole: Whole<'_>,
        start: &Start<'_>,
        request: &Request<'_>,
    ) -> Result<Unended, RunError> {
        if self.focus().is_settled() {
            // Later runs need no proof once more.
            let together = self.learned().together.clone();
            let fails_so = |known: &Cause| !known.is_unknown() && known.is_like(whole.cause);
            let known = running.iter().filter(|test| together.of(test).any(fails_so));
            let known: Unended = known.map(|test| (test.clone(), whole.cause.clone())).collect();
            if !known.is_empty() {
                return Ok(known);
            }
        }
        let unended = self.unended_alone(running, whole, start, request)?;
        if self.axis.builds() || unended.is_empty() {
            return Ok(unended);
        }
        // What needs another test fails alone whatever is enabled, and must not be told apart from that test.
        let none = Pattern::all().inverted(true);
        let pattern = if *request.pattern == none { Pattern::all() } else { none };
        let report_file = request.scratch.path().join("other-end.reports");
        fs_err::File::create(&report_file)?;
        let request = Request { pattern: &pattern, report_file: &report_file, ..*request };
        let tests: Vec<_> = unended.keys().cloned().collect();
        let anyway = self.unended_alone(&tests, whole, start, &request)?;
        Ok(unended.into_iter().filter(|(test, _)| !anyway.contains_key(test)).collect())
    }

    /// Those of the tests that fail like the executable, each in a process of its own.
    fn unended_alone(
        &self,
        tests: &[Failure],
        whole: Whole<'_>,
        start: &Start<'_>,
        request: &Request<'_>,
    ) -> Result<Unended, RunError> {
        let request = Request { repetition: Repetition::Once, ..*request };
        let place = |(i, test)| Place::new(test, i, &request).with_limit(whole.limit);
        let places = tests.iter().enumerate().map(place).collect();
        let solos = self.run_each(places, start.artifacts, &self.new_reports(request.pattern), &request)?;
        let cause = |Solo { test, attempt }: Solo| {
            let cause = attempt.parts().find_map(|part| part.causes.get(&test))?.clone();
            (!cause.is_unknown() && cause.is_like(whole.cause)).then_some((test, cause))
        };
        Ok(solos.into_iter().filter_map(cause).collect())
    }

    /// How long each test may take by itself; `None`: as long as a run may.
    fn limit_alone(&self, cause: &Cause, finished: &Finished, start: &Start<'_>) -> Option<Duration> {
        let timeout = self.settings.timeout.filter(|_| cause.is_timeout())?;
        let modified = fs_err::metadata(start.log).and_then(|log| log.modified()).ok()?;
        let silence = SystemTime::now().duration_since(modified).ok()?;
        Some(proof(timeout, finished.duration.saturating_sub(silence)))
    }

    /// How tests fail that had no turn before the executable crashed. After one that hangs there is no time left: the user is
    /// told.
    fn later_tests(
        &self,
        unstarted: &Failures,
        whole: Whole<'_>,
        start: &Start<'_>,
        request: &Request<'_>,
        reports: &mut Reports,
    ) -> Result<Unended, RunError> {
        let is_settled = self.focus().is_settled();
        let is_final = !self.settings.all_tests && !is_settled;
        // A test that is not named at an end of the search counts as one that passes there.
        if is_settled && !(whole.cause.is_crash() && is_end(request.pattern)) || unstarted.is_empty() {
            return Ok(Unended::new());
        }
        let tests: Vec<_> = unstarted.iter().filter_map(|failure| failure.test.clone()).collect();
        let left_out = if whole.cause.is_crash() && !too_many_arguments(&tests) {
            let start = Start { share: Share::Tests(&tests), ..*start };
            let finished = self.start(&start, request, reports)?;
            let part = self.part(start.executable, &finished)?;
            let part = self.name_unended(part, &finished, &start, request, reports)?;
            if part.causes.keys().all(|failure| failure.test.is_some()) {
                return Ok(part.causes);
            }
            "they crash the process, but none of them alone does"
        } else if whole.cause.is_crash() {
            "the crash came before it was their turn"
        } else {
            "the timeout came before it was their turn"
        };
        let mut learned = self.learned();
        if is_final && !std::mem::replace(&mut learned.told_unstarted, true) {
            let names = names(unstarted);
            learned.notes.push(format!("left out, because {left_out}: {names}"));
        }
        Ok(Unended::new())
    }
}

/// Whether a pattern enables everything, or nothing.
fn is_end(pattern: &Pattern) -> bool {
    let plain = pattern.clone().verbose(false);
    plain == Pattern::all() || plain == Pattern::all().inverted(true)
}

/// How long a test that is alone may take until it is said to hang, if the last sign of the others came after such a time. It
/// had all the time since then already, and has no other test to wait for now; one that comes back does so in a time of the
/// order of that which the others took. A test that is said to hang and does not is seen through in later runs, which
/// have all the time there is.
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
