//! The search engine: names the smallest sets of changes that make a target fail.
//!
//! All axes are one question: given changes in an order, *what is the smallest prefix that fails?* Its last change is
//! needed. Force it on: if the forced changes alone fail, they are a culprit; else search the shorter prefixes again,
//! with the forced ones added. A set of *m* changes among *N* costs about *m* · (log2 *N* + 1) trials. Of a monotone
//! target (more changes never mend a failure) every set found is minimal: without any one of its changes it passes, or
//! does not tell.
//! Then the set is excluded, and as long as the rest still fails the search goes on.
//!
//! A target may fail by chance, or follow what the run before has left behind. [`Options::noise`] says what is made of that:
//! by default each run is believed; with [`Noise::Suspected`], a few runs more see whether that is right before anything is
//! named; with [`Noise::Expected`], runs are only evidence. If a simple rule without the changes of
//! the run explains all outcomes, the verdict is that rule: [`CarryOver`]. Trials request reports without text, so outcomes
//! come from runs without text.
//!
//! Where several tests fail, the search can be [split](Search::split): from then on every run answers for as many tests as
//! possible, and each test gets its own culprits.
//!
//! Changes are [ranks](Rank): of hashes, or of a given order such as a list, a counter or commits. [`Rank`] says what an axis
//! of either kind calls.
//!
//! [`Search`] does no I/O. It returns the trials to run, and takes what their runs showed, in any order:
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
//!             search.record(trial.id, Observation { outcome, reported });
//!         }
//!         Step::Wait => unreachable!("nothing is in flight here"),
//!         Step::Done(verdict) => break verdict,
//!     }
//! };
//! let mut culprit = search.found()[0].changes.clone();
//! culprit.sort();
//! let mut expected = [changes[300], changes[700]];
//! expected.sort();
//! assert_eq!(culprit, expected);
//! assert!(search.runs() <= 2 * 11 + 4);
//! # let _ = verdict;
//! ```

mod engine;
mod model;
mod noisy;
mod per_test;
pub mod posterior;
mod sequential;
mod suite;
mod tuning;

use alloc::{vec, vec::Vec};
use core::num::NonZeroUsize;

use engine::Engine;
use model::ranked;
use sequential::Trials;

pub use per_test::TestView;

pub use model::{
    noise::{Certainty, Estimate, Noise, Suspect},
    options::{Options, Step},
    rank::{Order, Rank, simplest_cut, suffixes_below, suffixes_between},
    selection::{Prefix, Selection},
    trial::{Observation, Outcome, Question, Reason, Trial, TrialId},
    verdict::{CarryOver, Culprit, Effect, Incomplete, Inconsistency, Mode, Shared, Unusable, Verdict},
};

/// A search in progress.
#[derive(Clone, Debug)]
pub struct Search {
    options: Options,
    runs: usize,
    /// Trials of earlier engines; the present engine numbers its own from there on.
    earlier: Trials,
    engine: Engine,
}

impl Search {
    /// A search that has asked nothing yet.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self { runs: 0, earlier: Trials::default(), engine: Engine::new(&options), options }
    }

    /// Returns what the ranks of this search are.
    #[must_use]
    pub fn order(&self) -> Order {
        self.options.order
    }

    /// What to do next. Each [`Step::Run`] counts as started.
    pub fn step(&mut self) -> Step {
        let step = self.engine.step(&self.options, self.runs);
        self.runs += usize::from(matches!(step, Step::Run(_)));
        step
    }

    /// Takes what one run of a trial of one test showed. Runs may be recorded in any order; one that no longer matters is
    /// ignored.
    ///
    /// # Panics
    /// If no run of such a trial is in flight, or if it has several tests.
    pub fn record(&mut self, id: TrialId, observation: Observation) {
        self.record_each(id, vec![observation]);
    }

    /// Takes what one run of a trial showed for each of [its tests](Trial::tests), in that order.
    ///
    /// # Panics
    /// If no run of such a trial is in flight, or if there is not one observation for each of its tests.
    pub fn record_each(&mut self, id: TrialId, observations: Vec<Observation>) {
        assert_eq!(observations.len(), self.trial(id).tests.len(), "one observation for each test of the trial");
        if id.0 >= self.earlier.len() {
            self.engine.record(id, observations, &self.options);
            if self.engine.is_contradicted(&self.options) {
                self.switch_to_noisy(0);
            }
            return;
        }
        self.earlier.note(id, observations[0].outcome);
        if let Noise::Suspected(_) = self.options.noise {
            self.engine.learn(id, &self.earlier[id.0].trial.selection, &observations[0], &self.options);
        }
    }

    /// Takes back the start of one run of a trial, which was ended before it showed anything. It still counts as a run.
    ///
    /// # Panics
    /// If no run of such a trial is in flight.
    pub fn cancel(&mut self, id: TrialId) {
        if id.0 < self.earlier.len() { self.earlier.cancel(id) } else { self.engine.cancel(id) }
    }

    /// Sets how many trials may be in flight at once from now on. Of runs in flight beyond that, those that are least likely
    /// to matter become [obsolete](Self::obsolete).
    pub fn set_in_flight(&mut self, in_flight: NonZeroUsize) {
        self.options.in_flight = in_flight;
        if let Engine::Sequential(sequential) = &mut self.engine {
            sequential.reconsider();
        }
    }

    /// Favours changes for which there is evidence: all of them together are now as likely to be what is searched for
    /// as all the others together. Cuts then halve the likelihood instead of the number of changes. For each change to
    /// be found among *n*, *k* of them favoured, that saves about log2(*n* / 4*k*) trials if it is one of those, and
    /// costs about one at most if it is not. Changes that are never reported do not count; with none favoured, or all, each
    /// is as likely as any other.
    ///
    /// What was favoured before is forgotten. It may be called at any time before a [split](Self::split); the best is right after the trial of
    /// [everything](Question::AllOn) is recorded, with [`Options::favours`] set.
    ///
    /// It says which prefixes are asked for, not which one is searched for: what is found of a monotone target is the
    /// same. One that is not monotone, or leaves trials unresolved, can have several answers, and then other cuts may
    /// lead to another one, as true as the first; how many trials are in flight still makes no difference to that, if
    /// it is called as said above.
    pub fn favour(&mut self, changes: impl IntoIterator<Item = Rank>) {
        if let Engine::Sequential(sequential) = &mut self.engine {
            let mut changes: Vec<_> = changes.into_iter().collect();
            ranked::sort(&mut changes);
            sequential.favour(changes, &self.options);
        }
    }

    /// The trials with runs in flight that do not matter any more: their place is better used for others.
    #[must_use]
    pub fn obsolete(&mut self) -> Vec<TrialId> {
        let needs_earlier = self.engine.learns() && self.verdict().is_none();
        let earlier = self.earlier.in_flight().filter(|_| !needs_earlier).map(TrialId);
        earlier.chain(self.engine.obsolete(&self.options)).collect()
    }

    /// How the search ended, if it has. One over several tests ended like the worst of them, unless it was stopped; those
    /// that make [no difference](Verdict::NoDifference) on their own do not count, unless none does.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        self.engine.verdict()
    }

    /// The confirmed culprits so far. None after a [split](Self::split): there are [`culprits`](Self::culprits), and those
    /// of [each test](TestView::found).
    #[must_use]
    pub fn found(&self) -> &[Culprit] {
        self.engine.found()
    }

    /// A trial of this search.
    ///
    /// # Panics
    /// If this search never wanted such a trial.
    #[must_use]
    pub fn trial(&self, id: TrialId) -> &Trial {
        if id.0 < self.earlier.len() { &self.earlier[id.0].trial } else { self.engine.trial(id) }
    }

    /// The trial that this one makes once more, and that has not ended otherwise; to see whether the target is reliable.
    #[must_use]
    pub fn repeated(&self, id: TrialId) -> Option<TrialId> {
        match &self.engine {
            Engine::Sequential(sequential) => sequential.trials().repeated(id),
            Engine::Noisy(_) | Engine::Suite(_) => self.earlier.repeated(id),
        }
    }

    /// Trials begun so far. A repetition of an earlier trial counts only if it ended differently.
    #[must_use]
    pub fn trials(&self) -> usize {
        self.earlier.begun() + self.engine.trials()
    }

    /// Runs started so far.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// How many runs a trial takes, as far as is known by now.
    ///
    /// # Panics
    /// If this search never wanted such a trial.
    #[must_use]
    pub fn runs_of_trial(&self, id: TrialId) -> usize {
        if id.0 >= self.earlier.len() {
            return self.engine.runs_of_trial(id, &self.options);
        }
        self.earlier.runs_wanted(id.0, &self.options).max(self.earlier[id.0].outcomes.len())
    }

    /// Counts a run that was made beside the search and tells it nothing: for [`runs`](Self::runs), and the most that may be
    /// made.
    pub fn count_run(&mut self) {
        self.runs += 1;
    }

    /// Distinct changes reported so far.
    #[must_use]
    pub fn changes(&self) -> usize {
        self.engine.known().len()
    }

    /// Reported changes that a selection selects.
    #[must_use]
    pub fn selected(&self, selection: &Selection) -> usize {
        selection.count(self.engine.known())
    }

    /// Estimates the trials left. Sequential: until the present set is found, if it needs one more change. Noisy: the runs until
    /// the next culprit. Of several tests: for all of them.
    #[must_use]
    pub fn trials_left(&self) -> Option<usize> {
        self.engine.trials_left()
    }

    /// Whether runs are no more than evidence by now, of a search that was not [split](Self::split).
    #[must_use]
    pub fn is_noisy(&self) -> bool {
        matches!(self.engine, Engine::Noisy(_))
    }

    /// Sets the mean cost of a failing run and of a passing run, for instance in seconds. A noisy search chooses the runs that
    /// tell most for their cost; a sequential search ignores it.
    ///
    /// # Panics
    /// A noisy search panics if a cost is not positive and finite.
    pub fn set_costs(&mut self, failing: f64, passing: f64) {
        match &mut self.engine {
            Engine::Sequential(_) => {}
            Engine::Noisy(noisy) => noisy.set_costs(failing, passing),
            Engine::Suite(suite) => suite.set_costs(failing, passing),
        }
    }

    /// Takes what one more execution within a run of a trial showed. In a noisy search it counts like another run with the same
    /// changes; otherwise, and after a [split](Self::split), it is ignored.
    ///
    /// # Panics
    /// If this search never wanted such a trial.
    pub fn record_extra_execution(&mut self, id: TrialId, observation: &Observation) {
        let selection = self.trial(id).selection.clone();
        self.engine.learn(id, &selection, observation, &self.options);
    }

    /// Has the end that failed run once more before anything else, to see whether it fails in the same way.
    ///
    /// # Panics
    /// If the search cannot be [split](Self::split), as it must be known that there is such an end, and only one.
    pub fn recheck_failing_end(&mut self) {
        assert!(self.can_split(), "one end fails, and the other does not");
        match &mut self.engine {
            Engine::Sequential(sequential) => sequential.recheck_failing_end(),
            Engine::Noisy(noisy) => noisy.recheck_failing_end(),
            Engine::Suite(_) => {}
        }
    }
}
