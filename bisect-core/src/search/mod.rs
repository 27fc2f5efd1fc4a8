//! The search engine: names the smallest sets of changes that make a target fail.
//!
//! All axes are one question: given changes in an order, *what is the smallest prefix that fails?* Its last change is
//! needed. Force it on: if the forced changes alone fail, they are a culprit; else search the shorter prefixes again,
//! with the forced ones added. A set of *m* changes among *N* costs about *m* · (log2 *N* + 1) trials. Of a monotone
//! target (more changes never mend a failure) every set found is minimal: without any one of its changes it passes, or
//! does not tell.
//! Then the set is excluded, and as long as the rest still fails the search goes on.
//!
//! [`Search`] does no I/O. It says which trials it wants and is told what their runs showed, in any order:
//!
//! ```
//! use bisect_core::{ChangeId, search::{Observation, Options, Outcome, Search, Step}};
//!
//! // A target of 1,000 changes that fails when the changes 300 and 700 are enabled together.
//! let ids: Vec<_> = (0..1000_u64).map(|i| ChangeId::of(&[bisect_core::Field::U64(i)])).collect();
//! let mut search = Search::new(Options::default());
//! let verdict = loop {
//!     match search.step() {
//!         Step::Run(trial) => {
//!             let on = |id: ChangeId| trial.selection.contains(id) != trial.selection.inverted;
//!             let outcome = if on(ids[300]) && on(ids[700]) { Outcome::Fail } else { Outcome::Pass };
//!             let reported = ids.iter().copied().filter(|&id| trial.selection.contains(id)).collect();
//!             search.record(trial.id, Observation { outcome, reported });
//!         }
//!         Step::Wait => unreachable!("nothing is in flight here"),
//!         Step::Done(verdict) => break verdict,
//!     }
//! };
//! let mut culprit = search.found()[0].changes.clone();
//! culprit.sort();
//! let mut expected = [ids[300], ids[700]];
//! expected.sort();
//! assert_eq!(culprit, expected);
//! assert!(search.runs() <= 2 * 11 + 4);
//! # let _ = verdict;
//! ```

mod bracket;
mod order;
mod procedure;
mod selection;
mod trial;
mod verdict;

use alloc::{collections::BTreeSet, vec::Vec};
use core::num::NonZeroUsize;

use procedure::{Answer, Procedure};

use crate::ChangeId;

pub use order::{Order, simplest_cut, suffixes_below};
pub use selection::{Prefix, Selection};
pub use trial::{Observation, Outcome, Question, Reason, Trial, TrialId};
pub use verdict::{Culprit, Incomplete, Inconsistency, Mode, Unusable, Verdict};

/// How to search.
#[derive(Clone, Debug)]
pub struct Options {
    /// How changes are ordered.
    pub order: Order,
    /// Runs that each trial takes, all of which must agree.
    pub runs_per_trial: NonZeroUsize,
    /// Stop after so many culprits.
    pub max_sets: Option<NonZeroUsize>,
    /// Do not search for culprits of more changes than this.
    pub max_set_size: Option<NonZeroUsize>,
    /// Stop before more runs than this are started.
    pub max_runs: Option<usize>,
}

impl Default for Options {
    /// Hashes, one run a trial, no limits.
    fn default() -> Self {
        Self {
            order: Order::Hash,
            runs_per_trial: NonZeroUsize::MIN,
            max_sets: None,
            max_set_size: None,
            max_runs: None,
        }
    }
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Start one run of this trial, and [`record`](Search::record) what it showed. The same trial comes up again if it
    /// takes several runs.
    Run(Trial),
    /// Runs that have been started must be recorded first.
    Wait,
    /// The search is over.
    Done(Verdict),
}

/// A search in progress.
#[derive(Clone, Debug)]
pub struct Search {
    options: Options,
    procedure: Procedure,
    /// The trials so far; the last one is the one whose answer is waited for.
    trials: Vec<Progress>,
    runs: usize,
    /// Every change ever reported.
    seen: BTreeSet<ChangeId>,
    /// Ends the search whatever the procedure would go on to ask.
    stopped: Option<Verdict>,
}

/// A trial, and what is known of it.
#[derive(Clone, Debug)]
struct Progress {
    trial: Trial,
    started: usize,
    observations: Vec<Observation>,
    answered: bool,
}

impl Search {
    /// A search that has asked nothing yet.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            procedure: Procedure::new(options.clone()),
            options,
            trials: Vec::new(),
            runs: 0,
            seen: BTreeSet::new(),
            stopped: None,
        }
    }

    /// What to do next. Each [`Step::Run`] counts as started.
    pub fn step(&mut self) -> Step {
        if let Some(verdict) = self.verdict() {
            return Step::Done(verdict.clone());
        }
        let current = self.current();
        let progress = &mut self.trials[current];
        if progress.started >= self.options.runs_per_trial.get() {
            return Step::Wait;
        }
        if self.options.max_runs.is_some_and(|max| self.runs >= max) {
            let verdict = Verdict::Incomplete(Incomplete::MaxRuns);
            self.stopped = Some(verdict.clone());
            return Step::Done(verdict);
        }
        progress.started += 1;
        self.runs += 1;
        Step::Run(progress.trial.clone())
    }

    /// Takes what one run of a trial showed. Runs may be recorded in any order; one that no longer matters is ignored.
    ///
    /// # Panics
    /// If this search never wanted such a trial.
    pub fn record(&mut self, id: TrialId, mut observation: Observation) {
        let progress = &mut self.trials[id.0];
        if progress.answered || self.stopped.is_some() {
            return;
        }
        observation.reported.sort_unstable();
        observation.reported.dedup();
        let unasked = |change: &ChangeId| !progress.trial.selection.contains(*change);
        let changes: Vec<_> = observation.reported.iter().copied().filter(unasked).take(8).collect();
        if !changes.is_empty() {
            // Not one change that it could have left out is missing.
            let ignores_pattern = self.seen.iter().all(|change| observation.reported.binary_search(change).is_ok());
            self.stopped = Some(Verdict::Unusable(Unusable::Unasked { trial: id, changes, ignores_pattern }));
            return;
        }
        self.seen.extend(&observation.reported);
        progress.observations.push(observation);
        if progress.observations.iter().any(|other| other.outcome != progress.observations[0].outcome) {
            self.stopped = Some(Verdict::Inconsistent(Inconsistency::Runs(id)));
            return;
        }
        if progress.observations.len() < self.options.runs_per_trial.get() {
            return;
        }
        progress.answered = true;
        // Kept no longer: there may be a million reports a run.
        let observations = core::mem::take(&mut progress.observations);
        let outcome = observations[0].outcome;
        let mut reported: Vec<_> = observations.into_iter().flat_map(|observation| observation.reported).collect();
        reported.sort_unstable();
        reported.dedup();
        self.procedure.answer(&Answer { trial: id, outcome, reported: &reported });
    }

    /// How the search ended, if it has.
    #[must_use]
    pub fn verdict(&self) -> Option<&Verdict> {
        self.stopped.as_ref().or_else(|| self.procedure.question().err())
    }

    /// The confirmed culprits so far.
    #[must_use]
    pub fn found(&self) -> &[Culprit] {
        self.procedure.found()
    }

    /// A trial of this search.
    ///
    /// # Panics
    /// If this search never wanted such a trial.
    #[must_use]
    pub fn trial(&self, id: TrialId) -> &Trial {
        &self.trials[id.0].trial
    }

    /// Trials wanted so far.
    #[must_use]
    pub fn trials(&self) -> usize {
        self.trials.len()
    }

    /// Runs started so far.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// Distinct changes reported so far.
    #[must_use]
    pub fn changes(&self) -> usize {
        self.seen.len()
    }

    /// How many of those a selection selects.
    #[must_use]
    pub fn selected(&self, selection: &Selection) -> usize {
        self.seen.iter().filter(|&&id| selection.contains(id)).count()
    }

    /// About how many trials are left, for the set that is being searched for to be found if one more change is needed.
    #[must_use]
    pub fn trials_left(&self) -> Option<usize> {
        let candidates = self.procedure.candidates()?.len();
        // Halving; the set on its own; the rest.
        Some(candidates.next_power_of_two().ilog2() as usize + 2)
    }

    /// The trial whose answer the procedure waits for.
    fn current(&mut self) -> usize {
        if self.trials.last().is_none_or(|progress| progress.answered) {
            let (question, selection) = self.procedure.question().expect("a search that is over wants no trial");
            let trial = Trial { id: TrialId(self.trials.len()), question, selection };
            self.trials.push(Progress { trial, started: 0, observations: Vec::new(), answered: false });
        }
        self.trials.len() - 1
    }
}
