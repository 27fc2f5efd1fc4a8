//! The culprits found so far, and what earlier runs say about the changes that are left.

use alloc::{sync::Arc, vec::Vec};

use crate::search::model::{rank::Rank, ranked, verdict::Culprit};

/// The culprits found so far.
#[derive(Clone, Debug)]
pub(super) struct FoundSets {
    culprits: Vec<Culprit>,
    /// Number of culprits that are proved: the target has passed again since they failed alone.
    proved: usize,
    /// End of the longest prefix that passes in this branch. It contains no change of a culprit. In a search without
    /// noise, it depends on the culprits, and not on the prefixes that were run to find them: so it is the same with
    /// several runs in flight.
    passed: Rank,
    /// The changes among which the present set is searched for, in order.
    searched: Arc<[Rank]>,
}

impl FoundSets {
    pub(super) fn new() -> Self {
        Self { culprits: Vec::new(), proved: 0, passed: Rank::FIRST, searched: Arc::new([]) }
    }

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

    /// Returns the changes of all culprits.
    pub(super) fn changes(&self) -> impl Iterator<Item = Rank> {
        self.culprits.iter().flat_map(|culprit| &culprit.changes).copied()
    }

    /// Adds a culprit that is not proved yet. Only a sweep adds several before the target passes again. All later
    /// selections leave it out.
    pub(super) fn add(&mut self, culprit: Culprit) {
        self.passed = culprit.changes.iter().copied().fold(self.passed, Rank::min);
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

    /// Begins the search for a set among these changes, in order. Returns the end of a prefix that is known to pass.
    pub(super) fn search(&mut self, reported: &Arc<[Rank]>) -> Rank {
        let below = &reported[..ranked::below(reported, self.passed)];
        // A change that a culprit had hidden until then may matter.
        if !below.iter().all(|&change| ranked::contains(&self.searched, change)) {
            self.passed = Rank::FIRST;
        }
        self.searched = reported.clone();
        self.passed
    }

    /// Takes note that the prefix up to this cut passes.
    pub(super) fn prefix_passed(&mut self, cut: Rank) {
        self.passed = self.passed.max(cut);
    }

    /// Takes note that other changes are left out from now on, so that no prefix is known to pass.
    pub(super) fn begin_branch(&mut self) {
        self.passed = Rank::FIRST;
    }
}
