//! Sorted lists of ranks without duplicates: with a million ranks, sets would cost more than they save.

use alloc::vec::Vec;

use super::rank::Rank;

/// Sorts a list and removes duplicates.
pub(in crate::before) fn sort(ranks: &mut Vec<Rank>) {
    // A target that iterates over a list reports its items in order.
    if !ranks.is_sorted_by(|one, next| one < next) {
        ranks.sort_unstable();
        ranks.dedup();
    }
}

/// Returns the number of ranks below `end`, which is also the index of the first that is not.
pub(in crate::before) fn below(ranks: &[Rank], end: Rank) -> usize {
    ranks.partition_point(|&rank| rank < end)
}

/// Returns true if the list contains this rank.
pub(in crate::before) fn contains(ranks: &[Rank], rank: Rank) -> bool {
    ranks.binary_search(&rank).is_ok()
}

/// Returns the index of a rank, if the list has it.
pub(in crate::before) fn find(ranks: &[Rank], rank: Rank) -> Option<usize> {
    ranks.binary_search(&rank).ok()
}

/// Adds the ranks of another sorted list.
pub(in crate::before) fn merge(into: &mut Vec<Rank>, from: &[Rank]) {
    // Reports of prefixes have a common beginning.
    let alike = into.iter().zip(from).take_while(|(known, reported)| known == reported).count();
    let mut known = into[alike..].iter().peekable();
    let mut is_new = |rank: &Rank| {
        while known.next_if(|&known| known < rank).is_some() {}
        known.peek() != Some(&rank)
    };
    let new: Vec<_> = from[alike..].iter().copied().filter(|rank| is_new(rank)).collect();
    if !new.is_empty() {
        into.extend(new);
        // These are two sorted sequences, which a stable sort merges.
        into.sort();
    }
}
