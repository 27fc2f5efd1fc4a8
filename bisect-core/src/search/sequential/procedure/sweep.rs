//! The sweep: where many single changes fail, the rest of the changes are run alone, in small groups.
//!
//! A prefix that fails says little where every other change fails. So the sweep takes the changes that are left in their
//! order, and runs the next few of them alone. Those of a group that passes are no culprits of one change. A group that
//! fails is divided until one change has failed alone, which proves that it is a culprit (Hwang, "A method for detecting
//! all defective members in a population by group testing", 1972). A sweep says nothing about culprits of several
//! changes in different groups: after it, all that is left is run together.

use alloc::{sync::Arc, vec::Vec};
use core::ops::Range;

use crate::search::{
    model::{
        mode::Mode,
        rank::{Rank, simplest_cut},
        selection::{Prefix, Selection},
        trial::{Outcome, TrialId},
    },
    sequential::density::Density,
};

/// The changes that are left, and the group that is run next.
#[derive(Clone, Debug)]
pub(super) struct Sweep {
    /// The changes that the failing run of all that was left reported, in order.
    reported: Arc<[Rank]>,
    /// That run.
    pub(super) failed: TrialId,
    /// The stage of all questions of the sweep.
    pub(super) stage: usize,
    /// The index of the next change.
    next: usize,
    /// Number of next changes of which at least one is known to fail, alone or with others; 0 if that is not known.
    failing: usize,
    /// The culprits before the sweep, which all runs leave out.
    excluded: Vec<Rank>,
    /// Number of culprits that the sweep has found.
    found: usize,
    /// Number of groups that have passed since the last culprit.
    empty_groups: usize,
}

impl Sweep {
    /// Returns the sweep over the reported changes from an index on, if it is likely that many of them are culprits. The
    /// culprits so far are single changes.
    pub(super) fn new(
        reported: &Arc<[Rank]>,
        next: usize,
        culprits: Vec<Rank>,
        failed: TrialId,
        stage: usize,
    ) -> Option<Self> {
        let sweep = Self {
            reported: reported.clone(),
            failed,
            stage,
            next,
            failing: 0,
            excluded: culprits,
            found: 0,
            empty_groups: 0,
        };
        sweep.density().is_high().then_some(sweep)
    }

    /// Returns the density of culprits. Those before the sweep are not among the reported changes.
    fn density(&self) -> Density {
        let (before, left) = (self.excluded.len(), self.reported.len() - self.next);
        let (needed, examined) = (before + self.found, before + self.next);
        // A sweep does not look for clusters.
        Density { needed, adjacent: 0, examined, since: 0, left }
    }

    /// Returns true if nothing is left, or few culprits are.
    pub(super) fn is_over(&self) -> bool {
        self.next == self.reported.len() || (self.failing == 0 && self.density().is_low(self.empty_groups))
    }

    /// Returns the number of culprits that the sweep has found.
    pub(super) fn found(&self) -> usize {
        self.found
    }

    /// Returns the changes that the failing run of all that was left reported.
    pub(super) fn reported(&self) -> &Arc<[Rank]> {
        &self.reported
    }

    /// Returns the indices of the changes that are run next.
    fn group(&self) -> Range<usize> {
        let left = self.reported.len() - self.next;
        let size = match self.failing {
            0 => self.density().group(true).size,
            failing => failing.div_ceil(2),
        };
        self.next..self.next + size.min(left)
    }

    /// Returns the change that is run next, if it is run alone.
    pub(super) fn single(&self) -> Option<Rank> {
        let group = self.group();
        (group.len() == 1).then(|| self.reported[group.start])
    }

    /// Returns the selection of the changes that are run next.
    pub(super) fn selection(&self, mode: Mode) -> Selection {
        let group = self.group();
        // Ranks between known changes may be those of unknown ones. They go with the known change after them.
        let cut = |index: usize| match index.checked_sub(1) {
            Some(before) => simplest_cut(self.reported[before], self.reported[index]),
            None => Rank::FIRST,
        };
        let start = cut(group.start);
        let gaps = if start == Rank::FIRST { Vec::new() } else { [Rank::FIRST..start].into() };
        let prefix = if group.end == self.reported.len() { Prefix::All } else { Prefix::Below(cut(group.end)) };
        Selection { prefix, gaps, forced: Vec::new(), excluded: self.excluded.clone(), inverted: mode == Mode::Disable }
    }

    /// Takes the outcome of the group. Returns true if it is a single change that fails alone.
    pub(super) fn record(&mut self, outcome: Outcome) -> bool {
        let size = self.group().len();
        match outcome {
            Outcome::Fail if size == 1 => {
                self.next += 1;
                (self.failing, self.empty_groups) = (0, 0);
                self.found += 1;
                return true;
            }
            Outcome::Fail => self.failing = size,
            Outcome::Unresolved(_) if size > 1 => self.failing = size,
            // One that is unresolved alone is left to the search of the rest.
            Outcome::Pass | Outcome::Unresolved(_) => {
                self.next += size;
                self.empty_groups += usize::from(self.failing == 0);
                self.failing = self.failing.saturating_sub(size);
            }
        }
        false
    }
}
