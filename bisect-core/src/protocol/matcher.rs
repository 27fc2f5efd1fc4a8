//! The compiled form of a pattern, which a target asks at each change.

use alloc::{boxed::Box, collections::BinaryHeap, vec::Vec};
use core::ops::Range;

use crate::{ChangeId, Pattern, Suffix, Term};

/// The answers to the two questions of the protocol. Without a matcher there is no search: every change is at its
/// default and nothing is reported.
#[derive(Clone, Debug)]
pub struct Matcher {
    verbose: bool,
    inverted: bool,
    // In a pattern all additions come before all removals, and the last term that matches decides.
    added: Suffixes,
    removed: Suffixes,
}

/// Suffixes in a form for fast lookup: sorted by length, and within one length by their bits.
#[derive(Clone, Debug)]
struct Suffixes {
    lengths: Box<[Length]>,
    bits: Box<[u64]>,
}

/// The suffixes of one length.
#[derive(Clone, Debug)]
struct Length {
    mask: u64,
    /// The indices of their bits.
    range: Range<usize>,
}

impl Suffixes {
    /// Takes the suffixes of the terms for which `suffix` returns one. Every program with toggles has this code, so both
    /// kinds of terms share one copy, and a heap sorts them: the code of `sort_unstable` is ten times as long.
    fn new(terms: &[Term], suffix: fn(&Term) -> Option<Suffix>) -> Self {
        let suffixes = terms.iter().filter_map(suffix).map(|suffix| (suffix.mask(), suffix.bits()));
        let mut suffixes = suffixes.collect::<BinaryHeap<_>>().into_sorted_vec();
        suffixes.dedup();
        let mut lengths: Vec<Length> = Vec::new();
        for (at, &(mask, _)) in suffixes.iter().enumerate() {
            match lengths.last_mut() {
                Some(last) if last.mask == mask => last.range.end = at + 1,
                _ => lengths.push(Length { mask, range: at..at + 1 }),
            }
        }
        Self { lengths: lengths.into(), bits: suffixes.into_iter().map(|(_, bits)| bits).collect() }
    }

    fn contain(&self, id: ChangeId) -> bool {
        let contains = |length: &Length| self.bits[length.range.clone()].binary_search(&(id.0 & length.mask)).is_ok();
        self.lengths.iter().any(contains)
    }
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
            added: Suffixes::new(pattern.terms(), |term| match *term {
                Term::Add(suffix) => Some(suffix),
                Term::Remove(_) => None,
            }),
            removed: Suffixes::new(pattern.terms(), |term| match *term {
                Term::Remove(suffix) => Some(suffix),
                Term::Add(_) => None,
            }),
        })
    }

    /// Returns the changes that the pattern selects one by one, sorted.
    #[must_use]
    pub fn single_changes(&self) -> &[u64] {
        // The longest suffixes come last.
        let single = self.added.lengths.last().filter(|length| length.mask == u64::MAX);
        single.map_or(&[], |length| &self.added.bits[length.range.clone()])
    }

    /// Returns true if reports are for people and carry text besides the marker.
    #[must_use]
    pub fn verbose(&self) -> bool {
        self.verbose
    }

    /// Returns true if the pattern enables the change.
    #[must_use]
    pub fn should_enable(&self, id: ChangeId) -> bool {
        self.should_report(id) != self.inverted
    }

    /// Returns true if the pattern selects the change, so that the target reports it.
    #[must_use]
    pub fn should_report(&self, id: ChangeId) -> bool {
        self.added.contain(id) && !self.removed.contain(id)
    }
}
