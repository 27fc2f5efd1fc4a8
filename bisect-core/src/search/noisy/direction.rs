//! The direction of the search: do enabled changes break the target, or disabled ones?
//!
//! Under noise, this has a probability too.

use crate::search::ledger::Run;
use crate::search::model::{
    mode::Mode,
    selection::Selection,
    trial::{Question, Trial},
};
use crate::search::posterior::{CandidateSet, ChangePoint, Evidence};
use crate::search::tuning;

/// The direction according to the runs with every change and with none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Direction {
    mode: Mode,
    /// The probability of `mode`.
    probability: f64,
}

impl Direction {
    /// Returns the direction that is asked for, or else the one that these runs show.
    pub(super) fn of(runs: &[Run], asked: Option<Mode>) -> Self {
        if let Some(mode) = asked {
            return Self { mode, probability: 1.0 };
        }
        // There is one candidate: all changes together.
        let odds = |mode: Mode| {
            let (base, everything) = (mode.nothing(), mode.everything());
            let mut point = ChangePoint::new(1, &Evidence::new());
            point.set_prior_of_nothing(tuning::PRIOR_NO_DIRECTION);
            let ends = runs.iter().filter(|run| run.selection == everything || run.selection == base);
            for run in ends.take(tuning::MAX_DIRECTION_RUNS) {
                if run.selection == everything {
                    point.observe(CandidateSet::prefix(1), run.failed);
                } else {
                    point.observe(CandidateSet::prefix(0), run.failed);
                }
            }
            (1.0 - point.probability_of_nothing()) / point.probability_of_nothing()
        };
        let (enabled, disabled) =
            ((1.0 - tuning::PRIOR_DISABLED) * odds(Mode::Enable), tuning::PRIOR_DISABLED * odds(Mode::Disable));
        let share = enabled / (enabled + disabled);
        if share >= 0.5 {
            Self { mode: Mode::Enable, probability: share }
        } else {
            Self { mode: Mode::Disable, probability: 1.0 - share }
        }
    }

    pub(super) fn mode(self) -> Mode {
        self.mode
    }

    /// Returns the probability that changes break the target in this mode.
    pub(super) fn probability_of(self, mode: Mode) -> f64 {
        if mode == self.mode { self.probability } else { 1.0 - self.probability }
    }

    /// Returns true if the search can go on in this direction.
    pub(super) fn is_known(self, runs: &[Run]) -> bool {
        let [all, none] =
            [false, true].map(|inverted| runs.iter().filter(|run| is_end(&run.selection, inverted)).count());
        all > 0
            && none > 0
            && (self.probability >= tuning::DIRECTION_PROBABILITY || all + none >= tuning::MAX_DIRECTION_RUNS)
    }

    /// Returns the end to run first, or to repeat, before anything else is asked.
    pub(super) fn wants<'a>(
        self,
        runs: &[Run],
        in_flight: impl Iterator<Item = &'a Trial>,
    ) -> Option<(Question, Selection)> {
        let mut count = [0_usize; 2];
        for run in runs.iter().filter(|run| is_end(&run.selection, run.selection.inverted)) {
            count[usize::from(run.selection.inverted)] += 1;
        }
        for trial in in_flight.filter(|trial| is_end(&trial.selection, trial.selection.inverted)) {
            count[usize::from(trial.selection.inverted)] += 1;
        }
        let [all, none] = count;
        (all == 0
            || none == 0
            || self.probability < tuning::DIRECTION_PROBABILITY && all + none < tuning::MAX_DIRECTION_RUNS)
            .then(|| {
                let inverted = none < all;
                let question = if inverted { Question::AllOff } else { Question::AllOn };
                (question, Selection { inverted, ..Selection::all() })
            })
    }
}

/// Returns true if the selection enables every change or, with `inverted`, disables every change.
fn is_end(selection: &Selection, inverted: bool) -> bool {
    *selection == Selection { inverted, ..Selection::all() }
}
