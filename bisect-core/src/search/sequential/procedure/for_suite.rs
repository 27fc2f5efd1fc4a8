//! A procedure as one of several: it also takes answers to questions that it did not ask.

use alloc::vec;

use super::{Answer, Procedure, State};
use crate::{
    search::model::likely_groups::LikelyGroups,
    search::model::rank::{Order, Rank},
    search::{
        ledger::Asked,
        model::{
            selection::{Prefix, Selection},
            trial::Outcome,
            verdict::Culprit,
        },
        sequential::bracket::Bracket,
    },
};

impl Procedure {
    /// Returns the procedure for one test of the target, which was calibrated with all its tests together. It first
    /// runs this test alone at the failing end: the test may fail only together with others, and it may not reach all
    /// changes.
    pub(in crate::search) fn for_test(&self) -> Self {
        Self { state: State::FirstSolo, ..self.clone() }
    }

    /// Returns true if this test was not run on its own yet.
    pub(in crate::search) fn is_first_solo(&self) -> bool {
        matches!(self.state, State::FirstSolo)
    }

    /// Returns the changes that were reported at the ends or, for one of several tests, in its first run alone; in
    /// order.
    pub(in crate::search) fn known(&self) -> &[Rank] {
        &self.known
    }

    /// Returns true if the changes are steps of a counter.
    pub(in crate::search) fn is_of_counter(&self) -> bool {
        self.options.order == Order::Counter
    }

    /// Returns the groups of changes that are likelier than others.
    pub(in crate::search) fn likely_groups(&self) -> LikelyGroups {
        self.likely_groups.clone()
    }

    /// Returns the forced changes of the present set, and the bracket of the next change.
    pub(in crate::search) fn narrowing(&self) -> Option<(&[Rank], &Bracket)> {
        match &self.state {
            State::Narrow { forced, bracket } => Some((forced, bracket)),
            _ => None,
        }
    }

    /// Identifies the present narrowing by the stage and the number of forced changes.
    pub(in crate::search) fn narrowing_id(&self) -> Option<(usize, usize)> {
        self.narrowing().map(|(forced, _)| (self.stage(), forced.len()))
    }

    /// Takes the answer to a prefix question like the present one, but with another cut between its candidates.
    ///
    /// # Panics
    /// If no bracket is open.
    pub(in crate::search) fn answer_cut(&mut self, cut: Rank, answer: &Answer<'_>) {
        self.note(answer);
        self.state = match core::mem::replace(&mut self.state, State::AllOn) {
            State::Narrow { forced, bracket } => self.after_prefix(forced, bracket, cut, answer),
            state => unreachable!("no prefix is asked for: {state:?}"),
        };
    }

    /// Returns true if a change that fails alone may be named before every shorter prefix has passed. The final result
    /// is the same, because no other minimal set contains that change; but the order of the culprits may differ.
    pub(in crate::search) fn may_guess(&self) -> bool {
        self.options.max_sets.is_none() && self.narrowing().is_some_and(|(forced, _)| forced.is_empty())
    }

    /// Returns the selection of one change alone, as the procedure would ask for it if everything else had been ruled
    /// out.
    pub(in crate::search) fn alone(&self, change: Rank) -> Selection {
        self.select(Prefix::NONE, &[change])
    }

    /// Takes the answer that a change fails alone, which ends the present narrowing.
    pub(in crate::search) fn fails_alone(&mut self, change: Rank, answer: &Answer<'_>) {
        self.latest = answer.trial.unwrap_or(self.latest);
        self.state = self.confirm(Culprit { changes: vec![change], mode: self.mode, confirmed_by: self.latest });
    }

    /// While the present question is if a set fails alone, returns the question that follows if the set does.
    pub(in crate::search) fn next_if_alone(&self) -> Option<Asked> {
        let State::FoundAlone { .. } = &self.state else { return None };
        self.after(&Answer::assumed(Outcome::Fail)).question().ok()
    }
}
