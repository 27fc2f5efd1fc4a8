//! The weights of candidates, by their likelihood: cuts halve the weight of the candidates, not their number.

use alloc::{sync::Arc, vec::Vec};
use core::ops::{Range, RangeInclusive};

use crate::search::model::{likely_groups::LikelyGroups, rank::Rank, ranked};
use crate::search::tuning;

/// Returns the distance from the middle, in candidates, within which a simpler cut is chosen. Hashes are spread so
/// evenly that the middle of their space nearly always lies within the square root of their number.
pub(in crate::search) fn slack(candidates: usize) -> usize {
    if candidates < tuning::MIN_CANDIDATES_FOR_SLACK {
        0
    } else {
        (candidates / tuning::SLACK_DIVISOR).min(candidates.isqrt())
    }
}

/// The weights of the changes of a list, which are named by their indices.
#[derive(Clone, Debug)]
pub(in crate::search) struct Weights {
    /// For each likely group: the sorted indices of its changes, and the weight of one of them.
    groups: Arc<[(Vec<usize>, u64)]>,
    weight_of_others: u64,
}

impl Weights {
    /// Returns the weights of changes, by their groups. If no group contains any of them, or one group contains all, all
    /// weigh the same.
    pub(in crate::search) fn new(changes: &[Rank], likely: &LikelyGroups) -> Self {
        let members: Vec<_> = likely.iter().map(|group| indices(changes, group)).collect();
        let favoured: usize = members.iter().map(Vec::len).sum();
        let mut counts: Vec<_> = members.iter().map(Vec::len).chain([changes.len() - favoured]).collect();
        counts.retain(|&count| count > 0);
        // The last two parts have equal total weight. If there are only two, each change weighs as much as the other
        // part has changes.
        let common = counts.iter().try_fold(1, |product: u64, &count| product.checked_mul(count as u64));
        let common =
            common.map_or(tuning::MAX_WEIGHT_OF_LAST_GROUP, |product| product.min(tuning::MAX_WEIGHT_OF_LAST_GROUP));
        let last = counts.len().saturating_sub(1);
        let share = |place: usize| 1 << last.saturating_sub(place).saturating_sub(1);
        let mut weights = (0..).map(share).zip(&counts).map(|(share, &count)| (share * common / count as u64).max(1));
        let weight = |indices: &Vec<usize>| if indices.is_empty() { 1 } else { weights.next().unwrap_or(1) };
        let of_groups: Vec<_> = members.iter().map(weight).collect();
        let weight_of_others = weights.next().unwrap_or(1);
        let groups = members.into_iter().zip(of_groups).collect();
        Self { groups, weight_of_others }
    }

    /// Finds the groups in a new list. All weights stay: a narrower list does not change the ratio of the
    /// weights of two changes.
    pub(in crate::search) fn find(&mut self, changes: &[Rank], likely: &LikelyGroups) {
        let groups = likely.iter().zip(self.groups.iter());
        self.groups = groups.map(|(group, &(_, weight))| (indices(changes, group), weight)).collect();
    }

    /// Returns the weight of all changes before this index.
    fn before(&self, index: usize) -> u64 {
        let (mut sum, mut others) = (0, index as u64);
        for (indices, weight) in self.groups.iter() {
            let count = indices.partition_point(|&i| i < index) as u64;
            sum += count * weight;
            others -= count;
        }
        sum + others * self.weight_of_others
    }

    /// Returns the weight of a span.
    pub(in crate::search) fn of(&self, span: Range<usize>) -> u64 {
        self.before(span.end) - self.before(span.start)
    }

    /// Returns, for each change of a span, its share of the span's weight.
    #[expect(clippy::cast_precision_loss, reason = "a share is approximate")]
    pub(in crate::search) fn shares(&self, span: Range<usize>) -> impl Iterator<Item = f64> + '_ {
        let all = self.of(span.clone()) as f64;
        span.map(move |index| self.of(index..index + 1) as f64 / all)
    }

    /// Returns the cuts of a span of at least two changes into halves of about the same weight, as the indices at which
    /// the second half may begin.
    pub(in crate::search) fn middle(&self, span: Range<usize>) -> RangeInclusive<usize> {
        // All weights are doubled, so that half of the total is a whole number.
        let total = self.of(span.clone());
        let left_of = |index: usize| 2 * self.of(span.start..index);
        let inner = |index: usize| index.clamp(span.start + 1, span.end - 1);

        let slack = slack(span.len());
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

/// Returns the indices of these changes in a list that may have only some of them.
fn indices(changes: &[Rank], group: &[Rank]) -> Vec<usize> {
    group.iter().filter_map(|&change| ranked::find(changes, change)).collect()
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
        Weights::new(&changes, &LikelyGroups::new([favoured.iter().copied().map(change).collect()]))
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

    #[test]
    fn a_group_weighs_as_much_as_all_after_it() {
        let changes: Vec<_> = (0..100).map(Rank).collect();
        let group = |range: Range<u64>| range.map(Rank).collect::<Vec<_>>();
        let likely = LikelyGroups::new([group(10..13), Vec::new(), group(12..20), group(200..210)]);
        let weights = Weights::new(&changes, &likely);
        // The change 12 is in the first of its groups.
        let others = weights.of(0..10) + weights.of(20..100);
        assert_eq!((weights.of(10..13), weights.of(13..20)), (2 * others, others));
        // If every change is in a group, the last two groups weigh the same.
        let all = Weights::new(&changes, &LikelyGroups::new([group(0..10), group(10..30), group(30..100)]));
        assert_eq!([all.of(0..10), all.of(10..30)], [2 * all.of(30..100), all.of(30..100)]);
        // Lists of millions of changes do not overflow.
        let many: Vec<_> = (0..3_000_000).map(Rank).collect();
        let groups = LikelyGroups::new([0..1_000_000, 0..2_000_000, 5..7, 0..2_500_000, 0..1].map(group));
        let weights = Weights::new(&many, &groups);
        assert!(weights.middle(0..many.len()).contains(&1_000_000));
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
