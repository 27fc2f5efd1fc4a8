//! The weights of candidates, by their likelihood: cuts halve the weight of the candidates, not their number.

use alloc::{sync::Arc, vec::Vec};
use core::ops::{Range, RangeInclusive};

use crate::before::model::{likely_groups::LikelyGroups, rank::Rank, ranked};
use crate::before::tuning;

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
pub(in crate::before) struct Weights {
    /// For each likely group: the sorted indices of its changes, and the weight of one of them.
    groups: Arc<[(Vec<usize>, u64)]>,
    weight_of_others: u64,
    /// True if cuts halve the weight as exactly as they can; false if a simpler cut nearby is better.
    is_exact: bool,
}

impl Weights {
    /// Returns the weights of changes, by their groups. If no group contains any of them, or one group contains all, all
    /// weigh the same.
    pub(in crate::before) fn new(changes: &[Rank], likely: &LikelyGroups) -> Self {
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
        Self { groups, weight_of_others, is_exact: false }
    }

    /// Returns weights by which the suspects weigh so much more than all others that cuts halve the suspects.
    pub(in crate::before) fn of_suspects(changes: &[Rank], suspects: &LikelyGroups) -> Self {
        let weights = Self::new(changes, suspects);
        let groups =
            weights.groups.iter().cloned().map(|(suspects, weight)| (suspects, weight * tuning::SUSPECTS_WEIGHT));
        Self { groups: groups.collect(), is_exact: true, ..weights }
    }

    /// Finds the groups in a new list. All weights stay: a narrower list does not change the ratio of the
    /// weights of two changes.
    pub(in crate::before) fn find(&mut self, changes: &[Rank], likely: &LikelyGroups) {
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
    pub(in crate::before) fn of(&self, span: Range<usize>) -> u64 {
        self.before(span.end) - self.before(span.start)
    }

    /// Returns the cuts of a span of at least two changes into halves of about the same weight, as the indices at which
    /// the second half may begin.
    pub(in crate::before) fn middle(&self, span: Range<usize>) -> RangeInclusive<usize> {
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
