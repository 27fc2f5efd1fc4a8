//! The branches of the search around a set that is too large.
//!
//! Any other minimal set lacks at least one change of that set, so the search avoids each of its changes in turn: a
//! hitting-set tree (Reiter, "A theory of diagnosis from first principles", 1987).

use alloc::vec::Vec;

use crate::before::{model::rank::Rank, tuning};

/// The changes that the present branch avoids, and the branches that wait.
#[derive(Clone, Debug, Default)]
pub(super) struct Branches {
    avoided: Vec<Rank>,
    waiting: Vec<Vec<Rank>>,
    too_large: usize,
    begun: usize,
}

impl Branches {
    /// Returns the changes that the present branch leaves out, so that it does not find a set that is too large again.
    pub(super) fn avoided(&self) -> &[Rank] {
        &self.avoided
    }

    /// Returns the number of branches begun so far.
    pub(super) fn begun(&self) -> usize {
        self.begun
    }

    /// Adds the branches around a set that needs more changes than these, and so is too large.
    pub(super) fn avoid(&mut self, forced: &[Rank]) {
        self.too_large += 1;
        if self.too_large > tuning::MAX_TOO_LARGE_SETS {
            return;
        }
        for &change in forced {
            let mut avoided = self.avoided.clone();
            avoided.push(change);
            avoided.sort_unstable_by_key(|change| change.id());
            if !self.waiting.contains(&avoided) {
                self.waiting.push(avoided);
            }
        }
    }

    /// Begins the next branch. Returns false if there is none.
    pub(super) fn begin_next(&mut self) -> bool {
        if self.waiting.is_empty() {
            return false;
        }
        self.avoided = self.waiting.remove(0);
        self.begun += 1;
        true
    }
}
