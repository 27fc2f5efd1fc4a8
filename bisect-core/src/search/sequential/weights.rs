//! The weights of candidates, by their likelihood: cuts halve the weight of the candidates, not their number.

use alloc::{sync::Arc, vec::Vec};
use core::ops::{Range, RangeInclusive};

use crate::search::tuning;
use crate::{search::model::rank::Rank, search::model::ranked};

/// Returns the distance from the middle, in candidates, within which a simpler cut is chosen. Hashes are spread so
/// evenly that the middle of their space nearly always lies within the square root of their number.
fn slack(candidates: usize) -> usize {
    if candidates < tuning::MIN_CANDIDATES_FOR_SLACK {
        0
    } else {
        (candidates / tuning::SLACK_DIVISOR).min(candidates.isqrt())
    }
}

/// The weights of the changes of a list, which are named by their indices.
#[derive(Clone, Debug)]
pub(in crate::search) struct Weights {
    /// The indices of the favoured changes, sorted.
    favoured: Arc<[usize]>,
    weight_of_favoured: u64,
    weight_of_others: u64,
    /// True if cuts halve the weight as exactly as they can; false if a simpler cut nearby is better.
    is_exact: bool,
}

impl Weights {
    /// Returns weights by which the favoured changes together weigh as much as all others together. If all are
    /// favoured, or none is, all weigh the same.
    pub(in crate::search) fn new(changes: &[Rank], favoured: &[Rank]) -> Self {
        let mut weights = Self { favoured: [].into(), weight_of_favoured: 1, weight_of_others: 1, is_exact: false };
        weights.find(changes, favoured);
        let count = weights.favoured.len();
        if 0 < count && count < changes.len() {
            weights.weight_of_favoured = (changes.len() - count) as u64;
            weights.weight_of_others = count as u64;
        }
        weights
    }

    /// Returns weights by which the suspects weigh so much more than all others that cuts halve the suspects.
    pub(in crate::search) fn of_suspects(changes: &[Rank], suspects: &[Rank]) -> Self {
        let weights = Self::new(changes, suspects);
        Self { weight_of_favoured: weights.weight_of_favoured * tuning::SUSPECTS_WEIGHT, is_exact: true, ..weights }
    }

    /// Finds the favoured changes in a new list. Both weights stay: a narrower list does not change their ratio.
    pub(in crate::search) fn find(&mut self, changes: &[Rank], favoured: &[Rank]) {
        let index = |&id| ranked::find(changes, id);
        self.favoured = favoured.iter().filter_map(index).collect::<Vec<_>>().into();
    }

    /// Returns the weight of all changes before this index.
    fn before(&self, index: usize) -> u64 {
        let favoured = self.favoured.partition_point(|&i| i < index);
        favoured as u64 * self.weight_of_favoured + (index - favoured) as u64 * self.weight_of_others
    }

    /// Returns the weight of a span.
    pub(in crate::search) fn of(&self, span: Range<usize>) -> u64 {
        self.before(span.end) - self.before(span.start)
    }

    /// Returns the cuts of a span of at least two changes into halves of about the same weight, as the indices at which
    /// the second half may begin.
    pub(in crate::search) fn middle(&self, span: Range<usize>) -> RangeInclusive<usize> {
        // All weights are doubled, so that half of the total is a whole number.
        let total = self.of(span.clone());
        let left_of = |index: usize| 2 * self.of(span.start..index);
        let inner = |index: usize| index.clamp(span.start + 1, span.end - 1);

        let slack = if self.is_exact { 0 } else { slack(span.len()) };
        let slack = 2 * total * slack as u64 / span.len() as u64;
        let low = inner(first(span.clone(), |index| left_of(index) >= total - slack));
        let high = inner(first(span.clone(), |index| left_of(index) > total + slack) - 1);
        if low <= high {
            return low..=high;
        }
        // No cut is within the slack, so this is the nearest one.
        let nearest = if left_of(high).abs_diff(total) <= left_of(low).abs_diff(total) { high } else { low };
        nearest..=nearest
    }
}

/// Returns the first index of a span from which on `holds` is true, or the end of the span.
fn first(span: Range<usize>, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (span.start, span.end);
    while low < high {
        let middle = usize::midpoint(low, high);
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, sample::subsequence};

    use super::*;

    fn weights(count: usize, favoured: &[usize]) -> Weights {
        let change = |i: usize| Rank(i as u64);
        let changes: Vec<_> = (0..count).map(change).collect();
        Weights::new(&changes, &favoured.iter().copied().map(change).collect::<Vec<_>>())
    }

    #[test]
    fn few_are_cut_in_the_middle_and_many_near_it() {
        for count in 2..16 {
            assert_eq!(weights(count, &[]).middle(0..count), count / 2..=count / 2);
        }
        assert_eq!(weights(1000, &[]).middle(0..1000), 469..=531);
        assert_eq!(weights(1000, &[]).middle(200..300), 240..=260);
    }

    #[test]
    fn a_favoured_one_is_told_from_the_others() {
        let weights = weights(100, &[30]);
        assert_eq!(weights.of(30..31), weights.of(0..30) + weights.of(31..100));
        // The favoured change weighs most of its side, so the cuts isolate it: first on one side, then on the other.
        assert_eq!(weights.middle(0..100), 31..=31);
        assert_eq!(weights.middle(0..31), 30..=30);
    }

    proptest! {
        #[test]
        fn no_cut_is_nearer_to_the_half_than_is_asked_for(
            (favoured, mut ends) in (subsequence((0..100).collect::<Vec<_>>(), 0..=100), [0..100_usize, 0..100]),
        ) {
            ends.sort_unstable();
            let span = ends[0]..ends[1];
            prop_assume!(span.len() >= 2);
            let weights = weights(100, &favoured);
            let total = weights.of(span.clone());
            let distance = |index| (2 * weights.of(span.start..index)).abs_diff(total);
            let nearest = (span.start + 1..span.end).map(distance).min().unwrap();
            let middle = weights.middle(span.clone());
            prop_assert!(span.start < *middle.start() && middle.start() <= middle.end() && *middle.end() < span.end);
            for index in middle {
                prop_assert!(distance(index) <= nearest.max(total / 5));
            }
        }
    }
}
