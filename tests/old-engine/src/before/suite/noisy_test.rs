//! A test that contradicts itself: it switches to a noisy search, and the other tests stay sequential.
//!
//! If noise may be found, the runs of each test are kept from the start, and the noisy search begins with them. From
//! then on the test asks its own questions. A run that one noisy test asks for is made for all noisy tests for which it
//! is evidence: tests that share a culprit share its search.

use alloc::{boxed::Box, vec::Vec};

use super::{
    test::{Test, TestCheck},
    test_mode::TestMode,
};
use crate::before::{
    model::{
        Options,
        noise::Noise,
        ranked,
        selection::Selection,
        trial::{Observation, Outcome, Trial},
        verdict::{Inconsistency, Verdict},
    },
    noisy::{NoisySearch, NoisyState, Run},
};

impl Test {
    /// Switches this test to a noisy search with this confidence, in which all runs, also those so far, are only
    /// evidence.
    pub(super) fn switch_to_noisy(&mut self, confidence: f64, options: &Options) {
        let TestMode::Reliable(runs) = &mut self.mode else { return };
        let runs = core::mem::take(runs);
        // Before the test was run on its own, only the changes that all tests together reach are known.
        let is_new = self.procedure.is_first_solo();
        let mut known = if is_new { Vec::new() } else { self.procedure.known().to_vec() };
        let mut late: Vec<_> = self.late.iter().copied().collect();
        ranked::sort(&mut late);
        ranked::merge(&mut known, &late);
        // The suite numbers the trials of this search.
        let search = NoisySearch::new(confidence, options).after(options, known, runs, 0);
        self.mode = TestMode::Noisy(Box::new(search), 0);
    }

    /// Takes the result of one run of a trial as evidence.
    pub(super) fn weigh(&mut self, trial: &Trial, observation: &Observation, options: &Options) {
        if options.noise == Noise::Refused {
            return;
        }
        let selection = self.view(&trial.selection, observation);
        match &mut self.mode {
            TestMode::Reliable(runs) => runs.extend(Run::new(trial.id, &selection, observation)),
            TestMode::Noisy(search, _) if search.has_begun(trial.id) => {
                search.record(trial.id, observation.clone(), options);
            }
            TestMode::Noisy(search, _) => search.take(trial.id, &selection, observation.clone(), options),
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

    /// Returns true if the test has contradicted itself while its runs are believed.
    pub(super) fn is_contradictory(&self) -> bool {
        let is_noise = |how: &Inconsistency| *how != Inconsistency::Endless;
        self.noisy().is_none() && matches!(self.verdict(), Some(Verdict::Inconsistent(how)) if is_noise(how))
    }

    /// Takes the outcome of a check, and removes the check from those that are due. Returns true if a reliable test
    /// would have had another outcome.
    pub(super) fn is_surprised_by(&mut self, trial: &Trial, outcome: Outcome) -> bool {
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
