//! The smallest failing set so far: what a search that is cut short still leaves behind.

use bisect_core::search::Rank;

/// The smallest set of changes that has failed in the search for the present culprit.
#[derive(Debug, Default)]
pub(super) struct SmallestFailure {
    /// The changes of earlier culprits, which are left out. A longer list means that the next culprit is searched for.
    left_out: Vec<Rank>,
    /// The number of changes. `None` before the first failing run, and after a culprit was found.
    changes: Option<usize>,
}

impl SmallestFailure {
    /// Forgets the set: it is a culprit, and another one is searched for.
    pub(super) fn forget(&mut self) {
        self.changes = None;
    }

    /// Returns the number of changes in the set.
    pub(super) fn changes(&self) -> Option<usize> {
        self.changes
    }

    /// Learns that a trial without the changes `left_out` failed with this number of changes. Returns whether that is
    /// the smallest failing set.
    pub(super) fn improves(&mut self, left_out: &[Rank], changes: usize) -> bool {
        if left_out.len() > self.left_out.len() {
            *self = Self { left_out: left_out.to_vec(), changes: None };
        }
        let is_smaller = self.left_out == left_out && self.changes.is_none_or(|smallest| changes < smallest);
        if is_smaller {
            self.changes = Some(changes);
        }
        is_smaller
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_smaller_sets_of_the_same_culprit_or_the_first_set_of_the_next_one_improve() {
        let mut smallest = SmallestFailure::default();
        let known = [Rank::at(7)];
        let steps: [(&[Rank], usize, bool); 7] = [
            (&[], 40, true),
            (&[], 40, false),
            (&[], 12, true),
            (&[], 13, false),
            (&known, 39, true),
            // A run that was in flight when the culprit was found.
            (&[], 5, false),
            (&known, 20, true),
        ];
        for (step, (left_out, changes, expected)) in steps.into_iter().enumerate() {
            assert_eq!(smallest.improves(left_out, changes), expected, "step {step}");
        }
    }
}
