//! Selections: which changes a trial switches, as the search thinks of them.

use alloc::vec::Vec;

use super::{
    order::{Order, suffixes_below},
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

/// A set of changes: a prefix of the order, and the forced ones, without the excluded ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Selection {
    /// The order that the prefix is one of.
    pub order: Order,
    /// Where the set ends in that order.
    pub prefix: Prefix,
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
        Self { order, prefix: Prefix::All, forced: Vec::new(), excluded: Vec::new(), inverted: false }
    }

    /// Whether the change is selected, and so may be reported.
    #[must_use]
    pub fn contains(&self, id: ChangeId) -> bool {
        (self.prefix.contains(self.order.rank(id)) || self.forced.contains(&id)) && !self.excluded.contains(&id)
    }

    /// How many of these changes are selected; they are in order, each once.
    pub(super) fn count(&self, changes: &[ChangeId]) -> usize {
        let (mut named, mut in_prefix) = (self.forced.clone(), changes.len());
        if let Prefix::Below(cut) = self.prefix {
            in_prefix = ranked::below(self.order, changes, cut);
        }
        // Of those that are named one by one, each says itself on which side it is.
        named.extend(&self.excluded);
        ranked::sort(self.order, &mut named);
        named.retain(|&id| ranked::contains(self.order, changes, id));
        let of_prefix = named.iter().filter(|&&id| self.prefix.contains(self.order.rank(id))).count();
        in_prefix - of_prefix + named.iter().filter(|&&id| self.contains(id)).count()
    }

    /// The selection as text for the target, for changes that are named by hashes.
    ///
    /// # Panics
    /// If the order is not [`Order::Hash`]: a position is no hash. Or if nothing is selected: no pattern says that.
    #[must_use]
    pub fn pattern(&self) -> Pattern {
        assert_eq!(self.order, Order::Hash, "only hashes are selected by patterns");
        let mut add: Vec<Suffix> = match self.prefix {
            Prefix::Below(cut) => suffixes_below(cut).collect(),
            Prefix::All => [Suffix::ALL].into(),
        };
        // Those that the prefix has already would only lengthen the pattern.
        let beyond = |id: &&ChangeId| !self.prefix.contains(self.order.rank(**id));
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

    use proptest::{collection::vec, prelude::*};

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
                       inverted: bool) -> Selection {
            let prefix = cut.map_or(Prefix::All, Prefix::Below);
            Selection { order: Order::Hash, prefix, forced, excluded, inverted }
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
            for id in ids.into_iter().map(ChangeId).chain(named) {
                prop_assert_eq!(matcher.should_report(id), selection.contains(id));
                prop_assert_eq!(matcher.should_enable(id), selection.contains(id) != selection.inverted);
            }
        }
    }
}
