//! The state of one search, for the loop and for the emission of events.

use std::{
    collections::{BTreeSet, HashMap},
    num::NonZeroUsize,
    sync::Arc,
    time::Duration,
};

use bisect_core::{
    ChangeId,
    search::{Options, Order, Question, Search, Selection, Trial, TrialId},
};

use super::{
    Lab, Named,
    noisy_stats::NoisyStats,
    parallelism_hint::ParallelismHint,
    passing::PassingStates,
    smallest_failure::SmallestFailure,
    target::{Runner, Target},
    texts::Texts,
    trials_left::TrialsLeft,
    untested_steps::UntestedSteps,
    usual_failures::UsualFailures,
    workers::{self, Workers},
};
use crate::{
    axes::{Axis, facts::LikelyKnown},
    process::processors::Processors,
    run::{
        repetition::Repetition,
        result::{Failed, RunResult},
        spec::{Choice, Purpose, RunSpec},
        target_kind::TargetKind,
    },
    vcs::since::Since,
};

/// The number of executions, and the time for them, before the search says that a target that passes both ways has
/// nothing to find.
const EXTRA_EXECUTIONS: usize = 10;
const EXTRA_TIME: Duration = Duration::from_secs(30);

/// A search in progress.
pub(super) struct Session<'s, 'lab, 'scope, 'env, T: Target> {
    pub(super) lab: &'s mut Lab<'lab>,
    pub(super) target: &'s mut T,
    pub(super) search: Search,
    /// The lines that changed lately. Changes on these are tried first.
    pub(super) since: Option<Since>,
    pub(super) workers: Workers<'scope, 'env, T::Runner>,
    /// Runs that are over and cannot be judged yet.
    pub(super) awaiting_judgement: Vec<(Arc<RunSpec>, <T::Runner as Runner>::Observations)>,
    /// The control runs for a trial that awaits judgement.
    pub(super) controls: Option<Controls>,
    /// The number of recorded runs with every change, and with none.
    pub(super) ends: [usize; 2],
    /// The numbers of trials that were shown.
    pub(super) numbers: HashMap<TrialId, usize>,
    /// The runs of each trial, by their numbers.
    pub(super) runs: HashMap<TrialId, Vec<usize>>,
    /// The number of the first run of the whole target in each end state.
    pub(super) run_at_end: HashMap<Question, usize>,
    /// Reports with text.
    pub(super) texts: Texts,
    /// The progress of trials in flight.
    pub(super) progress: HashMap<TrialId, Progress>,
    /// The results of trials that may confirm a culprit, one for each of their tests.
    pub(super) confirming_runs: HashMap<TrialId, Vec<RunResult>>,
    /// The outcomes of runs of everything but the culprits.
    pub(super) passing: PassingStates,
    /// The culprits that were emitted, in that order.
    pub(super) emitted: Vec<BTreeSet<ChangeId>>,
    /// The culprits as they were emitted last.
    pub(super) named: Vec<Named>,
    /// The names of the tests, once the search goes on for each of them.
    pub(super) tests: Option<Vec<String>>,
    /// The hint that more runs at once would help; none if there are several already.
    pub(super) parallelism_hint: Option<ParallelismHint>,
    /// The tests that failed in each failing run at an end, and in the run that checks them.
    pub(super) failed_at_end: Vec<Vec<String>>,
    /// The searched failures, each once. Runs have none if every failure counts.
    pub(super) failures: Vec<Failed>,
    /// The number of executions with every change that passed, and the time of the last run of them.
    pub(super) passed_with_all: usize,
    pub(super) duration_with_all: Duration,
    /// The latest trial at the end that fails.
    pub(super) failing_end: Option<Trial>,
    /// The steps that no run could test, for a counter.
    pub(super) untested_steps: UntestedSteps,
    /// The runs that failed as at the end that passes.
    pub(super) usual_failures: UsualFailures,
    /// The smallest failing set so far.
    pub(super) smallest_failure: SmallestFailure,
    /// The cost of runs, for a noisy target.
    pub(super) noisy_stats: NoisyStats,
    /// The number of trials left that was shown last.
    pub(super) trials_left: TrialsLeft,
}

/// The runs that are still to be made for one trial, which awaits judgement.
pub(super) struct Controls {
    pub(super) trial: TrialId,
    /// The runs to start, the last one first.
    pub(super) wanted: Vec<(Purpose, Trial)>,
    pub(super) is_in_flight: bool,
}

/// A run that answers no question of the search.
pub(super) struct SideRun {
    pub(super) purpose: Purpose,
    pub(super) trial: Trial,
    pub(super) choice: Choice,
    pub(super) repetition: Repetition,
}

/// The progress of a trial in flight.
#[derive(Default)]
pub(super) struct Progress {
    /// The pattern that its runs got.
    pub(super) pattern: String,
    /// The number of runs that have begun.
    pub(super) started: usize,
    /// The number of runs that were judged.
    pub(super) runs: usize,
    pub(super) duration: Duration,
    pub(super) matches: usize,
    /// The start of the first run since the command began to search, in milliseconds.
    pub(super) start_ms: u64,
    /// The slot of the first run.
    pub(super) slot: usize,
}

impl<'s, 'lab, 'scope, 'env, T: Target> Session<'s, 'lab, 'scope, 'env, T> {
    pub(super) fn new(lab: &'s mut Lab<'lab>, target: &'s mut T, workers: Workers<'scope, 'env, T::Runner>) -> Self {
        let (facts, order) = (target.axis().facts(), target.axis().numbering().order);
        // Where no run for text is needed, it costs nothing to know the places of changes.
        let is_free = !facts.reporter.needs_text_run() && order != Order::Counter && !facts.sources.differ();
        let since = lab.since.clone().or_else(|| if is_free { Since::found(target.root()) } else { None });
        let favours = since.is_some() || facts.likely == LikelyKnown::AfterEnds;
        let direction = target.axis().numbering().only_direction().or(lab.options.direction);
        let options = Options { order, direction, favours, max_runs: lab.runs_left(), ..lab.options.clone() };
        let mut search = Search::new(options);
        search.favour([likely_before_runs(target.axis()).map(|id| order.rank(id)).collect()]);
        Self {
            search,
            since,
            parallelism_hint: (lab.jobs.get() == 1).then(|| ParallelismHint::new(Processors::now())),
            lab,
            target,
            workers,
            awaiting_judgement: Vec::new(),
            controls: None,
            ends: [0; 2],
            numbers: HashMap::new(),
            runs: HashMap::new(),
            run_at_end: HashMap::new(),
            texts: Texts::default(),
            progress: HashMap::new(),
            confirming_runs: HashMap::new(),
            passing: PassingStates::default(),
            emitted: Vec::new(),
            named: Vec::new(),
            tests: None,
            failed_at_end: Vec::new(),
            failures: Vec::new(),
            passed_with_all: 0,
            duration_with_all: Duration::ZERO,
            failing_end: None,
            untested_steps: UntestedSteps::default(),
            usual_failures: UsualFailures::default(),
            smallest_failure: SmallestFailure::default(),
            noisy_stats: NoisyStats::default(),
            trials_left: TrialsLeft::default(),
        }
    }

    /// Returns the changes that the axis calls likely before the first run.
    pub(super) fn likely_before_runs(&self) -> impl Iterator<Item = ChangeId> {
        likely_before_runs(self.target.axis())
    }

    /// Starts a run that answers no question of the search.
    pub(super) fn start_beside_search(&mut self, slot: usize, run: SideRun) {
        let SideRun { purpose, trial, choice, repetition } = run;
        self.search.count_run();
        let number = self.lab.totals.runs + self.search.progress().runs();
        let tests = self.tests.as_ref().map(|_| trial.tests.clone());
        let spec = RunSpec { purpose, repetition, tests, ..self.lab.spec(number, trial, choice, slot) };
        self.workers.start(spec, &self.target.known_failures());
    }

    /// Returns the question of the end that has failed.
    pub(super) fn failing_question(&self) -> Option<Question> {
        self.failing_end.as_ref().map(|trial| trial.question)
    }

    /// Ends runs that do not matter any more.
    pub(super) fn end_obsolete(&mut self) {
        for id in self.search.obsolete() {
            let held = self.awaiting_judgement.extract_if(.., |(spec, _)| spec.trial.id == id);
            let held = held.map(|(spec, _)| workers::delete_files(&spec)).count();
            let ended = held + self.workers.end(|spec| spec.purpose == Purpose::Answer && spec.trial.id == id);
            (0..ended).for_each(|_| self.search.cancel(id));
            self.progress.remove(&id);
        }
    }

    /// Returns how often the next run executes the target. If the target is noisy and each run begins with a build,
    /// executions take as much time as builds: that is at most twice the time of the best choice.
    pub(super) fn repetition(&self) -> Repetition {
        match self.lab.repetition {
            Repetition::Once if self.search.progress().is_noisy() && !self.lab.is_repeated => {
                self.noisy_stats.repetition()
            }
            asked => asked,
        }
    }

    /// Returns how often a run of this trial executes the target. The user expects a failure. Where it passes at both
    /// ends, the runs that check the end with every change execute it more often: a build that has passed would only be
    /// up to date.
    pub(super) fn repetition_of(&self, trial: &Trial) -> Repetition {
        let is_check = trial.question == Question::AllOn && self.search.trial_state(trial.id).repeats().is_some();
        let passes_both_ways = self.tests.is_none() && self.knows_ends() && self.failed_at_end.is_empty();
        if self.lab.repetition != Repetition::Once
            || !is_check
            || !passes_both_ways
            || self.target.kind() == TargetKind::Build
        {
            return self.repetition();
        }
        // There are at least two checks, and as many as runs at once.
        let checks = u32::try_from(self.lab.jobs.get().clamp(2, 4)).unwrap_or(2);
        let in_time = EXTRA_TIME.as_nanos() / self.duration_with_all.as_nanos().max(1) / u128::from(checks);
        let times = usize::try_from(in_time).unwrap_or(usize::MAX).min(EXTRA_EXECUTIONS.div_ceil(checks as usize));
        Repetition::new(NonZeroUsize::new(times), None)
    }

    /// Returns the number of steps that a selection switches, of a counter, in the order of the search.
    pub(super) fn steps(&self, selection: &Selection) -> Option<usize> {
        let known = self.search.progress().changes();
        let is_counter = self.target.axis().numbering().order == Order::Counter && known > 0;
        let limit = selection.counter_limit(known);
        is_counter.then_some(if selection.inverted { known - limit } else { limit })
    }

    /// Returns true if a trial is of the whole target in an end state.
    pub(super) fn is_end(&self, trial: &Trial) -> bool {
        self.tests.is_none() && matches!(trial.question, Question::AllOn | Question::AllOff)
    }

    /// Returns true if a run that decides which failures count is in flight: one without the changes that this trial
    /// omits.
    pub(super) fn waits_for_rest(&self, trial: &Trial) -> bool {
        let left_out = &trial.selection.excluded;
        let is_of = |rest: &&Trial| {
            let without = &rest.selection.excluded;
            rest.tests.iter().any(|test| trial.tests.contains(test)) && without.iter().all(|id| left_out.contains(id))
        };
        let rests =
            || self.workers.trials().filter(|rest| rest.question == Question::AllButFound && rest.id != trial.id);
        // While control runs are made, it is not known which failures count.
        self.controls.is_some() && trial.question != Question::AllButFound
            || !left_out.is_empty() && !self.search.progress().is_noisy() && rests().any(|rest| is_of(&rest))
    }

    /// Returns whether enough runs with every change and with no change were recorded.
    pub(super) fn knows_ends(&self) -> bool {
        if self.tests.is_some() {
            // A split search recorded both ends before the split.
            return true;
        }
        // Under noise each run is a trial.
        let runs = if self.search.progress().is_noisy() { 1 } else { self.lab.options.runs_per_trial.get() };
        self.ends.iter().all(|&recorded| recorded >= runs)
    }
}

/// Returns the changes that an axis calls likely before the first run.
fn likely_before_runs(axis: &dyn Axis) -> impl Iterator<Item = ChangeId> + use<> {
    let is_known = axis.facts().likely == LikelyKnown::BeforeRuns;
    let groups = if is_known { axis.likely(&[]) } else { Vec::new() };
    groups.into_iter().flatten()
}
