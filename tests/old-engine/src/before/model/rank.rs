//! Ranks: the positions of changes in the order of a search, and intervals of ranks as patterns.
//!
//! The search asks for the smallest failing *prefix* of an order. It compares only ranks: numbers from 0 to 2^64 - 1.
//! Changes become ranks once, where they enter a search. Ranks become patterns or items again where a run is made and
//! where a culprit is shown.

use core::fmt;

use crate::{ChangeId, Suffix};

/// The position of a change in the order of a search.
///
/// - *Hashes*: the rank of a change is its bit-reversed ID ([`Rank::of`] and [`Rank::id`]). A prefix is then an
///   interval of hash space, hence a union of few suffixes. It is well-defined even for changes that no run has
///   reported yet.
/// - *A given order*, for instance items of a list, steps of a counter, or commits: the rank of a change is its index
///   ([`Rank::at`] and [`Rank::index`]). The change has no hash.
///
/// # A new axis with a given order
/// 1. Set [`Options::order`](crate::before::Options::order) to [`Order::Given`], or to [`Order::Counter`].
/// 2. For each [trial](crate::before::Trial), switch on the changes of [`Selection::enabled`], for a list, or the first
///    steps up to [`Selection::counter_limit`], for a counter that cannot leave out a step.
///    [`Selection::enabled_prefix`] returns *k* if the changes are the first *k* of the list, as commits need it.
/// 3. Record the changes of [`Selection::selected`] as reported: a correct target reports each selected change.
/// 4. Show [`Culprit::changes`](crate::before::Culprit::changes) by [`Rank::index`].
///
/// Code for both kinds names changes by IDs, and converts them by [`Order::rank`] and [`Order::id`].
///
/// [`Selection::enabled`]: crate::before::Selection::enabled
/// [`Selection::enabled_prefix`]: crate::before::Selection::enabled_prefix
/// [`Selection::counter_limit`]: crate::before::Selection::counter_limit
/// [`Selection::selected`]: crate::before::Selection::selected
///
/// Where a change without a hash must pass through a pattern, its name there is [`Rank::id`], as for any other change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(pub u64);

impl Rank {
    /// The lowest rank: no rank is below it.
    pub const FIRST: Self = Self(0);

    /// Returns the rank of the change at an index of a given order.
    #[must_use]
    pub const fn at(index: usize) -> Self {
        Self(index as u64)
    }

    /// Returns the index of a change of a given order.
    ///
    /// # Panics
    /// If the rank does not fit into a `usize`, as that of a hash may not.
    #[must_use]
    pub fn index(self) -> usize {
        usize::try_from(self.0).expect("the rank is an index of a given order")
    }

    /// Returns the ID of the change in patterns.
    #[must_use]
    pub const fn id(self) -> ChangeId {
        ChangeId(self.0.reverse_bits())
    }

    /// Returns the rank of a change that is named by a hash.
    #[must_use]
    pub const fn of(id: ChangeId) -> Self {
        Self(id.0.reverse_bits())
    }
}

impl fmt::Debug for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rank({})", self.0)
    }
}

/// The order to which the ranks of a search belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Bit-reversed hashes, which are spread evenly: the first cuts are known before any change is.
    ByHash,
    /// Indices of a list, or of commits.
    Given,
    /// Steps of a counter, none of which can be left out: whatever takes a step takes all steps before it.
    Counter,
}

impl Order {
    /// Returns the rank of a change by its ID, which is a hash, or its index in a given order.
    #[must_use]
    pub const fn rank(self, id: ChangeId) -> Rank {
        match self {
            Self::ByHash => Rank::of(id),
            Self::Given | Self::Counter => Rank(id.0),
        }
    }

    /// Returns the ID of the change with a rank: a hash, or the index in a given order.
    #[must_use]
    pub const fn id(self, rank: Rank) -> ChangeId {
        match self {
            Self::ByHash => rank.id(),
            Self::Given | Self::Counter => ChangeId(rank.0),
        }
    }
}

/// Returns the simplest cut that separates two ranks: the number in `(below, above]` that ends in the most zero bits.
///
/// As a binary fraction of hash space it is the shortest, so its prefix has the fewest suffixes; between neighbouring
/// items of a list it is `above`.
///
/// # Panics
/// If `below` is not less than `above`.
#[must_use]
pub const fn simplest_cut(below: Rank, above: Rank) -> Rank {
    assert!(below.0 < above.0, "a cut needs two different ranks");
    // The bits above the highest different bit are equal. That bit is 1 in `above`. All bits after it become 0.
    let shift = (below.0 ^ above.0).ilog2();
    Rank(above.0 >> shift << shift)
}

/// Returns the suffixes of the IDs whose ranks are below `cut`: one for each 1 bit of the cut, longest interval first.
pub fn suffixes_below(cut: Rank) -> impl Iterator<Item = Suffix> {
    suffixes_between(Rank::FIRST, cut.0.into())
}

/// Returns the suffixes of the IDs whose ranks are at least `low` and below `high`: the fewest, in the order of ranks.
///
/// # Panics
/// If `high` is more than the number of ranks, 2^64.
pub fn suffixes_between(low: Rank, high: u128) -> impl Iterator<Item = Suffix> {
    assert!(high <= 1 << 64, "ranks have 64 bits");
    let mut next = u128::from(low.0);
    core::iter::from_fn(move || {
        let left = high.checked_sub(next)?.checked_ilog2()?;
        // A suffix is an interval that begins at a multiple of its length.
        let bits = left.min(next.trailing_zeros()).min(64);
        let first = u64::try_from(next).expect("it is below the end, which is no more than 2^64");
        next += 1 << bits;
        Some(Suffix::new(first.reverse_bits(), 64 - bits))
    })
}
