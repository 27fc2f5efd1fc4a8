//! Questions that name their changes, those of several tests in one run.
//!
//! Tests often have changes that no other test comes by: call stacks that begin with the test itself. What such a
//! question names beside a test's own changes makes no difference to the test, so that one run can be everybody's own.

use alloc::{vec, vec::Vec};

use super::{Plan, shared_trial::Purpose, test::Test};
use crate::search::tuning;
use crate::{
    search::model::rank::Rank,
    search::model::{selection::Selection, trial::Question},
};

/// A run that several tests take for their own.
struct Joint {
    question: Question,
    selection: Selection,
    /// The tests, and what each would ask alone.
    tests: Vec<(usize, Selection)>,
}

/// The runs that answer these questions of tests, each in the first run that it fits into.
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

/// The run that most tests take part in; of equal ones, what fails alone comes first, then the one of the first test.
pub(super) fn most_asked(runs: Vec<Plan>) -> Option<Plan> {
    // What is known to break a test is looked at first when another one is searched.
    runs.into_iter().rev().max_by_key(|plan| (plan.question == Question::FoundAlone, plan.tests.len()))
}

impl Joint {
    /// Whether the question of one more test leaves everybody's as it is.
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
        Plan { question, selection, tests, purpose: Purpose::Answer, toss: None }
    }
}
