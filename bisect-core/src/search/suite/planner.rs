//! The next trial for the tests whose runs are believed.

use alloc::vec::Vec;

use super::{
    joint,
    plan::Plan,
    pool::{self, Member, Pool},
    pooled_group,
};
use crate::search::{
    ledger::{Ledger, Why},
    model::{
        selection::Selection,
        trial::{Question, Trial, TrialId},
    },
    test::Test,
};

/// The state of a suite from which the next trial follows.
pub(super) struct Planner<'a> {
    pub(super) tests: &'a [Test],
    pub(super) ledger: &'a Ledger,
    /// The trials that are begun and not answered, and useful to a test.
    pub(super) useful: &'a [TrialId],
    /// True if the last trial was a pooled one.
    pub(super) is_pooling: bool,
    /// True if groups are tested.
    pub(super) tests_groups: bool,
    pub(super) pool: &'a Pool,
}

impl<'a> Planner<'a> {
    /// Returns the trial that is most worth a run.
    pub(super) fn next(&self) -> Option<Plan> {
        let own = |asks: &dyn Fn(&Test) -> Option<(Question, Selection)>| {
            let asked = self.tests.iter().enumerate().filter_map(|(i, test)| Some((i, asks(test)?)));
            let new = asked.filter(|(test, (question, selection))| !self.is_asked(*question, selection, *test));
            joint::most_asked(joint::runs(self.tests, new))
        };
        let prefixes = self.prefixes().len();
        // Pooled runs continue as long as there is one to make, and so do other runs: a test that is ahead waits for
        // the others, so that all can share a run again.
        let pooled = |of: bool| if of { self.pooled() } else { None };
        let exact = |of: bool| if of { self.exact() } else { None };
        pooled(self.is_pooling && prefixes == 0)
            .or_else(|| own(&Test::asks))
            .or_else(|| exact(prefixes == 0))
            .or_else(|| pooled(prefixes == 0))
            .or_else(|| own(&Test::asks_next))
            .or_else(|| pooled(true))
            .or_else(|| exact(true))
    }

    /// Returns true if the question was asked early: the answer may even be known.
    fn is_asked(&self, question: Question, selection: &Selection, test: usize) -> bool {
        self.ledger.iter().any(|entry| {
            let Trial { question: asked, selection: of, .. } = &entry.trial;
            *asked == question && entry.is_open_for(test) && self.tests[test].is_as_good(of, selection)
        })
    }

    /// Returns the best group or the best prefix with gaps, whichever tells more, for the tests that accept pooled runs.
    fn pooled(&self) -> Option<Plan> {
        let members = self.members();
        let members: Vec<_> = members.iter().filter(|member| !member.is_exact()).collect();
        let model = &self.pool.model;
        let prefix = pool::pooled(&members, model);
        let group = || pooled_group::group(&members, &self.prefixes(), prefix.as_ref(), model);
        let group = if self.tests_groups { group() } else { None };
        group.or(prefix).map(|selection| self.prefix(selection, Why::Guess))
    }

    /// Returns the selections of the prefixes and groups that are useful to a test.
    fn prefixes(&self) -> Vec<&'a Selection> {
        let useful = self.useful.iter().map(|&id| &self.ledger[id].trial);
        useful.filter(|trial| trial.question == Question::Prefix).map(|trial| &trial.selection).collect()
    }

    /// Returns the best prefix for the tests that search exactly.
    fn exact(&self) -> Option<Plan> {
        let members = self.members();
        let members: Vec<_> = members.iter().filter(|member| member.is_exact()).collect();
        pool::exact(&members, &self.pool.model).map(|selection| self.prefix(selection, Why::Answer))
    }

    fn members(&self) -> Vec<Member<'a>> {
        let member = |(number, test): (usize, &'a Test)| {
            // A test that is being checked takes no answer, and would ask the same again.
            if !test.checks.is_empty() {
                return None;
            }
            let useful = self.useful.iter().map(|&trial| &self.ledger[trial]);
            let prefixes = useful
                .filter(|entry| entry.is_open_for(number) && entry.trial.question == Question::Prefix)
                .map(|entry| &entry.trial.selection);
            Member::new(test, self.pool, prefixes)
        };
        self.tests.iter().enumerate().filter_map(member).collect()
    }

    fn prefix(&self, selection: Selection, why: Why) -> Plan {
        let learns = |&test: &usize| self.tests[test].learns_from(&selection);
        let tests = (0..self.tests.len()).filter(learns).collect();
        Plan { question: Question::Prefix, selection, tests, why, toss: None }
    }
}
