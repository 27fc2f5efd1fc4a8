//! Guesses about the outcome of the next trial. They determine which questions are asked early, never the result.

use alloc::{sync::Arc, vec::Vec};
use core::cmp::Ordering;

use super::{Answer, Asked, Procedure, State};
use crate::search::tuning;
use crate::{
    search::model::rank::Rank,
    search::{
        model::{
            rank::Order,
            selection::Prefix,
            trial::{Outcome, Question},
        },
        sequential::bracket::BracketStep,
    },
};

impl Procedure {
    /// Returns made-up reports of the first run. Hashes are spread evenly, so the first cuts halve their space, apart
    /// from the slack that brackets use for simple cuts, and can be asked before any change is known.
    pub(super) fn made_up(&self) -> Arc<[Rank]> {
        let evenly = |i: u64| Rank((2 * i + 1) * (u64::MAX / tuning::MADE_UP_CHANGES / 2));
        match self.options.order {
            Order::ByHash if !self.options.favours => (0..tuning::MADE_UP_CHANGES).map(evenly).collect(),
            Order::ByHash | Order::Given => Arc::new([]),
        }
    }

    /// Returns the reports of a run without the excluded changes and without `left_out`: the actual reports, or a guess
    /// from the known changes.
    pub(super) fn reported_of_rest(&self, answer: &Answer<'_>, left_out: &[Rank]) -> Arc<[Rank]> {
        answer.reported.cloned().unwrap_or_else(|| {
            let excluded = self.excluded();
            let is_left = |id: &&Rank| !excluded.contains(id) && !left_out.contains(id);
            self.known.iter().filter(is_left).copied().collect::<Vec<_>>().into()
        })
    }

    /// Returns true if the present question names changes that are only made up, so that no run can answer it.
    pub(in crate::search) fn asks_about_made_up(&self) -> bool {
        self.is_made_up && !matches!(self.state, State::AllOff { .. } | State::Narrow { .. })
    }

    /// Returns true if the procedure may still ask a question that it was expected to ask; if not, the answer is
    /// useless.
    pub(in crate::search) fn may_ask(&self, asked: &Asked) -> bool {
        let Prefix::Below(cut) = asked.selection.prefix else { return asked.stage == self.stage() };
        let as_many_forced = |forced: &[Rank]| asked.selection.forced.len().cmp(&forced.len());
        let of_this_set = match &self.state {
            State::Narrow { forced, bracket } if asked.question == Question::Prefix => match as_many_forced(forced) {
                Ordering::Less => false,
                Ordering::Equal => bracket.may_ask(cut),
                Ordering::Greater => true,
            },
            State::FoundAlone { forced, .. } => as_many_forced(forced).is_ge(),
            _ => true,
        };
        asked.stage == self.stage() && of_this_set
    }

    /// Returns the probability that the next trial fails, in 256ths.
    pub(in crate::search) fn odds_of_failure(&self) -> u64 {
        match &self.state {
            State::AllOn | State::FirstSolo => tuning::odds::ALL_ON,
            // If the target passes with every change, the user probably expects it to fail with none.
            State::AllOff { all: Outcome::Pass, .. } => tuning::odds::ALL_OFF_AFTER_PASS,
            State::Narrow { bracket, .. } => match bracket.narrowing() {
                BracketStep::Ask(cut) => bracket.odds_of_failure(cut),
                BracketStep::Needed(_) | BracketStep::Unexplained => tuning::odds::EVEN,
            },
            // Most culprits are one change.
            State::FoundAlone { forced, .. } if forced.len() == 1 => tuning::odds::ONE_ALONE,
            State::FoundAlone { .. } => tuning::odds::EVEN,
            State::AllButFound { .. } | State::Branch => tuning::odds::REST,
            State::Minimize { .. } => tuning::odds::PART,
            State::AllOff { .. } | State::Baseline { .. } => tuning::odds::BASELINE,
            State::Done(_) => 0,
        }
    }

    /// Returns the procedure as it would be after this answer.
    pub(in crate::search) fn after(&self, answer: &Answer<'_>) -> Self {
        let mut after = self.clone();
        after.answer(answer);
        after
    }
}
