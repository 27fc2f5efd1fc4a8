//! The search engine: names the smallest sets of changes that make a target fail.
//!
//! All axes ask the same question: given changes in an order, *what is the smallest prefix that fails?* The last change
//! of that prefix is needed. The search forces it: on, or off if disabled changes make the target fail. If the forced
//! changes alone fail, they are a culprit; else the search continues among the shorter prefixes, with the forced
//! changes added. A set of *m* changes among *N* costs about *m* · (log2 *N* + 1) trials. If the target is monotone
//! (more changes never repair a failure), every set found is minimal: without any one of its changes, the target passes
//! or the run is unresolved. Then the set is excluded, and the search continues as long as the rest still fails.
//!
//! A target may fail by chance, or its outcome may depend on the run before. [`Options::noise`] selects the treatment:
//! by default each run is believed; with [`Noise::Suspected`], a few more runs test that assumption before a culprit is
//! named; with [`Noise::Expected`], runs are only evidence. If a simple rule that ignores the changes of the run
//! explains all outcomes, the verdict is that rule: [`CarryOver`]. Trials request reports without text, so all outcomes
//! come from runs without text.
//!
//! Where several tests fail, the search can be [split](Search::split): from then on every run answers for as many tests
//! as possible, and each test gets its own culprits.
//!
//! The search knows each change by its [rank](Rank), which comes from a hash or from a given order: of a list, a
//! counter or commits. [`Rank`] lists the functions that an axis of either kind calls.
//!
//! [`Search`] does no I/O. It returns the trials to run, and takes the results of their runs in any order:
//!
//! ```
//! use bisect_core::{ChangeId, search::{Observation, Options, Outcome, Rank, Search, Step}};
//!
//! // A target of 1,000 changes that fails when the changes 300 and 700 are enabled together.
//! let change = |i: u64| Rank::of(ChangeId::of(&[bisect_core::Field::U64(i)]));
//! let changes: Vec<_> = (0..1000).map(change).collect();
//! let mut search = Search::new(Options::default());
//! let verdict = loop {
//!     match search.step() {
//!         Step::Run(trial) => {
//!             let on = |i: usize| trial.selection.enables(changes[i]);
//!             let outcome = if on(300) && on(700) { Outcome::Fail } else { Outcome::Pass };
//!             let reported = changes.iter().copied().filter(|&id| trial.selection.contains(id)).collect();
//!             search.record(trial.id, [Observation { outcome, reported }]);
//!         }
//!         Step::Wait => unreachable!("nothing is in flight here"),
//!         Step::Done(verdict) => break verdict,
//!     }
//! };
//! let mut culprit = search.test(0).found()[0].changes.clone();
//! culprit.sort();
//! let mut expected = [changes[300], changes[700]];
//! expected.sort();
//! assert_eq!(culprit, expected);
//! assert!(search.progress().runs() <= 2 * 11 + 4);
//! # let _ = verdict;
//! ```

mod ledger;
mod model;
mod noisy;
mod per_test;
pub mod posterior;
mod proposer;
mod sequential;
mod suite;
mod test;
mod tuning;
mod unsplit;
mod views;

use alloc::vec::Vec;
use core::num::NonZeroUsize;

use ledger::{Ledger, Run};
use model::likely_groups::LikelyGroups;
use suite::Suite;

pub use views::{ProgressView, TestView, TrialView};

pub use model::{
    mode::Mode,
    noise::{Certainty, Estimate, LikelyPlace, Noise, Suspect},
    options::{Options, Step},
    rank::{Order, Rank, simplest_cut, suffixes_below, suffixes_between},
    selection::{Prefix, Selection},
    trial::{Observation, Outcome, Question, Reason, Trial, TrialId},
    verdict::{CarryOver, Culprit, Effect, Incomplete, Inconsistency, Shared, Unusable, Verdict},
};

/// A search in progress.
#[derive(Clone, Debug)]
pub struct Search {
    options: Options,
    ledger: Ledger,
    suite: Suite,
}

impl Search {
    /// Returns a search that has not asked anything yet.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let ledger = Ledger::new();
        Self { suite: Suite::new(&ledger, &options), ledger, options }
    }

    /// Returns the next step. Each [`Step::Run`] counts as started.
    pub fn step(&mut self) -> Step {
        self.suite.step(&mut self.ledger, &self.options)
    }

    /// Takes the result of one run of a trial: an observation for each of [its tests](Trial::tests), in that order.
    /// Runs may be recorded in any order. The result of an obsolete run is ignored.
    ///
    /// # Panics
    /// If no run of this trial is in flight, or if there is not one observation for each of its tests.
    pub fn record(&mut self, id: TrialId, observations: impl IntoIterator<Item = Observation>) {
        let observations: Vec<_> = observations.into_iter().collect();
        assert_eq!(observations.len(), self.trial(id).tests.len(), "one observation for each test of the trial");
        self.suite.record(id, observations, &mut self.ledger, &self.options);
    }

    /// Takes back the start of one run of a trial that was ended without a result. It still counts as a run.
    ///
    /// # Panics
    /// If no run of this trial is in flight.
    pub fn cancel(&mut self, id: TrialId) {
        self.ledger.cancel(id);
    }

    /// Sets the number of trials that may be in flight at once from now on. If more are in flight, a sequential search
    /// makes those [obsolete](Self::obsolete) that are least likely to matter; other searches finish what they have
    /// started.
    pub fn set_in_flight(&mut self, in_flight: NonZeroUsize) {
        self.options.in_flight = in_flight;
        if let Some(unsplit) = &mut self.suite.unsplit {
            unsplit.reconsider();
        }
    }

    /// Favours groups of changes for which there is evidence, the likeliest group first: each group is now as likely to
    /// contain the change searched for as all changes after it together, those of later groups and those in no group.
    /// Cuts then halve the likelihood instead of the number of changes. For each change to be found among *n*, this
    /// saves about log2(*n* / 4*k*) − (*i* − 1) trials if the change is in group *i* (from 1), which has *k* changes. If
    /// the change is in no group, each group costs at most about one trial. Changes that are never reported do not
    /// count, nor do groups after the fourth. If no change is favoured, or one group contains all, each is as likely as
    /// any other.
    ///
    /// Each call replaces the favoured changes of the call before. In a noisy search, and after a [split](Self::split),
    /// a call has no effect. The best time is right after the trial of [everything](Question::AllOn) is recorded, with
    /// [`Options::favours`] set.
    ///
    /// This selects the prefixes that are asked for, not the prefix that is searched for: for a monotone target the
    /// result is the same. A target that is not monotone, or leaves trials unresolved, can have several answers, and
    /// then other cuts may lead to another, equally valid answer. The number of trials in flight still makes no
    /// difference to the answer, if the call is made at the best time named above, no trial is unresolved and no change
    /// hides another one.
    pub fn favour(&mut self, groups: impl IntoIterator<Item = Vec<Rank>>) {
        let Self { options, ledger, suite: Suite { tests, unsplit, .. } } = self;
        if let Some(unsplit) = unsplit {
            unsplit.favour(LikelyGroups::new(groups), &mut tests[0], ledger, options);
        }
    }

    /// Returns the trials with runs in flight that no longer matter: other runs make better use of their slots.
    #[must_use]
    pub fn obsolete(&mut self) -> Vec<TrialId> {
        self.suite.obsolete(&mut self.ledger, &self.options)
    }

    /// Returns the verdict, if the search has ended. A search over several tests has the worst verdict of its tests,
    /// unless it was stopped. A test for which the changes make [no difference](Verdict::NoDifference) counts only if
    /// that holds for all tests.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        self.suite.verdict(&self.ledger)
    }

    /// Returns the results for one test. In a search that was not [split](Self::split), test 0 is the whole target.
    ///
    /// # Panics
    /// If there is no test with this number.
    #[must_use]
    pub fn test(&self, test: usize) -> TestView<'_> {
        TestView::new(self, test)
    }

    /// Returns the state of a trial: its runs, and what it repeats.
    ///
    /// # Panics
    /// If this search never wanted this trial.
    #[must_use]
    pub fn trial_state(&self, id: TrialId) -> TrialView<'_> {
        TrialView::new(self, id)
    }

    /// Returns the progress of the search: its trials, runs, changes and tests.
    #[must_use]
    pub fn progress(&self) -> ProgressView<'_> {
        ProgressView::new(self)
    }

    /// Returns a trial of this search.
    ///
    /// # Panics
    /// If this search never wanted this trial.
    #[must_use]
    pub fn trial(&self, id: TrialId) -> &Trial {
        &self.ledger[id].trial
    }

    /// Counts a run that was made outside the search, without a result, for the [number of runs](ProgressView::runs)
    /// and for the limit on runs.
    pub fn count_run(&mut self) {
        self.ledger.started += 1;
    }

    /// Sets the mean cost of a failing run and of a passing run, for instance in seconds. A noisy search chooses the
    /// runs with the most information per cost; a sequential search ignores the costs.
    ///
    /// # Panics
    /// If a cost is not positive and finite and the search is noisy.
    pub fn set_costs(&mut self, failing: f64, passing: f64) {
        for noisy in self.suite.tests.iter_mut().filter_map(|test| test.noisy.as_mut()) {
            noisy.set_costs(failing, passing);
        }
    }

    /// Takes the result of one more execution within a run of a trial. In a noisy search it counts like another run
    /// with the same changes; otherwise, and after a [split](Self::split), it is ignored.
    ///
    /// # Panics
    /// If this search never wanted this trial.
    pub fn record_extra_execution(&mut self, id: TrialId, observation: &Observation) {
        let run = Run::new(id, &self.trial(id).selection, observation);
        let Suite { tests, unsplit: Some(_), .. } = &mut self.suite else { return };
        if let (Some(noisy), Some(run)) = (&mut tests[0].noisy, run) {
            noisy.learn(run, &mut self.ledger, &self.options);
        }
    }

    /// Schedules one more run of the end that failed, before anything else, to see if it fails in the same way.
    ///
    /// # Panics
    /// If the search cannot be [split](Self::split): exactly one end must be known to fail.
    pub fn recheck_failing_end(&mut self) {
        assert!(self.can_split(), "one end fails, and the other does not");
        if let Some(unsplit) = &mut self.suite.unsplit {
            unsplit.recheck_failing_end(&mut self.suite.tests[0], &mut self.ledger);
        }
    }
}
