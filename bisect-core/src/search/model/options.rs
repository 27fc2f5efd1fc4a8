//! The options of a search, and its next step.

use core::num::NonZeroUsize;

use super::{mode::Mode, noise::Noise, rank::Order, trial::Trial, verdict::Verdict};

/// The options of a search.
#[derive(Clone, Debug)]
pub struct Options {
    /// The order to which ranks belong.
    pub order: Order,
    /// The direction to search; `None`: the one that the runs of both ends show.
    pub direction: Option<Mode>,
    /// Number of trials that may be in flight at once. The results do not depend on this number if the target always
    /// answers the same question in the same way, no trial is unresolved and no change hides another one. Otherwise, if
    /// several sets of changes fail, the search may find a different one, which is as right.
    pub in_flight: NonZeroUsize,
    /// True if changes will be [favoured](crate::search::Search::favour) as soon as they are known. No prefix is asked
    /// for before that, as guesses at the cuts would be useless.
    pub favours: bool,
    /// Number of runs that each trial takes, all of which must agree. A noisy search makes one run per trial.
    pub runs_per_trial: NonZeroUsize,
    /// The treatment of a target that contradicts itself.
    pub noise: Noise,
    /// The seed of random choices: the same seed makes the same choices.
    pub seed: u64,
    /// Maximum number of culprits, after which the search stops.
    pub max_sets: Option<NonZeroUsize>,
    /// Maximum number of changes in a culprit.
    pub max_set_size: Option<NonZeroUsize>,
    /// Maximum number of runs to start.
    pub max_runs: Option<usize>,
}

impl Default for Options {
    /// Returns the options for hashes, one trial at a time, one run per trial, which is believed, and no limits.
    fn default() -> Self {
        Self {
            order: Order::ByHash,
            direction: None,
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

/// The next step of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Start one run of this trial, and [`record`](crate::search::Search::record) its result. The same trial is
    /// returned again if it takes several runs.
    Run(Trial),
    /// Record the results of started runs first.
    Wait,
    /// The search is over.
    Done(Verdict),
}
