//! Prior runs whose side is known.

use super::rate_grid::{Likelihood, Prior};

/// Runs that are known to be with the change or without it: prior knowledge of the rates.
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
    /// Returns evidence without runs.
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

    /// Returns the likelihood of the runs for each rate without the change, and for each rate with it.
    pub(super) fn likelihoods(&self, prior: &Prior) -> [Likelihood; 2] {
        [self.without, self.with].map(|ends| Likelihood::of(prior, ends.passed, ends.failed))
    }
}
