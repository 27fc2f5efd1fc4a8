//! The split of a search into a search over several tests at once.

use alloc::vec::Vec;
use core::num::NonZeroUsize;

use super::{
    Search,
    model::{noise::Noise, verdict::Shared},
    suite::Suite,
};

impl Search {
    /// Returns true if the search can be [split](Self::split): it is not split yet, one end passes and the other fails.
    /// A noisy search can be split only if noise was expected and no culprit was found yet.
    #[must_use]
    pub fn can_split(&self) -> bool {
        let Suite { tests, unsplit, .. } = &self.suite;
        unsplit.as_ref().is_some_and(|unsplit| unsplit.can_split(&tests[0], &self.options))
    }

    /// Splits the search into this number of tests, numbered from 0, each with its own culprits. The result that the
    /// target passes at one end holds for each test. At the other end each test first shows if it fails on its own, and
    /// which changes it reaches. The reported and the favoured changes are kept; other answers are discarded, and
    /// trials in flight are obsolete.
    ///
    /// A run of a [trial](super::Trial::tests) then runs each of its tests in its own process, with the same pattern,
    /// and [`record`](Self::record) takes the results. A monotone test gets the sets that its own search would find, on
    /// one condition: of the changes that break other tests, its first run reaches all that it ever reaches. A test
    /// that cannot be searched does not prevent the search of the others.
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
        self.suite.split(tests, &mut self.ledger, &self.options);
    }

    /// Switches a test to the noisy search, if noise is suspected: the test has contradicted itself in other results
    /// than outcomes.
    ///
    /// # Panics
    /// If there is no test with this number.
    pub fn switch_to_noisy(&mut self, test: usize) {
        self.suite.assert_has(test);
        if let Noise::Suspected(_) = self.options.noise {
            self.suite.switch_to_noisy(test, &self.ledger, &self.options);
        }
    }

    /// Returns the confirmed culprits of all tests so far, in the order in which they were first found. A culprit that
    /// was found for several tests is one entry.
    #[must_use]
    pub fn culprits(&self) -> Vec<Shared<'_>> {
        self.suite.culprits()
    }
}
