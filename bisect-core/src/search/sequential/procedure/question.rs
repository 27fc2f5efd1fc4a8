//! The questions of the sequential procedure, and their answers.

use alloc::sync::Arc;

use crate::search::model::{
    rank::Rank,
    selection::Selection,
    trial::{Outcome, Question, TrialId},
};

/// A question, as the procedure asks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::search) struct Asked {
    pub(in crate::search) question: Question,
    pub(in crate::search) selection: Selection,
    /// The stage in which the question is asked: the same question in a later stage is another one.
    pub(super) stage: usize,
}

impl Asked {
    /// Returns a question that no procedure has asked.
    pub(in crate::search) fn by_others(question: Question, selection: Selection) -> Self {
        Self { question, selection, stage: 0 }
    }
}

/// The answer to a question.
#[derive(Clone, Debug)]
pub(in crate::search) struct Answer<'a> {
    pub(in crate::search) trial: TrialId,
    pub(in crate::search) outcome: Outcome,
    /// The reported changes, in order. `None` for a trial that has not been made, which is assumed to report the same
    /// changes as the trials before.
    pub(in crate::search) reported: Option<&'a Arc<[Rank]>>,
}
