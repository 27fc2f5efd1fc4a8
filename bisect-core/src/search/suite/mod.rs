//! The search over one test or several, which share runs.
//!
//! Each test proves its own culprits, and every run answers for as many tests as possible. A search begins with one
//! test, the whole target, whose trials [`unsplit`] chooses. It may be split. Then each test is first run in its own
//! process. A question that names its changes (Does this set fail alone? Does anything else fail?) needs an exact run.
//! The run also answers for every other test to which it is equivalent: see [`joint`]. Prefixes are *pooled*: [`pool`]
//! chooses the selection, and a [`Test`] interprets the result. If one trial may be in flight, pooled runs come first:
//! they bring tests to the same questions, which are then asked once. Tests that contradict themselves have a noisy
//! search, and take turns with all others: see [`schedule`].

mod checks;
mod joint;
mod plan;
mod planner;
mod pool;
mod pooled_group;
mod schedule;

use alloc::{collections::BTreeSet, vec, vec::Vec};
use core::num::NonZeroUsize;

use plan::Plan;
use pool::Pool;

use crate::search::{
    ledger::{Asked, Entry, Ledger, Why},
    model::{
        Options, Step,
        noise::Noise,
        rank::Rank,
        ranked,
        selection::Selection,
        trial::{Observation, Question, Trial, TrialId},
        verdict::{Incomplete, Inconsistency, Shared, Verdict},
    },
    noisy::NoisyState,
    sequential::{Answer, Procedure},
    test::{self, Test},
    unsplit::{self, Unsplit},
};

/// The search over one test or several.
#[derive(Clone, Debug)]
pub(super) struct Suite {
    pub(super) tests: Vec<Test>,
    /// The choice of the next trial, until the search is split.
    pub(super) unsplit: Option<Unsplit>,
    /// Every change ever reported, in order; empty before the split.
    known: Vec<Rank>,
    /// The culprits since the split, in the order in which they were found: the test, and the index among the culprits
    /// of this test.
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
    /// Returns a search over one test.
    pub(super) fn new(ledger: &Ledger, options: &Options) -> Self {
        let procedure = Procedure::new(options.clone());
        let mut this = Self::over(vec![Test::new(procedure.clone())], &procedure);
        this.unsplit = Some(Unsplit::new(options));
        this.expect_noise(ledger, options);
        this
    }

    /// Returns a search over these tests. The procedure supplies the direction and the likely groups that all of them
    /// start with.
    fn over(tests: Vec<Test>, procedure: &Procedure) -> Self {
        Self {
            tests,
            unsplit: None,
            known: Vec::new(),
            found: Vec::new(),
            pool: Pool {
                culprits: BTreeSet::new(),
                likely_groups: procedure.likely_groups(),
                model: procedure.mode().everything(),
            },
            is_pooling: true,
            was_noisy_turn: true,
            is_unchecked: false,
            stopped: None,
        }
    }

    /// Switches all tests to noisy searches, if noise is expected.
    fn expect_noise(&mut self, ledger: &Ledger, options: &Options) {
        if let Noise::Expected(_) = options.noise {
            (0..self.tests.len()).for_each(|test| self.switch_to_noisy(test, ledger, options));
        }
    }

    /// Splits the search into this number of tests.
    pub(super) fn split(&mut self, tests: NonZeroUsize, ledger: &mut Ledger, options: &Options) {
        let calibrated = self.unsplit.as_ref().and_then(Unsplit::calibrated);
        let procedure = calibrated.cloned().unwrap_or_else(|| Procedure::new(options.clone()));
        let known = self.known().to_vec();
        *self = Self::over(vec![Test::new(procedure.for_test()); tests.get()], &procedure);
        self.known = known;
        self.is_unchecked = matches!(options.noise, Noise::Suspected(_)) && options.runs_per_trial == NonZeroUsize::MIN;
        ledger.split(tests.get());
        self.expect_noise(ledger, options);
    }

    /// Switches a test to a noisy search, unless noise is refused. The tests share the allowed probability of an error.
    #[expect(clippy::cast_precision_loss, reason = "tests are few")]
    pub(super) fn switch_to_noisy(&mut self, test: usize, ledger: &Ledger, options: &Options) {
        let (Noise::Suspected(confidence) | Noise::Expected(confidence)) = options.noise else { return };
        if self.tests[test].noisy().is_some() {
            return;
        }
        if let Some(unsplit) = &self.unsplit {
            let known = unsplit.known(&self.tests[test]).to_vec();
            return self.tests[test].switch_to_noisy(test, confidence, known, ledger, options);
        }
        let share = (1.0 - confidence) / self.tests.len() as f64;
        let known = test::reported(&self.tests[test]);
        self.tests[test].switch_to_noisy(test, 1.0 - share, known, ledger, options);
        self.found.retain(|&(of, _)| of != test);
        let found = (0..self.tests[test].found().len()).map(|which| (test, which));
        self.found.extend(found);
    }

    /// Panics if the search has no test with this number.
    pub(super) fn assert_has(&self, test: usize) {
        let tests = self.tests.len();
        assert!(test < tests, "the search is of {tests} tests");
    }

    /// Returns the next step.
    pub(super) fn step(&mut self, ledger: &mut Ledger, options: &Options) -> Step {
        if let Some(unsplit) = &mut self.unsplit {
            return unsplit.step(&mut self.tests[0], ledger, options);
        }
        if let Some(verdict) = self.verdict(ledger) {
            return Step::Done(verdict);
        }
        let useful = self.useful(ledger);
        let in_flight = useful.iter().filter(|&&trial| ledger[trial].in_flight() > 0).count();
        let has_room = in_flight < options.in_flight.get();
        // A cancelled trial may be useful again, or lack some of its runs.
        let may_start = |entry: &Entry| entry.may_start() && (has_room || entry.in_flight() > 0);
        let next = useful.iter().copied().find(|&trial| may_start(&ledger[trial]));
        if options.max_runs.is_some_and(|max| ledger.started >= max) {
            // The runs in flight may still have useful results.
            return if in_flight > 0 { Step::Wait } else { Step::Done(self.stop_at_limit(ledger)) };
        }
        let plan = if next.is_none() && has_room { self.choose(&useful, ledger, options) } else { None };
        let Some(next) = next.or_else(|| plan.map(|plan| self.begin(plan, ledger, options))) else {
            // A noisy search may have ended because it has no question.
            return self.verdict(ledger).map_or(Step::Wait, Step::Done);
        };
        Step::Run(ledger.start(next))
    }

    /// Ends every search that has not ended.
    fn stop_at_limit(&mut self, ledger: &Ledger) -> Verdict {
        self.is_unchecked = false;
        let limit = Verdict::Incomplete(Incomplete::MaxRuns);
        let is_decided = self.undecided(ledger) == 0;
        for test in &mut self.tests {
            match &mut test.noisy {
                Some(search) => {
                    search.end_at_limit();
                }
                None => test.stop(limit.clone()),
            }
        }
        let is_stopped = self.tests.iter().any(|test| test.verdict() == Some(&limit));
        self.stopped = (is_stopped && !is_decided).then_some(limit);
        self.verdict(ledger).expect("all searches have ended")
    }

    fn begin(&mut self, plan: Plan, ledger: &mut Ledger, options: &Options) -> TrialId {
        let Plan { question, selection, tests, why, toss } = plan;
        debug_assert!(!tests.is_empty(), "every trial has a test that learns from it");
        let runs = match why {
            Why::Answer | Why::Guess => {
                self.is_pooling = why == Why::Guess;
                options.runs_per_trial.get()
            }
            Why::Check(_) | Why::Evidence => 1,
        };
        self.was_noisy_turn = why == Why::Evidence;
        let id = ledger.next_id();
        if self.was_noisy_turn {
            for &test in &tests {
                if let Some(noisy) = &mut self.tests[test].noisy {
                    noisy.begin(id, toss.as_ref());
                }
            }
        }
        ledger.add(Asked::at_any_time(question, selection), tests, why, runs)
    }

    /// Takes the result of one run of a trial, for each of its tests.
    pub(super) fn record(
        &mut self,
        id: TrialId,
        observations: Vec<Observation>,
        ledger: &mut Ledger,
        options: &Options,
    ) {
        if ledger.is_before_split(id) {
            return ledger[id].record(observations);
        }
        let Some(unsplit) = &mut self.unsplit else { return self.record_shared(id, observations, ledger, options) };
        let test = &mut self.tests[0];
        for observation in observations {
            unsplit.record(id, observation, test, ledger, options);
        }
        if unsplit::is_contradicted(test, ledger, options) {
            self.switch_to_noisy(0, ledger, options);
        }
    }

    fn record_shared(&mut self, id: TrialId, observations: Vec<Observation>, ledger: &mut Ledger, options: &Options) {
        let trial = ledger[id].trial.clone();
        let is_check = matches!(ledger[id].why, Why::Check(_));
        let reported = observations.iter().flat_map(|observation| &observation.reported);
        let mut reported: Vec<_> = reported.copied().filter(|&id| trial.selection.contains(id)).collect();
        ranked::sort(&mut reported);
        ranked::merge(&mut self.known, &reported);
        for (&number, observation) in trial.tests.iter().zip(&observations) {
            let test = &mut self.tests[number];
            if test.noisy().is_none() && (is_check || ledger[id].is_open_for(number)) {
                test.note(id, &trial.selection, observation);
            }
            let found = test.found().len();
            test.weigh(number, id, observation, ledger, options);
            self.found.extend((found..test.found().len()).map(|which| (number, which)));
        }
        let outcomes: Vec<_> = observations.iter().map(|observation| observation.outcome).collect();
        ledger[id].record(observations);
        for (index, test) in ledger[id].open_tests() {
            if !ledger[id].agree(index) {
                self.tests[test].stop(Verdict::Inconsistent(Inconsistency::Runs(id)));
            }
        }
        for (&test, &outcome) in trial.tests.iter().zip(&outcomes) {
            if is_check && self.tests[test].is_surprised_by(&trial, outcome) {
                self.switch_to_noisy(test, ledger, options);
            }
        }
        self.advance(ledger, options);
        if matches!(options.noise, Noise::Suspected(_)) {
            self.tests.iter_mut().for_each(checks::of_large_set);
        }
        for test in 0..self.tests.len() {
            if is_contradictory(&self.tests[test]) {
                self.switch_to_noisy(test, ledger, options);
            }
        }
    }

    /// Returns the trials with runs in flight that are of no use to any test.
    pub(super) fn obsolete(&mut self, ledger: &mut Ledger, options: &Options) -> Vec<TrialId> {
        if let Some(unsplit) = &mut self.unsplit {
            return unsplit.obsolete(&self.tests[0], ledger, options);
        }
        let useful = if self.verdict(ledger).is_some() { Vec::new() } else { self.useful(ledger) };
        ledger.in_flight().filter(|trial| !useful.contains(trial)).collect()
    }

    /// Returns the trials that are begun and not answered, and useful to a test.
    fn useful(&self, ledger: &Ledger) -> Vec<TrialId> {
        let is_useful = |entry: &Entry| match entry.why {
            Why::Answer | Why::Guess => {
                entry.open_tests().any(|(_, test)| is_useful_to(&self.tests[test], &entry.trial))
            }
            Why::Check(_) => true,
            // A cancelled question is asked again if it is still worth most.
            Why::Evidence => {
                entry.in_flight() > 0 && entry.trial.tests.iter().any(|&test| self.tests[test].verdict().is_none())
            }
        };
        let useful = ledger.iter().filter(|entry| !entry.is_complete() && is_useful(entry));
        useful.map(|entry| entry.trial.id).collect()
    }

    /// Passes all known answers to the tests that wait for them.
    fn advance(&mut self, ledger: &mut Ledger, options: &Options) {
        // An answer may lead a test to a question that is already answered.
        while self.pass_on(ledger, options) {}
        // Other questions were asked early, and then turned out not to matter.
        let tests = &self.tests;
        for entry in ledger.iter_mut().filter(|entry| entry.is_complete()) {
            let open = entry.open_tests().filter(|&(_, test)| !is_useful_to(&tests[test], &entry.trial));
            for (index, _) in open.collect::<Vec<_>>() {
                entry.close(index);
            }
        }
    }

    /// Passes the answers to the tests that wait for them now. Returns true if there were any.
    fn pass_on(&mut self, ledger: &mut Ledger, options: &Options) -> bool {
        let mut has_answered = false;
        for entry in ledger.iter_mut().filter(|entry| entry.is_complete()) {
            for (index, number) in entry.open_tests().collect::<Vec<_>>() {
                let test = &mut self.tests[number];
                let Trial { id, question, ref selection, .. } = entry.trial;
                if !test.awaits(question, selection) {
                    continue;
                }
                let found = test.found().len();
                let Some((outcome, reported)) = entry.answer(index) else { continue };
                let answer = Answer { trial: Some(id), outcome, reported: Some(reported) };
                if checks::before_naming(test, selection, &answer, options) {
                    continue;
                }
                test.answer(selection, &answer);
                entry.close(index);
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
    pub(super) fn verdict(&self, ledger: &Ledger) -> Option<Verdict> {
        if let Some(stopped) = &self.stopped {
            return Some(stopped.clone());
        }
        let verdicts = self.tests.iter().map(|test| test.settled(ledger)).collect::<Option<Vec<_>>>()?;
        if self.unsplit.is_none() && self.is_being_checked(ledger) {
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
        self.unsplit.as_ref().map_or(&self.known, |unsplit| unsplit.known(&self.tests[0]))
    }

    /// Returns the culprits so far. A culprit of several tests is one entry.
    pub(super) fn culprits(&self) -> Vec<Shared<'_>> {
        if self.unsplit.is_some() {
            return Shared::group(self.tests[0].found().iter().map(|culprit| (0, culprit)));
        }
        let found = self.found.iter().map(|&(test, which)| (test, &self.tests[test].found()[which]));
        Shared::group(found)
    }

    pub(super) fn undecided(&self, ledger: &Ledger) -> usize {
        self.tests.iter().filter(|test| test.settled(ledger).is_none()).count()
    }

    /// Returns the number of candidates of the test with the most.
    pub(super) fn candidates(&self) -> Option<usize> {
        if self.unsplit.is_some() {
            return unsplit::candidates(&self.tests[0]);
        }
        self.tests.iter().filter_map(|test| Some(test.narrowing()?.candidates.len())).max()
    }

    /// Estimates the number of trials left.
    pub(super) fn trials_left(&self) -> Option<usize> {
        if self.unsplit.is_some() { unsplit::trials_left(&self.tests[0]) } else { Some(self.shared_trials_left()) }
    }

    /// Estimates the number of trials left, if each test needs one more change.
    fn shared_trials_left(&self) -> usize {
        let asked = self.tests.iter().enumerate().filter_map(|(i, test)| Some((i, test.asks()?)));
        let asked = joint::runs(&self.tests, asked).len();
        let candidates = self.candidates().unwrap_or(0);
        let halvings = candidates.next_power_of_two().ilog2() as usize;
        let noisy = self.tests.iter().filter_map(Test::noisy).filter(|noisy| noisy.verdict().is_none());
        let under_noise: usize = noisy.filter_map(NoisyState::runs_left).sum();
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

/// Returns true if a test has contradicted itself while its runs are believed.
fn is_contradictory(test: &Test) -> bool {
    let is_noise = |how: &Inconsistency| *how != Inconsistency::Endless;
    test.noisy().is_none() && matches!(test.verdict(), Some(Verdict::Inconsistent(how)) if is_noise(how))
}
