//! The kind of a conclusion, for the JSON, where the exit status does not show it.

use bisect_core::search::{Inconsistency, Search, Verdict};
use serde::Serialize;

/// A kind of conclusion that has no exit status of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ConclusionKind {
    /// The target is flaky, and no change makes a difference.
    Flaky,
    /// The outcomes follow a rule without the changes of the run: a repeated sequence, or the changes of the run before.
    CarryOver,
}

impl ConclusionKind {
    /// Returns the kind of this verdict, if it has one.
    pub(super) fn of(verdict: &Verdict) -> Option<Self> {
        match verdict {
            Verdict::Inconsistent(Inconsistency::Noise) => Some(Self::Flaky),
            Verdict::Inconsistent(Inconsistency::CarryOver(_)) => Some(Self::CarryOver),
            _ => None,
        }
    }

    /// Returns the kind that all inconsistent tests have in common.
    pub(super) fn common(search: &Search, tests: usize) -> Option<Self> {
        let verdicts = (0..tests).filter_map(|test| search.test(test).verdict());
        let mut kinds = verdicts.filter(|verdict| matches!(verdict, Verdict::Inconsistent(_))).map(Self::of);
        let first = kinds.next()??;
        kinds.all(|kind| kind == Some(first)).then_some(first)
    }
}
