//! A search that runs two engines in lockstep, and compares each step, each verdict and each view, as long as both make
//! the same runs: where several runs are in flight, the present engine proposes others.

use std::{collections::BTreeSet, fmt::Debug, num::NonZeroUsize};

pub use bisect_core::search::*;
use bisect_core::search::{self as now};

use crate::before;

/// A search by both engines.
#[derive(Clone, Debug)]
pub struct Search {
    now: now::Search,
    /// The search by the old engine; `None` if the proposer of the present one may choose other runs.
    before: Option<before::Search>,
    options: Options,
    /// The trials that were started.
    started: BTreeSet<TrialId>,
}

impl Search {
    /// See [`now::Search::new`].
    #[must_use]
    pub fn new(options: Options) -> Self {
        let may_propose = proposes(options.in_flight, &options);
        let before = (!may_propose).then(|| before::Search::new(old_options(&options)));
        Self { options: options.clone(), now: now::Search::new(options), before, started: BTreeSet::new() }
    }

    /// See [`now::Search::step`].
    ///
    /// # Panics
    /// If the engines differ, as every function here.
    pub fn step(&mut self) -> Step {
        let step = self.now.step();
        if let Some(before) = &mut self.before {
            same("step", &step, &before.step());
        }
        match &step {
            Step::Run(trial) => {
                self.started.insert(trial.id);
                self.compare_trial(trial.id);
            }
            Step::Wait => {}
            Step::Done(_) => self.started.iter().for_each(|&trial| self.compare_trial(trial)),
        }
        self.compare_progress();
        step
    }

    /// See [`now::Search::record`].
    pub fn record(&mut self, id: TrialId, observations: impl IntoIterator<Item = Observation>) {
        let observations: Vec<_> = observations.into_iter().collect();
        if let Some(before) = &mut self.before {
            before.record(old_id(id), observations.iter().map(old_observation));
        }
        self.now.record(id, observations);
        self.compare_trial(id);
        self.compare();
    }

    /// See [`now::Search::cancel`].
    pub fn cancel(&mut self, id: TrialId) {
        self.now.cancel(id);
        if let Some(before) = &mut self.before {
            before.cancel(old_id(id));
        }
        self.compare_trial(id);
        self.compare();
    }

    /// See [`now::Search::set_in_flight`].
    pub fn set_in_flight(&mut self, in_flight: NonZeroUsize) {
        self.now.set_in_flight(in_flight);
        self.before = self.before.take().filter(|_| !proposes(in_flight, &self.options));
        if let Some(before) = &mut self.before {
            before.set_in_flight(in_flight);
        }
        self.compare();
    }

    /// See [`now::Search::favour`].
    pub fn favour(&mut self, groups: impl IntoIterator<Item = Vec<Rank>>) {
        let groups: Vec<_> = groups.into_iter().collect();
        if let Some(before) = &mut self.before {
            before.favour(groups.iter().map(|group| group.iter().copied().map(old_rank).collect()));
        }
        self.now.favour(groups);
        self.compare();
    }

    /// See [`now::Search::obsolete`].
    #[must_use]
    pub fn obsolete(&mut self) -> Vec<TrialId> {
        let obsolete = self.now.obsolete();
        if let Some(before) = &mut self.before {
            same("obsolete", &obsolete, &before.obsolete());
        }
        obsolete
    }

    /// See [`now::Search::verdict`].
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        self.now.verdict()
    }

    /// See [`now::Search::test`].
    #[must_use]
    pub fn test(&self, test: usize) -> TestView<'_> {
        self.now.test(test)
    }

    /// See [`now::Search::trial_state`].
    #[must_use]
    pub fn trial_state(&self, id: TrialId) -> TrialView<'_> {
        self.compare_trial(id);
        self.now.trial_state(id)
    }

    /// See [`now::Search::progress`].
    #[must_use]
    pub fn progress(&self) -> ProgressView<'_> {
        self.now.progress()
    }

    /// See [`now::Search::trial`].
    #[must_use]
    pub fn trial(&self, id: TrialId) -> &Trial {
        let trial = self.now.trial(id);
        if let Some(before) = &self.before {
            same("trial", trial, before.trial(old_id(id)));
        }
        trial
    }

    /// See [`now::Search::count_run`].
    pub fn count_run(&mut self) {
        self.now.count_run();
        if let Some(before) = &mut self.before {
            before.count_run();
        }
        self.compare();
    }

    /// See [`now::Search::set_costs`].
    pub fn set_costs(&mut self, failing: f64, passing: f64) {
        self.now.set_costs(failing, passing);
        if let Some(before) = &mut self.before {
            before.set_costs(failing, passing);
        }
        self.compare();
    }

    /// See [`now::Search::record_extra_execution`].
    pub fn record_extra_execution(&mut self, id: TrialId, observation: &Observation) {
        self.now.record_extra_execution(id, observation);
        if let Some(before) = &mut self.before {
            before.record_extra_execution(old_id(id), &old_observation(observation));
        }
        self.compare();
    }

    /// See [`now::Search::recheck_failing_end`].
    pub fn recheck_failing_end(&mut self) {
        self.now.recheck_failing_end();
        if let Some(before) = &mut self.before {
            before.recheck_failing_end();
        }
        self.compare();
    }

    /// See [`now::Search::can_split`].
    #[must_use]
    pub fn can_split(&self) -> bool {
        self.now.can_split()
    }

    /// See [`now::Search::split`].
    pub fn split(&mut self, tests: NonZeroUsize) {
        self.now.split(tests);
        if let Some(before) = &mut self.before {
            before.split(tests);
        }
        self.compare();
    }

    /// See [`now::Search::switch_to_noisy`].
    pub fn switch_to_noisy(&mut self, test: usize) {
        self.now.switch_to_noisy(test);
        if let Some(before) = &mut self.before {
            before.switch_to_noisy(test);
        }
        self.compare();
    }

    /// See [`now::Search::culprits`].
    #[must_use]
    pub fn culprits(&self) -> Vec<Shared<'_>> {
        self.now.culprits()
    }

    /// Compares the results of all tests, and the progress.
    fn compare(&self) {
        self.compare_progress();
        (0..self.now.progress().tests()).for_each(|test| self.compare_test(test));
    }

    fn compare_progress(&self) {
        let Some(before) = &self.before else { return };
        same("verdict", &self.now.verdict(), &before.verdict());
        same("can split", &self.now.can_split(), &before.can_split());
        same("culprits", &self.now.culprits(), &before.culprits());
        let (now, before) = (self.now.progress(), before.progress());
        same("tests", &now.tests(), &before.tests());
        same("trials", &now.trials(), &before.trials());
        same("trials left", &now.trials_left(), &before.trials_left());
        same("candidates", &now.candidates(), &before.candidates());
        same("runs", &now.runs(), &before.runs());
        same("changes", &now.changes(), &before.changes());
        same("undecided", &now.undecided(), &before.undecided());
        same("under check", &now.culprit_under_check(), &before.culprit_under_check());
        same("expected", &now.expected_culprit(), &before.expected_culprit());
        same("noisy", &now.is_noisy(), &before.is_noisy());
    }

    fn compare_test(&self, test: usize) {
        let Some(before) = &self.before else { return };
        let (now, before) = (self.now.test(test), before.test(test));
        same("verdict of a test", &now.verdict(), &before.verdict());
        same("found", &now.found(), &before.found());
        same("noisy test", &now.is_noisy(), &before.is_noisy());
        same("estimate", &now.estimate(), &before.estimate());
        for index in 0..=now.found().len() {
            same("certainty", &now.certainty(index), &before.certainty(index));
        }
    }

    fn compare_trial(&self, id: TrialId) {
        let Some(before) = &self.before else { return };
        let (now, before) = (self.now.trial_state(id), before.trial_state(old_id(id)));
        same("repeats", &now.repeats(), &before.repeats());
        same("runs of a trial", &now.runs(), &before.runs());
        same("selected", &now.selected(), &before.selected());
        same("enabled", &now.enabled(), &before.enabled());
    }
}

/// Returns true if the proposer fills slots: several runs are in flight, of a test that is believed, and a run may switch
/// any changes.
fn proposes(in_flight: NonZeroUsize, options: &Options) -> bool {
    in_flight.get() > 1 && options.order != Order::Counter && !matches!(options.noise, Noise::Expected(_))
}

/// Panics if the results of both engines differ. Their types have the same names, but are different types.
#[track_caller]
fn same(what: &str, now: &impl Debug, before: &impl Debug) {
    let (now, before) = (format!("{now:?}"), format!("{before:?}"));
    assert!(now == before, "{what}: {now} instead of {before}");
}

fn old_options(options: &Options) -> before::Options {
    before::Options {
        order: match options.order {
            Order::ByHash => before::Order::ByHash,
            Order::Given => before::Order::Given,
            Order::Counter => before::Order::Counter,
        },
        direction: options.direction.map(|mode| match mode {
            Mode::Enable => before::Mode::Enable,
            Mode::Disable => before::Mode::Disable,
        }),
        in_flight: options.in_flight,
        favours: options.favours,
        runs_per_trial: options.runs_per_trial,
        noise: match options.noise {
            Noise::Refused => before::Noise::Refused,
            Noise::Suspected(confidence) => before::Noise::Suspected(confidence),
            Noise::Expected(confidence) => before::Noise::Expected(confidence),
        },
        seed: options.seed,
        max_sets: options.max_sets,
        max_set_size: options.max_set_size,
        max_runs: options.max_runs,
    }
}

fn old_id(id: TrialId) -> before::TrialId {
    before::TrialId(id.0)
}

fn old_rank(rank: Rank) -> before::Rank {
    before::Rank(rank.0)
}

fn old_observation(observation: &Observation) -> before::Observation {
    let outcome = match observation.outcome {
        Outcome::Pass => before::Outcome::Pass,
        Outcome::Fail => before::Outcome::Fail,
        Outcome::Unresolved(reason) => before::Outcome::Unresolved(match reason {
            Reason::Build => before::Reason::Build,
            Reason::Spawn => before::Reason::Spawn,
            Reason::Timeout => before::Reason::Timeout,
            Reason::Environment => before::Reason::Environment,
            _ => before::Reason::Skip,
        }),
    };
    before::Observation { outcome, reported: observation.reported.iter().copied().map(old_rank).collect() }
}
