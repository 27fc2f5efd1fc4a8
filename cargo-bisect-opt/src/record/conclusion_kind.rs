//! The kind of a conclusion, for the JSON, where the exit status does not show it.

use bisect_core::search::{Inconsistency, Search, Shared, Verdict};
use serde::{Deserialize, Serialize};

/// A kind of conclusion that has no exit status of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ConclusionKind {
    /// The target is flaky, and no change makes a difference.
    Flaky,
    /// The outcomes follow a rule without the changes of the run: a repeated sequence, or the changes of the run before.
    CarryOver,
    /// The machine keeps runs from being made: the target is not to blame.
    Machine,
}

impl ConclusionKind {
    /// Returns the kind of this verdict, if it has one.
    pub(crate) fn of(verdict: &Verdict) -> Option<Self> {
        match verdict {
            Verdict::Inconsistent(Inconsistency::Noise) => Some(Self::Flaky),
            Verdict::Inconsistent(Inconsistency::CarryOver(_)) => Some(Self::CarryOver),
            _ => None,
        }
    }

    /// Returns the culprits of a search that no verdict withdraws. A verdict of a kind says that the outcomes do not follow
    /// from the changes, so it takes back what was named before.
    pub(crate) fn culprits_left(search: &Search) -> Vec<Shared<'_>> {
        let is_left = |&test: &usize| search.test(test).verdict().and_then(Self::of).is_none();
        let mut culprits = search.culprits();
        for shared in &mut culprits {
            shared.tests.retain(is_left);
        }
        culprits.retain(|shared| !shared.tests.is_empty());
        culprits
    }

    /// Returns the kind that all inconsistent tests have in common.
    pub(crate) fn common(search: &Search, tests: usize) -> Option<Self> {
        let verdicts = (0..tests).filter_map(|test| search.test(test).verdict());
        let mut kinds = verdicts.filter(|verdict| matches!(verdict, Verdict::Inconsistent(_))).map(Self::of);
        let first = kinds.next()??;
        kinds.all(|kind| kind == Some(first)).then_some(first)
    }
}
