//! The questions of the sequential procedure, and their answers.

use alloc::sync::Arc;

use crate::before::model::{
    rank::Rank,
    selection::Selection,
    trial::{Outcome, Question, TrialId},
};

/// A question, as the procedure asks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::before) struct Asked {
    pub(in crate::before) question: Question,
    pub(in crate::before) selection: Selection,
    /// The stage in which the question is asked: the same question in a later stage is another one.
    pub(super) stage: usize,
}

impl Asked {
    /// Returns a question that no procedure has asked.
    pub(in crate::before) fn by_others(question: Question, selection: Selection) -> Self {
        Self { question, selection, stage: 0 }
    }
}

/// The answer to a question.
#[derive(Clone, Debug)]
pub(in crate::before) struct Answer<'a> {
    pub(in crate::before) trial: TrialId,
    pub(in crate::before) outcome: Outcome,
    /// The reported changes, in order. `None` for a trial that has not been made, which is assumed to report the same
    /// changes as the trials before.
    pub(in crate::before) reported: Option<&'a Arc<[Rank]>>,
}
