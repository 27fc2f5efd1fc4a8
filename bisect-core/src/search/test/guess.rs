//! The guess of a test: the candidates that pooled runs leave. It runs ahead of the exact search and proves nothing.

use alloc::vec::Vec;

use crate::search::{
    model::{rank::Rank, ranked, selection::Selection, trial::Outcome},
    sequential::{Answer, Bracket},
};

/// The result of pooled runs for the change that is being searched for.
#[derive(Clone, Debug)]
pub(super) enum Guess {
    /// No pooled run has narrowed the candidates beyond the exact search.
    Nothing,
    /// The change is among these candidates.
    Among(Remaining),
    /// It is this change, which may well fail alone.
    Alone(Rank),
    /// Pooled runs are over. Exact runs continue, and try this change first.
    Over(Option<Rank>),
}

/// The candidates that pooled runs leave.
#[derive(Clone, Debug)]
pub(super) struct Remaining {
    /// The candidates that runs of prefixes leave.
    pub(super) bracket: Bracket,
    /// Those of them that explain the runs of groups too, in order. Empty if no single change does, or if a run was
    /// unresolved: then only prefixes count.
    pub(super) suspects: Vec<Rank>,
}

impl Remaining {
    pub(super) fn of(bracket: &Bracket) -> Self {
        Self { bracket: bracket.clone(), suspects: bracket.candidates().to_vec() }
    }

    /// Takes the result of a pooled run, which cuts the candidates here if it is a prefix.
    pub(super) fn observe(&mut self, selection: &Selection, cut: Option<Rank>, answer: &Answer<'_>) {
        match answer.outcome {
            Outcome::Fail => self.suspects.retain(|&change| selection.contains(change)),
            Outcome::Pass => self.suspects.retain(|&change| !selection.contains(change)),
            Outcome::Unresolved(_) => self.suspects.clear(),
        }
        if let Some(cut) = cut {
            self.bracket.record(cut, answer.outcome, answer.reported);
        }
        self.suspects.retain(|&change| ranked::contains(self.bracket.candidates(), change));
    }

    /// Returns the guess that follows. A guess that a change fails alone is possible only if `may_guess`.
    pub(super) fn guess(self, may_guess: bool) -> Guess {
        match (&self.suspects[..], self.bracket.candidates()) {
            (&[change], _) | (_, &[change]) if may_guess => Guess::Alone(change),
            (&[change], _) | (_, &[change]) => Guess::Over(Some(change)),
            _ if !self.bracket.is_open() => Guess::Over(None),
            _ => Guess::Among(self),
        }
    }
}
