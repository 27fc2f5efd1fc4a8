//! The trials of a search over several tests.

use alloc::vec::Vec;

use super::shared_trial::SharedTrial;
use crate::before::model::trial::TrialId;

/// The trials that were begun.
#[derive(Clone, Debug)]
pub(in crate::before) struct SharedTrials {
    trials: Vec<SharedTrial>,
    /// The number of the first trial.
    first: usize,
}

impl SharedTrials {
    /// Returns an empty list; its trials are numbered from `first`.
    pub(in crate::before) fn new(first: usize) -> Self {
        Self { trials: Vec::new(), first }
    }

    /// Returns the number of the next trial.
    pub(in crate::before) fn next_id(&self) -> TrialId {
        TrialId(self.first + self.trials.len())
    }

    pub(in crate::before) fn push(&mut self, trial: SharedTrial) {
        self.trials.push(trial);
    }

    pub(in crate::before) fn get(&self, id: TrialId) -> &SharedTrial {
        &self.trials[id.0 - self.first]
    }

    pub(in crate::before) fn get_mut(&mut self, id: TrialId) -> &mut SharedTrial {
        &mut self.trials[id.0 - self.first]
    }

    pub(in crate::before) fn len(&self) -> usize {
        self.trials.len()
    }

    pub(in crate::before) fn iter(&self) -> impl Iterator<Item = &SharedTrial> {
        self.trials.iter()
    }

    pub(in crate::before) fn iter_mut(&mut self) -> impl Iterator<Item = &mut SharedTrial> {
        self.trials.iter_mut()
    }
}
