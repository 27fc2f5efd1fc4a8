//! One trial of the sequential search and its progress.

use alloc::{sync::Arc, vec::Vec};

use super::procedure::Asked;
use crate::{
    before::model::rank::Rank,
    before::model::trial::{Outcome, Trial},
};

/// A trial, its runs and their results.
#[derive(Clone, Debug)]
pub(in crate::before) struct Progress {
    pub(in crate::before) asked: Asked,
    pub(in crate::before) trial: Trial,
    /// The change that was the only suspect when the first run was started.
    pub(in crate::before) sole_suspect: Option<Rank>,
    /// Number of runs that were started and not cancelled.
    pub(in crate::before) started: usize,
    /// The outcomes of the runs that have ended.
    pub(in crate::before) outcomes: Vec<Outcome>,
    /// The changes that they reported, in order, without duplicates.
    pub(in crate::before) reported: Arc<[Rank]>,
    /// True if the procedure has taken the answer, or will never ask. Reports are then dropped: a run may report a
    /// million changes.
    pub(in crate::before) is_over: bool,
}

impl Progress {
    /// Returns the progress of a trial that was not begun.
    pub(super) fn new(asked: Asked, trial: Trial) -> Self {
        let reported = Arc::new([]);
        Self { asked, trial, sole_suspect: None, started: 0, outcomes: Vec::new(), reported, is_over: false }
    }

    /// Returns the progress of a trial that another search has made, or is making, with its outcome if it has ended.
    pub(in crate::before) fn of_others(trial: Trial, outcome: Option<Outcome>) -> Self {
        let asked = Asked::by_others(trial.question, trial.selection.clone());
        let (outcomes, reported) = (outcome.into_iter().collect(), Arc::new([]));
        Self { asked, trial, sole_suspect: None, started: 1, outcomes, reported, is_over: true }
    }

    pub(in crate::before) fn in_flight(&self) -> usize {
        self.started - self.outcomes.len()
    }

    /// Returns the outcome and all reported changes, if this number of runs have ended and agree.
    pub(in crate::before) fn answer(&self, runs: usize) -> Option<(Outcome, &Arc<[Rank]>)> {
        let is_known = !self.is_over && self.outcomes.len() >= runs && self.agrees();
        is_known.then(|| (self.outcomes[0], &self.reported))
    }

    pub(in crate::before) fn agrees(&self) -> bool {
        self.outcomes.windows(2).all(|pair| pair[0] == pair[1])
    }

    pub(super) fn put_away(&mut self) {
        self.is_over = true;
        self.reported = Arc::new([]);
    }
}

/// Returns true if runs of the same changes have passed and failed.
pub(in crate::before) fn differ(outcomes: &[Outcome]) -> bool {
    outcomes.contains(&Outcome::Pass) && outcomes.contains(&Outcome::Fail)
}
