//! A search that is told more than it asked: what it needs to be one of several, whose runs answer for all of them.

use alloc::{vec, vec::Vec};

use super::{Answer, Asked, Procedure, State};
use crate::{
    ChangeId,
    search::{
        bracket::Bracket,
        selection::{Prefix, Selection},
        trial::{Outcome, TrialId},
        verdict::Culprit,
    },
};

impl Procedure {
    /// The changes of the present set that are known, and where one more is searched for.
    pub(in crate::search) fn narrowing(&self) -> Option<(&[ChangeId], &Bracket)> {
        match &self.state {
            State::Narrow { forced, bracket } => Some((forced, bracket)),
            _ => None,
        }
    }

    /// Which narrowing that is: its number, and how many changes are known.
    pub(in crate::search) fn narrowing_id(&self) -> Option<(usize, usize)> {
        self.narrowing().map(|(forced, _)| (self.stage(), forced.len()))
    }

    /// Takes the answer to a prefix question like the present one, but with another cut between its candidates.
    ///
    /// # Panics
    /// If nothing is being narrowed.
    pub(in crate::search) fn answer_cut(&mut self, cut: u64, answer: &Answer<'_>) {
        self.doubtful |= matches!(answer.outcome, Outcome::Unresolved(_));
        self.state = match core::mem::replace(&mut self.state, State::All) {
            State::Narrow { forced, bracket } => self.after_prefix(forced, bracket, cut, answer),
            state => unreachable!("no prefix is asked for: {state:?}"),
        };
    }

    /// Every change, switched as prefixes are.
    pub(in crate::search) fn everything(&self) -> Selection {
        Selection { excluded: Vec::new(), ..self.select(Prefix::All, &[]) }
    }

    /// Whether a change that fails alone may be taken for a set before every shorter prefix has passed. What is found
    /// in the end is the same, because no other minimal set has that change; but not what is found first.
    pub(in crate::search) fn may_guess(&self) -> bool {
        self.options.max_sets.is_none() && self.narrowing().is_some_and(|(forced, _)| forced.is_empty())
    }

    /// The question whether a change fails alone, as it would be asked if everything else had been ruled out.
    pub(in crate::search) fn alone(&self, change: ChangeId) -> Selection {
        self.select(Prefix::NONE, &[change])
    }

    /// A change failed alone in that trial: what is being narrowed ends with it.
    pub(in crate::search) fn fails_alone(&mut self, change: ChangeId, trial: TrialId) {
        self.state = self.confirm(Culprit { changes: vec![change], mode: self.mode, confirmed_by: trial });
    }

    /// What is asked after the present question if it is whether a set fails alone, and it does.
    pub(in crate::search) fn next_if_alone(&self) -> Option<Asked> {
        let State::Exactly { .. } = &self.state else { return None };
        // No culprit is looked at before its trial is over, so it does not matter which one it is said to be.
        let answer = Answer { trial: TrialId(usize::MAX), outcome: Outcome::Fail, reported: None };
        self.after(&answer).question().ok()
    }
}
