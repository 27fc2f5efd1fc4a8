//! How to search, and what to do next.

use core::num::NonZeroUsize;

use super::{noise::Noise, rank::Order, trial::Trial, verdict::Verdict};

/// How to search.
#[derive(Clone, Debug)]
pub struct Options {
    /// What the ranks of changes are.
    pub order: Order,
    /// Trials that may be in flight at once. What is found does not depend on it, of a target that answers the same
    /// question always the same.
    pub in_flight: NonZeroUsize,
    /// Changes will be [favoured](crate::search::Search::favour) as soon as they are known: no prefix is asked for before, as the
    /// guesses at their cuts would be of no use.
    pub favours: bool,
    /// Runs that each trial takes, all of which must agree. A noisy search makes one run per trial.
    pub runs_per_trial: NonZeroUsize,
    /// What to make of a target that contradicts itself.
    pub noise: Noise,
    /// Where random choices begin: the same seed makes the same choices.
    pub seed: u64,
    /// Stop after this number of culprits.
    pub max_sets: Option<NonZeroUsize>,
    /// Do not search for culprits of more changes than this.
    pub max_set_size: Option<NonZeroUsize>,
    /// Stop before more runs than this are started.
    pub max_runs: Option<usize>,
}

impl Default for Options {
    /// Hashes, one trial after the other, one run each, which is believed; no limits.
    fn default() -> Self {
        Self {
            order: Order::ByHash,
            in_flight: NonZeroUsize::MIN,
            favours: false,
            runs_per_trial: NonZeroUsize::MIN,
            noise: Noise::Refused,
            seed: 0,
            max_sets: None,
            max_set_size: None,
            max_runs: None,
        }
    }
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Start one run of this trial, and [`record`](crate::search::Search::record) what it showed. The same trial comes up again if it
    /// takes several runs.
    Run(Trial),
    /// Runs that have been started must be recorded first.
    Wait,
    /// The search is over.
    Done(Verdict),
}
