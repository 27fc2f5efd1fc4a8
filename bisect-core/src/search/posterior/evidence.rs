//! Runs that are understood already.

use super::rate_grid::{Likelihood, Prior};

/// Runs of which it is known whether the change was in them: what is known of the rates beforehand.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    without: Ends,
    with: Ends,
}

#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    passed: usize,
    failed: usize,
}

impl Evidence {
    /// Nothing is known.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes one run.
    pub fn observe(&mut self, with: bool, failed: bool) {
        let ends = if with { &mut self.with } else { &mut self.without };
        let number = if failed { &mut ends.failed } else { &mut ends.passed };
        *number += 1;
    }

    pub(super) fn is_empty(&self) -> bool {
        let Self { without, with } = self;
        without.passed + without.failed + with.passed + with.failed == 0
    }

    /// How likely it is, for each rate without the change and each with it.
    pub(super) fn likelihoods(&self, prior: &Prior) -> [Likelihood; 2] {
        [self.without, self.with].map(|ends| {
            let mut likelihood = Likelihood::ONE;
            (0..ends.passed).for_each(|_| likelihood.observe(prior, false));
            (0..ends.failed).for_each(|_| likelihood.observe(prior, true));
            likelihood
        })
    }
}
