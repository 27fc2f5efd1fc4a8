//! How the next trial may end: guesses that say what is asked early, never what is found.

use alloc::vec::Vec;

use super::{Answer, Procedure, State, without};
use crate::{ChangeId, search::bracket::Narrowing};

impl Procedure {
    /// What the next trial will report if it is like the ones before.
    pub(in crate::search) fn expected_reports(&self) -> Vec<ChangeId> {
        match &self.state {
            State::All | State::Done(_) => Vec::new(),
            State::None { reported, .. } => reported.to_vec(),
            State::Narrow { forced, bracket } => match bracket.narrowing() {
                Narrowing::Ask(cut) => bracket.reported_below(cut).chain(forced.iter().copied()).collect(),
                Narrowing::Needed(_) | Narrowing::Unexplained => Vec::new(),
            },
            State::Exactly { forced, .. } => forced.clone(),
            State::Thin { culprit, index } => without(culprit, *index),
            State::Rest { .. } | State::Branch | State::Without { .. } => {
                let left_out = match &self.state {
                    State::Rest { culprit } => culprit.changes.as_slice(),
                    _ => &[],
                };
                let excluded = self.excluded();
                let is_left = |id: &&ChangeId| !excluded.contains(id) && !left_out.contains(id);
                self.known.iter().filter(is_left).copied().collect()
            }
        }
    }

    /// How likely the next trial is to fail, in 256ths.
    pub(in crate::search) fn odds_of_failure(&self) -> u64 {
        match &self.state {
            State::All => 230,
            // Most culprits are one change.
            State::Exactly { forced, .. } if forced.len() == 1 => 200,
            // Cuts halve the candidates.
            State::Narrow { .. } | State::Exactly { .. } => 128,
            State::Rest { .. } | State::Branch => 77,
            State::Thin { .. } => 51,
            State::None { .. } | State::Without { .. } => 13,
            State::Done(_) => 0,
        }
    }

    /// The procedure as it would be with this answer.
    pub(in crate::search) fn after(&self, answer: &Answer<'_>) -> Self {
        let mut after = self.clone();
        after.answer(answer);
        after
    }
}
