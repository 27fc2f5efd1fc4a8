//! The suspects: single changes, or pairs of changes, that explain all runs so far.
//!
//! They determine the groups that are tested, and the cuts that the procedure asks for next. They prove nothing.

use alloc::vec::Vec;

use super::{group_tests, pairs::Pairs};
use crate::search::{
    ledger::Asked,
    model::{rank::Rank, selection::Selection, trial::Outcome},
    sequential::{Procedure, lookahead},
    tuning,
};

/// The changes that explain all runs.
#[derive(Clone, Debug)]
pub(super) enum Suspects {
    /// Single changes, in order, never empty. Each one explains all runs, together with the forced changes.
    Singles(Vec<Rank>),
    /// Pairs of changes, never empty. No single change explains all runs.
    Pairs(Pairs),
}

impl Suspects {
    /// Returns the suspects at the present cut of a procedure; `None` if neither a single change nor a pair explains all
    /// runs, or if groups are not worth their time.
    pub(super) fn of(procedure: &Procedure, runs: &[(&Selection, Outcome)]) -> Option<Self> {
        let (forced, bracket) = procedure.narrowing()?;
        if !bracket.may_steer() || bracket.candidates().len() > tuning::MAX_CANDIDATES_FOR_GROUPS {
            return None;
        }
        let singles = group_tests::suspects(procedure, runs.iter().copied());
        if !singles.is_empty() {
            return Some(Self::Singles(singles));
        }
        if !forced.is_empty() {
            return None;
        }
        let pairs = Pairs::that_explain(procedure, runs);
        (!pairs.is_empty()).then_some(Self::Pairs(pairs))
    }

    /// Returns the pairs; none if single changes explain all runs.
    pub(super) fn pairs(&self) -> Pairs {
        match self {
            Self::Singles(_) => Pairs::default(),
            Self::Pairs(pairs) => pairs.clone(),
        }
    }

    /// Returns the only suspect, if it is a single change.
    pub(super) fn sole(&self) -> Option<Rank> {
        match self {
            Self::Singles(singles) if singles.len() == 1 => singles.first().copied(),
            Self::Singles(_) | Self::Pairs(_) => None,
        }
    }

    /// Returns true if the outcome of a run of this selection is open.
    pub(super) fn are_separated_by(&self, procedure: &Procedure, selection: &Selection) -> bool {
        match self {
            Self::Singles(singles) => selection.tells_apart(singles),
            Self::Pairs(pairs) => pairs.are_separated_by(procedure.mode(), selection),
        }
    }

    /// Returns the questions of up to `count` groups. `asked` are the selections of runs that are in flight or about to
    /// start.
    pub(super) fn groups<'a>(
        &self,
        procedure: &Procedure,
        asked: impl Iterator<Item = &'a Selection>,
        count: usize,
    ) -> Vec<Asked> {
        match self {
            Self::Singles(singles) => group_tests::groups(procedure, singles, asked, count),
            Self::Pairs(pairs) => pairs.groups(procedure, asked, count),
        }
    }

    /// Lets the cuts of the present bracket halve the changes of which one is needed next.
    pub(super) fn steer(self, procedure: &mut Procedure) {
        match self {
            Self::Singles(singles) => lookahead::suspect(procedure, singles),
            Self::Pairs(pairs) => pairs.steer(procedure),
        }
    }
}
