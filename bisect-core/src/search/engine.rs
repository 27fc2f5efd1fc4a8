//! The three engines of a search under one interface. A search may switch engines.

use alloc::vec::Vec;
use core::mem;

use super::{
    ledger::{Entry, Ledger, Run, Why},
    model::{
        Options, Step,
        noise::Noise,
        trial::{Observation, TrialId},
        verdict::Verdict,
    },
    noisy::NoisySearch,
    sequential::{self, Sequential},
    suite::Suite,
};
use crate::search::model::rank::Rank;

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
            Noise::Expected(confidence) => {
                Self::Noisy(NoisySearch::new(0, confidence, options, Vec::new(), &Ledger::new()))
            }
            Noise::Refused | Noise::Suspected(_) => Self::Sequential(Sequential::new(options)),
        }
    }

    /// Replaces this engine by an empty sequential one and returns it.
    pub(super) fn take(&mut self, options: &Options) -> Self {
        mem::replace(self, Self::Sequential(Sequential::new(options)))
    }

    /// Switches a test to the noisy search.
    pub(super) fn switch_to_noisy(&mut self, test: usize, confidence: f64, ledger: &Ledger, options: &Options) {
        match self {
            Self::Sequential(sequential) => {
                let known = sequential.known().to_vec();
                *self = Self::Noisy(NoisySearch::new(test, confidence, options, known, ledger));
            }
            Self::Noisy(_) => {}
            Self::Suite(suite) => suite.switch_to_noisy(test, ledger, options),
        }
    }

    /// Returns the next step.
    pub(super) fn step(&mut self, ledger: &mut Ledger, options: &Options) -> Step {
        match self {
            Self::Sequential(sequential) => sequential.step(ledger, options),
            Self::Noisy(noisy) => noisy.step(ledger, options),
            Self::Suite(suite) => suite.step(ledger, options),
        }
    }

    pub(super) fn record(
        &mut self,
        id: TrialId,
        mut observations: Vec<Observation>,
        ledger: &mut Ledger,
        options: &Options,
    ) {
        match self {
            Self::Suite(_) if ledger.is_before_split(id) => ledger[id].record(observations),
            Self::Suite(suite) => suite.record(id, observations, ledger, options),
            Self::Sequential(sequential) => sequential.record(id, observations.remove(0), ledger, options),
            Self::Noisy(noisy) => {
                ledger[id].record(observations.clone());
                let observation = observations.remove(0);
                let Entry { trial, why, .. } = &ledger[id];
                let selection = trial.selection.clone();
                if *why == Why::Evidence {
                    noisy.take(id, &selection, observation, ledger, options);
                } else if let Some(run) = Run::new(id, &selection, &observation) {
                    noisy.learn(run, ledger, options);
                }
            }
        }
    }

    /// Returns true if a sequential engine has found the target unreliable, and noise is suspected.
    pub(super) fn is_contradicted(&self, ledger: &Ledger, options: &Options) -> bool {
        matches!(self, Self::Sequential(sequential) if sequential.is_contradicted(ledger, options))
    }

    /// Takes the result of a run that this engine did not ask for, if this engine uses runs as evidence.
    pub(super) fn learn(&mut self, run: Run, ledger: &mut Ledger, options: &Options) {
        if let Self::Noisy(noisy) = self {
            noisy.learn(run, ledger, options);
        }
    }

    pub(super) fn obsolete(&mut self, ledger: &mut Ledger, options: &Options) -> Vec<TrialId> {
        match self {
            Self::Sequential(sequential) => sequential.obsolete(ledger, options),
            // Until the search is over, all runs are evidence.
            Self::Noisy(noisy) => ledger.in_flight().filter(|_| noisy.state().verdict().is_some()).collect(),
            Self::Suite(suite) => suite.obsolete(ledger),
        }
    }

    pub(super) fn verdict(&self, ledger: &Ledger) -> Option<Verdict> {
        match self {
            Self::Sequential(sequential) => sequential.verdict(ledger).cloned(),
            Self::Noisy(noisy) => noisy.state().verdict().cloned(),
            Self::Suite(suite) => suite.verdict(ledger),
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
