//! The runs that are made before a culprit of a test is named, in a search over several tests that seem reliable.
//!
//! The method is that of the sequential search. For a culprit of one change, a coin decides if the next run is expected
//! to fail or to pass, and at least one run is expected to pass. For a set, the runs are fixed and their order is
//! random. All tests use the same sequence of coin tosses, so tests that are about to name a culprit can share their
//! runs.

use alloc::vec::Vec;

use super::{joint, plan::Plan};
use crate::search::tuning;
use crate::search::{
    ledger::{Check, Ledger, Why},
    model::{
        Options,
        noise::Noise,
        rng::SeededRng,
        selection::Selection,
        trial::{Outcome, Question},
        verdict::Culprit,
    },
    sequential::Answer,
    test::{Test, TestCheck},
    unsplit::{left_out, of_change},
};

/// Schedules checks before a test takes this answer, if the answer would name a culprit. Returns true if the test has
/// to wait.
pub(super) fn before_naming(test: &mut Test, selection: &Selection, answer: &Answer<'_>, options: &Options) -> bool {
    if !test.checks.is_empty() {
        return true;
    }
    let number = test.procedure.found().len();
    let is_believed = matches!(options.noise, Noise::Suspected(_)) && test.noisy().is_none();
    if !is_believed || test.checked_culprits > number {
        return false;
    }
    let Some(culprit) = test.would_name(selection, answer) else { return false };
    test.checked_culprits = number + 1;
    test.checks = checks(test, &culprit, number, options);
    true
}

/// Schedules one more run of the failing end of a test that needs many changes together: from
/// [`tuning::LARGE_SET`] changes on, and again each time their number has doubled. See `check_large_set` of the
/// sequential search.
pub(super) fn of_large_set(test: &mut Test) {
    let needed = test.procedure.question().map_or(0, |asked| asked.selection.forced.len());
    if test.noisy().is_none() && test.verdict().is_none() && needed >= test.recheck_at {
        test.recheck_at = 2 * needed;
        let (question, selection) = test.procedure.mode().failing_end();
        test.checks.insert(0, TestCheck { question, selection, expected: Outcome::Fail });
    }
}

/// Returns true if the failing end of a test is due to be checked. If the check passes, the test is flaky, and its
/// present search is wasted.
pub(super) fn is_urgent(test: &Test) -> bool {
    test.checks.first().is_some_and(|check| check.question == test.procedure.mode().failing_end().0)
}

/// Returns the check that most of these tests can share.
pub(super) fn next(tests: &[Test], ledger: &Ledger, may_be_checked: impl Fn(&Test) -> bool) -> Option<Plan> {
    let is_in_check = |test: usize| {
        let mut open = ledger.iter().filter(|entry| matches!(entry.why, Why::Check(_)) && !entry.is_complete());
        open.any(|open| open.trial.tests.contains(&test))
    };
    let asked = tests.iter().enumerate().filter_map(|(number, test)| {
        let TestCheck { question, selection, .. } = test.checks.first()?;
        let waits = may_be_checked(test) && test.noisy().is_none() && test.verdict().is_none() && !is_in_check(number);
        waits.then(|| (number, (*question, selection.clone())))
    });
    let plan = joint::most_asked(joint::runs(tests, asked))?;
    Some(Plan { why: Why::Check(Check::default()), ..plan })
}

/// Returns the runs that are made before this culprit is named.
fn checks(test: &Test, culprit: &Culprit, number: usize, options: &Options) -> Vec<TestCheck> {
    let mut rng = SeededRng::new(options.seed);
    let mode = test.procedure.mode();
    let alone = |forced: Vec<_>| TestCheck {
        question: Question::FoundAlone,
        selection: mode.exactly(&forced),
        expected: Outcome::Fail,
    };
    let changes = &culprit.changes;
    if let [_] = changes[..] {
        let (question, selection) = mode.passing_end();
        let passing = TestCheck { question, selection, expected: Outcome::Pass };
        let mut checks: Vec<_> =
            (1..of_change(number)).map(|_| if rng.coin() { alone(changes.clone()) } else { passing.clone() }).collect();
        let has_passing = checks.iter().any(|check| check.expected == Outcome::Pass);
        // One check must pass: a test that now fails in every run would confirm any culprit.
        checks.push(if has_passing && rng.coin() { alone(changes.clone()) } else { passing });
        return checks;
    }
    let without = |left_out: usize| [&changes[..left_out], &changes[left_out + 1..]].concat();
    let passes = |change| TestCheck { expected: Outcome::Pass, ..alone(without(change)) };
    let whole = core::iter::repeat_with(|| alone(changes.clone())).take(tuning::CHECKS_OF_WHOLE_SET);
    let mut checks: Vec<_> = left_out(changes.len()).into_iter().map(passes).chain(whole).collect();
    rng.shuffle(&mut checks);
    checks
}
