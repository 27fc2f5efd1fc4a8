//! The outcome of a victim, from the output of the process in which it ran with other tests.

use bisect_core::search::{Outcome, Reason};
use regex::bytes::Regex;

use crate::{
    cargo::libtest,
    process::{self, Ending, Finished},
    run::cause::Cause,
};

/// The rule for what counts as a failure of a victim.
#[derive(Clone, Copy, Debug)]
pub(super) struct VictimRule<'a> {
    /// The victim.
    pub(super) victim: &'a str,
    /// The number of tests that were to run, with the victim.
    pub(super) tests: usize,
    /// The number of these tests that the harness starts before the victim.
    pub(super) before: usize,
    /// The number of tests that run at once.
    pub(super) threads: usize,
    /// The exit status of an inconclusive run.
    pub(super) skip_code: i32,
    /// A regular expression: only a failure whose output matches counts.
    pub(super) fail_when: Option<&'a Regex>,
}

impl VictimRule<'_> {
    /// Returns the outcome of the victim, with its description, which is empty if it passed.
    ///
    /// Failures of other tests do not count. If the process ended before all tests had run, the victim failed if it was
    /// running. With several threads, a crash does not show which of the running tests caused it.
    pub(super) fn outcome(&self, finished: &Finished) -> (Outcome, String) {
        let output = &finished.output;
        let code = match finished.ending {
            Ending::Exited(status) => status.code(),
            Ending::Stopped(signal) => return (Outcome::Unresolved(Reason::Skip), process::describe_stop(signal)),
            Ending::TimedOut | Ending::Interrupted => None,
        };
        let is_complete = libtest::has_ended(output);
        if is_complete && libtest::started_tests(output).is_some_and(|count| count < self.tests) {
            let reason = format!("{} of {} tests were run", libtest::started_tests(output).unwrap_or(0), self.tests);
            return (Outcome::Unresolved(Reason::Skip), reason);
        }
        match code {
            Some(0) if is_complete => return (Outcome::Pass, String::new()),
            Some(libtest::FAILED) if is_complete => {
                if let Some(failed) = libtest::failed_tests(output) {
                    return match failed.iter().find(|test| test.name == self.victim) {
                        Some(_) => self.failure(finished),
                        None => (Outcome::Pass, String::new()),
                    };
                }
            }
            Some(code) if code == self.skip_code => {
                return (Outcome::Unresolved(Reason::Skip), format!("exit status {code}"));
            }
            _ => {}
        }
        let is_victim = |name: &String| name == self.victim;
        if libtest::failed_before_the_end(output).iter().any(is_victim) {
            return self.failure(finished);
        }
        if libtest::ended_tests(output).contains(self.victim) {
            return (Outcome::Pass, String::new());
        }
        let running = if self.is_serial() { libtest::running_test(output) } else { None };
        if running.as_ref().is_some_and(is_victim) || self.tests == 1 || self.is_running_beside(finished) {
            return self.failure(finished);
        }
        let test = running.map_or_else(|| "another test".to_owned(), |test| format!("`{test}`"));
        let reason = format!("{test} ended the process: {}", describe(finished.ending));
        (Outcome::Unresolved(Reason::Skip), reason)
    }

    /// Returns the cause of the victim's failure.
    pub(super) fn cause(&self, finished: &Finished) -> Cause {
        let failed = libtest::failed_tests(&finished.output).unwrap_or_default();
        match failed.iter().find(|test| test.name == self.victim) {
            Some(failed) => Cause::of_test(&failed.printed),
            None => Cause::of_harness(finished),
        }
    }

    /// Returns the other test that ended the process before the victim ran, if the tests ran one after the other.
    pub(super) fn blocker(&self, finished: &Finished) -> Option<String> {
        if !self.is_serial() || libtest::has_ended(&finished.output) {
            return None;
        }
        let ended = libtest::ended_tests(&finished.output);
        libtest::running_test(&finished.output).filter(|test| test != self.victim && !ended.contains(self.victim))
    }

    /// Returns the number of tests, in the order of the harness, that had started at most when the process ended before
    /// the victim did; `None` if the tests run one after the other, or if the victim or all tests ended.
    pub(super) fn started_at_most(&self, finished: &Finished) -> Option<usize> {
        let ended = libtest::ended_tests(&finished.output);
        let is_over = libtest::has_ended(&finished.output) || ended.contains(self.victim);
        // The harness starts a test when it has shown the end of another one.
        (!self.is_serial() && !is_over).then(|| ended.len() + self.threads)
    }

    /// Returns true if the victim had started, and not ended, when the process ended.
    fn is_running_beside(&self, finished: &Finished) -> bool {
        self.started_at_most(finished).is_some_and(|started| self.before < started)
    }

    fn is_serial(&self) -> bool {
        self.threads == 1
    }

    fn failure(&self, finished: &Finished) -> (Outcome, String) {
        let description = describe(finished.ending);
        match self.fail_when {
            Some(regex) if !regex.is_match(&finished.output) => {
                (Outcome::Unresolved(Reason::Skip), format!("another failure: {description}"))
            }
            _ => (Outcome::Fail, description),
        }
    }
}

/// Returns a description of the way in which a process ended.
pub(super) fn describe(ending: Ending) -> String {
    match ending {
        Ending::Exited(status) => process::describe(status),
        Ending::Stopped(signal) => process::describe_stop(signal),
        Ending::TimedOut | Ending::Interrupted => "timeout".to_owned(),
    }
}
