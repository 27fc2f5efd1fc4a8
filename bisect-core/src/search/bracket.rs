//! The inner search: which is the last change of the smallest failing prefix?

use alloc::{sync::Arc, vec::Vec};

use super::{
    order::{Order, simplest_cut},
    selection::Prefix,
    trial::Outcome,
};
use crate::ChangeId;

/// After so many trials that did not settle, cuts halve the space of ranks instead of the known changes, which bounds
/// the search even where a target invents changes at every run.
const PATIENCE: u32 = 64;

/// At most so many unresolved cuts are worked around before the search takes what it has.
const UNRESOLVED_LIMIT: usize = 16;

/// A prefix that does not fail and a longer one that does, both together with the same forced changes.
#[derive(Clone, Debug)]
pub(super) struct Bracket {
    order: Order,
    /// Ranks below this do not suffice.
    low: u64,
    /// Those of this prefix do.
    high: Prefix,
    /// Whether a run has shown that, with the changes forced that now are.
    observed: bool,
    /// The changes that the failing run of a longer prefix reported, forced ones left out, in order: only these can
    /// have mattered.
    failing: Arc<[ChangeId]>,
    /// Cuts between the two that told nothing.
    unresolved: Vec<u64>,
    steps: u32,
}

/// What a bracket knows, or wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Narrowing {
    /// Whether this prefix fails.
    Ask(u64),
    /// This change is needed: the shortest prefix known to fail ends with it.
    Needed(ChangeId),
    /// The failing run reported nothing that a passing one left out.
    Unexplained,
}

impl Bracket {
    /// A run of `high` failed and reported `failing`; with none of them it does not fail.
    pub(super) fn new(order: Order, high: Prefix, mut failing: Vec<ChangeId>) -> Self {
        failing.retain(|&id| high.contains(order.rank(id)));
        failing.sort_by_key(|&id| order.rank(id));
        failing.dedup();
        Self { order, low: 0, high, observed: true, failing: failing.into(), unresolved: Vec::new(), steps: 0 }
    }

    /// The changes that may be the one searched for.
    pub(super) fn candidates(&self) -> &[ChangeId] {
        let first = self.failing.partition_point(|&id| self.order.rank(id) < self.low);
        &self.failing[first..]
    }

    pub(super) fn narrowing(&self) -> Narrowing {
        let candidates = self.candidates();
        let settled = match candidates {
            [] => Narrowing::Unexplained,
            [only] => Narrowing::Needed(*only),
            [.., last] => self.cut(candidates).map_or(Narrowing::Needed(*last), Narrowing::Ask),
        };
        match (settled, self.high) {
            // Every trial passed: has the target changed its mind? Where nothing was asked, the set will be tried alone.
            (Narrowing::Needed(_), Prefix::Below(high)) if !self.observed && self.steps > 0 => Narrowing::Ask(high),
            (settled, _) => settled,
        }
    }

    /// Whether any cut between two candidates is as good a question as any other of its kind.
    pub(super) fn is_open(&self) -> bool {
        self.candidates().len() > 1 && self.unresolved.is_empty() && self.steps < PATIENCE
    }

    /// Whether `cut` separates some candidates from others.
    pub(super) fn is_cut_by(&self, cut: u64) -> bool {
        let candidates = self.candidates();
        (1..candidates.len()).contains(&candidates.partition_point(|&id| self.order.rank(id) < cut))
    }

    /// Whether `cut` is the whole prefix that is believed to fail.
    pub(super) fn is_high(&self, cut: u64) -> bool {
        self.high == Prefix::Below(cut)
    }

    /// Takes the answer to [`Narrowing::Ask`].
    pub(super) fn record(&mut self, cut: u64, outcome: Outcome, reported: &[ChangeId], forced: &[ChangeId]) {
        self.steps += 1;
        match outcome {
            Outcome::Pass => self.low = cut,
            Outcome::Fail => {
                let failing = reported.iter().copied().filter(|id| !forced.contains(id)).collect();
                *self = Self {
                    low: self.low,
                    unresolved: core::mem::take(&mut self.unresolved),
                    steps: self.steps,
                    ..Self::new(self.order, Prefix::Below(cut), failing)
                };
            }
            // It cannot be shown, then.
            Outcome::Unresolved(_) if self.is_high(cut) => self.observed = true,
            Outcome::Unresolved(_) => self.unresolved.push(cut),
        }
    }

    /// What a run of a shorter prefix would report if it were like the one that failed.
    pub(super) fn reported_below(&self, cut: u64) -> impl Iterator<Item = ChangeId> {
        self.failing.iter().copied().take_while(move |&id| self.order.rank(id) < cut)
    }

    /// What is left to search once `needed` is forced: the failing prefix without it.
    pub(super) fn below(&self, needed: ChangeId) -> Self {
        let cut = self.order.rank(needed);
        Self { observed: false, ..Self::new(self.order, Prefix::Below(cut), self.failing.to_vec()) }
    }

    /// The cut between candidates to ask for next; none if all that are left were unresolved.
    fn cut(&self, candidates: &[ChangeId]) -> Option<u64> {
        let rank = |i: usize| self.order.rank(candidates[i]);
        let last = candidates.len() - 1;
        if self.steps >= PATIENCE {
            let (first, last) = (rank(0), rank(last));
            let middle = first + (last - first).div_ceil(2);
            return (!self.unresolved.contains(&middle)).then_some(middle);
        }
        if self.unresolved.is_empty() {
            let middle = candidates.len() / 2;
            return Some(simplest_cut(rank(middle - 1), rank(middle)));
        }
        if self.unresolved.len() >= UNRESOLVED_LIMIT {
            return None;
        }
        // What keeps a trial from resolving is likely to keep its neighbours from it too: go as far away as possible,
        // counted in candidates, from the cuts that told nothing and from both ends.
        let position = |cut: u64| candidates.partition_point(|&id| self.order.rank(id) < cut);
        let mut marks: Vec<usize> = self.unresolved.iter().map(|&cut| position(cut)).collect();
        marks.extend([0, candidates.len()]);
        marks.sort_unstable();
        let widest = marks.windows(2).max_by_key(|gap| gap[1] - gap[0])?;
        let middle = usize::midpoint(widest[0], widest[1]);
        (middle > widest[0]).then(|| simplest_cut(rank(middle - 1), rank(middle)))
    }
}
