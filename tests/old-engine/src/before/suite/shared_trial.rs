//! A trial of several tests, and the results of its runs.

use alloc::{sync::Arc, vec, vec::Vec};

use crate::before::{
    model::{
        rank::Rank,
        ranked,
        selection::Selection,
        trial::{Observation, Outcome, Question, Trial},
    },
    noisy::Toss,
};

/// The purpose of a trial of several tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The trial answers the question of each of its tests.
    Answer,
    /// The trial advances the guesses of its tests.
    Guess,
    /// The trial checks if tests are reliable.
    Check,
    /// The trial is evidence for noisy tests.
    Evidence,
}

/// A trial that is worth a run.
pub(super) struct Plan {
    pub(super) question: Question,
    pub(super) selection: Selection,
    pub(super) tests: Vec<usize>,
    pub(super) purpose: Purpose,
    /// The coin toss that selected this trial, if one did.
    pub(super) toss: Option<Toss>,
}

/// A trial that was begun.
#[derive(Clone, Debug)]
pub(in crate::before) struct SharedTrial {
    pub(in crate::before) trial: Trial,
    pub(super) purpose: Purpose,
    /// The number of runs that the trial takes.
    wanted: usize,
    /// Number of runs that were started and not cancelled.
    started: usize,
    recorded: usize,
    /// The results of these runs, for each of the trial's tests.
    observations: Vec<Vec<Observation>>,
    /// For each of the tests: true if the answer is still useful.
    is_open: Vec<bool>,
}

impl SharedTrial {
    /// Returns a trial; `usual` is the number of runs that answer a question.
    pub(super) fn new(trial: Trial, purpose: Purpose, usual: usize) -> Self {
        let wanted = match purpose {
            Purpose::Answer | Purpose::Guess => usual,
            Purpose::Check | Purpose::Evidence => 1,
        };
        let (observations, is_open) = (vec![Vec::new(); trial.tests.len()], vec![true; trial.tests.len()]);
        Self { trial, purpose, wanted, started: 0, recorded: 0, observations, is_open }
    }

    /// Returns the number of runs that the trial takes.
    pub(in crate::before) fn wanted(&self) -> usize {
        self.wanted
    }

    /// Returns true if another run may be started.
    pub(super) fn may_start(&self) -> bool {
        self.started < self.wanted
    }

    pub(super) fn in_flight(&self) -> usize {
        self.started - self.recorded
    }

    pub(super) fn start(&mut self) {
        self.started += 1;
    }

    /// Takes back the start of a run.
    pub(super) fn cancel(&mut self) {
        assert!(self.in_flight() > 0, "trial {} has no run in flight", self.trial.id.0);
        self.started -= 1;
    }

    /// Takes the results of one run.
    pub(super) fn record(&mut self, observations: Vec<Observation>) {
        assert!(self.in_flight() > 0, "trial {} has no run in flight", self.trial.id.0);
        assert_eq!(observations.len(), self.trial.tests.len(), "one observation for each of the trial's tests");
        self.recorded += 1;
        for (index, observation) in observations.into_iter().enumerate() {
            if self.is_open[index] {
                self.observations[index].push(observation);
            }
        }
    }

    /// Returns the indices and the numbers of the tests to which the answer is still useful.
    pub(super) fn open_tests(&self) -> impl Iterator<Item = (usize, usize)> {
        let open = self.trial.tests.iter().copied().enumerate().zip(&self.is_open);
        open.filter(|&(_, &is_open)| is_open).map(|((index, test), _)| (index, test))
    }

    pub(super) fn is_open_for(&self, test: usize) -> bool {
        self.trial.tests.binary_search(&test).is_ok_and(|index| self.is_open[index])
    }

    /// Marks the answer as no longer useful to this test, and drops its results.
    pub(super) fn close(&mut self, index: usize) {
        self.is_open[index] = false;
        self.observations[index] = Vec::new();
    }

    pub(super) fn is_complete(&self) -> bool {
        self.recorded >= self.wanted
    }

    /// Returns true if the runs so far have the same outcome for the test at this index.
    pub(super) fn agree(&self, index: usize) -> bool {
        self.observations[index].windows(2).all(|pair| pair[0].outcome == pair[1].outcome)
    }

    /// Returns the outcome for the test at this index, and all reported changes without duplicates.
    pub(super) fn answer(&self, index: usize) -> (Outcome, Arc<[Rank]>) {
        let observations = &self.observations[index];
        let outcome = observations[0].outcome;
        let mut reported: Vec<_> = observations.iter().flat_map(|seen| seen.reported.iter().copied()).collect();
        ranked::sort(&mut reported);
        (outcome, reported.into())
    }
}
