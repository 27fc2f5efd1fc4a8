//! Views of a search: the results of a test, the state of a trial, and the progress of the whole.

use alloc::{vec, vec::Vec};
use core::ops::Range;

use super::{
    Engine, Search,
    model::{
        noise::{Certainty, Estimate},
        rank::{Order, Rank},
        ranked,
        trial::TrialId,
        verdict::{Culprit, Verdict},
    },
    noisy::NoisyState,
    sequential,
};

/// One test of a search.
#[derive(Clone, Copy, Debug)]
pub struct TestView<'a> {
    engine: &'a Engine,
    test: usize,
}

impl<'a> TestView<'a> {
    pub(super) fn new(search: &'a Search, test: usize) -> Self {
        search.engine.assert_has(test);
        Self { engine: &search.engine, test }
    }

    /// Returns the verdict for this test, if its search has ended.
    #[must_use]
    pub fn verdict(self) -> Option<&'a Verdict> {
        match self.engine {
            Engine::Sequential(sequential) => sequential.verdict(),
            Engine::Noisy(noisy) => noisy.state().verdict(),
            Engine::Suite(suite) => suite.test(self.test).verdict(),
        }
    }

    /// Returns the confirmed culprits of this test so far.
    #[must_use]
    pub fn found(self) -> &'a [Culprit] {
        match self.engine {
            Engine::Sequential(sequential) => sequential.found(),
            Engine::Noisy(noisy) => noisy.state().found(),
            Engine::Suite(suite) => suite.test(self.test).found(),
        }
    }

    /// Returns true if runs of this test are only evidence by now.
    #[must_use]
    pub fn is_noisy(self) -> bool {
        match self.engine {
            Engine::Sequential(_) => false,
            Engine::Noisy(_) => true,
            Engine::Suite(suite) => suite.test(self.test).noisy().is_some(),
        }
    }

    /// Returns the estimate for this test, if the test has contradicted itself or was expected to.
    #[must_use]
    pub fn estimate(self) -> Option<Estimate> {
        match self.engine {
            Engine::Sequential(_) => None,
            Engine::Noisy(noisy) => noisy.state().estimate(),
            Engine::Suite(suite) => suite.test(self.test).noisy().and_then(NoisyState::estimate),
        }
    }

    /// Returns the certainty of a culprit, by its index in [`found`](Self::found); `None` if each run is believed.
    #[must_use]
    pub fn certainty(self, index: usize) -> Option<Certainty> {
        match self.engine {
            Engine::Sequential(_) => None,
            Engine::Noisy(noisy) => noisy.state().certainty(index),
            Engine::Suite(suite) => suite.test(self.test).noisy().and_then(|noisy| noisy.certainty(index)),
        }
    }
}

/// One trial of a search.
#[derive(Clone, Copy, Debug)]
pub struct TrialView<'a> {
    search: &'a Search,
    trial: TrialId,
}

impl<'a> TrialView<'a> {
    pub(super) fn new(search: &'a Search, trial: TrialId) -> Self {
        Self { search, trial }
    }

    /// Returns the earlier trial that this trial repeats to check if the target is reliable, unless the outcomes
    /// differ.
    #[must_use]
    pub fn repeats(self) -> Option<TrialId> {
        match &self.search.engine {
            Engine::Sequential(sequential) => sequential.trials().repeated(self.trial),
            Engine::Noisy(_) | Engine::Suite(_) => self.search.earlier.repeated(self.trial),
        }
    }

    /// Returns the number of runs that the trial takes, as far as known by now.
    #[must_use]
    pub fn runs(self) -> usize {
        let (id, Search { earlier, engine, options, .. }) = (self.trial, self.search);
        if id.0 >= earlier.len() {
            return engine.runs_of_trial(id, options);
        }
        earlier.runs_wanted(id.0, options).max(earlier[id.0].outcomes.len())
    }

    /// Returns the number of reported changes that the trial selects.
    #[must_use]
    pub fn selected(self) -> usize {
        self.search.trial(self.trial).selection.count(self.search.engine.known())
    }

    /// Returns the changes that the trial enables, as intervals of positions among the changes reported so far, in the
    /// order of the search. Of a counter, whose runs take all steps up to one, it is a single interval.
    #[must_use]
    pub fn enabled(self) -> Vec<Range<usize>> {
        let (known, selection) = (self.search.engine.known(), &self.search.trial(self.trial).selection);
        match self.search.options.order {
            Order::Counter => {
                let switched = selection.switched_steps(known.len());
                let enabled = if selection.inverted { switched..known.len() } else { 0..switched };
                if enabled.is_empty() { Vec::new() } else { vec![enabled] }
            }
            Order::ByHash | Order::Given => selection.enabled_ranges(known),
        }
    }
}

/// The progress of a search.
#[derive(Clone, Copy, Debug)]
pub struct ProgressView<'a> {
    search: &'a Search,
}

impl<'a> ProgressView<'a> {
    pub(super) fn new(search: &'a Search) -> Self {
        Self { search }
    }

    /// Returns the number of trials begun so far. A repetition of an earlier trial counts only if it ended differently.
    #[must_use]
    pub fn trials(self) -> usize {
        self.search.earlier.begun() + self.search.engine.trials()
    }

    /// Estimates the trials left. A sequential search counts those until the present set is found, supposing one more
    /// change; a noisy search counts runs until the next culprit; a suite counts the trials of all tests.
    #[must_use]
    pub fn trials_left(self) -> Option<usize> {
        self.search.engine.trials_left()
    }

    /// Returns the number of changes that may be the next one that the present culprit needs. `None` while the search
    /// does not narrow them down, and where each run is only evidence. With several tests, that of the test with the
    /// most.
    #[must_use]
    pub fn candidates(self) -> Option<usize> {
        self.search.engine.candidates()
    }

    /// Returns the number of runs started so far.
    #[must_use]
    pub fn runs(self) -> usize {
        self.search.runs
    }

    /// Returns the number of distinct changes reported so far.
    #[must_use]
    pub fn changes(self) -> usize {
        self.search.engine.known().len()
    }

    /// Returns the position of a change among those reported so far, in the order of the search.
    #[must_use]
    pub fn position(self, change: Rank) -> Option<usize> {
        ranked::find(self.search.engine.known(), change)
    }

    /// Returns the number of tests in the search: 1 before a [split](Search::split).
    #[must_use]
    pub fn tests(self) -> usize {
        self.search.engine.tests()
    }

    /// Returns the number of tests that are still being searched.
    #[must_use]
    pub fn undecided(self) -> usize {
        match &self.search.engine {
            Engine::Suite(suite) => suite.undecided(),
            Engine::Sequential(_) | Engine::Noisy(_) => usize::from(self.search.verdict().is_none()),
        }
    }

    /// Returns the culprit that is being checked, if the search was not [split](Search::split). With several trials in
    /// flight, the checks leave one slot free. A run that is needed only for a confirmed culprit, such as the run for
    /// its text, can use it.
    #[must_use]
    pub fn culprit_under_check(self) -> Option<&'a Culprit> {
        match &self.search.engine {
            Engine::Sequential(sequential) => sequential::under_check(sequential),
            Engine::Noisy(_) | Engine::Suite(_) => None,
        }
    }

    /// Returns the culprit that will be named if its proof ends as expected, while neither run of this proof has ended.
    /// `None` unless several trials may be in flight. Once [`Search::step`] returns [`Step::Wait`](super::Step::Wait), a
    /// run that is needed only for a confirmed culprit can use a free slot.
    #[must_use]
    pub fn expected_culprit(self) -> Option<Culprit> {
        match &self.search.engine {
            Engine::Sequential(sequential) => sequential::expected_culprit(sequential),
            Engine::Noisy(_) | Engine::Suite(_) => None,
        }
    }

    /// Returns true if runs are only evidence by now and the search was not [split](Search::split).
    #[must_use]
    pub fn is_noisy(self) -> bool {
        matches!(self.search.engine, Engine::Noisy(_))
    }
}
