//! The search over several tests: each test has its own search, and every run answers for as many tests as possible.
//!
//! First each test is run in its own process. A question that names its changes (Does this set fail alone? Does
//! anything else fail?) needs an exact run. The run also answers for every other test to which it is equivalent: see
//! [`joint`]. Prefixes are *pooled*: [`pool`] chooses the selection, and [`mod@test`] interprets the result for a test.
//! If one trial may be in flight, pooled runs come first: they bring tests to the same questions, which are then asked
//! once. Tests that contradict themselves have a noisy search, and take turns with all others: see [`noisy_test`] and
//! [`schedule`].

mod checks;
mod guess;
mod joint;
mod noisy_test;
mod planner;
mod pool;
mod pooled_group;
mod schedule;
mod shared_trial;
mod shared_trials;
mod test;
mod test_mode;

use alloc::{collections::BTreeSet, vec, vec::Vec};
use core::num::NonZeroUsize;

use pool::Pool;
use shared_trial::{Plan, Purpose, SharedTrial};
use shared_trials::SharedTrials;
use test::Test;

use crate::before::{
    model::{
        Options, Step,
        noise::Noise,
        rank::Rank,
        ranked,
        selection::Selection,
        trial::{Observation, Question, Trial, TrialId},
        verdict::{Incomplete, Inconsistency, Shared, Verdict},
    },
    sequential::{Answer, Procedure},
};

/// The search over several tests.
#[derive(Clone, Debug)]
pub(super) struct Suite {
    /// Every change ever reported, in order.
    known: Vec<Rank>,
    tests: Vec<Test>,
    /// The trials that were begun.
    trials: SharedTrials,
    /// The culprits, in the order in which they were found: the test, and the index among the culprits of this test.
    found: Vec<(usize, usize)>,
    pool: Pool,
    /// True if the last trial for reliable tests was a pooled one.
    is_pooling: bool,
    /// True if the last trial was for noisy tests.
    was_noisy_turn: bool,
    /// True if the run that checks if tests are reliable is still to be made.
    is_unchecked: bool,
    /// A verdict that overrides those of the tests.
    stopped: Option<Verdict>,
}

impl Suite {
    /// Returns a search over this number of tests, each of which continues like `procedure`; trials are numbered from
    /// `first` on.
    pub(super) fn new(
        procedure: &Procedure,
        known: Vec<Rank>,
        tests: NonZeroUsize,
        first: usize,
        options: &Options,
    ) -> Self {
        let mut this = Self {
            known,
            tests: vec![Test::new(procedure.for_test()); tests.get()],
            trials: SharedTrials::new(first),
            found: Vec::new(),
            pool: Pool {
                culprits: BTreeSet::new(),
                likely_groups: procedure.likely_groups(),
                model: procedure.mode().everything(),
            },
            is_pooling: true,
            was_noisy_turn: true,
            is_unchecked: matches!(options.noise, Noise::Suspected(_)) && options.runs_per_trial == NonZeroUsize::MIN,
            stopped: None,
        };
        if let Noise::Expected(_) = options.noise {
            (0..tests.get()).for_each(|test| this.switch_to_noisy(test, options));
        }
        this
    }

    /// Returns the next step, after `runs` runs were started.
    pub(super) fn step(&mut self, options: &Options, runs: usize) -> Step {
        if let Some(verdict) = self.verdict() {
            return Step::Done(verdict);
        }
        let useful = self.useful();
        let in_flight = useful.iter().filter(|&&trial| self.trials.get(trial).in_flight() > 0).count();
        let has_room = in_flight < options.in_flight.get();
        // A cancelled trial may be useful again, or lack some of its runs.
        let may_start = |trial: &SharedTrial| trial.may_start() && (has_room || trial.in_flight() > 0);
        let next = useful.iter().copied().find(|&trial| may_start(self.trials.get(trial)));
        if options.max_runs.is_some_and(|max| runs >= max) {
            // The runs in flight may still have useful results.
            return if in_flight > 0 { Step::Wait } else { Step::Done(self.stop_at_limit()) };
        }
        let plan = if next.is_none() && has_room { self.choose(&useful, options) } else { None };
        let Some(next) = next.or_else(|| plan.map(|plan| self.begin(plan, options))) else {
            // A noisy search may have ended because it has no question.
            return self.verdict().map_or(Step::Wait, Step::Done);
        };
        let next = self.trials.get_mut(next);
        next.start();
        Step::Run(next.trial.clone())
    }

    /// Ends every search that has not ended.
    fn stop_at_limit(&mut self) -> Verdict {
        self.is_unchecked = false;
        let limit = Verdict::Incomplete(Incomplete::MaxRuns);
        let is_decided = self.undecided() == 0;
        for test in &mut self.tests {
            match test.mode.search_mut() {
                Some(search) => {
                    search.end_at_limit();
                }
                None => test.stop(limit.clone()),
            }
        }
        let is_stopped = self.tests.iter().any(|test| test.verdict() == Some(&limit));
        self.stopped = (is_stopped && !is_decided).then_some(limit);
        self.verdict().expect("all searches have ended")
    }

    fn begin(&mut self, Plan { question, selection, tests, purpose, toss }: Plan, options: &Options) -> TrialId {
        debug_assert!(!tests.is_empty(), "every trial has a test that learns from it");
        match purpose {
            Purpose::Answer => self.is_pooling = false,
            Purpose::Guess => self.is_pooling = true,
            Purpose::Check | Purpose::Evidence => {}
        }
        self.was_noisy_turn = purpose == Purpose::Evidence;
        let id = self.trials.next_id();
        let trial = Trial { id, question, selection, tests };
        if purpose == Purpose::Evidence {
            trial.tests.iter().for_each(|&test| self.tests[test].mode.begin(&trial, toss.as_ref()));
        }
        self.trials.push(SharedTrial::new(trial, purpose, options.runs_per_trial.get()));
        id
    }

    /// Takes the result of one run of a trial, for each of its tests.
    pub(super) fn record(&mut self, id: TrialId, observations: Vec<Observation>, options: &Options) {
        let shared = self.trials.get_mut(id);
        let trial = shared.trial.clone();
        let is_check = shared.purpose == Purpose::Check;
        let reported = observations.iter().flat_map(|observation| &observation.reported);
        let mut reported: Vec<_> = reported.copied().filter(|&id| trial.selection.contains(id)).collect();
        ranked::sort(&mut reported);
        ranked::merge(&mut self.known, &reported);
        for (&number, observation) in trial.tests.iter().zip(&observations) {
            let test = &mut self.tests[number];
            if test.noisy().is_none() && (is_check || shared.is_open_for(number)) {
                test.note(id, &trial.selection, observation);
            }
            let found = test.found().len();
            test.weigh(&trial, observation, options);
            self.found.extend((found..test.found().len()).map(|which| (number, which)));
        }
        let outcomes: Vec<_> = observations.iter().map(|observation| observation.outcome).collect();
        shared.record(observations);
        for (index, test) in shared.open_tests() {
            if !shared.agree(index) {
                self.tests[test].stop(Verdict::Inconsistent(Inconsistency::Runs(id)));
            }
        }
        for (&test, &outcome) in trial.tests.iter().zip(&outcomes) {
            if is_check && self.tests[test].is_surprised_by(&trial, outcome) {
                self.switch_to_noisy(test, options);
            }
        }
        self.advance(options);
        if matches!(options.noise, Noise::Suspected(_)) {
            self.tests.iter_mut().for_each(checks::of_large_set);
        }
        for test in 0..self.tests.len() {
            if self.tests[test].is_contradictory() {
                self.switch_to_noisy(test, options);
            }
        }
    }

    pub(super) fn cancel(&mut self, id: TrialId) {
        let shared = self.trials.get_mut(id);
        shared.cancel();
        shared.trial.tests.iter().for_each(|&test| self.tests[test].mode.cancel(id));
    }

    /// Returns the trials with runs in flight that are of no use to any test.
    pub(super) fn obsolete(&self) -> Vec<TrialId> {
        let useful = if self.verdict().is_some() { Vec::new() } else { self.useful() };
        let in_flight = self.trials.iter().filter(|shared| shared.in_flight() > 0).map(|shared| shared.trial.id);
        in_flight.filter(|trial| !useful.contains(trial)).collect()
    }

    /// Returns the trials that are begun and not answered, and useful to a test.
    fn useful(&self) -> Vec<TrialId> {
        let is_useful = |shared: &SharedTrial| match shared.purpose {
            Purpose::Answer | Purpose::Guess => {
                shared.open_tests().any(|(_, test)| is_useful_to(&self.tests[test], &shared.trial))
            }
            Purpose::Check => true,
            // A cancelled question is asked again if it is still worth most.
            Purpose::Evidence => {
                shared.in_flight() > 0 && shared.trial.tests.iter().any(|&test| self.tests[test].verdict().is_none())
            }
        };
        let useful = self.trials.iter().filter(|shared| !shared.is_complete() && is_useful(shared));
        useful.map(|shared| shared.trial.id).collect()
    }

    /// Passes all known answers to the tests that wait for them.
    fn advance(&mut self, options: &Options) {
        // An answer may lead a test to a question that is already answered.
        while self.pass_on(options) {}
        // Other questions were asked early, and then turned out not to matter.
        let tests = &self.tests;
        for shared in self.trials.iter_mut().filter(|shared| shared.is_complete()) {
            let open = shared.open_tests().filter(|&(_, test)| !is_useful_to(&tests[test], &shared.trial));
            for (index, _) in open.collect::<Vec<_>>() {
                shared.close(index);
            }
        }
    }

    /// Passes the answers to the tests that wait for them now. Returns true if there were any.
    fn pass_on(&mut self, options: &Options) -> bool {
        let mut has_answered = false;
        for shared in self.trials.iter_mut().filter(|shared| shared.is_complete()) {
            for (index, number) in shared.open_tests().collect::<Vec<_>>() {
                let test = &mut self.tests[number];
                if !test.awaits(shared.trial.question, &shared.trial.selection) {
                    continue;
                }
                let found = test.found().len();
                let (outcome, reported) = shared.answer(index);
                let answer = Answer { trial: shared.trial.id, outcome, reported: Some(&reported) };
                if checks::before_naming(test, &shared.trial.selection, &answer, options) {
                    continue;
                }
                shared.close(index);
                test.answer(&shared.trial.selection, &answer);
                for (which, culprit) in test.found().iter().enumerate().skip(found) {
                    self.found.push((number, which));
                    self.pool.culprits.extend(&culprit.changes);
                }
                has_answered = true;
            }
        }
        has_answered
    }

    /// Returns the verdict, if the search has ended: the worst of the tests' verdicts.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        if let Some(stopped) = &self.stopped {
            return Some(stopped.clone());
        }
        let verdicts = self.tests.iter().map(Test::verdict).collect::<Option<Vec<_>>>()?;
        if self.is_being_checked() {
            return None;
        }
        let rank = |verdict: &&Verdict| match verdict {
            Verdict::NoDifference(_) => 0,
            Verdict::Complete => 1,
            Verdict::Incomplete(_) => 2,
            Verdict::Inconsistent(_) => 3,
            Verdict::Unusable(_) => 4,
        };
        // Of equally bad verdicts, the one of the first test counts.
        verdicts.into_iter().rev().max_by_key(rank).cloned()
    }

    /// Returns every change ever reported, in order.
    pub(super) fn known(&self) -> &[Rank] {
        &self.known
    }

    pub(super) fn tests(&self) -> usize {
        self.tests.len()
    }

    pub(super) fn test(&self, number: usize) -> &Test {
        &self.tests[number]
    }

    /// Returns the culprits so far. A culprit of several tests is one entry.
    pub(super) fn culprits(&self) -> Vec<Shared<'_>> {
        let found = self.found.iter().map(|&(test, which)| (test, &self.tests[test].found()[which]));
        Shared::group(found)
    }

    pub(super) fn undecided(&self) -> usize {
        self.tests.iter().filter(|test| test.verdict().is_none()).count()
    }

    /// Returns the trials begun since the split.
    pub(super) fn trials(&self) -> &SharedTrials {
        &self.trials
    }

    /// Returns the number of candidates of the test with the most.
    pub(super) fn candidates(&self) -> Option<usize> {
        self.tests.iter().filter_map(|test| Some(test.narrowing()?.candidates.len())).max()
    }

    /// Estimates the number of trials left, if each test needs one more change.
    pub(super) fn trials_left(&self) -> usize {
        let asked = self.tests.iter().enumerate().filter_map(|(i, test)| Some((i, test.asks()?)));
        let asked = joint::runs(&self.tests, asked).len();
        let candidates = self.candidates().unwrap_or(0);
        let halvings = candidates.next_power_of_two().ilog2() as usize;
        let noisy = self.tests.iter().filter(|test| test.mode.turns().is_some());
        let under_noise: usize = noisy.map(|test| test.mode.runs_left()).sum();
        // The sum of pooled halvings, the present questions, one run of each set alone, one of the rest, and the noisy
        // runs.
        halvings + asked + if halvings > 0 { 2 } else { 0 } + under_noise
    }
}

/// Returns true if the answer to a trial is useful to a test now, or if the question is the next one.
fn is_useful_to(test: &Test, trial: &Trial) -> bool {
    let is_next =
        |(question, own): (Question, Selection)| question == trial.question && test.is_as_good(&trial.selection, &own);
    test.awaits(trial.question, &trial.selection) || test.asks_next().is_some_and(is_next)
}
