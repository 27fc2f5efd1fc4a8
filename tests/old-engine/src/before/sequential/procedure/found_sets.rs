//! The culprits found so far, and what earlier runs say about the changes that are left.

use alloc::vec::Vec;

use crate::before::model::{rank::Rank, selection::Prefix, verdict::Culprit};

/// The culprits found so far.
#[derive(Clone, Debug, Default)]
pub(super) struct FoundSets {
    culprits: Vec<Culprit>,
    /// Number of culprits that are proved: the target has passed again since they failed alone.
    proved: usize,
    /// Cuts whose prefixes have passed in this branch, without forced changes and without any change of a culprit that
    /// was found later.
    passed: Vec<Rank>,
}

impl FoundSets {
    /// Returns the culprits that are proved.
    pub(super) fn proved(&self) -> &[Culprit] {
        &self.culprits[..self.proved]
    }

    /// Returns true if each culprit is proved.
    pub(super) fn is_proved(&self) -> bool {
        self.unproved() == 0
    }

    /// Returns the number of culprits that are not proved.
    pub(super) fn unproved(&self) -> usize {
        self.culprits.len() - self.proved
    }

    /// Returns the number of culprits, proved or not.
    pub(super) fn len(&self) -> usize {
        self.culprits.len()
    }

    /// Returns true if each culprit is a single change.
    pub(super) fn are_single(&self) -> bool {
        self.culprits.iter().all(|culprit| culprit.changes.len() == 1)
    }

    /// Returns the changes of all culprits, in the order in which they were found.
    pub(super) fn changes(&self) -> impl Iterator<Item = Rank> {
        self.culprits.iter().flat_map(|culprit| &culprit.changes).copied()
    }

    /// Adds a culprit that is not proved yet. Only a sweep adds several before the target passes again. All later
    /// selections leave it out.
    pub(super) fn add(&mut self, culprit: Culprit) {
        self.passed.retain(|&cut| !culprit.changes.iter().any(|&change| Prefix::Below(cut).contains(change)));
        self.culprits.push(culprit);
    }

    /// Adds a culprit that is proved.
    pub(super) fn add_proved(&mut self, culprit: Culprit) {
        self.add(culprit);
        self.prove();
    }

    /// Takes note that the target has passed.
    pub(super) fn prove(&mut self) {
        self.proved = self.culprits.len();
    }

    /// Removes the last culprit, if it is not proved.
    pub(super) fn take_unproved(&mut self) -> Option<Culprit> {
        if self.is_proved() { None } else { self.culprits.pop() }
    }

    /// Takes note that a prefix without forced changes has passed.
    pub(super) fn prefix_passed(&mut self, cut: Rank) {
        self.passed.push(cut);
    }

    /// Returns the end of the longest prefix that has passed, with the same changes left out as now.
    pub(super) fn longest_passed(&self) -> Rank {
        self.passed.iter().copied().max().unwrap_or(Rank::FIRST)
    }

    /// Takes note that other changes are left out from now on, so that no prefix is known to pass.
    pub(super) fn begin_branch(&mut self) {
        self.passed.clear();
    }
}
