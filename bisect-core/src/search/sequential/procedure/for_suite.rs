//! A search that is one of several: it also takes answers to questions that it did not ask.

use alloc::{sync::Arc, vec, vec::Vec};

use super::{Answer, Asked, Procedure, State, unusable};
use crate::{
    search::model::rank::Rank,
    search::{
        model::{
            selection::{Prefix, Selection},
            trial::{Outcome, Question, TrialId},
            verdict::{Culprit, Mode, Unusable, Verdict},
        },
        sequential::bracket::Bracket,
    },
};

impl Asked {
    /// A question that no procedure has asked.
    pub(in crate::search) fn by_others(question: Question, selection: Selection) -> Self {
        Self { question, selection, stage: 0 }
    }
}

impl Procedure {
    /// The search for one test of the target, which was calibrated with all its tests together. It first runs
    /// this test alone at the failing end: the test may fail only together with others, and it may not reach all changes.
    pub(in crate::search) fn for_test(&self) -> Self {
        Self { state: State::FirstSolo, ..self.clone() }
    }

    /// The end that failed: the question of the calibration, and its selection.
    pub(in crate::search) fn failing_end(&self) -> (Question, Selection) {
        let question = match self.mode {
            Mode::Enable => Question::AllOn,
            Mode::Disable => Question::AllOff,
        };
        (question, self.everything())
    }

    /// The end that passed.
    pub(in crate::search) fn passing_end(&self) -> (Question, Selection) {
        let question = match self.mode {
            Mode::Enable => Question::AllOff,
            Mode::Disable => Question::AllOn,
        };
        let everything = self.everything();
        (question, Selection { inverted: !everything.inverted, ..everything })
    }

    /// Whether it is yet to be seen what this test does on its own.
    pub(in crate::search) fn is_first_solo(&self) -> bool {
        matches!(self.state, State::FirstSolo)
    }

    pub(super) fn after_first_solo(&mut self, answer: &Answer<'_>) -> State {
        if let (Outcome::Fail | Outcome::Pass, Some(reported)) = (answer.outcome, answer.reported) {
            self.known = reported.clone();
        }
        match answer.outcome {
            Outcome::Fail if self.known.is_empty() => unusable(Unusable::NoReports),
            Outcome::Fail => self.narrow_all(answer.trial, self.known.clone()),
            Outcome::Pass => State::Done(Verdict::NoDifference(Outcome::Pass)),
            Outcome::Unresolved(reason) => unusable(Unusable::Unresolved(self.failing_end().0, reason)),
        }
    }

    /// What was reported at the ends, in order.
    pub(in crate::search) fn known(&self) -> &[Rank] {
        &self.known
    }

    /// The changes that are likelier than others, in order.
    pub(in crate::search) fn favoured(&self) -> Arc<[Rank]> {
        self.favoured.clone()
    }

    /// The changes of the present set that are known, and where one more is searched for.
    pub(in crate::search) fn narrowing(&self) -> Option<(&[Rank], &Bracket)> {
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
    pub(in crate::search) fn answer_cut(&mut self, cut: Rank, answer: &Answer<'_>) {
        self.had_unresolved |= matches!(answer.outcome, Outcome::Unresolved(_));
        self.state = match core::mem::replace(&mut self.state, State::AllOn) {
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
    pub(in crate::search) fn alone(&self, change: Rank) -> Selection {
        self.select(Prefix::NONE, &[change])
    }

    /// These changes and no others.
    pub(in crate::search) fn exactly(&self, changes: Vec<Rank>) -> Selection {
        Selection { prefix: Prefix::NONE, forced: changes, ..self.everything() }
    }

    /// A change failed alone in that trial: what is being narrowed ends with it.
    pub(in crate::search) fn fails_alone(&mut self, change: Rank, trial: TrialId) {
        self.state = self.confirm(Culprit { changes: vec![change], mode: self.mode, confirmed_by: trial });
    }

    /// What is asked after the present question if it is whether a set fails alone, and it does.
    pub(in crate::search) fn next_if_alone(&self) -> Option<Asked> {
        let State::FoundAlone { .. } = &self.state else { return None };
        // No culprit is looked at before its trial is over, so it does not matter which one it is said to be.
        let answer = Answer { trial: TrialId(usize::MAX), outcome: Outcome::Fail, reported: None };
        self.after(&answer).question().ok()
    }
}
