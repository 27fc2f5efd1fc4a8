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
//! named; with [`Noise::Expected`], runs are only evidence. What all outcomes follow beside the changes of the run, if that is
//! a simple rule, is a verdict: [`CarryOver`]. Outcomes are those of runs without text for people; a [`Trial`] asks for none.
//!
//! Where several tests fail, the search can be [split](Search::split): from then on every run answers for as many tests as
//! possible, and each test gets its own culprits.
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
mod carry_over;
mod chance;
mod checks;
mod flaky;
mod noise;
mod order;
mod per_test;
mod procedure;
mod progress;
mod ranked;
mod selection;
mod speculation;
mod suite;
mod trial;
mod verdict;
mod weights;

use alloc::{sync::Arc, vec, vec::Vec};
use core::num::NonZeroUsize;

use chance::Chance;
use checks::Check;
use flaky::Flaky;
use procedure::{Answer, Asked, Procedure};
use progress::Progress;
use suite::Suite;

use crate::ChangeId;

pub use carry_over::{CarryOver, Effect};
pub use noise::{Certainty, Estimate, Noise, Suspect};
pub use order::{Order, simplest_cut, suffixes_below, suffixes_between};
pub use selection::{Prefix, Selection};
pub use trial::{Observation, Outcome, Question, Reason, Trial, TrialId};
pub use verdict::{Culprit, Incomplete, Inconsistency, Mode, Shared, Unusable, Verdict};

/// How to search.
#[derive(Clone, Debug)]
pub struct Options {
    /// How changes are ordered.
    pub order: Order,
    /// Trials that may be in flight at once. What is found does not depend on it, of a target that answers the same
    /// question always the same.
    pub in_flight: NonZeroUsize,
    /// Changes will be [favoured](Search::favour) as soon as they are known: no prefix is asked for before, as the
    /// guesses at their cuts would be of no use.
    pub favours: bool,
    /// Runs that each trial takes, all of which must agree.
    pub runs_per_trial: NonZeroUsize,
    /// What to make of a target that contradicts itself.
    pub noise: Noise,
    /// Where random choices begin: the same seed makes the same choices.
    pub seed: u64,
    /// Stop after so many culprits.
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
            order: Order::Hash,
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
    /// The trials so far, in the order in which they were first wanted.
    trials: Vec<Progress>,
    /// Those whose answers are wanted, the one that the procedure waits for first; worked out again after each answer.
    wanted: Option<Vec<usize>>,
    runs: usize,
    /// Every change ever reported, in order.
    seen: Vec<ChangeId>,
    /// Ends the search whatever the procedure would go on to ask.
    stopped: Option<Verdict>,
    /// The procedure as it was when both answers of the calibration were known.
    calibrated: Option<Procedure>,
    /// The search goes on for several tests.
    suite: Option<Suite>,
    /// Runs, as long as there may be [`Self::doubt`] about them.
    history: Vec<flaky::Run>,
    /// Runs that are made to see whether the target is reliable, before anything else.
    checks: Vec<Check>,
    /// Culprits before whose naming such runs were made.
    checked_culprits: usize,
    chance: Chance,
    /// The search goes on under noise.
    flaky: Option<Flaky>,
}

impl Search {
    /// A search that has asked nothing yet.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let flaky = match options.noise {
            Noise::Expected(confidence) => Some(Flaky::new(confidence, &options)),
            Noise::Refused | Noise::Suspected(_) => None,
        };
        Self {
            procedure: Procedure::new(options.clone()),
            trials: Vec::new(),
            wanted: None,
            runs: 0,
            seen: Vec::new(),
            stopped: None,
            calibrated: None,
            suite: None,
            history: Vec::new(),
            checks: Vec::new(),
            checked_culprits: 0,
            chance: Chance::new(options.seed),
            flaky,
            options,
        }
    }

    /// What to do next. Each [`Step::Run`] counts as started.
    pub fn step(&mut self) -> Step {
        if let Some(flaky) = &mut self.flaky {
            let step = flaky.step(&self.options, self.runs);
            self.runs += usize::from(matches!(step, Step::Run(_)));
            return step;
        }
        if let Some(suite) = &mut self.suite {
            let step = suite.step(&self.options, self.runs);
            self.runs += usize::from(matches!(step, Step::Run(_)));
            return step;
        }
        if let Some(verdict) = self.verdict() {
            return Step::Done(verdict);
        }
        let wanted = self.wanted();
        let may_start = |&&trial: &&usize| self.trials[trial].started < self.runs_wanted(trial);
        let Some(&next) = wanted.iter().find(may_start) else { return Step::Wait };
        if self.options.max_runs.is_some_and(|max| self.runs >= max) {
            // What the search waits for may still come.
            if self.trials[wanted[0]].in_flight() > 0 {
                return Step::Wait;
            }
            let verdict = Verdict::Incomplete(Incomplete::MaxRuns);
            self.stopped = Some(verdict.clone());
            return Step::Done(verdict);
        }
        self.trials[next].started += 1;
        self.runs += 1;
        Step::Run(self.trials[next].trial.clone())
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
    pub fn record_each(&mut self, id: TrialId, mut observations: Vec<Observation>) {
        if let (Some(flaky), Some(_)) = (&mut self.flaky, id.0.checked_sub(self.trials.len())) {
            assert_eq!(observations.len(), 1, "a search that was not split is of one test");
            return flaky.record(id, observations.remove(0), &self.options);
        }
        if let (Some(suite), Some(_)) = (&mut self.suite, id.0.checked_sub(self.trials.len())) {
            let selection = &suite.trial(id).selection;
            let reported = observations.iter().flat_map(|observation| &observation.reported);
            let mut reported: Vec<_> = reported.copied().filter(|&id| selection.contains(id)).collect();
            ranked::sort(self.options.order, &mut reported);
            ranked::merge(self.options.order, &mut self.seen, &reported);
            return suite.record(id, observations, &self.options);
        }
        assert_eq!(observations.len(), 1, "a search that was not split is of one test");
        let mut observation = observations.remove(0);
        let progress = &mut self.trials[id.0];
        assert!(progress.in_flight() > 0, "trial {} has no run in flight", id.0);
        progress.outcomes.push(observation.outcome);
        let is_evidence = matches!(self.options.noise, Noise::Suspected(_)) && self.suite.is_none();
        if let Some(run) = flaky::Run::new(id, &progress.trial.selection, &observation).filter(|_| is_evidence) {
            match &mut self.flaky {
                Some(flaky) => flaky.learn(run, &self.options),
                None => self.history.push(run),
            }
        }
        if !progress.is_over && self.suite.is_none() && self.flaky.is_none() {
            ranked::sort(self.options.order, &mut observation.reported);
            ranked::merge(self.options.order, &mut observation.reported, &progress.reported);
            progress.reported = observation.reported.into();
        }
        self.wanted = None;
        if self.suite.is_none() && self.flaky.is_none() {
            self.advance();
            self.doubt();
        }
    }

    /// Takes back the start of one run of a trial, which was ended before it showed anything. It still counts as a run.
    ///
    /// # Panics
    /// If no run of such a trial is in flight.
    pub fn cancel(&mut self, id: TrialId) {
        if let (Some(flaky), Some(_)) = (&mut self.flaky, id.0.checked_sub(self.trials.len())) {
            return flaky.cancel(id);
        }
        if let (Some(suite), Some(_)) = (&mut self.suite, id.0.checked_sub(self.trials.len())) {
            return suite.cancel(id);
        }
        let progress = &mut self.trials[id.0];
        assert!(progress.in_flight() > 0, "trial {} has no run in flight", id.0);
        progress.started -= 1;
    }

    /// Lets so many trials be in flight at once from now on. Of runs in flight beyond that, those that are least likely
    /// to matter become [obsolete](Self::obsolete).
    pub fn set_in_flight(&mut self, in_flight: NonZeroUsize) {
        self.options.in_flight = in_flight;
        self.wanted = None;
    }

    /// Favours changes for which there is evidence: all of them together are now as likely to be what is searched for
    /// as all the others together. Cuts then halve the likelihood instead of the number of changes. For each change to
    /// be found among *n*, *k* of them favoured, that saves about log2(*n* / 4*k*) trials if it is one of those, and
    /// costs about one at most if it is not. Changes that are never reported do not count; with none favoured, or all, each
    /// is as likely as any other.
    ///
    /// What was favoured before is forgotten. It may be called at any time before a [split](Self::split); the best is right after the trial of
    /// [everything](Question::All) is recorded, with [`Options::favours`] set.
    ///
    /// It says which prefixes are asked for, not which one is searched for: what is found of a monotone target is the
    /// same. One that is not monotone, or leaves trials unresolved, can have several answers, and then other cuts may
    /// lead to another one, as true as the first; how many trials are in flight still makes no difference to that, if
    /// it is called as said above.
    pub fn favour(&mut self, changes: impl IntoIterator<Item = ChangeId>) {
        let mut changes: Vec<_> = changes.into_iter().collect();
        ranked::sort(self.options.order, &mut changes);
        if let Some(calibrated) = &mut self.calibrated {
            calibrated.favour(changes.clone());
        }
        self.procedure.favour(changes);
        self.wanted = None;
        // What it asks for now may have been answered early.
        self.advance();
    }

    /// The trials with runs in flight that do not matter any more: their place is better used for others.
    #[must_use]
    pub fn obsolete(&mut self) -> Vec<TrialId> {
        if let Some(flaky) = &self.flaky {
            // Runs that were asked for before are as good as others.
            let before = (0..self.trials.len()).filter(|&trial| self.trials[trial].in_flight() > 0);
            let before = before.filter(|_| flaky.verdict().is_some()).map(TrialId);
            return before.chain(flaky.obsolete()).collect();
        }
        let is_over = self.suite.is_some() || self.verdict().is_some();
        let wanted = if is_over { Vec::new() } else { self.wanted() };
        let in_flight = (0..self.trials.len()).filter(|&trial| self.trials[trial].in_flight() > 0);
        let of_tests = self.suite.iter().flat_map(Suite::obsolete);
        in_flight.filter(|trial| !wanted.contains(trial)).map(TrialId).chain(of_tests).collect()
    }

    /// Tells the procedure all answers that it waits for and that are known.
    fn advance(&mut self) {
        while self.stopped.is_none() && self.checks_due().next().is_none() {
            let Ok(asked) = self.procedure.question() else { return self.check_before_giving_up() };
            if asked.question == Question::Without && self.skip_without() {
                continue;
            }
            let Some((trial, _)) = self.find(&asked) else { return };
            self.stopped = self.distrust(TrialId(trial));
            let progress = &self.trials[trial];
            let (outcome, reported) = match progress.answer(self.options.runs_per_trial.get()) {
                Some((outcome, reported)) if self.stopped.is_none() => (outcome, reported.clone()),
                _ => return,
            };
            let answer = Answer { trial: TrialId(trial), outcome, reported: Some(&reported) };
            if self.check_before_naming(&answer) {
                return;
            }
            ranked::merge(self.options.order, &mut self.seen, &reported);
            self.procedure.answer(&answer);
            if asked.question == Question::None {
                self.calibrated = Some(self.procedure.clone());
            }
            self.trials[trial].put_away();
            let useless = |progress: &&mut Progress| !progress.is_over && !self.procedure.may_ask(&progress.asked);
            self.trials.iter_mut().filter(useless).for_each(Progress::put_away);
        }
    }

    /// Why what was observed in a trial cannot be believed.
    fn distrust(&self, id: TrialId) -> Option<Verdict> {
        let Progress { trial, reported, .. } = &self.trials[id.0];
        let unasked = |change: &ChangeId| !trial.selection.contains(*change);
        let changes: Vec<_> = reported.iter().copied().filter(unasked).take(8).collect();
        if !changes.is_empty() {
            // Not one change that it could have left out is missing.
            let ignores_pattern =
                self.seen.iter().all(|&change| ranked::contains(self.options.order, reported, change));
            return Some(Verdict::Unusable(Unusable::Unasked { trial: id, changes, ignores_pattern }));
        }
        (!self.trials[id.0].agrees()).then_some(Verdict::Inconsistent(Inconsistency::Runs(id)))
    }

    /// How the search ended, if it has. One over several tests ended like the worst of them, unless it was stopped; those
    /// that make [no difference](Verdict::NoDifference) on their own do not count, unless none does.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        match (&self.flaky, &self.suite) {
            (Some(flaky), _) => flaky.verdict().cloned(),
            (None, Some(suite)) => suite.verdict(),
            (None, None) if self.checks_due().next().is_some() => None,
            (None, None) => self.stopped.as_ref().or(self.procedure.question().err()).cloned(),
        }
    }

    /// The confirmed culprits so far. None after a [split](Self::split): there are [`culprits`](Self::culprits), and those
    /// of [each test](Self::found_by).
    #[must_use]
    pub fn found(&self) -> &[Culprit] {
        self.flaky.as_ref().map_or_else(|| self.procedure.found(), Flaky::found)
    }

    /// A trial of this search.
    ///
    /// # Panics
    /// If this search never wanted such a trial.
    #[must_use]
    pub fn trial(&self, id: TrialId) -> &Trial {
        match (&self.flaky, &self.suite) {
            (Some(flaky), _) if id.0 >= self.trials.len() => flaky.trial(id),
            (_, Some(suite)) if id.0 >= self.trials.len() => suite.trial(id),
            _ => &self.trials[id.0].trial,
        }
    }

    /// Trials begun so far. One whose only purpose was to make a run of another once more is none of its own, unless it ended
    /// otherwise.
    #[must_use]
    pub fn trials(&self) -> usize {
        let of_tests = self.suite.as_ref().map_or(0, Suite::trials);
        let under_noise = self.flaky.as_ref().map_or(0, Flaky::trials);
        let agreeing = self.repeats().filter(|&trial| self.trials[trial].started > 0).count();
        self.trials.iter().filter(|progress| progress.started > 0).count() - agreeing + of_tests + under_noise
    }

    /// Runs started so far.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// Counts a run that was made beside the search and tells it nothing: for [`runs`](Self::runs), and the most that may be
    /// made.
    pub fn count_run(&mut self) {
        self.runs += 1;
    }

    /// Distinct changes reported so far.
    #[must_use]
    pub fn changes(&self) -> usize {
        self.seen().len()
    }

    fn seen(&self) -> &[ChangeId] {
        self.flaky.as_ref().map_or(&self.seen, Flaky::known)
    }

    /// How many of those a selection selects.
    #[must_use]
    pub fn selected(&self, selection: &Selection) -> usize {
        selection.count(self.seen())
    }

    /// About how many trials are left, for the set that is being searched for to be found if one more change is needed.
    #[must_use]
    pub fn trials_left(&self) -> Option<usize> {
        if let Some(flaky) = &self.flaky {
            return flaky.runs_left();
        }
        if let Some(suite) = &self.suite {
            return Some(suite.trials_left());
        }
        let candidates = self.procedure.candidates()?.len();
        // Halving; the set on its own; the rest.
        Some(candidates.next_power_of_two().ilog2() as usize + 2)
    }

    /// The trials whose answers are wanted, the one that the procedure waits for first.
    fn wanted(&mut self) -> Vec<usize> {
        let checks: Vec<_> = self.checks_due().take(self.options.in_flight.get()).collect();
        if !checks.is_empty() {
            return checks;
        }
        if let Some(wanted) = &self.wanted {
            return wanted.clone();
        }
        let early_answer = |asked: &Asked| {
            let (trial, progress) = self.find(asked)?;
            let (outcome, reported) = progress.answer(self.options.runs_per_trial.get())?;
            Some((TrialId(trial), outcome, reported))
        };
        let mut asked = speculation::wanted(&self.procedure, self.options.in_flight.get(), early_answer);
        asked.retain(|asked| asked.question != Question::Without || !self.may_check());
        let index = |asked: Asked| match self.find(&asked) {
            Some((trial, _)) => trial,
            None => self.add(asked),
        };
        let wanted: Vec<_> = asked.into_iter().map(index).collect();
        self.wanted = Some(wanted.clone());
        wanted
    }

    fn runs_wanted(&self, trial: usize) -> usize {
        let is_check = self.checks.iter().any(|check| check.trial == trial);
        if is_check { 1 } else { self.options.runs_per_trial.get() }
    }

    fn find(&self, asked: &Asked) -> Option<(usize, &Progress)> {
        self.trials.iter().enumerate().find(|(_, progress)| !progress.is_over && progress.asked == *asked)
    }

    fn add(&mut self, asked: Asked) -> usize {
        let id = TrialId(self.trials.len());
        let trial = Trial { id, question: asked.question, selection: asked.selection.clone(), tests: vec![0] };
        self.trials.push(Progress {
            asked,
            trial,
            started: 0,
            outcomes: Vec::new(),
            reported: Arc::new([]),
            is_over: false,
        });
        id.0
    }
}
