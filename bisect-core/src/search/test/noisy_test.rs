//! A test that contradicts itself: it switches to a noisy search, and the other tests stay sequential.
//!
//! The noisy search begins with all runs of the test that the ledger has. From then on the test asks its own questions. A
//! run that one noisy test asks for is made for all noisy tests for which it is evidence: tests that share a culprit share
//! its search.

use alloc::{boxed::Box, vec::Vec};

use super::{Test, TestCheck};
use crate::search::{
    ledger::{Ledger, Run},
    model::{
        Options,
        noise::Noise,
        rank::Rank,
        ranked,
        selection::Selection,
        trial::{Observation, Outcome, Trial, TrialId},
        verdict::Verdict,
    },
    noisy::{NoisySearch, NoisyState},
};

impl Test {
    /// Switches this test to a noisy search with this confidence, in which all runs, also those so far, are only
    /// evidence. `known` are the changes that the test has reported, in order.
    pub(in crate::search) fn switch_to_noisy(
        &mut self,
        number: usize,
        confidence: f64,
        known: Vec<Rank>,
        ledger: &Ledger,
        options: &Options,
    ) {
        if self.noisy.is_none() {
            self.noisy = Some(Box::new(NoisySearch::new(number, confidence, options, known, ledger)));
        }
    }

    /// Takes the result of one run of a trial as evidence, and adds it to the ledger.
    pub(in crate::search) fn weigh(
        &mut self,
        number: usize,
        id: TrialId,
        observation: &Observation,
        ledger: &mut Ledger,
        options: &Options,
    ) {
        if options.noise == Noise::Refused {
            return;
        }
        let entry = &ledger[id];
        let selection = if entry.is_evidence_for(number) {
            entry.trial.selection.clone()
        } else {
            self.view(&entry.trial.selection, observation)
        };
        if let Some(search) = &mut self.noisy {
            search.take(id, &selection, observation.clone(), ledger, options);
        } else if let Some(run) = Run::new(id, &selection, observation) {
            ledger.add_run(number, run);
        }
    }

    /// Returns a selection without the changes that it names only for other tests.
    fn view(&self, selection: &Selection, observation: &Observation) -> Selection {
        let mut own = selection.clone();
        own.forced.retain(|id| observation.reported.contains(id));
        let known = self.noisy().map_or(&[][..], NoisyState::known);
        let matters = |id| self.reaches(id) || ranked::contains(known, id);
        own.excluded.retain(|&id| matters(id) || observation.reported.contains(&id));
        own
    }

    /// Takes the outcome of a check, and removes the check from those that are due. Returns true if a reliable test
    /// would have had another outcome.
    pub(in crate::search) fn is_surprised_by(&mut self, trial: &Trial, outcome: Outcome) -> bool {
        let is_due =
            |check: &TestCheck| check.question == trial.question && self.is_as_good(&trial.selection, &check.selection);
        if self.checks.first().is_some_and(is_due) {
            let expected = self.checks.remove(0).expected;
            return !matches!(outcome, Outcome::Unresolved(_)) && outcome != expected;
        }
        let question = trial.question;
        let before = match self.verdict() {
            Some(Verdict::NoDifference(before)) => *before,
            _ if question == self.procedure.mode().failing_end().0 => Outcome::Fail,
            _ => Outcome::Pass,
        };
        !matches!(outcome, Outcome::Unresolved(_)) && outcome != before
    }
}

/// Returns the changes that a test has reported on its own, in order.
pub(in crate::search) fn reported(test: &Test) -> Vec<Rank> {
    // Before the test was run on its own, only the changes that all tests together reach are known.
    let is_new = test.procedure.is_first_solo();
    let mut known = if is_new { Vec::new() } else { test.procedure.known().to_vec() };
    let mut late: Vec<_> = test.late.iter().copied().collect();
    ranked::sort(&mut late);
    ranked::merge(&mut known, &late);
    known
}
