//! The answers to the questions of the sequential procedure.

use alloc::sync::Arc;

use crate::search::model::{
    rank::Rank,
    trial::{Outcome, TrialId},
};

/// The trial of an answer that is only assumed. No culprit is used before its trial is over, so any number will do.
const ASSUMED: TrialId = TrialId(usize::MAX);

/// The answer to a question.
#[derive(Clone, Debug)]
pub(in crate::search) struct Answer<'a> {
    pub(in crate::search) trial: TrialId,
    pub(in crate::search) outcome: Outcome,
    /// The reported changes, in order. `None` for a trial that has not been made, which is assumed to report the same
    /// changes as the trials before.
    pub(in crate::search) reported: Option<&'a Arc<[Rank]>>,
}

impl Answer<'static> {
    /// Returns the answer of a trial that has not been made.
    pub(in crate::search) fn assumed(outcome: Outcome) -> Self {
        Self { trial: ASSUMED, outcome, reported: None }
    }
}
