//! Selections: which changes a trial switches, as the search thinks of them.

use alloc::vec::Vec;
use core::ops::Range;

use super::{
    order::{Order, suffixes_between},
    ranked,
};
use crate::{ChangeId, Pattern, Suffix};

/// A prefix of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Prefix {
    /// The changes whose rank is less than this.
    Below(u64),
    /// Every change, known or not.
    All,
}

impl Prefix {
    /// No change at all.
    pub const NONE: Self = Self::Below(0);

    /// Whether a rank lies in this prefix.
    #[must_use]
    pub const fn contains(self, rank: u64) -> bool {
        match self {
            Prefix::Below(cut) => rank < cut,
            Prefix::All => true,
        }
    }
}

/// A set of changes: a prefix of the order with gaps, and the forced ones, without the excluded ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Selection {
    /// The order that the prefix is one of.
    pub order: Order,
    /// Where the set ends in that order.
    pub prefix: Prefix,
    /// Intervals of ranks that are left out of the prefix: in order, apart from each other, none of them empty.
    pub gaps: Vec<Range<u64>>,
    /// Changes that belong to the set wherever they rank.
    pub forced: Vec<ChangeId>,
    /// Changes that do not belong to it; they win over `forced`.
    pub excluded: Vec<ChangeId>,
    /// The selected changes are switched off and all others on, not the other way round.
    pub inverted: bool,
}

impl Selection {
    /// Every change, enabled.
    #[must_use]
    pub fn all(order: Order) -> Self {
        Self { order, prefix: Prefix::All, gaps: Vec::new(), forced: Vec::new(), excluded: Vec::new(), inverted: false }
    }

    /// Whether the change is selected, and so may be reported.
    #[must_use]
    pub fn contains(&self, id: ChangeId) -> bool {
        (self.has_rank(self.order.rank(id)) || self.forced.contains(&id)) && !self.excluded.contains(&id)
    }

    /// Whether a rank lies in the prefix and in no gap.
    pub(in crate::search) fn has_rank(&self, rank: u64) -> bool {
        let ended = self.gaps.partition_point(|gap| gap.end <= rank);
        self.prefix.contains(rank) && self.gaps.get(ended).is_none_or(|gap| rank < gap.start)
    }

    /// The intervals that the gaps leave of the prefix: their first ranks, and where they end.
    pub(in crate::search) fn intervals(&self) -> impl Iterator<Item = (u64, u128)> {
        let end = match self.prefix {
            Prefix::Below(cut) => cut.into(),
            Prefix::All => 1 << 64,
        };
        let starts = core::iter::once(0).chain(self.gaps.iter().map(|gap| gap.end));
        let ends = self.gaps.iter().map(|gap| gap.start.into()).chain([end]);
        starts
            .zip(ends)
            .map(move |(start, stop)| (start, end.min(stop)))
            .filter(|&(start, stop)| u128::from(start) < stop)
    }

    /// How many of these changes are selected; they are in order, each once.
    pub(in crate::search) fn count(&self, changes: &[ChangeId]) -> usize {
        let below = |end: u128| u64::try_from(end).map_or(changes.len(), |end| ranked::below(self.order, changes, end));
        let in_prefix: usize = self.intervals().map(|(start, end)| below(end) - below(start.into())).sum();
        // Of those that are named one by one, each says itself on which side it is.
        let mut named = [self.forced.as_slice(), &self.excluded].concat();
        ranked::sort(self.order, &mut named);
        named.retain(|&id| ranked::contains(self.order, changes, id));
        let of_prefix = named.iter().filter(|&&id| self.has_rank(self.order.rank(id))).count();
        in_prefix - of_prefix + named.iter().filter(|&&id| self.contains(id)).count()
    }

    /// The selection as text for the target, for changes that are named by hashes.
    ///
    /// # Panics
    /// If the order is not [`Order::Hash`]: a position is no hash. Or if nothing is selected: no pattern says that.
    #[must_use]
    pub fn pattern(&self) -> Pattern {
        assert_eq!(self.order, Order::Hash, "only hashes are selected by patterns");
        let mut add: Vec<Suffix> = self.intervals().flat_map(|(low, high)| suffixes_between(low, high)).collect();
        // Those that the prefix has already would only lengthen the pattern.
        let beyond = |id: &&ChangeId| !self.has_rank(self.order.rank(**id));
        add.extend(self.forced.iter().filter(beyond).map(|&id| Suffix::exactly(id)));
        assert!(!add.is_empty(), "a trial selects something");
        let within = |id: &&ChangeId| add.iter().any(|suffix| suffix.matches(**id));
        let remove: Vec<_> = self.excluded.iter().filter(within).map(|&id| Suffix::exactly(id)).collect();
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
        let all = Selection::all(Order::Hash);
        assert_eq!(all.pattern().to_string(), "y");
        assert_eq!(Selection { inverted: true, ..all }.pattern().to_string(), "n");
    }

    prop_compose! {
        fn selection()(cut in prop_oneof![Just(None), any::<u64>().prop_map(Some)],
                       forced in vec(any::<u64>().prop_map(ChangeId), 1..4),
                       excluded in vec(any::<u64>().prop_map(ChangeId), 0..4),
                       ends in btree_set(prop_oneof![any::<u64>(), any::<u64>().prop_map(|end| end >> 60 << 60)], 0..9),
                       inverted: bool) -> Selection {
            let prefix = cut.map_or(Prefix::All, Prefix::Below);
            let ends: Vec<_> = ends.into_iter().collect();
            let gaps = ends.chunks_exact(2).map(|ends| ends[0]..ends[1]).collect();
            Selection { order: Order::Hash, prefix, gaps, forced, excluded, inverted }
        }
    }

    proptest! {
        #[test]
        fn changes_are_counted(selection in selection(), ids: Vec<u64>, given: bool) {
            let order = if given { Order::Given } else { Order::Hash };
            let selection = Selection { order, ..selection };
            let named = selection.forced.iter().chain(&selection.excluded).copied().step_by(2);
            let mut changes: Vec<_> = ids.into_iter().map(ChangeId).chain(named).collect();
            ranked::sort(order, &mut changes);
            prop_assert_eq!(selection.count(&changes), changes.iter().filter(|&&id| selection.contains(id)).count());
        }

        #[test]
        fn its_pattern_selects_the_same_changes(selection in selection(), ids: Vec<u64>) {
            // Through the text, as a target reads it.
            let pattern: Pattern = selection.pattern().to_string().parse().unwrap();
            let matcher = Matcher::new(&pattern).unwrap();
            let named = selection.forced.iter().chain(&selection.excluded).copied();
            let ends = selection.gaps.iter().flat_map(|gap| [gap.start, gap.start.wrapping_sub(1), gap.end, gap.end - 1]);
            let near = ends.map(|rank| selection.order.at(rank));
            for id in ids.into_iter().map(ChangeId).chain(named).chain(near) {
                prop_assert_eq!(matcher.should_report(id), selection.contains(id));
                prop_assert_eq!(matcher.should_enable(id), selection.contains(id) != selection.inverted);
            }
        }
    }
}
