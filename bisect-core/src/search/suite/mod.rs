//! The search over several tests: each test has its own search, and every run answers for as many tests as possible.
//!
//! First each test is run in its own process. Questions that name their changes (alone? anything else?) are answered by
//! exact runs, for all tests to which the run is equivalent to their own: see [`joint`]. Prefixes are *pooled*:
//! [`pool`] chooses the selection, and [`mod@test`] interprets the result for a test. One at a time, pooled runs come
//! first: they bring tests to the same questions, which are then asked once. Tests that contradict themselves have a
//! noisy search, and take turns with all others: see [`noisy_test`] and [`schedule`].

mod checks;
mod joint;
mod noisy_test;
mod pool;
mod schedule;
mod shared_trial;
mod test;

use alloc::{collections::BTreeSet, sync::Arc, vec, vec::Vec};
use core::num::NonZeroUsize;

use pool::Member;
use shared_trial::{Purpose, SharedTrial};
use test::Test;

use crate::{
    search::model::rank::Rank,
    search::{
        model::{
            Options, Step,
            noise::Noise,
            ranked,
            selection::Selection,
            trial::{Observation, Question, Trial, TrialId},
            verdict::{Culprit, Incomplete, Shared, Verdict},
        },
        noisy::Toss,
        sequential::{Answer, Procedure},
    },
};

/// The search over several tests.
#[derive(Clone, Debug)]
pub(super) struct Suite {
    /// Every change ever reported, in order.
    known: Vec<Rank>,
    tests: Vec<Test>,
    /// The trials that were begun, numbered from `first` on.
    runs: Vec<SharedTrial>,
    first: usize,
    /// The culprits, in the order in which they were found: the test, and the index among the culprits of this test.
    found: Vec<(usize, usize)>,
    /// The changes of all culprits.
    culprits: BTreeSet<Rank>,
    /// Changes for which there is evidence, in order.
    favoured: Arc<[Rank]>,
    /// A template for the mode of every selection.
    model: Selection,
    /// True if the last trial for reliable tests was a pooled one.
    is_pooling: bool,
    /// True if the last trial was for noisy tests.
    was_noisy_turn: bool,
    /// True if the run that checks if tests are reliable is still to be made.
    is_unchecked: bool,
    /// A verdict that overrides those of the tests.
    stopped: Option<Verdict>,
}

/// A trial that is worth a run.
struct Plan {
    question: Question,
    selection: Selection,
    tests: Vec<usize>,
    purpose: Purpose,
    /// The coin toss that selected this trial, if it is part of a proof.
    toss: Option<Toss>,
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
            runs: Vec::new(),
            first,
            found: Vec::new(),
            culprits: BTreeSet::new(),
            favoured: procedure.favoured(),
            model: procedure.everything(),
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
        let in_flight = useful.iter().filter(|&&trial| self.runs[trial].in_flight() > 0).count();
        let has_room = in_flight < options.in_flight.get();
        // A cancelled trial may be useful again, or lack some of its runs.
        let may_start = |runs: &SharedTrial| runs.may_start() && (has_room || runs.in_flight() > 0);
        let next = useful.iter().copied().find(|&trial| may_start(&self.runs[trial]));
        if options.max_runs.is_some_and(|max| runs >= max) {
            // The runs in flight may still have useful results.
            return if in_flight > 0 { Step::Wait } else { Step::Done(self.stop_at_limit()) };
        }
        let plan = if next.is_none() && has_room { self.choose(&useful) } else { None };
        let Some(next) = next.or_else(|| plan.map(|plan| self.begin(plan, options))) else {
            // A noisy search may have ended because it has no question.
            return self.verdict().map_or(Step::Wait, Step::Done);
        };
        self.runs[next].start();
        Step::Run(self.runs[next].trial.clone())
    }

    /// Ends every search that has not ended.
    fn stop_at_limit(&mut self) -> Verdict {
        self.is_unchecked = false;
        let limit = Verdict::Incomplete(Incomplete::MaxRuns);
        let is_decided = self.undecided() == 0;
        for test in &mut self.tests {
            match test.mode.search_mut() {
                Some(search) => search.stop_at_limit(),
                None => test.stop(limit.clone()),
            }
        }
        let is_stopped = self.tests.iter().any(|test| test.verdict() == Some(&limit));
        self.stopped = (is_stopped && !is_decided).then_some(limit);
        self.verdict().expect("all searches have ended")
    }

    fn begin(&mut self, Plan { question, selection, tests, purpose, toss }: Plan, options: &Options) -> usize {
        debug_assert!(!tests.is_empty(), "every trial has a test that learns from it");
        match purpose {
            Purpose::Answer => self.is_pooling = false,
            Purpose::Guess => self.is_pooling = true,
            Purpose::Check => self.is_unchecked = false,
            Purpose::Evidence => {}
        }
        self.was_noisy_turn = purpose == Purpose::Evidence;
        let id = TrialId(self.first + self.runs.len());
        let trial = Trial { id, question, selection, tests };
        if purpose == Purpose::Evidence {
            trial.tests.iter().for_each(|&test| self.tests[test].begin(&trial, toss.as_ref()));
        }
        self.runs.push(SharedTrial::new(trial, purpose, options.runs_per_trial.get()));
        id.0 - self.first
    }

    /// Takes the result of one run of a trial, for each of its tests.
    pub(super) fn record(&mut self, id: TrialId, observations: Vec<Observation>, options: &Options) {
        let runs = &mut self.runs[id.0 - self.first];
        let trial = runs.trial.clone();
        let reported = observations.iter().flat_map(|observation| &observation.reported);
        let mut reported: Vec<_> = reported.copied().filter(|&id| trial.selection.contains(id)).collect();
        ranked::sort(&mut reported);
        ranked::merge(&mut self.known, &reported);
        for (&number, observation) in trial.tests.iter().zip(&observations) {
            let test = &mut self.tests[number];
            let is_check = runs.purpose == Purpose::Check;
            if test.mode.search().is_none() && (is_check || runs.is_open_for(number)) {
                test.note(id, &trial.selection, observation);
            }
            let found = test.found().len();
            test.weigh(&trial, observation, options);
            self.found.extend((found..test.found().len()).map(|which| (number, which)));
        }
        let outcomes: Vec<_> = observations.iter().map(|observation| observation.outcome).collect();
        runs.record(observations);
        for (index, test) in runs.open_tests() {
            if !runs.agree(index) {
                self.tests[test].contradicts_itself(id);
            }
        }
        let is_check = runs.purpose == Purpose::Check;
        for (&test, &outcome) in trial.tests.iter().zip(&outcomes) {
            if is_check && self.tests[test].is_surprised_by(&trial, outcome) {
                self.switch_to_noisy(test, options);
            }
        }
        self.advance(options);
        for test in 0..self.tests.len() {
            if self.tests[test].is_contradictory() {
                self.switch_to_noisy(test, options);
            }
        }
    }

    pub(super) fn cancel(&mut self, id: TrialId) {
        let runs = &mut self.runs[id.0 - self.first];
        runs.cancel();
        runs.trial.tests.iter().for_each(|&test| self.tests[test].cancel(id));
    }

    /// Returns the trials with runs in flight that are of no use to any test.
    pub(super) fn obsolete(&self) -> Vec<TrialId> {
        let useful = if self.verdict().is_some() { Vec::new() } else { self.useful() };
        let in_flight = (0..self.runs.len()).filter(|&trial| self.runs[trial].in_flight() > 0);
        in_flight.filter(|trial| !useful.contains(trial)).map(|trial| TrialId(self.first + trial)).collect()
    }

    /// Returns the trials that are begun and not answered, and useful to a test.
    fn useful(&self) -> Vec<usize> {
        let is_useful = |runs: &SharedTrial| match runs.purpose {
            Purpose::Answer | Purpose::Guess => runs.open_tests().any(|(_, test)| self.is_useful_to(test, &runs.trial)),
            Purpose::Check => true,
            // A cancelled question is asked again if it is still worth most.
            Purpose::Evidence => {
                runs.in_flight() > 0 && runs.trial.tests.iter().any(|&test| self.tests[test].verdict().is_none())
            }
        };
        (0..self.runs.len()).filter(|&trial| !self.runs[trial].is_complete() && is_useful(&self.runs[trial])).collect()
    }

    fn is_useful_to(&self, test: usize, trial: &Trial) -> bool {
        let test = &self.tests[test];
        let is_next = |(question, own): (Question, Selection)| {
            question == trial.question && test.is_as_good(&trial.selection, &own)
        };
        test.awaits(trial.question, &trial.selection) || test.asks_next().is_some_and(is_next)
    }

    /// Passes all known answers to the tests that wait for them.
    fn advance(&mut self, options: &Options) {
        // An answer may lead a test to a question that is already answered.
        while self.tell(options) {}
        // Other questions were asked early, and then turned out not to matter.
        for trial in 0..self.runs.len() {
            let runs = &self.runs[trial];
            if runs.is_complete() {
                let open = runs.open_tests().filter(|&(_, test)| !self.is_useful_to(test, &runs.trial));
                for (index, _) in open.collect::<Vec<_>>() {
                    self.runs[trial].close(index);
                }
            }
        }
    }

    /// Passes the answers to the tests that wait for them now. Returns true if there were any.
    fn tell(&mut self, options: &Options) -> bool {
        let mut has_answered = false;
        for runs in self.runs.iter_mut().filter(|runs| runs.is_complete()) {
            for (index, number) in runs.open_tests().collect::<Vec<_>>() {
                let test = &mut self.tests[number];
                if !test.awaits(runs.trial.question, &runs.trial.selection) {
                    continue;
                }
                let found = test.found().len();
                let (outcome, reported) = runs.answer(index);
                let answer = Answer { trial: runs.trial.id, outcome, reported: Some(&reported) };
                if Self::check_before_naming(test, &runs.trial.selection, &answer, options) {
                    continue;
                }
                runs.close(index);
                test.answer(&runs.trial.selection, &answer);
                for (which, culprit) in test.found().iter().enumerate().skip(found) {
                    self.found.push((number, which));
                    self.culprits.extend(&culprit.changes);
                }
                has_answered = true;
            }
        }
        has_answered
    }

    /// Returns the next trial for tests whose runs are believed.
    fn plan(&self, useful: &[usize]) -> Option<Plan> {
        // The question may have been asked early, and the answer may be known.
        let is_asked = |question: Question, selection: &Selection, test: usize| {
            self.runs.iter().any(|runs| {
                let Trial { question: asked, selection: of, .. } = &runs.trial;
                *asked == question && runs.is_open_for(test) && self.tests[test].is_as_good(of, selection)
            })
        };
        let own = |asks: &dyn Fn(&Test) -> Option<(Question, Selection)>| {
            let asked = self.tests.iter().enumerate().filter_map(|(i, test)| Some((i, asks(test)?)));
            let new = asked.filter(|(test, (question, selection))| !is_asked(*question, selection, *test));
            joint::most_asked(joint::runs(&self.tests, new))
        };
        let prefixes = useful.iter().filter(|&&trial| self.runs[trial].trial.question == Question::Prefix).count();
        // Pooled runs continue as long as there is one to make, and so do other runs: a test that is ahead waits for
        // the others, so that all can share a run again.
        let pooled = |of: bool| if of { self.pooled(useful) } else { None };
        let exact = |of: bool| if of { self.exact(useful) } else { None };
        pooled(self.is_pooling && prefixes == 0)
            .or_else(|| own(&Test::asks))
            .or_else(|| exact(prefixes == 0))
            .or_else(|| pooled(prefixes == 0))
            .or_else(|| own(&Test::asks_next))
            .or_else(|| pooled(true))
            .or_else(|| exact(true))
    }

    /// Returns the best prefix with gaps for the tests that accept pooled runs.
    fn pooled(&self, useful: &[usize]) -> Option<Plan> {
        let members = self.members(useful);
        let members: Vec<_> = members.iter().filter(|member| !member.is_exact()).collect();
        pool::pooled(&members, &self.model).map(|selection| self.prefix(selection, Purpose::Guess))
    }

    /// Returns the best prefix for the tests that search exactly.
    fn exact(&self, useful: &[usize]) -> Option<Plan> {
        let members = self.members(useful);
        let members: Vec<_> = members.iter().filter(|member| member.is_exact()).collect();
        pool::exact(&members, &self.model).map(|selection| self.prefix(selection, Purpose::Answer))
    }

    fn members(&self, useful: &[usize]) -> Vec<Member<'_>> {
        let member = |(number, test)| {
            let runs = useful.iter().map(|&trial| &self.runs[trial]).filter(move |runs| runs.is_open_for(number));
            let prefixes = runs.filter(|runs| runs.trial.question == Question::Prefix);
            Member::new(test, &self.culprits, &self.favoured, prefixes.map(|runs| &runs.trial.selection))
        };
        self.tests.iter().enumerate().filter_map(member).collect()
    }

    fn prefix(&self, selection: Selection, purpose: Purpose) -> Plan {
        let learns = |&test: &usize| self.tests[test].learns_from(&selection).is_some();
        let tests = (0..self.tests.len()).filter(learns).collect();
        Plan { question: Question::Prefix, selection, tests, purpose, toss: None }
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

    pub(super) fn verdict_of(&self, test: usize) -> Option<&Verdict> {
        self.tests[test].verdict()
    }

    pub(super) fn found_by(&self, test: usize) -> &[Culprit] {
        self.tests[test].found()
    }

    /// Returns the culprits so far; one of several tests is one entry.
    pub(super) fn culprits(&self) -> Vec<Shared<'_>> {
        let found = self.found.iter().map(|&(test, which)| (test, &self.tests[test].found()[which]));
        Shared::group(found)
    }

    pub(super) fn undecided(&self) -> usize {
        self.tests.iter().filter(|test| test.verdict().is_none()).count()
    }

    /// Returns the number of runs that a trial takes.
    pub(super) fn runs_of_trial(&self, id: TrialId) -> usize {
        self.runs[id.0 - self.first].wanted()
    }

    /// Returns the number of trials begun since the split.
    pub(super) fn trials(&self) -> usize {
        self.runs.len()
    }

    pub(super) fn trial(&self, id: TrialId) -> &Trial {
        &self.runs[id.0 - self.first].trial
    }

    /// Estimates the number of trials left, if each test needs one more change.
    pub(super) fn trials_left(&self) -> usize {
        let asked = self.tests.iter().enumerate().filter_map(|(i, test)| Some((i, test.asks()?)));
        let asked = joint::runs(&self.tests, asked).len();
        let candidates = self.tests.iter().map(Test::candidates).max().unwrap_or(0);
        let halvings = candidates.next_power_of_two().ilog2() as usize;
        let under_noise: usize =
            self.tests.iter().filter(|test| test.mode.turns().is_some()).map(Test::runs_left).sum();
        // The sum of pooled halvings, the present questions, one run of each set alone, one of the rest, and the noisy
        // runs.
        halvings + asked + if halvings > 0 { 2 } else { 0 } + under_noise
    }
}
