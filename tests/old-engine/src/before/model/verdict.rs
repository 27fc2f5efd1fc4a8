//! The verdict of a search, and its culprits.

use alloc::{collections::BTreeMap, vec::Vec};

use super::{
    mode::Mode,
    rank::{Order, Rank},
    selection::Selection,
    trial::{Outcome, Question, Reason, TrialId},
};
use crate::ChangeId;

/// A minimal set of changes that together make the target fail, confirmed by a run with exactly that set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Culprit {
    /// The changes, in the order in which they were found to be needed.
    pub changes: Vec<Rank>,
    /// The mode in which the changes break the target: by being enabled, or disabled.
    pub mode: Mode,
    /// The trial that failed with exactly this set. In a search over several tests, the trial may also have named
    /// changes that break other tests and that this test does not reach.
    pub confirmed_by: TrialId,
}

impl Culprit {
    /// Returns the IDs of the changes, in that order.
    pub fn ids(&self, order: Order) -> impl Iterator<Item = ChangeId> {
        self.changes.iter().map(move |&change| order.id(change))
    }

    /// Returns the selection of exactly the changes of this culprit, for a run that reproduces it. The trial that
    /// [confirmed](Self::confirmed_by) it may have named other tests' culprits too.
    #[must_use]
    pub fn selection(&self) -> Selection {
        self.mode.exactly(&self.changes)
    }

    /// Returns the selection of all other changes.
    #[must_use]
    pub fn selection_of_others(&self) -> Selection {
        Selection { excluded: self.changes.clone(), ..self.mode.everything() }
    }
}

/// A culprit, and all tests for which it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared<'a> {
    /// The culprit as it was first found.
    pub culprit: &'a Culprit,
    /// The tests that the culprit breaks, in ascending order.
    pub tests: Vec<usize>,
    /// The trial that failed with exactly this set, for the test for which the culprit was first found.
    pub confirmed_by: TrialId,
}

impl<'a> Shared<'a> {
    /// Groups equal culprits of several tests; the order of a set's changes makes no difference.
    pub(in crate::before) fn group(found: impl Iterator<Item = (usize, &'a Culprit)>) -> Vec<Self> {
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

/// The reason why a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every set within the limits was found: without them, the target passes.
    Complete,
    /// The search is over, but there may be more culprits than it found.
    Incomplete(Incomplete),
    /// The outcome is the same with every change and with none: there is nothing to find.
    NoDifference(Outcome),
    /// The target cannot be searched.
    Unusable(Unusable),
    /// The target contradicts itself.
    Inconsistent(Inconsistency),
}

/// The reason why a search may not have found everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomplete {
    /// The requested number of sets was found.
    MaxSets,
    /// A failing set has more changes than allowed; smaller sets that share changes with it were searched for.
    MaxSetSize,
    /// The maximum number of runs was made.
    MaxRuns,
    /// Trials that were needed to separate changes were unresolved.
    Unresolved(Reason),
}

/// The reason why a target cannot be searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// A run with every change, or with none, is unresolved.
    Unresolved(Question, Reason),
    /// The target passes and fails, but reports no change that could make the difference.
    NoReports,
    /// The ends show this direction, and the search was asked for the [other](crate::before::Options::direction) one.
    Reversed(Mode),
    /// The target reported changes that the selection excludes.
    Unasked {
        /// The trial with that report.
        trial: TrialId,
        /// Some of those changes.
        changes: Vec<Rank>,
        /// True if the target reported everything that it ever reported: it probably ignores the pattern.
        ignores_pattern: bool,
    },
}

/// The way in which a target contradicts itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inconsistency {
    /// The target fails at random, and no reported change makes it fail more often, or the difference is too small to
    /// show.
    Noise,
    /// Outcomes follow a rule without the changes of the run, such as the changes of the run before.
    CarryOver(CarryOver),
    /// The runs of one trial ended differently.
    Runs(TrialId),
    /// A trial failed, but the changes that it reported do not explain that: none of them can have made the difference,
    /// or it reported only some of those that were switched.
    Unexplained(TrialId),
    /// The search named these changes, but this trial, with exactly these changes, did not fail.
    NotConfirmed(TrialId, Vec<Rank>),
    /// These changes fail alone, but this later trial, at the end that passed at first, did not pass.
    BaseFails(TrialId, Vec<Rank>),
    /// The target keeps reporting changes that it never reported with everything enabled, and keeps failing with them.
    Endless,
}

/// The cause of outcomes that do not follow the changes of the run itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CarryOver {
    /// The outcomes repeat, whatever is enabled. For each run of one cycle: true if it failed.
    Cycle(Vec<bool>),
    /// The outcome depends on this change in the run before; the effect is that of enabling it.
    Change(Rank, Effect),
    /// The outcome depends on the number of changes enabled in the run before; the effect is that of enabling many.
    Many(Effect),
}

/// The effect of a run on the next run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The next run fails.
    Fails,
    /// The next run passes.
    Passes,
}
