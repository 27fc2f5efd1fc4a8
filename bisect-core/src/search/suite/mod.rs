//! Several tests, searched together: each has a search of its own, and every run answers for as many as possible.
//!
//! First each test shows what it does in a process of its own. Questions that name their changes (alone? anything else?)
//! are put by exact runs, for all tests that cannot tell the run from their own: see [`joint`]. Prefixes are *pooled*: see
//! [`pool`] for what is run, and [`test`] for what a test makes of it.
//! One at a time, pooled runs come first: they bring tests to the same questions, which are then asked once.

mod joint;
mod pool;
mod runs;
mod test;

use alloc::{collections::BTreeSet, sync::Arc, vec, vec::Vec};
use core::num::NonZeroUsize;

use pool::Member;
use runs::Runs;
use test::Test;

use super::{
    Options, Step,
    procedure::{Answer, Procedure},
    selection::Selection,
    trial::{Observation, Question, Trial, TrialId},
    verdict::{Culprit, Incomplete, Shared, Verdict},
};
use crate::ChangeId;

/// The search over several tests.
#[derive(Clone, Debug)]
pub(super) struct Suite {
    tests: Vec<Test>,
    /// The trials that were begun, numbered from `first` on.
    runs: Vec<Runs>,
    first: usize,
    /// The culprits, in the order in which they were found: the test, and which of its culprits it is.
    found: Vec<(usize, usize)>,
    /// Their changes.
    culprits: BTreeSet<ChangeId>,
    /// Changes for which there is evidence, in order.
    favoured: Arc<[ChangeId]>,
    /// The order and the mode of every selection.
    model: Selection,
    /// The last trial that was begun was a pooled one.
    is_pooling: bool,
    /// Ends the search whatever the tests would go on to ask.
    stopped: Option<Verdict>,
}

/// A trial that is worth a run.
struct Plan {
    question: Question,
    selection: Selection,
    tests: Vec<usize>,
    is_pooled: bool,
}

impl Suite {
    /// So many tests, each of which would go on like `procedure`; trials are numbered from `first` on.
    pub(super) fn new(procedure: &Procedure, tests: NonZeroUsize, first: usize) -> Self {
        Self {
            tests: vec![Test::new(procedure.apart()); tests.get()],
            runs: Vec::new(),
            first,
            found: Vec::new(),
            culprits: BTreeSet::new(),
            favoured: procedure.favoured(),
            model: procedure.everything(),
            is_pooling: true,
            stopped: None,
        }
    }

    /// What to do next, where so many runs were started before.
    pub(super) fn step(&mut self, options: &Options, runs: usize) -> Step {
        if let Some(verdict) = self.verdict() {
            return Step::Done(verdict);
        }
        let useful = self.useful(options.runs_per_trial);
        let in_flight = useful.iter().filter(|&&trial| self.runs[trial].in_flight() > 0).count();
        let has_room = in_flight < options.in_flight.get();
        // One that was cancelled may be of use again, or lack some of its runs.
        let may_start =
            |runs: &Runs| runs.started() < options.runs_per_trial.get() && (has_room || runs.in_flight() > 0);
        let next = useful.iter().copied().find(|&trial| may_start(&self.runs[trial]));
        let plan = if next.is_none() && has_room { self.plan(&useful) } else { None };
        if next.is_none() && plan.is_none() {
            return Step::Wait;
        }
        if options.max_runs.is_some_and(|max| runs >= max) {
            // What is in flight may still tell something.
            if useful.iter().any(|&trial| self.runs[trial].in_flight() > 0) {
                return Step::Wait;
            }
            let verdict = Verdict::Incomplete(Incomplete::MaxRuns);
            self.tests.iter_mut().for_each(|test| test.stop(verdict.clone()));
            self.stopped = Some(verdict.clone());
            return Step::Done(verdict);
        }
        let next = next.or_else(|| plan.map(|plan| self.begin(plan))).expect("there is one or the other");
        self.runs[next].start();
        Step::Run(self.runs[next].trial.clone())
    }

    fn begin(&mut self, Plan { question, selection, tests, is_pooled }: Plan) -> usize {
        debug_assert!(!tests.is_empty(), "somebody learns from every run");
        self.is_pooling = is_pooled;
        let id = TrialId(self.first + self.runs.len());
        self.runs.push(Runs::new(Trial { id, question, selection, tests }));
        id.0 - self.first
    }

    /// Takes what one run of a trial showed, for each of its tests.
    pub(super) fn record(&mut self, id: TrialId, observations: Vec<Observation>, options: &Options) {
        let runs = &mut self.runs[id.0 - self.first];
        for (&test, observation) in runs.trial.tests.iter().zip(&observations) {
            if runs.is_open_for(test) {
                self.tests[test].note(id, &runs.trial.selection, observation);
            }
        }
        runs.record(observations);
        for (index, test) in runs.open_tests() {
            if !runs.agree(index) {
                self.tests[test].contradicts_itself(id);
            }
        }
        self.advance(options.runs_per_trial);
    }

    pub(super) fn cancel(&mut self, id: TrialId) {
        self.runs[id.0 - self.first].cancel();
    }

    /// The trials with runs in flight that no test has any use for.
    pub(super) fn obsolete(&self, options: &Options) -> Vec<TrialId> {
        let useful = if self.verdict().is_some() { Vec::new() } else { self.useful(options.runs_per_trial) };
        let in_flight = (0..self.runs.len()).filter(|&trial| self.runs[trial].in_flight() > 0);
        in_flight.filter(|trial| !useful.contains(trial)).map(|trial| TrialId(self.first + trial)).collect()
    }

    /// The trials that are begun and not answered, and of use to some test.
    fn useful(&self, runs_per_trial: NonZeroUsize) -> Vec<usize> {
        let is_useful = |runs: &Runs| {
            !runs.is_complete(runs_per_trial) && runs.open_tests().any(|(_, test)| self.is_useful_to(test, &runs.trial))
        };
        (0..self.runs.len()).filter(|&trial| is_useful(&self.runs[trial])).collect()
    }

    fn is_useful_to(&self, test: usize, trial: &Trial) -> bool {
        let test = &self.tests[test];
        let is_next = |(question, own): (Question, Selection)| {
            question == trial.question && test.is_as_good(&trial.selection, &own)
        };
        test.awaits(trial.question, &trial.selection) || test.asks_next().is_some_and(is_next)
    }

    /// Tells every test all that is known and that it waits for.
    fn advance(&mut self, runs_per_trial: NonZeroUsize) {
        // An answer may be to a question that a test only comes to by another answer.
        while self.tell(runs_per_trial) {}
        // And some were asked early and turned out not to matter.
        for trial in 0..self.runs.len() {
            let runs = &self.runs[trial];
            if runs.is_complete(runs_per_trial) {
                let open = runs.open_tests().filter(|&(_, test)| !self.is_useful_to(test, &runs.trial));
                for (index, _) in open.collect::<Vec<_>>() {
                    self.runs[trial].close(index);
                }
            }
        }
    }

    /// Tells every test what it waits for now; says whether there was anything.
    fn tell(&mut self, runs_per_trial: NonZeroUsize) -> bool {
        let mut has_told = false;
        for runs in self.runs.iter_mut().filter(|runs| runs.is_complete(runs_per_trial)) {
            for (index, number) in runs.open_tests().collect::<Vec<_>>() {
                let test = &mut self.tests[number];
                if !test.awaits(runs.trial.question, &runs.trial.selection) {
                    continue;
                }
                let found = test.found().len();
                let (outcome, reported) = runs.take_answer(index);
                let answer = Answer { trial: runs.trial.id, outcome, reported: Some(&reported) };
                test.answer(&runs.trial.selection, &answer);
                for (which, culprit) in test.found().iter().enumerate().skip(found) {
                    self.found.push((number, which));
                    self.culprits.extend(&culprit.changes);
                }
                has_told = true;
            }
        }
        has_told
    }

    /// The trial that is worth a run beside those that are useful already.
    fn plan(&self, useful: &[usize]) -> Option<Plan> {
        // Asked already, and the answer may be there, if it was asked early.
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
        // Pooled runs go on as long as there is one to make, and so does everything else: a test that is ahead waits for
        // the others, so that they are in the same run again.
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

    /// The best prefix with gaps for the tests that take one.
    fn pooled(&self, useful: &[usize]) -> Option<Plan> {
        let members = self.members(useful);
        let members: Vec<_> = members.iter().filter(|member| !member.is_exact()).collect();
        pool::pooled(&members, &self.model).map(|selection| self.prefix(selection, true))
    }

    /// The best prefix for the tests that search exactly.
    fn exact(&self, useful: &[usize]) -> Option<Plan> {
        let members = self.members(useful);
        let members: Vec<_> = members.iter().filter(|member| member.is_exact()).collect();
        pool::exact(&members, &self.model).map(|selection| self.prefix(selection, false))
    }

    fn members(&self, useful: &[usize]) -> Vec<Member<'_>> {
        let member = |(number, test)| {
            let runs = useful.iter().map(|&trial| &self.runs[trial]).filter(move |runs| runs.is_open_for(number));
            let prefixes = runs.filter(|runs| runs.trial.question == Question::Prefix);
            Member::new(
                self.model.order,
                test,
                &self.culprits,
                &self.favoured,
                prefixes.map(|runs| &runs.trial.selection),
            )
        };
        self.tests.iter().enumerate().filter_map(member).collect()
    }

    fn prefix(&self, selection: Selection, is_pooled: bool) -> Plan {
        let learns = |&test: &usize| self.tests[test].learns_from(&selection).is_some();
        let tests = (0..self.tests.len()).filter(learns).collect();
        Plan { question: Question::Prefix, selection, tests, is_pooled }
    }

    /// How the search ended, if it has: as the worst of the tests' did.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        if let Some(stopped) = &self.stopped {
            return Some(stopped.clone());
        }
        let verdicts = self.tests.iter().map(Test::verdict).collect::<Option<Vec<_>>>()?;
        let rank = |verdict: &&Verdict| match verdict {
            Verdict::NoDifference(_) => 0,
            Verdict::Complete => 1,
            Verdict::Incomplete(_) => 2,
            Verdict::Inconsistent(_) => 3,
            Verdict::Unusable(_) => 4,
        };
        // Of equally bad ones that of the first test.
        verdicts.into_iter().rev().max_by_key(rank).cloned()
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

    /// The culprits so far, those of several tests once.
    pub(super) fn culprits(&self) -> Vec<Shared<'_>> {
        let found = self.found.iter().map(|&(test, which)| (test, &self.tests[test].found()[which]));
        Shared::group(found)
    }

    pub(super) fn undecided(&self) -> usize {
        self.tests.iter().filter(|test| test.verdict().is_none()).count()
    }

    /// Trials begun since the tests are apart.
    pub(super) fn trials(&self) -> usize {
        self.runs.len()
    }

    pub(super) fn trial(&self, id: TrialId) -> &Trial {
        &self.runs[id.0 - self.first].trial
    }

    /// About how many trials are left, if each test needs one more change.
    pub(super) fn trials_left(&self) -> usize {
        let asked = self.tests.iter().enumerate().filter_map(|(i, test)| Some((i, test.asks()?)));
        let asked = joint::runs(&self.tests, asked).len();
        let candidates = self.tests.iter().map(Test::candidates).max().unwrap_or(0);
        let halvings = candidates.next_power_of_two().ilog2() as usize;
        // Halving, pooled; what the tests ask now; each group's set on its own, and the rest.
        halvings + asked + if halvings > 0 { 2 } else { 0 }
    }
}
