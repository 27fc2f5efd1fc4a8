//! The choice of a victim: a test that fails with all others and passes alone.

use super::{
    options::VictimOptions,
    outcome::describe,
    suite::{Suite, SuiteError},
};
use crate::{
    cargo::{CargoError, libtest},
    output::terminal,
    process::{Ending, Finished, interrupt::Interrupt},
    units::{listed, plural},
};

/// The maximum number of tests that may end the process one after the other. They are left out, so that the tests
/// after them run.
const MOST_LEFT_OUT: usize = 8;
/// The maximum number of tests that a message names.
const MOST_NAMED: usize = 3;

/// The search for the victim among the tests, with those that are not the victim.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    /// The tests that fail with all others and alone.
    failing: Vec<String>,
    /// The end of a run that no test explains.
    unexplained: Option<String>,
    is_quiet: bool,
}

impl Candidates {
    /// Returns a search that has run nothing. If `is_quiet` is set, runs are not announced.
    pub(crate) fn new(is_quiet: bool) -> Self {
        Self { is_quiet, ..Self::default() }
    }

    /// Runs all tests of a suite as the user does, then one after the other. Returns the position of the first test that
    /// fails with all others and passes alone.
    ///
    /// # Errors
    /// If the executable cannot be run.
    pub(crate) fn victim(
        &mut self,
        suite: &Suite,
        options: &VictimOptions,
        interrupt: &Interrupt,
    ) -> Result<Option<usize>, CargoError> {
        let mut tests: Vec<_> = suite.tests.iter().map(String::as_str).collect();
        let mut is_serial = suite.threads == 1;
        let mut left_out = 0;
        loop {
            let order = if is_serial { "one after the other".to_owned() } else { format!("{} at once", suite.threads) };
            self.announce(&format!("running {} of {}, {order}", plural(tests.len(), "test"), suite.name));
            let finished = suite.run(&suite.arguments_for(&tests, is_serial), options, interrupt)?;
            let is_searched = options.fail_when.as_ref().is_none_or(|regex| regex.is_match(&finished.output));
            let mut failed = if is_searched { failed(&finished) } else { Vec::new() };
            let blocker = if is_serial && is_searched { blocker(&finished) } else { None };
            failed.extend(blocker.clone().filter(|test| !failed.contains(test)));
            if failed.is_empty() && is_searched && !has_ended(&finished) {
                self.unexplained = Some(describe(finished.ending));
            }
            for test in failed {
                if self.failing.contains(&test) {
                    continue;
                }
                let Some(position) = suite.tests.iter().position(|other| *other == test) else { continue };
                let alone = suite.run(&suite.arguments_for(&[&test], true), options, interrupt)?;
                if matches!(alone.ending, Ending::Exited(status) if status.success()) {
                    self.announce(&format!("`{test}` fails with the others and passes alone"));
                    return Ok(Some(position));
                }
                self.failing.push(test);
            }
            match blocker {
                Some(blocker) if left_out < MOST_LEFT_OUT && tests.len() > 1 => {
                    self.announce(&format!(
                        "`{blocker}` ended the process, and does not pass alone: the next run leaves it out"
                    ));
                    tests.retain(|test| *test != blocker);
                    left_out += 1;
                }
                _ if is_serial => return Ok(None),
                _ => is_serial = true,
            }
        }
    }

    /// Returns the reason why there is no victim.
    pub(crate) fn none(self) -> SuiteError {
        let Self { failing, unexplained, .. } = self;
        SuiteError::Nothing(match (failing.as_slice(), unexplained) {
            ([], None) => {
                "all tests pass. If a test fails only sometimes, or only if it runs alone, name it: `cargo bisect-opt test --victim \
                 NAME`"
                    .to_owned()
            }
            ([], Some(ending)) => format!(
                "no test is reported as failed, but a run of all tests ended early ({ending}). Its output does not show \
                 which test ended it: give the name of a test"
            ),
            ([test], _) => {
                format!(
                    "1 test fails with all others and alone: {test}. Either no other test is to blame, or it needs one and \
                     is disturbed by another: then give its name"
                )
            }
            (tests, _) => {
                let more = tests.len().saturating_sub(MOST_NAMED);
                let named = tests.iter().take(MOST_NAMED).cloned();
                let text = listed(named.chain((more > 0).then(|| format!("{more} more"))));
                format!(
                    "{} tests fail with all others and alone: {text}. Either no other test is to blame, or they need some \
                     and are disturbed by others: then give one name",
                    tests.len()
                )
            }
        })
    }

    fn announce(&self, line: &str) {
        if !self.is_quiet {
            terminal::show_lines(&format!("{line}\n"));
        }
    }
}

/// Returns the tests that a run reports as failed.
fn failed(finished: &Finished) -> Vec<String> {
    match libtest::failed_tests(&finished.output) {
        Some(failed) => failed.into_iter().map(|test| test.name).collect(),
        None => libtest::failed_before_the_end(&finished.output),
    }
}

/// Returns the test that was running when a process ended early, if the tests ran one after the other.
fn blocker(finished: &Finished) -> Option<String> {
    if has_ended(finished) { None } else { libtest::running_test(&finished.output) }
}

/// Returns true if the harness came to its end.
fn has_ended(finished: &Finished) -> bool {
    libtest::has_ended(&finished.output)
}
