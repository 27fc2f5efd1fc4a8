//! Selections: the changes that a trial switches, as ranks.

use alloc::vec::Vec;
use core::ops::Range;

use super::{
    rank::{Rank, suffixes_between},
    ranked,
};
use crate::{Pattern, Suffix};

/// A prefix of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Prefix {
    /// The changes whose rank is less than this.
    Below(Rank),
    /// Every change, known or not.
    All,
}

impl Prefix {
    /// No change at all.
    pub const NONE: Self = Self::Below(Rank::FIRST);

    /// Returns true if a rank is in this prefix.
    #[must_use]
    pub const fn contains(self, rank: Rank) -> bool {
        match self {
            Prefix::Below(cut) => rank.0 < cut.0,
            Prefix::All => true,
        }
    }
}

/// A set of changes: a prefix of the order with gaps, plus the forced ones, minus the excluded ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Selection {
    /// The end of the set in the order of the search.
    pub prefix: Prefix,
    /// Intervals of ranks that the prefix omits: in order, disjoint and not adjacent, none of them empty.
    pub gaps: Vec<Range<Rank>>,
    /// Changes that belong to the set, at any rank.
    pub forced: Vec<Rank>,
    /// Changes that do not belong to the set; they override `forced`.
    pub excluded: Vec<Rank>,
    /// True if the selected changes are switched off and all others on; false for the opposite.
    pub inverted: bool,
}

impl Selection {
    /// Returns the selection of every change, enabled.
    #[must_use]
    pub fn all() -> Self {
        Self { prefix: Prefix::All, gaps: Vec::new(), forced: Vec::new(), excluded: Vec::new(), inverted: false }
    }

    /// Returns true if the change is selected, and so may be reported.
    #[must_use]
    pub fn contains(&self, change: Rank) -> bool {
        (self.has_rank(change) || self.forced.contains(&change)) && !self.excluded.contains(&change)
    }

    /// Returns true if a rank is in the prefix and in no gap.
    pub(in crate::search) fn has_rank(&self, rank: Rank) -> bool {
        let ended = self.gaps.partition_point(|gap| gap.end <= rank);
        self.prefix.contains(rank) && self.gaps.get(ended).is_none_or(|gap| rank < gap.start)
    }

    /// Returns true if a run of this selection tells these suspects apart: some are selected, and others are not.
    pub(in crate::search) fn tells_apart(&self, suspects: &[Rank]) -> bool {
        let first = suspects.first().map(|&change| self.contains(change));
        suspects.iter().any(|&change| Some(self.contains(change)) != first)
    }

    /// Returns the intervals of the prefix between its gaps: their first ranks, and their ends.
    pub(in crate::search) fn intervals(&self) -> impl Iterator<Item = (Rank, u128)> {
        let end = match self.prefix {
            Prefix::Below(cut) => cut.0.into(),
            Prefix::All => 1 << 64,
        };
        let starts = core::iter::once(Rank::FIRST).chain(self.gaps.iter().map(|gap| gap.end));
        let ends = self.gaps.iter().map(|gap| gap.start.0.into()).chain([end]);
        starts
            .zip(ends)
            .map(move |(start, stop)| (start, end.min(stop)))
            .filter(|&(start, stop)| u128::from(start.0) < stop)
    }

    /// Returns the number of selected changes in a sorted list without duplicates.
    pub(in crate::search) fn count(&self, changes: &[Rank]) -> usize {
        let below = |end: u128| u64::try_from(end).map_or(changes.len(), |end| ranked::below(changes, Rank(end)));
        let in_prefix: usize = self.intervals().map(|(start, end)| below(end) - below(start.0.into())).sum();
        let [added, removed] = self.exceptions(changes);
        in_prefix - removed.len() + added.len()
    }

    /// Returns the changes of a sorted list that are selected although their rank is not in the prefix, and those that
    /// are not selected although it is. Both are sorted: hundreds may be forced or excluded.
    fn exceptions(&self, changes: &[Rank]) -> [Vec<Rank>; 2] {
        let sorted = |named: &[Rank]| {
            let mut named = named.to_vec();
            ranked::sort(&mut named);
            named.retain(|&id| ranked::contains(changes, id));
            named
        };
        let (mut added, mut removed) = (sorted(&self.forced), sorted(&self.excluded));
        added.retain(|&id| !self.has_rank(id) && !ranked::contains(&removed, id));
        removed.retain(|&id| self.has_rank(id));
        [added, removed]
    }

    /// Returns the intervals of positions, in a sorted list without duplicates, whose changes a run enables.
    pub(in crate::search) fn enabled_ranges(&self, changes: &[Rank]) -> Vec<Range<usize>> {
        let below = |end: u128| u64::try_from(end).map_or(changes.len(), |end| ranked::below(changes, Rank(end)));
        // The positions at which the changes begin or cease to be enabled. Two at the same position cancel out.
        let mut turns: Vec<usize> =
            self.intervals().flat_map(|(start, end)| [below(start.0.into()), below(end)]).collect();
        let exceptions = self.exceptions(changes).into_iter().flatten();
        let differing = exceptions.filter_map(|id| ranked::find(changes, id));
        turns.extend(differing.flat_map(|index| [index, index + 1]));
        if self.inverted {
            turns.extend([0, changes.len()]);
        }
        turns.sort_unstable();
        let mut kept: Vec<usize> = Vec::new();
        for turn in turns {
            if kept.last() == Some(&turn) {
                kept.pop();
            } else {
                kept.push(turn);
            }
        }
        kept.chunks_exact(2).map(|ends| ends[0]..ends[1]).collect()
    }

    /// Returns true if a run with this selection enables the change.
    #[must_use]
    pub fn enables(&self, change: Rank) -> bool {
        self.contains(change) != self.inverted
    }

    /// Returns the changes that a correct target reports, among the first `count` of a given order.
    pub fn selected(&self, count: usize) -> impl Iterator<Item = Rank> {
        (0..count).map(Rank::at).filter(|&change| self.contains(change))
    }

    /// Returns the indices of the changes to enable, among the first `count` of a given order.
    pub fn enabled(&self, count: usize) -> impl Iterator<Item = usize> {
        (0..count).filter(|&index| self.enables(Rank::at(index)))
    }

    /// Returns *k* if the changes to enable are the first *k* of the `count` of a given order.
    #[must_use]
    pub fn enabled_prefix(&self, count: usize) -> Option<usize> {
        let enabled = self.enabled(count).count();
        (0..enabled).all(|index| self.enables(Rank::at(index))).then_some(enabled)
    }

    /// Returns the number of steps that a counter of `count` steps takes for this selection. The last step of a set
    /// needs all steps before it; a prefix ends at the first step that it omits. If the selection disables changes, the
    /// same holds for the steps that are left out, which are counted from the last one.
    #[must_use]
    pub fn counter_limit(&self, count: usize) -> usize {
        let switched = self.switched_steps(count);
        if self.inverted { count - switched } else { switched }
    }

    /// Returns the number of steps that a counter switches for this selection, in the order of ranks.
    pub(in crate::search) fn switched_steps(&self, count: usize) -> usize {
        if self.prefix == Prefix::NONE {
            return self.selected(count).last().map_or(0, |last| last.index() + 1);
        }
        (0..count).take_while(|&index| self.contains(Rank::at(index))).count()
    }

    /// Returns the same selection among the first `count` of a given order, with the ranks of the reverse order. Ranks
    /// beyond `count` are dropped. See [`Mode::Disable`](super::mode::Mode::Disable).
    #[must_use]
    pub fn mirrored(&self, count: usize) -> Self {
        let count = count as u64;
        let mirror = |end: Rank| Rank(count.saturating_sub(end.0));
        let mirror_all = |ranks: &[Rank]| {
            ranks.iter().filter_map(|rank| Some(Rank(count.checked_sub(rank.0.checked_add(1)?)?))).collect()
        };
        let mut gaps: Vec<_> = self
            .gaps
            .iter()
            .rev()
            .map(|gap| mirror(gap.end)..mirror(gap.start))
            .filter(|gap| !gap.is_empty())
            .collect();
        let prefix = match self.prefix {
            Prefix::NONE => Prefix::NONE,
            Prefix::Below(end) if end.0 < count => {
                let first = mirror(end);
                gaps.retain(|gap| gap.start >= first);
                match gaps.first_mut().filter(|gap| gap.start == first) {
                    Some(gap) => gap.start = Rank::FIRST,
                    None => gaps.insert(0, Rank::FIRST..first),
                }
                Prefix::All
            }
            Prefix::Below(_) | Prefix::All => Prefix::All,
        };
        if prefix == Prefix::NONE {
            gaps.clear();
        }
        let (forced, excluded) = (mirror_all(&self.forced), mirror_all(&self.excluded));
        Self { prefix, gaps, forced, excluded, inverted: self.inverted }
    }

    /// Returns the selection as a pattern over the [IDs](Rank::id) of its ranks.
    ///
    /// # Panics
    /// If nothing is selected, because no pattern expresses that.
    #[must_use]
    pub fn pattern(&self) -> Pattern {
        let mut add: Vec<Suffix> = self.intervals().flat_map(|(low, high)| suffixes_between(low, high)).collect();
        // Suffixes of changes within the prefix would only lengthen the pattern.
        let beyond = |id: &&Rank| !self.has_rank(**id);
        add.extend(self.forced.iter().filter(beyond).map(|&change| Suffix::exactly(change.id())));
        assert!(!add.is_empty(), "a trial selects something");
        let within = |id: &&Rank| add.iter().any(|suffix| suffix.matches(id.id()));
        let remove: Vec<_> = self.excluded.iter().filter(within).map(|&change| Suffix::exactly(change.id())).collect();
        Pattern::new(add, remove).inverted(self.inverted)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use proptest::{
        collection::{btree_set, vec},
        prelude::*,
    };

    use super::*;
    use crate::Matcher;

    #[test]
    fn calibrations_are_y_and_n() {
        let all = Selection::all();
        assert_eq!(all.pattern().to_string(), "y");
        assert_eq!(Selection { inverted: true, ..all }.pattern().to_string(), "n");
    }

    prop_compose! {
        fn selection()(cut in prop_oneof![Just(None), any::<u64>().prop_map(Some)],
                       forced in vec(any::<u64>().prop_map(Rank), 1..4),
                       excluded in vec(any::<u64>().prop_map(Rank), 0..4),
                       ends in btree_set(prop_oneof![any::<u64>(), any::<u64>().prop_map(|end| end >> 60 << 60)], 0..9),
                       inverted: bool) -> Selection {
            let prefix = cut.map_or(Prefix::All, |cut| Prefix::Below(Rank(cut)));
            let ends: Vec<_> = ends.into_iter().collect();
            let gaps = ends.chunks_exact(2).map(|ends| Rank(ends[0])..Rank(ends[1])).collect();
            Selection { prefix, gaps, forced, excluded, inverted }
        }
    }

    proptest! {
        #[test]
        fn changes_are_counted(selection in selection(), ids: Vec<u64>) {
            let named = selection.forced.iter().chain(&selection.excluded).copied().step_by(2);
            let mut changes: Vec<_> = ids.into_iter().map(Rank).chain(named).collect();
            ranked::sort(&mut changes);
            prop_assert_eq!(selection.count(&changes), changes.iter().filter(|&&id| selection.contains(id)).count());
        }

        #[test]
        fn enabled_changes_are_intervals(selection in selection(), ids: Vec<u64>) {
            let named = selection.forced.iter().chain(&selection.excluded).copied().step_by(2);
            let mut changes: Vec<_> = ids.into_iter().map(Rank).chain(named).collect();
            ranked::sort(&mut changes);
            let ranges = selection.enabled_ranges(&changes);
            prop_assert!(ranges.iter().all(|range| range.start < range.end));
            prop_assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start), "neighbours are one interval");
            for (index, &change) in changes.iter().enumerate() {
                prop_assert_eq!(ranges.iter().any(|range| range.contains(&index)), selection.enables(change));
            }
        }

        #[test]
        fn its_pattern_selects_the_same_changes(selection in selection(), ids: Vec<u64>) {
            // The pattern goes through its text form, as a target reads it.
            let pattern: Pattern = selection.pattern().to_string().parse().unwrap();
            let matcher = Matcher::new(&pattern).unwrap();
            let named = selection.forced.iter().chain(&selection.excluded).copied();
            let ends = selection.gaps.iter().flat_map(|gap| [gap.start.0, gap.start.0.wrapping_sub(1), gap.end.0, gap.end.0 - 1]);
            let near = ends.map(Rank);
            for id in ids.into_iter().map(Rank).chain(named).chain(near) {
                prop_assert_eq!(matcher.should_report(id.id()), selection.contains(id));
                prop_assert_eq!(matcher.should_enable(id.id()), selection.enables(id));
            }
        }
    }
}
