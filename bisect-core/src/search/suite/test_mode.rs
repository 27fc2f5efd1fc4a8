//! The two modes of a test: each run is believed, or is evidence for a noisy search.

use alloc::boxed::Box;

use crate::search::{
    ledger::Ledger,
    model::{selection::Selection, trial::TrialId},
    noisy::{Ask, NoisySearch, NoisyState, Toss},
};

/// The treatment of the runs of a test.
#[derive(Clone, Debug, Default)]
pub(super) enum TestMode {
    /// Each run is believed.
    #[default]
    Reliable,
    /// Runs are only evidence: the noisy search, and the number of questions that it has asked.
    Noisy(Box<NoisySearch>, usize),
}

impl TestMode {
    /// Returns the state of the noisy search, if the test has one.
    pub(super) fn state(&self) -> Option<&NoisyState> {
        match self {
            TestMode::Reliable => None,
            TestMode::Noisy(search, _) => Some(search.state()),
        }
    }

    pub(super) fn search_mut(&mut self) -> Option<&mut NoisySearch> {
        match self {
            TestMode::Reliable => None,
            TestMode::Noisy(search, _) => Some(search),
        }
    }

    /// Returns the number of questions that the noisy search has asked; `None` once it has ended.
    pub(super) fn turns(&self) -> Option<usize> {
        match self {
            TestMode::Noisy(search, turns) if search.state().verdict().is_none() => Some(*turns),
            TestMode::Reliable | TestMode::Noisy(..) => None,
        }
    }

    /// Returns true if a run is evidence for the noisy search, which has not ended.
    pub(super) fn is_evidence(&self, selection: &Selection) -> bool {
        self.state().is_some_and(|state| state.verdict().is_none() && state.is_evidence(selection))
    }

    /// Takes note that a trial begins that is evidence, whichever test asked for it.
    pub(super) fn begin(&mut self, id: TrialId, toss: Option<&Toss>) {
        if let Some(search) = self.search_mut() {
            search.begin(id, toss);
        }
    }

    /// Returns the question of the noisy search that is most worth a run.
    pub(super) fn asks_for_evidence(&mut self, ledger: &Ledger) -> Option<Ask> {
        let TestMode::Noisy(search, turns) = self else { return None };
        let asked = search.next(ledger);
        *turns += usize::from(asked.is_some());
        asked
    }

    /// Estimates the number of runs until the noisy search names a culprit.
    pub(super) fn runs_left(&self) -> usize {
        self.state().and_then(NoisyState::runs_left).unwrap_or(0)
    }
}
