//! Trials of the sequential search, and how far they are.

use alloc::{sync::Arc, vec::Vec};

use super::{
    procedure::Asked,
    trial::{Outcome, Trial},
};
use crate::ChangeId;

/// A trial, and what is known of it.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    pub(super) asked: Asked,
    pub(super) trial: Trial,
    /// Runs that were started and not cancelled.
    pub(super) started: usize,
    /// How those that are over ended.
    pub(super) outcomes: Vec<Outcome>,
    /// What they reported, in order, each once.
    pub(super) reported: Arc<[ChangeId]>,
    /// The procedure has been told, or will never ask; reports are kept no longer, for there may be a million a run.
    pub(super) is_over: bool,
}

impl Progress {
    /// A trial that another search has made, or is making; how it ended.
    pub(super) fn of_others(trial: Trial, outcome: Option<Outcome>) -> Self {
        let asked = Asked::by_others(trial.question, trial.selection.clone());
        let (outcomes, reported) = (outcome.into_iter().collect(), Arc::new([]));
        Self { asked, trial, started: 1, outcomes, reported, is_over: true }
    }

    pub(super) fn in_flight(&self) -> usize {
        self.started - self.outcomes.len()
    }

    /// The outcome and all that was reported, if this is all that was to be observed.
    pub(super) fn answer(&self, runs: usize) -> Option<(Outcome, &Arc<[ChangeId]>)> {
        let is_known = !self.is_over && self.outcomes.len() >= runs && self.agrees();
        is_known.then(|| (self.outcomes[0], &self.reported))
    }

    pub(super) fn agrees(&self) -> bool {
        self.outcomes.windows(2).all(|pair| pair[0] == pair[1])
    }

    pub(super) fn put_away(&mut self) {
        self.is_over = true;
        self.reported = Arc::new([]);
    }
}

/// Whether runs of the same changes have passed and failed.
pub(super) fn differ(outcomes: &[Outcome]) -> bool {
    outcomes.contains(&Outcome::Pass) && outcomes.contains(&Outcome::Fail)
}
