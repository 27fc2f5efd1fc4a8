//! The order in which changes are searched, and its intervals as patterns.
//!
//! The search asks for the smallest failing *prefix* of an order. For hashes that is the order of the bit-reversed
//! IDs: there a prefix is an interval of hash space, hence a union of few suffixes, and it is well-defined for changes
//! that nobody has seen yet.

use crate::{ChangeId, Suffix};

/// How changes are ordered. Each has a *rank*, and ranks are all that the search compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// By the bit-reversed ID: for hashes.
    Hash,
    /// By the ID itself: for lists, counters, moments and commits, whose IDs are positions.
    Given,
}

impl Order {
    /// The place of a change in this order.
    #[must_use]
    pub const fn rank(self, id: ChangeId) -> u64 {
        match self {
            Order::Hash => id.0.reverse_bits(),
            Order::Given => id.0,
        }
    }

    /// The change at a rank.
    #[must_use]
    pub const fn at(self, rank: u64) -> ChangeId {
        match self {
            Order::Hash => ChangeId(rank.reverse_bits()),
            Order::Given => ChangeId(rank),
        }
    }
}

/// The simplest cut that separates two ranks: the number in `(below, above]` that ends in the most zero bits.
///
/// As a binary fraction of hash space it is the shortest, so its prefix has the fewest suffixes; between neighbouring
/// positions of a list it is `above`.
///
/// # Panics
/// If `below` is not less than `above`.
#[must_use]
pub const fn simplest_cut(below: u64, above: u64) -> u64 {
    assert!(below < above, "a cut needs two different ranks");
    // All bits above the highest one that differs are common; that one is 1 in `above`; clear what follows.
    let shift = (below ^ above).ilog2();
    above >> shift << shift
}

/// The suffixes whose IDs have, bit-reversed, a rank below `cut`: one for each 1 bit of the cut, longest interval first.
pub fn suffixes_below(cut: u64) -> impl Iterator<Item = Suffix> {
    suffixes_between(0, cut.into())
}

/// The suffixes whose IDs have, bit-reversed, a rank from `low` on and below `high`: the fewest, in the order of ranks.
///
/// # Panics
/// If `high` is more than the number of ranks, 2^64.
pub fn suffixes_between(low: u64, high: u128) -> impl Iterator<Item = Suffix> {
    assert!(high <= 1 << 64, "ranks have 64 bits");
    let mut next = u128::from(low);
    core::iter::from_fn(move || {
        let left = high.checked_sub(next)?.checked_ilog2()?;
        // A suffix is an interval that begins at a multiple of its length.
        let bits = left.min(next.trailing_zeros()).min(64);
        let first = u64::try_from(next).expect("it is below the end, which is no more than 2^64");
        next += 1 << bits;
        Some(Suffix::new(first.reverse_bits(), 64 - bits))
    })
}

#[cfg(test)]
mod tests {
    use alloc::{string::ToString, vec::Vec};

    use proptest::prelude::*;

    use super::*;
    use crate::{Matcher, Pattern};

    #[test]
    fn cuts_are_the_shortest_fractions() {
        assert_eq!(simplest_cut(0, u64::MAX), 1 << 63);
        assert_eq!(simplest_cut(0b1000, 0b1011), 0b1010);
        assert_eq!(simplest_cut(0b1010, 0b1011), 0b1011);
        for i in 0..100 {
            assert_eq!(simplest_cut(i, i + 1), i + 1);
        }
    }

    #[test]
    fn a_prefix_is_a_union_of_few_suffixes() {
        let text = |cut| suffixes_below(cut).map(|s| s.to_string()).collect::<Vec<_>>().join("+");
        assert_eq!(text(1 << 63), "0");
        assert_eq!(text(0b11 << 62), "0+01");
        assert_eq!(text(0b1011 << 60), "0+001+x5");
        assert_eq!(text(0), "");
    }

    proptest! {
        #[test]
        fn a_cut_separates_its_ranks_and_no_other_is_simpler(a: u64, b: u64) {
            prop_assume!(a != b);
            let (below, above) = (a.min(b), a.max(b));
            let cut = simplest_cut(below, above);
            prop_assert!(below < cut && cut <= above);
            // The next coarser grid has no point in between.
            let coarser = cut.trailing_zeros() + 1;
            prop_assert!(coarser > 63 || (above >> coarser << coarser) <= below);
        }

        #[test]
        fn suffixes_select_what_ranks_below_the_cut(cut in 1_u64.., near in -3_i64..4, id: u64) {
            let pattern = Pattern::new(suffixes_below(cut), []);
            let matcher = Matcher::new(&pattern).unwrap();
            let neighbour = Order::Hash.at(cut.wrapping_add_signed(near));
            for id in [ChangeId(id), neighbour] {
                prop_assert_eq!(matcher.should_report(id), Order::Hash.rank(id) < cut);
            }
        }

        #[test]
        fn intervals_are_unions_of_few_suffixes(low: u64, length in 1_u64.., shift in 0..64_u32, near in -2_i64..3, id: u64) {
            let high = (u128::from(low) + u128::from(length >> shift)).min(1 << 64);
            let suffixes: Vec<_> = suffixes_between(low, high).collect();
            prop_assert!(suffixes.len() <= 126);
            let within = |rank: u64| low <= rank && u128::from(rank) < high;
            let end = u64::try_from(high).unwrap_or(0);
            for rank in [id, low.wrapping_add_signed(near), end.wrapping_add_signed(near)] {
                let matching = suffixes.iter().filter(|suffix| suffix.matches(Order::Hash.at(rank))).count();
                prop_assert_eq!(matching, usize::from(within(rank)), "each rank once, and no other");
            }
        }

        #[test]
        fn rank_and_at_undo_each_other(id: u64) {
            for order in [Order::Hash, Order::Given] {
                prop_assert_eq!(order.at(order.rank(ChangeId(id))), ChangeId(id));
            }
        }
    }
}
