//! The three engines of a search under one interface. A search may switch engines.

use alloc::vec::Vec;
use core::mem;

use super::{
    model::{
        Options, Step,
        noise::Noise,
        selection::Selection,
        trial::{Observation, Trial, TrialId},
        verdict::Verdict,
    },
    noisy::{NoisySearch, Run},
    sequential::{self, Sequential, Trials},
    suite::Suite,
};
use crate::before::model::rank::Rank;

/// The engine of a search.
#[expect(clippy::large_enum_variant, reason = "a search has one of them")]
#[derive(Clone, Debug)]
pub(super) enum Engine {
    /// The sequential search, which believes each run.
    Sequential(Sequential),
    /// The noisy search, for which runs are only evidence.
    Noisy(NoisySearch),
    /// The search over several tests, each with its own culprits.
    Suite(Suite),
}

impl Engine {
    pub(super) fn new(options: &Options) -> Self {
        match options.noise {
            Noise::Expected(confidence) => Self::Noisy(NoisySearch::new(confidence, options)),
            Noise::Refused | Noise::Suspected(_) => Self::Sequential(Sequential::new(options)),
        }
    }

    /// Replaces this engine by an empty sequential one and returns it.
    pub(super) fn take(&mut self, options: &Options) -> Self {
        mem::replace(self, Self::Sequential(Sequential::new(options)))
    }

    /// Switches a test to the noisy search. Returns the trials of a sequential engine, which a noisy one replaces;
    /// `None` if the engine stays the same.
    pub(super) fn switch_to_noisy(&mut self, test: usize, confidence: f64, options: &Options) -> Option<Trials> {
        match self {
            Self::Sequential(sequential) => {
                let sequential = mem::replace(sequential, Sequential::new(options));
                let (noisy, trials) = sequential.into_noisy(confidence, options);
                *self = Self::Noisy(noisy);
                Some(trials)
            }
            Self::Noisy(_) => None,
            Self::Suite(suite) => {
                suite.switch_to_noisy(test, options);
                None
            }
        }
    }

    /// Returns the next step, after `runs` runs were started. `earlier` runs of an engine before this one are in flight,
    /// and are evidence for this one.
    pub(super) fn step(&mut self, options: &Options, runs: usize, earlier: usize) -> Step {
        match self {
            Self::Sequential(sequential) => sequential.step(options, runs),
            Self::Noisy(noisy) => noisy.step(options, runs, earlier),
            Self::Suite(suite) => suite.step(options, runs),
        }
    }

    pub(super) fn record(&mut self, id: TrialId, mut observations: Vec<Observation>, options: &Options) {
        match self {
            Self::Sequential(sequential) => sequential.record(id, observations.remove(0), options),
            Self::Noisy(noisy) => noisy.record(id, observations.remove(0), options),
            Self::Suite(suite) => suite.record(id, observations, options),
        }
    }

    /// Returns true if a sequential engine has found the target unreliable, and noise is suspected.
    pub(super) fn is_contradicted(&self, options: &Options) -> bool {
        matches!(self, Self::Sequential(sequential) if sequential.is_contradicted(options))
    }

    /// Takes the result of a run that this engine did not ask for, if this engine uses runs as evidence.
    pub(super) fn learn(&mut self, id: TrialId, selection: &Selection, observation: &Observation, options: &Options) {
        if let (Self::Noisy(noisy), Some(run)) = (self, Run::new(id, selection, observation)) {
            noisy.learn(run, options);
        }
    }

    /// Returns true if this engine can use runs that it did not ask for.
    pub(super) fn learns(&self) -> bool {
        matches!(self, Self::Noisy(_))
    }

    pub(super) fn cancel(&mut self, id: TrialId) {
        match self {
            Self::Sequential(sequential) => sequential.cancel(id),
            Self::Noisy(noisy) => noisy.cancel(id),
            Self::Suite(suite) => suite.cancel(id),
        }
    }

    pub(super) fn obsolete(&mut self, options: &Options) -> Vec<TrialId> {
        match self {
            Self::Sequential(sequential) => sequential.obsolete(options),
            Self::Noisy(noisy) => noisy.obsolete(),
            Self::Suite(suite) => suite.obsolete(),
        }
    }

    pub(super) fn verdict(&self) -> Option<Verdict> {
        match self {
            Self::Sequential(sequential) => sequential.verdict().cloned(),
            Self::Noisy(noisy) => noisy.state().verdict().cloned(),
            Self::Suite(suite) => suite.verdict(),
        }
    }

    /// Panics if the engine does not search a test with this number.
    pub(super) fn assert_has(&self, test: usize) {
        let tests = self.tests();
        assert!(test < tests, "the search is of {tests} tests");
    }

    /// Returns the number of tests that are searched.
    pub(super) fn tests(&self) -> usize {
        if let Self::Suite(suite) = self { suite.tests() } else { 1 }
    }

    pub(super) fn trial(&self, id: TrialId) -> &Trial {
        match self {
            Self::Sequential(sequential) => &sequential.trials()[id.0].trial,
            Self::Noisy(noisy) => noisy.trial(id),
            Self::Suite(suite) => &suite.trials().get(id).trial,
        }
    }

    /// Returns the number of trials that this engine has begun.
    pub(super) fn trials(&self) -> usize {
        match self {
            Self::Sequential(sequential) => sequential.trials().begun(),
            Self::Noisy(noisy) => noisy.trials(),
            Self::Suite(suite) => suite.trials().len(),
        }
    }

    pub(super) fn runs_of_trial(&self, id: TrialId, options: &Options) -> usize {
        match self {
            Self::Sequential(sequential) => {
                let trials = sequential.trials();
                trials.runs_wanted(id.0, options).max(trials[id.0].outcomes.len())
            }
            Self::Noisy(_) => 1,
            Self::Suite(suite) => suite.trials().get(id).wanted(),
        }
    }

    /// Returns every change ever reported, in order.
    pub(super) fn known(&self) -> &[Rank] {
        match self {
            Self::Sequential(sequential) => sequential.known(),
            Self::Noisy(noisy) => noisy.state().known(),
            Self::Suite(suite) => suite.known(),
        }
    }

    /// Returns the number of changes that are still candidates.
    pub(super) fn candidates(&self) -> Option<usize> {
        match self {
            Self::Sequential(sequential) => sequential::candidates(sequential),
            Self::Noisy(_) => None,
            Self::Suite(suite) => suite.candidates(),
        }
    }

    /// Estimates the number of trials left.
    pub(super) fn trials_left(&self) -> Option<usize> {
        match self {
            Self::Sequential(sequential) => sequential.trials_left(),
            Self::Noisy(noisy) => noisy.state().runs_left(),
            Self::Suite(suite) => Some(suite.trials_left()),
        }
    }
}
