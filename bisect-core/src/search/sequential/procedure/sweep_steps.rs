//! The steps of a procedure during a sweep.

use alloc::vec;

use super::{AfterConfirm, Answer, Procedure, State, inconsistent};
use crate::search::{
    model::{
        noise::Noise,
        selection::Selection,
        trial::Question,
        verdict::{Culprit, Inconsistency},
    },
    tuning,
};

impl Procedure {
    /// Returns the question of the sweep.
    ///
    /// # Panics
    /// If there is no sweep.
    pub(super) fn sweep_question(&self) -> (Question, Selection) {
        let sweep = self.sweep.as_ref().expect(SWEEPS);
        match sweep.single() {
            Some(change) => (Question::FoundAlone, self.mode.exactly(&[change])),
            None => (Question::Prefix, sweep.selection(self.mode)),
        }
    }

    /// Takes the answer to the question of the sweep.
    ///
    /// # Panics
    /// If there is no sweep.
    pub(super) fn after_sweep(&mut self, answer: &Answer<'_>) -> State {
        let sweep = self.sweep.as_mut().expect(SWEEPS);
        let single = sweep.single();
        let fails_alone = sweep.record(answer.outcome);
        let Some(change) = single.filter(|_| fails_alone) else { return self.sweep_on() };
        if answer.reported.is_some_and(|reported| !reported.contains(&change)) {
            return inconsistent(Inconsistency::Unexplained(answer.trial));
        }
        let culprit = Culprit { changes: vec![change], mode: self.mode, confirmed_by: answer.trial };
        if self.options.max_sets.is_some_and(|max| self.found.len() + 1 >= max.get()) {
            return State::Baseline { culprit, then: AfterConfirm::Stop };
        }
        if self.options.noise != Noise::Refused || self.found.unproved() >= tuning::MAX_UNPROVED_CULPRITS {
            return State::Baseline { culprit, then: AfterConfirm::Sweep };
        }
        // A group that passes, or the rest after the sweep, will prove the culprit too.
        self.found.add(culprit);
        self.sweep_on()
    }

    /// Continues with the next group, or with all that is left after the last one.
    pub(super) fn sweep_on(&mut self) -> State {
        match self.sweep.take_if(|sweep| sweep.is_over()) {
            None => State::Sweep,
            // Without another culprit, the rest is the same as before.
            Some(sweep) if sweep.found() == 0 => self.narrow_all(sweep.failed, sweep.reported().clone()),
            Some(_) => State::Branch,
        }
    }
}

/// The reason why a procedure in the state of a sweep has one.
const SWEEPS: &str = "a sweep is a field while its state lasts";
