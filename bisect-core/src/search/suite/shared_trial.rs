//! A trial of several tests, and what its runs have shown so far.

use alloc::{sync::Arc, vec, vec::Vec};

use crate::{
    search::model::rank::Rank,
    search::model::{
        ranked,
        trial::{Observation, Outcome, Trial},
    },
};

/// What a trial of several tests is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It answers the question of every test that it is of.
    Answer,
    /// It moves their guesses.
    Guess,
    /// It shows whether tests are reliable.
    Check,
    /// It is evidence for tests that are searched under noise.
    Evidence,
}

/// A trial that was begun.
#[derive(Clone, Debug)]
pub(super) struct SharedTrial {
    pub(super) trial: Trial,
    pub(super) purpose: Purpose,
    /// The number of runs that it takes.
    wanted: usize,
    /// Runs that were started and not cancelled.
    started: usize,
    recorded: usize,
    /// What they showed, for each of the trial's tests.
    observations: Vec<Vec<Observation>>,
    /// For which of the tests the answer is still of use.
    is_open: Vec<bool>,
}

impl SharedTrial {
    /// A trial; `usual` is how many runs are made to answer a question.
    pub(super) fn new(trial: Trial, purpose: Purpose, usual: usize) -> Self {
        let wanted = match purpose {
            Purpose::Answer | Purpose::Guess => usual,
            Purpose::Check | Purpose::Evidence => 1,
        };
        let (observations, is_open) = (vec![Vec::new(); trial.tests.len()], vec![true; trial.tests.len()]);
        Self { trial, purpose, wanted, started: 0, recorded: 0, observations, is_open }
    }

    /// How many runs it takes.
    pub(super) fn wanted(&self) -> usize {
        self.wanted
    }

    /// Whether one more run would tell something.
    pub(super) fn may_start(&self) -> bool {
        self.started < self.wanted
    }

    pub(super) fn in_flight(&self) -> usize {
        self.started - self.recorded
    }

    pub(super) fn start(&mut self) {
        self.started += 1;
    }

    /// Takes back a start.
    pub(super) fn cancel(&mut self) {
        assert!(self.in_flight() > 0, "trial {} has no run in flight", self.trial.id.0);
        self.started -= 1;
    }

    /// One run is over.
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

    /// The tests that still have use for the answer, and their places in the trial.
    pub(super) fn open_tests(&self) -> impl Iterator<Item = (usize, usize)> {
        let open = self.trial.tests.iter().copied().enumerate().zip(&self.is_open);
        open.filter(|&(_, &is_open)| is_open).map(|((index, test), _)| (index, test))
    }

    pub(super) fn is_open_for(&self, test: usize) -> bool {
        self.trial.tests.binary_search(&test).is_ok_and(|index| self.is_open[index])
    }

    /// Nothing more is to be told to this test, and nothing kept for it.
    pub(super) fn close(&mut self, index: usize) {
        self.is_open[index] = false;
        self.observations[index] = Vec::new();
    }

    pub(super) fn is_complete(&self) -> bool {
        self.recorded >= self.wanted
    }

    /// Whether the runs so far ended alike for the test at this place.
    pub(super) fn agree(&self, index: usize) -> bool {
        self.observations[index].windows(2).all(|pair| pair[0].outcome == pair[1].outcome)
    }

    /// The outcome for the test at this place, and all that it reported, once.
    pub(super) fn answer(&self, index: usize) -> (Outcome, Arc<[Rank]>) {
        let observations = &self.observations[index];
        let outcome = observations[0].outcome;
        let mut reported: Vec<_> = observations.iter().flat_map(|seen| seen.reported.iter().copied()).collect();
        ranked::sort(&mut reported);
        (outcome, reported.into())
    }
}
