//! Questions that name their changes: the questions of several tests, joined in one run.
//!
//! Tests often have changes that no other test reaches: call stacks that begin with the test itself. The changes that a
//! joint question names besides a test's own make no difference to the test, so each test can treat the run as its own.

use alloc::{vec, vec::Vec};

use super::plan::Plan;
use crate::search::{ledger::Why, test::Test, tuning};
use crate::{
    search::model::rank::Rank,
    search::model::{selection::Selection, trial::Question},
};

/// A run that answers the questions of several tests.
struct Joint {
    question: Question,
    selection: Selection,
    /// The tests, and the selection that each would ask for alone.
    tests: Vec<(usize, Selection)>,
}

/// Returns the runs that answer these questions of tests; each question joins the first run that suits it.
pub(super) fn runs(tests: &[Test], asked: impl Iterator<Item = (usize, (Question, Selection))>) -> Vec<Plan> {
    let mut runs: Vec<Joint> = Vec::new();
    for (test, (question, own)) in asked {
        match runs.iter_mut().find(|run| run.suits(tests, test, question, &own)) {
            Some(run) => run.add(test, own),
            None => runs.push(Joint { question, selection: own.clone(), tests: vec![(test, own)] }),
        }
    }
    runs.into_iter().map(Joint::plan).collect()
}

/// Returns the run that most tests take part in. A question whether changes fail alone always comes first; of equal
/// runs, the one of the first test.
pub(super) fn most_asked(runs: Vec<Plan>) -> Option<Plan> {
    // A culprit of one test is tested first where it may be one of another test.
    runs.into_iter().rev().max_by_key(|plan| (plan.question == Question::FoundAlone, plan.tests.len()))
}

impl Joint {
    /// Returns true if the question of one more test does not affect the other questions of the run.
    fn suits(&self, tests: &[Test], test: usize, question: Question, own: &Selection) -> bool {
        let named = |selection: &Selection| selection.forced.len() + selection.excluded.len();
        let is_alike =
            self.question == question && self.selection.prefix == own.prefix && self.selection.gaps == own.gaps;
        is_alike
            && named(&self.selection) + named(own) <= tuning::MAX_NAMED_CHANGES
            && tests[test].ignores(&self.selection, own)
            && self.tests.iter().all(|(other, of_other)| tests[*other].ignores(own, of_other))
    }

    fn add(&mut self, test: usize, own: Selection) {
        let join = |all: &mut Vec<Rank>, own: &[Rank]| {
            let new: Vec<_> = own.iter().copied().filter(|id| !all.contains(id)).collect();
            all.extend(new);
        };
        join(&mut self.selection.forced, &own.forced);
        join(&mut self.selection.excluded, &own.excluded);
        self.tests.push((test, own));
    }

    fn plan(self) -> Plan {
        let Self { question, selection, tests } = self;
        let tests = tests.into_iter().map(|(test, _)| test).collect();
        Plan { question, selection, tests, why: Why::Answer, toss: None }
    }
}
