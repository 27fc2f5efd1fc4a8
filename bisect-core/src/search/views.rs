//! Views of a search: the results of a test, the state of a trial, and the progress of the whole.

use alloc::{vec, vec::Vec};
use core::ops::Range;

use super::{
    Search,
    ledger::Ledger,
    model::{
        noise::{Certainty, Estimate},
        rank::{Order, Rank},
        ranked,
        trial::TrialId,
        verdict::{Culprit, Verdict},
    },
    noisy::NoisyState,
    suite::Suite,
    test::Test,
    unsplit,
};

/// One test of a search.
#[derive(Clone, Copy, Debug)]
pub struct TestView<'a> {
    test: &'a Test,
    ledger: &'a Ledger,
}

impl<'a> TestView<'a> {
    pub(super) fn new(search: &'a Search, test: usize) -> Self {
        search.suite.assert_has(test);
        Self { test: &search.suite.tests[test], ledger: &search.ledger }
    }

    /// Returns the verdict for this test, if its search has ended.
    #[must_use]
    pub fn verdict(self) -> Option<&'a Verdict> {
        self.test.settled(self.ledger)
    }

    /// Returns the confirmed culprits of this test so far.
    #[must_use]
    pub fn found(self) -> &'a [Culprit] {
        self.test.found()
    }

    /// Returns true if runs of this test are only evidence by now.
    #[must_use]
    pub fn is_noisy(self) -> bool {
        self.test.noisy().is_some()
    }

    /// Returns the estimate for this test, if the test has contradicted itself or was expected to.
    #[must_use]
    pub fn estimate(self) -> Option<Estimate> {
        self.test.noisy().and_then(NoisyState::estimate)
    }

    /// Returns the certainty of a culprit, by its index in [`found`](Self::found); `None` if each run is believed.
    #[must_use]
    pub fn certainty(self, index: usize) -> Option<Certainty> {
        self.test.noisy()?.certainty(index)
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
        self.search.ledger.repeated(self.trial)
    }

    /// Returns the number of runs that the trial takes, as far as known by now.
    #[must_use]
    pub fn runs(self) -> usize {
        self.search.ledger[self.trial].wanted()
    }

    /// Returns the number of reported changes that the trial selects.
    #[must_use]
    pub fn selected(self) -> usize {
        self.search.trial(self.trial).selection.count(self.search.suite.known())
    }

    /// Returns the changes that the trial enables, as intervals of positions among the changes reported so far, in the
    /// order of the search. Of a counter, whose runs take all steps up to one, it is a single interval.
    #[must_use]
    pub fn enabled(self) -> Vec<Range<usize>> {
        let (known, selection) = (self.search.suite.known(), &self.search.trial(self.trial).selection);
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
        self.search.ledger.begun()
    }

    /// Estimates the trials left. A sequential search counts those until the present set is found, supposing one more
    /// change; a noisy search counts runs until the next culprit; a suite counts the trials of all tests.
    #[must_use]
    pub fn trials_left(self) -> Option<usize> {
        self.search.suite.trials_left()
    }

    /// Returns the number of changes that may be the next one that the present culprit needs. `None` while the search
    /// does not narrow them down, and where each run is only evidence. With several tests, that of the test with the
    /// most.
    #[must_use]
    pub fn candidates(self) -> Option<usize> {
        self.search.suite.candidates()
    }

    /// Returns the number of runs started so far.
    #[must_use]
    pub fn runs(self) -> usize {
        self.search.ledger.started
    }

    /// Returns the number of distinct changes reported so far.
    #[must_use]
    pub fn changes(self) -> usize {
        self.search.suite.known().len()
    }

    /// Returns the position of a change among those reported so far, in the order of the search.
    #[must_use]
    pub fn position(self, change: Rank) -> Option<usize> {
        ranked::find(self.search.suite.known(), change)
    }

    /// Returns the number of tests in the search: 1 before a [split](Search::split).
    #[must_use]
    pub fn tests(self) -> usize {
        self.search.suite.tests.len()
    }

    /// Returns the number of tests that are still being searched.
    #[must_use]
    pub fn undecided(self) -> usize {
        self.search.suite.undecided(&self.search.ledger)
    }

    /// Returns the culprit that is being checked, if the search was not [split](Search::split). With several trials in
    /// flight, the checks leave one slot free. A run that is needed only for a confirmed culprit, such as the run for
    /// its text, can use it.
    #[must_use]
    pub fn culprit_under_check(self) -> Option<&'a Culprit> {
        let Suite { tests, unsplit, .. } = &self.search.suite;
        unsplit.as_ref()?.under_check(&tests[0], &self.search.ledger)
    }

    /// Returns the culprit that will be named if its proof ends as expected, while neither run of this proof has ended.
    /// `None` unless several trials may be in flight. Once [`Search::step`] returns [`Step::Wait`](super::Step::Wait), a
    /// run that is needed only for a confirmed culprit can use a free slot.
    #[must_use]
    pub fn expected_culprit(self) -> Option<Culprit> {
        let Suite { tests, unsplit, .. } = &self.search.suite;
        unsplit::expected_culprit(unsplit.as_ref()?, &tests[0], &self.search.ledger)
    }

    /// Returns true if runs are only evidence by now and the search was not [split](Search::split).
    #[must_use]
    pub fn is_noisy(self) -> bool {
        self.search.suite.unsplit.is_some() && self.search.suite.tests[0].noisy().is_some()
    }
}
