//! Numbers of changes: IDs, as an axis knows its changes, and ranks, as the search orders them.
//!
//! A search whose disabled changes break the target disables prefixes of its order. Where changes need earlier ones, that
//! must be the reverse order. Only here, IDs and ranks differ: an axis knows one numbering and no direction.

use bisect_core::{
    ChangeId,
    search::{Culprit, Mode, Order, Rank, Selection},
};

use super::spec::Choice;

/// The order of the changes of an axis, and how its IDs become ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbering {
    /// The order.
    pub(crate) order: Order,
    /// The number of changes, if the axis knows them before the first run.
    count: Option<usize>,
    /// True if the order is reversed where changes are disabled. Then their number is known.
    is_reversible: bool,
}

impl Numbering {
    /// Returns the numbering of changes whose number is not known before the first run, or of a counter that is searched
    /// in one direction only.
    pub(crate) const fn of(order: Order) -> Self {
        Self { order, count: None, is_reversible: false }
    }

    /// Returns the numbering of a list of this many changes, which is known before the first run. They need no other ones.
    pub(crate) const fn of_list(count: usize) -> Self {
        Self { order: Order::Given, count: Some(count), is_reversible: false }
    }

    /// Returns the numbering of this many changes, known before the first run. Some need earlier ones.
    pub(crate) const fn reversible(order: Order, count: usize) -> Self {
        Self { order, count: Some(count), is_reversible: true }
    }

    /// Returns the only direction that can be searched; `None`: both can.
    pub(crate) fn only_direction(self) -> Option<Mode> {
        (self.order == Order::Counter && !self.is_reversible).then_some(Mode::Enable)
    }

    /// Returns the rank of a change in a search of this direction.
    pub(crate) fn rank(self, mode: Mode, id: ChangeId) -> Rank {
        match self.reversed(mode, id.0) {
            Some(mirrored) => Rank(mirrored),
            None => self.order.rank(id),
        }
    }

    /// Returns the ID of the change with a rank in a search of this direction.
    pub(crate) fn id(self, mode: Mode, rank: Rank) -> ChangeId {
        match self.reversed(mode, rank.0) {
            Some(mirrored) => ChangeId(mirrored),
            None => self.order.id(rank),
        }
    }

    /// Returns the IDs of a culprit's changes, in its order.
    pub(crate) fn ids(self, culprit: &Culprit) -> impl Iterator<Item = ChangeId> {
        culprit.changes.iter().map(move |&change| self.id(culprit.mode, change))
    }

    /// Returns the choice that applies a selection.
    pub(crate) fn choice(self, selection: &Selection) -> Choice {
        match self.count.filter(|_| self.is_reversible && selection.inverted) {
            Some(count) => Choice::of(self.order, &selection.mirrored(count)),
            None => Choice::of(self.order, selection),
        }
    }

    /// Returns the changes that a run with this choice reports: the selected ones; of a counter, only the steps that it
    /// switches. Empty if the changes are not known before the first run.
    pub(crate) fn reported(self, choice: &Choice) -> impl Iterator<Item = ChangeId> {
        let positions = match (self.count, self.order) {
            (None, _) => 0..0,
            (Some(count), Order::Counter) => choice.switched_steps(count),
            (Some(count), _) => 0..count,
        };
        positions.map(id).filter(|&id| choice.selects(id))
    }

    /// Returns the number at the mirrored position, if the order is reversed in this direction.
    fn reversed(self, mode: Mode, number: u64) -> Option<u64> {
        let count = self.count.filter(|_| self.is_reversible && mode == Mode::Disable)?;
        (count as u64).checked_sub(number.checked_add(1)?)
    }
}

/// Returns the ID of the change at a position of a given order.
pub(crate) fn id(position: usize) -> ChangeId {
    ChangeId(position as u64)
}

/// Returns the position of a change in a given order.
pub(crate) fn position(id: ChangeId) -> Option<usize> {
    usize::try_from(id.0).ok()
}

#[cfg(test)]
mod tests {
    use bisect_core::search::Prefix;

    use super::*;

    #[test]
    fn the_order_is_reversed_where_changes_are_disabled() {
        let below = |end, inverted| Selection { prefix: Prefix::Below(Rank(end)), inverted, ..Selection::all() };
        let counter = Numbering::reversible(Order::Counter, 9);
        for (selection, text, limit) in [
            (below(3, false), "1-3", 3),
            (below(3, true), "!7-", 6),
            (Selection { forced: vec![Rank(2)], ..below(0, true) }, "!7", 6),
            (Selection { excluded: vec![Rank(2)], inverted: true, ..Selection::all() }, "!1- without 7", 7),
            (Selection { inverted: true, ..Selection::all() }, "!1-", 0),
            (Selection::all(), "1-", 9),
        ] {
            let choice = counter.choice(&selection);
            assert_eq!((choice.to_string().as_str(), choice.counter_limit(9)), (text, limit), "{selection:?}");
        }
        for order in [Order::ByHash, Order::Given, Order::Counter] {
            for (numbering, disabled) in [(Numbering::of(order), 2), (Numbering::reversible(order, 9), 6)] {
                for (mode, rank) in [(Mode::Enable, 2), (Mode::Disable, disabled)] {
                    let found = numbering.rank(mode, ChangeId(2));
                    assert_eq!(numbering.id(mode, found), ChangeId(2));
                    assert!(order == Order::ByHash || found == Rank(rank), "{numbering:?} {found:?}");
                }
            }
        }
    }

    #[test]
    fn changes_that_are_known_are_reported_where_they_are_selected() {
        let below = |end, inverted| Selection { prefix: Prefix::Below(Rank(end)), inverted, ..Selection::all() };
        let other = Selection { forced: vec![Rank(4)], excluded: vec![Rank(0)], ..below(2, false) };
        for (numbering, selection, expected) in [
            (Numbering::of_list(5), other.clone(), &[1, 4][..]),
            (Numbering::of_list(5), below(3, true), &[0, 1, 2]),
            (Numbering::reversible(Order::Given, 5), below(3, true), &[2, 3, 4]),
            (Numbering::reversible(Order::Counter, 5), below(3, false), &[0, 1, 2]),
            (Numbering::reversible(Order::Counter, 5), below(3, true), &[2, 3, 4]),
            (Numbering::reversible(Order::Counter, 5), other, &[]),
            (Numbering::of(Order::Given), below(3, false), &[]),
            (Numbering::of(Order::ByHash), below(3, false), &[]),
            (Numbering::of(Order::Counter), below(3, false), &[]),
        ] {
            let reported: Vec<_> = numbering.reported(&numbering.choice(&selection)).collect();
            assert_eq!(reported, expected.iter().copied().map(id).collect::<Vec<_>>(), "{numbering:?} {selection:?}");
        }
    }

    #[test]
    fn changes_that_are_switched_beside_a_prefix_are_known_in_both_directions() {
        let select = |end, forced: &[u64], excluded: &[u64], inverted| {
            let ranks = |ranks: &[u64]| ranks.iter().map(|&rank| Rank(rank)).collect();
            let (forced, excluded) = (ranks(forced), ranks(excluded));
            Selection { prefix: Prefix::Below(Rank(end)), forced, excluded, inverted, ..Selection::all() }
        };
        for (selection, enabled, beyond, without) in [
            (select(3, &[5], &[1], false), &[0, 2, 5][..], &[5][..], &[1][..]),
            (select(3, &[], &[], true), &[0, 1, 2, 3, 4, 5], &[], &[]),
            (select(3, &[5], &[], true), &[0, 1, 2, 4, 5], &[], &[3]),
            (select(3, &[], &[1], true), &[0, 1, 2, 3, 4, 5, 7], &[7], &[]),
            (select(0, &[5, 2], &[], true), &[0, 1, 2, 4, 5, 7, 8], &[], &[3, 6]),
            (select(9, &[], &[0, 8], true), &[0, 8], &[0, 8], &[]),
        ] {
            let choice = Numbering::reversible(Order::Given, 9).choice(&selection);
            let on: Vec<_> = (0..9).filter(|&index| choice.enables(ChangeId(index))).collect();
            let exceptions = choice.exceptions(9).unwrap();
            assert_eq!(
                (on.as_slice(), (&*exceptions.0, &*exceptions.1)),
                (enabled, (beyond, without)),
                "{selection:?}"
            );
        }
    }
}
