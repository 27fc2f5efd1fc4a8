//! The schedule of noisy and reliable tests: the turns, and the run that shows which test is which.

use alloc::vec::Vec;

use super::{
    Plan, Suite,
    shared_trial::{Purpose, SharedTrial},
    test::Test,
};
use crate::search::{
    model::{
        Options,
        noise::{Certainty, Estimate, Noise},
        trial::Outcome,
        verdict::Verdict,
    },
    noisy::{Ask, NoisySearch},
};

impl Suite {
    /// Switches a test to a noisy search. The tests share the allowed probability of an error.
    #[expect(clippy::cast_precision_loss, reason = "tests are few")]
    pub(in crate::search) fn switch_to_noisy(&mut self, test: usize, options: &Options) {
        let (Noise::Suspected(confidence) | Noise::Expected(confidence)) = options.noise else { return };
        if self.tests[test].mode.search().is_none() {
            let share = (1.0 - confidence) / self.tests.len() as f64;
            self.tests[test].switch_to_noisy(1.0 - share, options);
            self.found.retain(|&(of, _)| of != test);
            let found = (0..self.found_by(test).len()).map(|which| (test, which));
            self.found.extend(found);
        }
    }

    /// Returns the next trial, beside those that are useful already. Noisy tests, all together, take turns with
    /// reliable tests.
    pub(super) fn choose(&mut self, useful: &[usize]) -> Option<Plan> {
        if let Some(check) = self.check() {
            return Some(check);
        }
        // Checks come last, so that as many tests as possible have reached them and can share them.
        if self.was_noisy_turn {
            let believed = self.plan(useful).or_else(|| self.check_of_culprits());
            return believed.or_else(|| self.evidence());
        }
        self.evidence().or_else(|| self.plan(useful)).or_else(|| self.check_of_culprits())
    }

    /// Returns the run that checks if tests are reliable, once each was run on its own. If a test has passed that
    /// failed together with the others, the run repeats that end. Otherwise it is the end that none of them has run on
    /// its own, which must pass.
    fn check(&self) -> Option<Plan> {
        let tests = self.tests.iter().enumerate();
        let believed: Vec<_> = tests.filter(|(_, test)| test.mode.search().is_none()).collect();
        let is_new = |test: &Test| test.procedure.is_first_solo() && test.verdict().is_none();
        if !self.is_unchecked || believed.iter().any(|(_, test)| is_new(test)) {
            return None;
        }
        let passed = |test: &Test| test.verdict() == Some(&Verdict::NoDifference(Outcome::Pass));
        let may_tell = |(_, test): &&(usize, &Test)| test.verdict().is_none() || passed(test);
        let open: Vec<_> = believed.iter().filter(may_tell).collect();
        let procedure = &open.first()?.1.procedure;
        let has_passed = open.iter().any(|(_, test)| passed(test));
        let (question, selection) = if has_passed { procedure.failing_end() } else { procedure.passing_end() };
        let tests = open.iter().map(|&&(number, _)| number).collect();
        Some(Plan { question, selection, tests, purpose: Purpose::Check, toss: None })
    }

    /// Returns the question of the noisy test that has had the fewest runs, for all noisy tests to which the run is
    /// evidence.
    fn evidence(&mut self) -> Option<Plan> {
        let mut askers: Vec<_> =
            (0..self.tests.len()).filter_map(|test| Some((self.tests[test].mode.turns()?, test))).collect();
        askers.sort_unstable();
        let ask = askers.iter().find_map(|&(_, test)| self.tests[test].asks_for_evidence())?;
        let Ask { question, selection, toss } = ask;
        // A test that only takes part in this run still keeps its turn.
        let tests = (0..self.tests.len()).filter(|&test| self.tests[test].is_evidence(&selection)).collect();
        Some(Plan { question, selection, tests, purpose: Purpose::Evidence, toss })
    }

    /// Returns true if the check of the tests is pending or in flight.
    pub(super) fn is_being_checked(&self) -> bool {
        let is_open = |runs: &SharedTrial| runs.purpose == Purpose::Check && runs.in_flight() > 0;
        self.check().is_some() || self.runs.iter().any(is_open)
    }

    /// Returns the estimate for a noisy test.
    pub(in crate::search) fn estimate(&self, test: usize) -> Option<Estimate> {
        self.tests[test].mode.search().and_then(NoisySearch::estimate)
    }

    /// Returns true if a test has contradicted itself, or was expected to.
    pub(in crate::search) fn is_noisy(&self, test: usize) -> bool {
        self.tests[test].mode.search().is_some()
    }

    /// Returns the certainty of a culprit of a noisy test, by its index.
    pub(in crate::search) fn certainty(&self, test: usize, index: usize) -> Option<Certainty> {
        self.tests[test].mode.search().and_then(|search| search.certainty(index))
    }

    /// Sets the costs of a failing run and of a passing run, for the noisy tests.
    pub(in crate::search) fn set_costs(&mut self, failing: f64, passing: f64) {
        let searches = self.tests.iter_mut().filter_map(|test| test.mode.search_mut());
        searches.for_each(|search| search.set_costs(failing, passing));
    }
}
