//! The trials of a noisy search: each is one run.

use alloc::vec::Vec;

use super::proof::Side;
use crate::before::model::{
    selection::Selection,
    trial::{Outcome, Reason, Trial, TrialId},
};

/// The trials that a noisy search has begun.
#[derive(Clone, Debug)]
pub(super) struct NoisyTrials {
    trials: Vec<NoisyTrial>,
    /// The number of the first trial.
    first: usize,
}

#[derive(Clone, Debug)]
struct NoisyTrial {
    trial: Trial,
    is_in_flight: bool,
    /// The index of the proof to which this run belongs, and its side.
    side: Option<(usize, Side)>,
    /// The reason why the run is unresolved.
    unresolved: Option<Reason>,
}

impl NoisyTrials {
    /// Returns an empty list; its trials are numbered from `first`.
    pub(super) fn new(first: usize) -> Self {
        Self { trials: Vec::new(), first }
    }

    /// Returns the number of the next trial.
    pub(super) fn next_id(&self) -> TrialId {
        TrialId(self.first + self.trials.len())
    }

    pub(super) fn begin(&mut self, trial: Trial, side: Option<(usize, Side)>) {
        self.trials.push(NoisyTrial { trial, is_in_flight: true, side, unresolved: None });
    }

    pub(super) fn has_begun(&self, id: TrialId) -> bool {
        self.find(id).is_some()
    }

    pub(super) fn in_flight(&self) -> impl Iterator<Item = &Trial> {
        self.trials.iter().filter(|begun| begun.is_in_flight).map(|begun| &begun.trial)
    }

    /// Ends a run with this outcome. Returns its selection, and its part in a proof.
    ///
    /// # Panics
    /// If no run of this trial is in flight.
    pub(super) fn end(&mut self, id: TrialId, outcome: Outcome) -> (Selection, Option<(usize, Side)>) {
        let index = self.find(id).filter(|&index| self.trials[index].is_in_flight);
        let begun = &mut self.trials[index.unwrap_or_else(|| panic!("trial {} has no run in flight", id.0))];
        begun.is_in_flight = false;
        if let Outcome::Unresolved(reason) = outcome {
            begun.unresolved = Some(reason);
        }
        (begun.trial.selection.clone(), begun.side)
    }

    pub(super) fn cancel(&mut self, id: TrialId) {
        let index = self.find(id).expect("it was begun");
        self.trials[index].is_in_flight = false;
    }

    /// Returns a trial of a search that has numbered all its trials itself.
    pub(super) fn get(&self, id: TrialId) -> &Trial {
        &self.trials[id.0 - self.first].trial
    }

    pub(super) fn len(&self) -> usize {
        self.trials.len()
    }

    /// Returns the reasons of the unresolved runs with this selection.
    pub(super) fn unresolved(&self, selection: &Selection) -> impl Iterator<Item = Reason> {
        self.trials.iter().filter(move |begun| begun.trial.selection == *selection).filter_map(|begun| begun.unresolved)
    }

    /// Returns the trials. Each that has ended has the outcome `Unresolved`, which the caller replaces if the run was
    /// resolved.
    pub(super) fn into_trials(self) -> impl Iterator<Item = (Trial, Option<Outcome>)> {
        self.trials.into_iter().map(|NoisyTrial { trial, is_in_flight, unresolved, .. }| {
            let unresolved = Outcome::Unresolved(unresolved.unwrap_or(Reason::Skip));
            (trial, (!is_in_flight).then_some(unresolved))
        })
    }

    /// Returns the index of a trial among those that were begun.
    fn find(&self, id: TrialId) -> Option<usize> {
        self.trials.binary_search_by_key(&id, |begun| begun.trial.id).ok()
    }
}
