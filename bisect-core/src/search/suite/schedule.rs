//! The schedule of noisy and reliable tests: the turns, and the run that shows which test is which.

use alloc::vec::Vec;

use super::{Suite, checks, plan::Plan, planner::Planner};
use crate::search::{
    ledger::{Check, Entry, Ledger, Why},
    model::{
        Options,
        trial::{Outcome, TrialId},
        verdict::Verdict,
    },
    noisy::Ask,
    test::Test,
};

impl Suite {
    /// Returns the next trial, beside those that are useful already. Noisy tests, all together, take turns with
    /// reliable tests.
    pub(super) fn choose(&mut self, useful: &[TrialId], ledger: &Ledger, options: &Options) -> Option<Plan> {
        if let Some(check) = self.check() {
            self.is_unchecked = false;
            return Some(check);
        }
        if self.was_noisy_turn {
            return self.believed(useful, ledger, options).or_else(|| self.evidence(ledger));
        }
        self.evidence(ledger).or_else(|| self.believed(useful, ledger, options))
    }

    /// Returns the next trial for the tests whose runs are believed. Checks of culprits come last, so that as many
    /// tests as possible have reached them and can share them.
    fn believed(&self, useful: &[TrialId], ledger: &Ledger, options: &Options) -> Option<Plan> {
        let Self { tests, pool, is_pooling, .. } = self;
        let tests_groups = options.in_flight.get() > 1;
        let planner = Planner { tests, ledger, useful, is_pooling: *is_pooling, tests_groups, pool };
        let urgent = checks::next(tests, ledger, checks::is_urgent);
        urgent.or_else(|| planner.next()).or_else(|| checks::next(tests, ledger, |_| true))
    }

    /// Returns the run that checks if tests are reliable, once each was run on its own. If a test that failed together
    /// with the others has passed alone, the run repeats the failing end. Otherwise it is the passing end, which no
    /// test has run alone yet.
    fn check(&self) -> Option<Plan> {
        let tests = self.tests.iter().enumerate();
        let believed: Vec<_> = tests.filter(|(_, test)| test.noisy().is_none()).collect();
        let is_new = |test: &Test| test.procedure.is_first_solo() && test.verdict().is_none();
        if !self.is_unchecked || believed.iter().any(|(_, test)| is_new(test)) {
            return None;
        }
        let passed = |test: &Test| test.verdict() == Some(&Verdict::NoDifference(Outcome::Pass));
        let may_tell = |(_, test): &&(usize, &Test)| test.verdict().is_none() || passed(test);
        let open: Vec<_> = believed.iter().filter(may_tell).collect();
        let procedure = &open.first()?.1.procedure;
        let has_passed = open.iter().any(|(_, test)| passed(test));
        let (question, selection) =
            if has_passed { procedure.mode().failing_end() } else { procedure.mode().passing_end() };
        let tests = open.iter().map(|&&(number, _)| number).collect();
        Some(Plan { question, selection, tests, why: Why::Check(Check::default()), toss: None })
    }

    /// Returns the question of the noisy test that has asked the fewest questions, for all noisy tests to which the run
    /// is evidence.
    fn evidence(&mut self, ledger: &Ledger) -> Option<Plan> {
        let mut askers: Vec<_> =
            (0..self.tests.len()).filter_map(|test| Some((self.tests[test].noisy.as_ref()?.turns()?, test))).collect();
        askers.sort_unstable();
        let ask = askers.iter().find_map(|&(_, test)| self.tests[test].noisy.as_mut()?.next(ledger))?;
        let Ask { question, selection, toss } = ask;
        // A test that only takes part in this run still keeps its turn.
        let is_evidence = |test: &Test| test.noisy.as_ref().is_some_and(|noisy| noisy.is_evidence(&selection));
        let tests = (0..self.tests.len()).filter(|&test| is_evidence(&self.tests[test])).collect();
        Some(Plan { question, selection, tests, why: Why::Evidence, toss })
    }

    /// Returns true if the check of the tests is pending or in flight.
    pub(super) fn is_being_checked(&self, ledger: &Ledger) -> bool {
        let is_open = |entry: &Entry| matches!(entry.why, Why::Check(_)) && entry.in_flight() > 0;
        self.check().is_some() || ledger.iter().any(is_open)
    }
}
