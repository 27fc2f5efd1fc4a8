//! How a search ends.

use alloc::{collections::BTreeMap, vec::Vec};

use super::{
    rank::{Order, Rank},
    trial::{Outcome, Question, Reason, TrialId},
};
use crate::ChangeId;

/// A minimal set of changes that together make the target fail, confirmed by a run with exactly that set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Culprit {
    /// The changes, in the order in which they were found to be needed.
    pub changes: Vec<Rank>,
    /// Whether enabling or disabling them breaks the target.
    pub mode: Mode,
    /// The trial that failed with exactly this set. One of several tests may have named changes that break others, and
    /// that this test does not reach.
    pub confirmed_by: TrialId,
}

impl Culprit {
    /// Returns the IDs of its changes, in that order.
    pub fn ids(&self, order: Order) -> impl Iterator<Item = ChangeId> {
        self.changes.iter().map(move |&change| order.id(change))
    }
}

/// A culprit, and all tests that it was found for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared<'a> {
    /// The culprit as it was first found.
    pub culprit: &'a Culprit,
    /// The tests that it breaks, in ascending order.
    pub tests: Vec<usize>,
    /// The trial that failed with exactly this set, for the test that it was first found for.
    pub confirmed_by: TrialId,
}

impl<'a> Shared<'a> {
    /// Groups what was found for each test; the order of a set's changes makes no difference.
    pub(in crate::search) fn group(found: impl Iterator<Item = (usize, &'a Culprit)>) -> Vec<Self> {
        let mut groups: BTreeMap<(Vec<Rank>, bool), usize> = BTreeMap::new();
        let mut shared: Vec<Self> = Vec::new();
        for (test, culprit) in found {
            let mut changes = culprit.changes.clone();
            changes.sort_unstable();
            let group = *groups.entry((changes, culprit.mode == Mode::Enable)).or_insert_with(|| {
                shared.push(Self { culprit, tests: Vec::new(), confirmed_by: culprit.confirmed_by });
                shared.len() - 1
            });
            let tests = &mut shared[group].tests;
            if let Err(at) = tests.binary_search(&test) {
                tests.insert(at, test);
            }
        }
        shared
    }
}

/// What breaks the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// It passes with no change and fails when the culprits are enabled.
    Enable,
    /// It passes with every change and fails when the culprits are disabled.
    Disable,
}

/// Why a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every set within the limits was found: with those left out, the target passes.
    Complete,
    /// The search is over, but there may be more than was found.
    Incomplete(Incomplete),
    /// With every change and with none, the outcome is this one: there is nothing to find.
    NoDifference(Outcome),
    /// The target cannot be searched.
    Unusable(Unusable),
    /// The target contradicts itself.
    Inconsistent(Inconsistency),
}

/// What kept a search from finding everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomplete {
    /// As many sets were found as were asked for.
    MaxSets,
    /// A failing set has more changes than are allowed; smaller ones that share changes with it were looked for.
    MaxSetSize,
    /// As many runs were made as are allowed.
    MaxRuns,
    /// Trials that were needed to tell more changes apart were unresolved.
    Unresolved(Reason),
}

/// Why a target cannot be searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// With every change, or with none, a run does not tell pass from fail.
    Unresolved(Question, Reason),
    /// It passes and fails, but reports no change that could make the difference.
    NoReports,
    /// It reported changes that the selection left out.
    Unasked {
        /// The trial in which it did.
        trial: TrialId,
        /// Some of those changes.
        changes: Vec<Rank>,
        /// It reported everything it ever reported: it seems not to look at the pattern at all.
        ignores_pattern: bool,
    },
}

/// How a target contradicts itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inconsistency {
    /// It fails now and then, and no change that it reports makes it fail more often, or not by so much that it shows.
    Noise,
    /// Outcomes follow the run before, not the changes: one run leaves something behind for the next.
    CarryOver(CarryOver),
    /// The runs of one trial ended differently.
    Runs(TrialId),
    /// A trial failed, but none of the changes that it reported can be what made the difference.
    Unexplained(TrialId),
    /// These changes were named by the search, but this trial, with exactly them, did not fail.
    NotConfirmed(TrialId, Vec<Rank>),
    /// These changes fail alone, but by then this trial, in the state that passed at first, did not pass.
    BaseFails(TrialId, Vec<Rank>),
    /// It goes on to report changes that it never reported with everything enabled, and to fail with them.
    Endless,
}

/// What outcomes depend on, if not on the changes of the run itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CarryOver {
    /// The outcomes repeat, whatever is enabled. Whether each run of one cycle failed.
    Cycle(Vec<bool>),
    /// The outcome depends on whether this change was enabled in the run before; the effect is that of enabling it.
    Change(Rank, Effect),
    /// The outcome depends on whether many changes were enabled in the run before; the effect is that of enabling them.
    Many(Effect),
}

/// What the run before does to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It makes the run fail.
    Fails,
    /// It makes the run pass.
    Passes,
}
