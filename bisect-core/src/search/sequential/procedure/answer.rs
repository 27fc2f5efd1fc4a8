//! The answers to the questions of the sequential procedure.

use alloc::sync::Arc;

use crate::search::model::{
    rank::Rank,
    trial::{Outcome, TrialId},
};

/// The answer to a question.
#[derive(Clone, Debug)]
pub(in crate::search) struct Answer<'a> {
    /// The trial; `None` for an answer that is only assumed.
    pub(in crate::search) trial: Option<TrialId>,
    pub(in crate::search) outcome: Outcome,
    /// The reported changes, in order. `None` for an answer that is only assumed, which reports the same changes as earlier
    /// ones.
    pub(in crate::search) reported: Option<&'a Arc<[Rank]>>,
}

impl Answer<'static> {
    /// Returns an answer that is only assumed.
    pub(in crate::search) fn assumed(outcome: Outcome) -> Self {
        Self { trial: None, outcome, reported: None }
    }
}
