//! The compiled form of a pattern, which a target asks at each change.

use alloc::{boxed::Box, collections::BinaryHeap, vec::Vec};

use crate::{ChangeId, Pattern, Suffix, Term};

/// The answers to the two questions of the protocol. Without a matcher there is no search: every change is at its
/// default and nothing is reported.
///
/// A question takes the same time whatever the number of terms. A matcher does not change, so threads can share it.
///
/// ```
/// use bisect_core::{ChangeId, Matcher, Pattern};
///
/// // Everything is enabled but one change, which is reported.
/// let pattern: Pattern = "!x000000000000003f".parse().unwrap();
/// let matcher = Matcher::new(&pattern).unwrap();
/// let (one, other) = (ChangeId(0x3f), ChangeId(0x40));
/// assert!(!matcher.should_enable(one) && matcher.should_report(one));
/// assert!(matcher.should_enable(other) && !matcher.should_report(other));
///
/// assert!(Matcher::new(&Pattern::default()).is_none());
/// ```
#[derive(Clone, Debug)]
pub struct Matcher {
    verbose: bool,
    inverted: bool,
    // In a pattern all additions come before all removals, and the last term that matches decides.
    added: Intervals,
    removed: Intervals,
}

/// The IDs that end in one of some suffixes, in a form for lookup in constant time.
///
/// With the bits of all IDs reversed, a suffix is a prefix, so its IDs are an interval. IDs are hashes: if they are
/// divided into as many buckets of equal width as there are bounds, few bounds are in each.
#[derive(Clone, Debug)]
struct Intervals {
    /// The beginning of an interval, its end, the beginning of the next one, and so on, in order. The end is exclusive;
    /// that of an interval with the last ID is missing.
    bounds: Box<[u64]>,
    /// For each bucket the number of bounds before it, and the number of all bounds.
    before: Box<[usize]>,
    /// The number of bits of the number of a bucket.
    bucket_bits: u32,
}

impl Intervals {
    /// Takes the suffixes that `suffix` returns. Every program with toggles has this code, so it is small: one function
    /// for both kinds of terms, and a heap instead of `sort_unstable`, whose code is ten times as long.
    fn new(terms: &[Term], suffix: fn(&Term) -> Option<Suffix>) -> Self {
        // Of two suffixes, the IDs of one contain those of the other, or they have none in common.
        let interval = |suffix: Suffix| (suffix.bits().reverse_bits(), suffix.mask().reverse_bits());
        let sorted = terms.iter().filter_map(suffix).map(interval).collect::<BinaryHeap<_>>().into_sorted_vec();
        let mut bounds: Vec<u64> = Vec::new();
        for (begin, mask) in sorted {
            let is_contained = bounds.len() % 2 == 1 || bounds.last().is_some_and(|&end| begin < end);
            if !is_contained {
                bounds.push(begin);
                bounds.extend((begin | !mask).checked_add(1));
            }
        }
        let bucket_bits = bounds.len().checked_ilog2().unwrap_or(0);
        let before = |bucket| bounds.partition_point(|&bound| bucket_of(bound, bucket_bits) < bucket);
        let before = (0..=1 << bucket_bits).map(before).collect();
        Self { bounds: bounds.into(), before, bucket_bits }
    }

    fn contain(&self, id: ChangeId) -> bool {
        let id = id.0.reverse_bits();
        let bucket = bucket_of(id, self.bucket_bits);
        let (start, end) = (self.before[bucket], self.before[bucket + 1]);
        let reached = start + self.bounds[start..end].partition_point(|&bound| bound <= id);
        reached % 2 == 1
    }
}

/// Returns the bucket of a bound or an ID with reversed bits: its highest bits.
#[expect(clippy::cast_possible_truncation, reason = "there are no more buckets than bounds")]
fn bucket_of(reversed: u64, bucket_bits: u32) -> usize {
    reversed.checked_shr(u64::BITS - bucket_bits).unwrap_or(0) as usize
}

impl Matcher {
    /// Returns the matcher of a pattern; `None` for the empty pattern.
    #[must_use]
    pub fn new(pattern: &Pattern) -> Option<Self> {
        if pattern.is_empty() {
            return None;
        }
        Some(Self {
            verbose: pattern.verbose,
            inverted: pattern.inverted,
            added: Intervals::new(pattern.terms(), |term| match *term {
                Term::Add(suffix) => Some(suffix),
                Term::Remove(_) => None,
            }),
            removed: Intervals::new(pattern.terms(), |term| match *term {
                Term::Remove(suffix) => Some(suffix),
                Term::Add(_) => None,
            }),
        })
    }

    /// Returns the changes that the pattern adds one by one, by terms of all 64 bits. The order is that of the IDs with
    /// their bits reversed. If none of them is reached, the pattern is probably of another build.
    ///
    /// ```
    /// use bisect_core::{ChangeId, Matcher, Pattern};
    ///
    /// let pattern: Pattern = "01+x000000000000003f".parse().unwrap();
    /// let matcher = Matcher::new(&pattern).unwrap();
    /// assert_eq!(matcher.single_changes().collect::<Vec<_>>(), [ChangeId(0x3f)]);
    /// ```
    pub fn single_changes(&self) -> impl Iterator<Item = ChangeId> {
        let is_single = |interval: &&[u64]| match **interval {
            [begin, end] => end - begin == 1,
            [begin] => begin == u64::MAX,
            _ => false,
        };
        self.added.bounds.chunks(2).filter(is_single).map(|interval| ChangeId(interval[0].reverse_bits()))
    }

    /// Returns true if reports are for people and carry text besides the marker.
    #[must_use]
    pub fn verbose(&self) -> bool {
        self.verbose
    }

    /// Returns true if the pattern enables the change: if it selects it, or, with an inverted pattern, if it does not.
    #[must_use]
    pub fn should_enable(&self, id: ChangeId) -> bool {
        self.should_report(id) != self.inverted
    }

    /// Returns true if the pattern selects the change, so that the target reports it. Inversion makes no difference.
    #[must_use]
    pub fn should_report(&self, id: ChangeId) -> bool {
        self.added.contain(id) && !self.removed.contain(id)
    }
}
