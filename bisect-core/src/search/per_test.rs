//! The split of a search into a search over several tests at once.

use alloc::vec::Vec;
use core::num::NonZeroUsize;

use super::{
    Engine, Search,
    model::{
        noise::{Certainty, Estimate, Noise},
        selection::{Prefix, Selection},
        verdict::{Culprit, Mode, Shared, Verdict},
    },
    sequential::Procedure,
    suite::Suite,
};

/// One test of a search.
#[derive(Clone, Copy, Debug)]
pub struct TestView<'a> {
    engine: &'a Engine,
    test: usize,
}

impl<'a> TestView<'a> {
    /// Returns the verdict for this test, if its search has ended.
    #[must_use]
    pub fn verdict(self) -> Option<&'a Verdict> {
        match self.engine {
            Engine::Sequential(sequential) => sequential.ended(),
            Engine::Noisy(noisy) => noisy.verdict(),
            Engine::Suite(suite) => suite.verdict_of(self.test),
        }
    }

    /// Returns the confirmed culprits of this test so far.
    #[must_use]
    pub fn found(self) -> &'a [Culprit] {
        match self.engine {
            Engine::Sequential(sequential) => sequential.found(),
            Engine::Noisy(noisy) => noisy.found(),
            Engine::Suite(suite) => suite.found_by(self.test),
        }
    }

    /// Returns true if runs of this test are only evidence by now.
    #[must_use]
    pub fn is_noisy(self) -> bool {
        match self.engine {
            Engine::Sequential(_) => false,
            Engine::Noisy(_) => true,
            Engine::Suite(suite) => suite.is_noisy(self.test),
        }
    }

    /// Returns the estimate for this test, if the test has contradicted itself or was expected to.
    #[must_use]
    pub fn estimate(self) -> Option<Estimate> {
        match self.engine {
            Engine::Sequential(_) => None,
            Engine::Noisy(noisy) => noisy.estimate(),
            Engine::Suite(suite) => suite.estimate(self.test),
        }
    }

    /// Returns the certainty of a culprit, by its index in [`found`](Self::found); `None` if each run is believed.
    #[must_use]
    pub fn certainty(self, index: usize) -> Option<Certainty> {
        match self.engine {
            Engine::Sequential(_) => None,
            Engine::Noisy(noisy) => noisy.certainty(index),
            Engine::Suite(suite) => suite.certainty(self.test, index),
        }
    }
}

impl Search {
    /// Returns true if the search can be [split](Self::split): it is not split yet, one end passes and the other fails.
    /// A noisy search can be split only if noise was expected and no culprit was found yet.
    #[must_use]
    pub fn can_split(&self) -> bool {
        match &self.engine {
            Engine::Sequential(sequential) => sequential.calibrated().is_some(),
            // A target that became noisy is searched as one test.
            Engine::Noisy(noisy) => matches!(self.options.noise, Noise::Expected(_)) && noisy.is_under_way(),
            Engine::Suite(_) => false,
        }
    }

    /// Splits the search into this number of tests, numbered from 0, each with its own culprits. The result that the
    /// target passes at one end holds for each test. At the other end each test first shows if it fails on its own, and
    /// which changes it reaches. The reported and the favoured changes are kept; other answers are discarded, and
    /// trials in flight are obsolete.
    ///
    /// A run of a [trial](super::Trial::tests) then runs each of its tests in its own process, with the same pattern,
    /// and [`record_each`](Self::record_each) takes the results. A monotone test gets the sets that a search for this
    /// test alone would find, if each change that breaks other tests is either reached by the test's first run or never
    /// reached by the test. A test that cannot be searched does not prevent the search of the others.
    ///
    /// If a test contradicts itself and [noise](super::Options::noise) is refused, its search ends. If noise is
    /// suspected, the test switches to the noisy search and the others stay sequential. With one run per trial, one
    /// extra run checks the tests; further checks precede the naming of each culprit. If noise is expected, every test
    /// has a noisy search from the start. The tests share the allowed probability of an error.
    ///
    /// # Panics
    /// If the search [cannot be split](Self::can_split).
    pub fn split(&mut self, tests: NonZeroUsize) {
        assert!(self.can_split(), "a search is split once, when it is known that the changes make a difference");
        let mut procedure = Procedure::new(self.options.clone());
        let known = match self.engine.take(&self.options) {
            Engine::Sequential(sequential) => {
                procedure = sequential.calibrated().cloned().unwrap_or(procedure);
                let (trials, known) = sequential.into_trials();
                self.earlier = trials;
                known
            }
            Engine::Noisy(noisy) => {
                let known = noisy.known().to_vec();
                self.earlier.extend(noisy.into_trials());
                known
            }
            Engine::Suite(_) => unreachable!("it was not split"),
        };
        self.engine = Engine::Suite(Suite::new(&procedure, known, tests, self.earlier.len(), &self.options));
    }

    /// Returns the results for one test. In a search that was not [split](Self::split), test 0 is the whole target.
    ///
    /// # Panics
    /// If there is no test with this number.
    #[must_use]
    pub fn test(&self, test: usize) -> TestView<'_> {
        assert!(test < self.tests(), "the search is of {} tests", self.tests());
        TestView { engine: &self.engine, test }
    }

    /// Switches a test to the noisy search, if noise is suspected: the test has contradicted itself in other results
    /// than outcomes.
    ///
    /// # Panics
    /// If there is no test with this number.
    pub fn switch_to_noisy(&mut self, test: usize) {
        assert!(test < self.tests(), "the search is of {} tests", self.tests());
        if let Noise::Suspected(confidence) = self.options.noise
            && let Some(trials) = self.engine.switch_to_noisy(test, confidence, &self.options)
        {
            self.earlier = trials;
        }
    }

    /// Returns the confirmed culprits of all tests so far, in the order in which they were first found. A culprit that
    /// was found for several tests is one entry.
    #[must_use]
    pub fn culprits(&self) -> Vec<Shared<'_>> {
        match &self.engine {
            Engine::Suite(suite) => suite.culprits(),
            _ => Shared::group(self.found().iter().map(|culprit| (0, culprit))),
        }
    }

    /// Returns the selection of exactly the changes of a culprit, for a run that reproduces it. The trial that
    /// [confirmed](Culprit::confirmed_by) it may have named other tests' culprits too.
    #[must_use]
    pub fn alone(&self, culprit: &Culprit) -> Selection {
        Selection {
            prefix: Prefix::NONE,
            forced: culprit.changes.clone(),
            inverted: culprit.mode == Mode::Disable,
            ..Selection::all()
        }
    }

    /// Returns the number of tests in the search: 1 before a [split](Self::split).
    #[must_use]
    pub fn tests(&self) -> usize {
        if let Engine::Suite(suite) = &self.engine { suite.tests() } else { 1 }
    }

    /// Returns the number of tests that are still being searched.
    #[must_use]
    pub fn undecided(&self) -> usize {
        match &self.engine {
            Engine::Suite(suite) => suite.undecided(),
            _ => usize::from(self.verdict().is_none()),
        }
    }
}
