//! A search in progress.

use std::{
    collections::{BTreeSet, HashMap},
    io,
    time::Duration,
};

use bisect_core::{
    ChangeId,
    search::{Observation, Options, Outcome, Question, Search, Step, Trial, TrialId},
};

use super::{
    Lab, Named,
    noisy_stats::NoisyStats,
    parallelism_hint::{ParallelismHint, Processors},
    target::{Judgement, Runner, Target},
    texts::Texts,
    workers::{Next, Workers},
};
use crate::{
    output::{
        conclusion::{TargetFacts, conclude},
        exit_status::Exit,
    },
    run::{
        error::RunError,
        repetition::Repetition,
        result::RunResult,
        spec::{Choice, RunSpec},
    },
};

/// A search in progress.
pub(super) struct Session<'s, 'lab, 'scope, 'env, T: Target> {
    pub(super) lab: &'s mut Lab<'lab>,
    pub(super) target: &'s mut T,
    pub(super) search: Search,
    pub(super) workers: Workers<'scope, 'env, T::Runner>,
    /// Runs that are over, but cannot be judged yet.
    pub(super) awaiting_judgement: Vec<(Trial, <T::Runner as Runner>::Shown)>,
    /// Runs with every change, and with none, that were recorded.
    pub(super) ends: [usize; 2],
    /// The numbers of trials that have one.
    pub(super) numbers: HashMap<TrialId, usize>,
    /// The runs of each trial, by their numbers.
    pub(super) runs: HashMap<TrialId, Vec<usize>>,
    /// The first run of the whole target with every change, and with none, by its number.
    pub(super) run_at_end: HashMap<Question, usize>,
    /// What the target says about changes.
    pub(super) texts: Texts,
    /// Of trials that have been asked and not told yet.
    pub(super) progress: HashMap<TrialId, Progress>,
    /// What the runs that may confirm a culprit said about it, for each of the trial's tests.
    pub(super) confirming_runs: HashMap<TrialId, Vec<RunResult>>,
    /// The culprits that were told, in that order.
    pub(super) told: Vec<BTreeSet<ChangeId>>,
    /// The same, as it was told.
    pub(super) named: Vec<Named>,
    /// The names of the tests, once the search goes on for each of them.
    pub(super) tests: Option<Vec<String>>,
    /// Whether more runs at once would help; of no interest where there are.
    pub(super) parallelism_hint: Option<ParallelismHint>,
    /// The tests that failed in each failing run at an end, and in that which was made once more to see whether they do.
    pub(super) failed_at_end: Vec<Vec<String>>,
    /// The end that is run once more.
    pub(super) looks_again: Option<Question>,
    /// What there is to say where runs are only evidence.
    pub(super) noisy_stats: NoisyStats,
}

/// A trial that is being answered.
#[derive(Default)]
pub(super) struct Progress {
    /// What the target got.
    pub(super) pattern: String,
    /// Runs that have begun. What they showed may not be judged yet.
    pub(super) started: usize,
    /// Runs that were judged.
    pub(super) runs: usize,
    pub(super) duration: Duration,
    pub(super) matches: usize,
}

impl<'s, 'lab, 'scope, 'env, T: Target> Session<'s, 'lab, 'scope, 'env, T> {
    pub(super) fn new(lab: &'s mut Lab<'lab>, target: &'s mut T, workers: Workers<'scope, 'env, T::Runner>) -> Self {
        Self {
            search: Search::new(Options { order: target.order(), ..lab.options.clone() }),
            parallelism_hint: (lab.jobs.get() == 1).then(|| ParallelismHint::new(Processors::now())),
            lab,
            target,
            workers,
            awaiting_judgement: Vec::new(),
            ends: [0; 2],
            numbers: HashMap::new(),
            runs: HashMap::new(),
            run_at_end: HashMap::new(),
            texts: Texts::default(),
            progress: HashMap::new(),
            confirming_runs: HashMap::new(),
            told: Vec::new(),
            named: Vec::new(),
            tests: None,
            failed_at_end: Vec::new(),
            looks_again: None,
            noisy_stats: NoisyStats::default(),
        }
    }

    pub(super) fn go(&mut self) -> io::Result<(Exit, String)> {
        let ended = self.until_it_ends()?;
        self.workers.finish();
        self.tell_found(true)?;
        self.tell_notes()?;
        Ok(match ended {
            Ok(()) => {
                let verdict = self.search.verdict().expect("the search has ended");
                let beliefs = |test| self.beliefs_of(test);
                let (is_build, axis) = (self.target.is_build(), self.target.axis());
                let (log, line) = (|trial| self.name_of(trial), |trial, id| self.line_with(trial, id));
                let about = TargetFacts { log: &log, line: &line, is_build, axis };
                conclude(&self.search, &verdict, &beliefs, self.tests.as_deref(), &about)
            }
            Err(RunError::Interrupted) => {
                (Exit::Interrupted, format!("interrupted; all logs are in {}", self.lab.out_dir.display()))
            }
            Err(error) => (Exit::Unusable, format!("the target cannot be used: {error}")),
        })
    }

    /// Goes on until the search has ended, or cannot go on.
    pub(super) fn until_it_ends(&mut self) -> io::Result<Result<(), RunError>> {
        loop {
            self.tell_notes()?;
            // Perhaps before anyone listened.
            if self.lab.interrupt.requested() {
                return Ok(Err(RunError::Interrupted));
            }
            self.end_obsolete();
            self.want_texts();
            if self.search.verdict().is_some() && !self.texts.is_pending() {
                return Ok(Ok(()));
            }
            self.start_runs()?;
            if self.workers.is_idle() && !self.awaiting_judgement.is_empty() {
                // At a limit: what they wait for is not run any more.
                self.target.assume_no_more_ends();
                self.judge_held()?;
                continue;
            }
            if self.workers.is_idle() {
                // It has just come to its end.
                assert!(self.search.verdict().is_some(), "a search that goes on wants runs");
                continue;
            }
            if let Err(error) = self.take_results() {
                return Ok(Err(error));
            }
            self.judge_held()?;
            if self.favour_touched()? {
                self.try_split()?;
            }
            self.tell_found(false)?;
        }
    }

    /// Waits for a run to end, and takes with it those that end at the same time: what to do next is better decided when
    /// the answers of all of them are known.
    pub(super) fn take_results(&mut self) -> Result<(), RunError> {
        let mut next = self.workers.next(None);
        while let Some(came) = next.take() {
            match came {
                Next::Cancelled => {}
                Next::Interrupted => return Err(RunError::Interrupted),
                Next::Over { spec, result, coalesce_window } => {
                    let shown = result?;
                    if !self.take_text(&spec.trial, &shown) {
                        self.target.learn(&spec.trial, &shown)?;
                        self.awaiting_judgement.push((spec.trial.clone(), shown));
                    }
                    if coalesce_window.is_some() {
                        next = self.workers.next(coalesce_window);
                    }
                }
            }
        }
        Ok(())
    }

    /// Ends the runs that do not matter any more.
    pub(super) fn end_obsolete(&mut self) {
        for id in self.search.obsolete() {
            let held = self.awaiting_judgement.len();
            self.awaiting_judgement.retain(|(trial, _)| trial.id != id);
            let ended = self.workers.end(|trial| trial.id == id) + held - self.awaiting_judgement.len();
            (0..ended).for_each(|_| self.search.cancel(id));
            self.progress.remove(&id);
        }
    }

    pub(super) fn start_runs(&mut self) -> io::Result<()> {
        if self.start_text_run() {
            return Ok(());
        }
        while let Some(slot) = self.workers.free_slot() {
            // Runs that await judgement are in flight as far as the search knows.
            self.search.set_in_flight(self.lab.jobs.saturating_add(self.awaiting_judgement.len()));
            let Step::Run(trial) = self.search.step() else { return Ok(()) };
            let number = self.lab.totals.runs + self.search.runs();
            let choice = Choice::of(self.target.order(), &trial.selection);
            let tests = self.tests.as_ref().map(|_| trial.tests.clone());
            let repetition = self.repetition();
            let spec = RunSpec { repetition, tests, ..self.lab.spec(number, trial, choice, slot) };
            self.tell_run(&spec)?;
            self.workers.start(spec, self.target.brief());
        }
        Ok(())
    }

    /// How often the next run executes the target. Where runs are only evidence, and each begins with a build, as much time
    /// goes into executions as into that: whichever of them is dear, it takes at most twice as long as the best choice.
    pub(super) fn repetition(&self) -> Repetition {
        match self.lab.repetition {
            Repetition::Once if self.search.is_noisy() && !self.lab.is_repeated => self.noisy_stats.repetition(),
            asked => asked,
        }
    }

    /// Tells the search what came of the runs that can be judged by now, in the order of their trials.
    pub(super) fn judge_held(&mut self) -> io::Result<()> {
        self.awaiting_judgement.sort_by_key(|(trial, _)| trial.id);
        let mut held = std::mem::take(&mut self.awaiting_judgement).into_iter();
        for (trial, shown) in held.by_ref() {
            let is_end = self.is_end(&trial);
            // Before it is known what fails at the ends, and whether the search is about single tests, others can wait.
            let is_time = is_end || self.knows_ends() && !self.waits_for_rest(&trial);
            let judgement = if is_time { self.target.judge(&trial, shown) } else { Judgement::Pending(shown) };
            match judgement {
                Judgement::Ready(results) => self.record(&trial, results)?,
                Judgement::Pending(shown) => self.awaiting_judgement.push((trial, shown)),
            }
            if is_end && self.try_split()? {
                break;
            }
        }
        // After a split: what was asked of the whole, and is obsolete.
        self.awaiting_judgement.extend(held);
        Ok(())
    }

    /// Whether a trial is of the whole target with every change, or with none.
    pub(super) fn is_end(&self, trial: &Trial) -> bool {
        self.tests.is_none() && matches!(trial.question, Question::AllOn | Question::AllOff)
    }

    /// Whether it is being found out what happens without the changes that this trial leaves out, so that it is not known
    /// yet which failures count in it.
    pub(super) fn waits_for_rest(&self, trial: &Trial) -> bool {
        let left_out = &trial.selection.excluded;
        let is_of = |rest: &&Trial| {
            let without = &rest.selection.excluded;
            rest.tests.iter().any(|test| trial.tests.contains(test)) && without.iter().all(|id| left_out.contains(id))
        };
        let rests =
            || self.workers.trials().filter(|rest| rest.question == Question::AllButFound && rest.id != trial.id);
        !left_out.is_empty() && !self.search.is_noisy() && rests().any(|rest| is_of(&rest))
    }

    /// Goes on for each failing test, if that is how the target is searched and all is known that has to be.
    pub(super) fn try_split(&mut self) -> io::Result<bool> {
        Ok(self.knows_ends() && !self.awaits_places() && self.search.can_split() && self.split()?)
    }

    /// Returns whether enough runs with every change and with no change were recorded.
    pub(super) fn knows_ends(&self) -> bool {
        if self.tests.is_some() {
            // A split search recorded both ends before the split.
            return true;
        }
        // Under noise each run is a trial.
        let runs = if self.search.is_noisy() { 1 } else { self.lab.options.runs_per_trial.get() };
        self.ends.iter().all(|&recorded| recorded >= runs)
    }

    pub(super) fn record(&mut self, trial: &Trial, runs: Vec<RunResult>) -> io::Result<()> {
        let order = self.target.order();
        let observe = |run: &RunResult| Observation::of_ids(order, run.outcome, run.reports.ids().iter().copied());
        self.search.record_each(trial.id, runs.iter().map(observe).collect());
        if let [run] = runs.as_slice() {
            for &outcome in &run.extra_outcomes {
                self.search.record_extra_execution(
                    trial.id,
                    &Observation::of_ids(order, outcome, run.reports.ids().iter().copied()),
                );
            }
        }
        self.tell_trial(trial, &runs)?;
        if self.is_end(trial) {
            self.ends[usize::from(trial.question == Question::AllOff)] += 1;
            let failed = runs.iter().filter(|run| run.outcome == Outcome::Fail);
            let mut failed: Vec<_> = failed.map(|run| run.failed_tests.clone()).collect();
            if self.looks_again == Some(trial.question) && failed.is_empty() {
                failed.push(Vec::new());
            }
            if !failed.is_empty() {
                self.looks_again = Some(trial.question);
            }
            self.failed_at_end.extend(failed);
        }
        let is_noisy = |index: usize| self.tests.is_none() || self.search.test(trial.tests[index]).is_noisy();
        self.noisy_stats.add(runs.iter().enumerate().filter(|&(index, _)| is_noisy(index)).map(|(_, run)| run));
        self.tell_doubts()?;
        if trial.question == Question::FoundAlone || self.is_end(trial) {
            for run in &runs {
                self.texts.learn(&run.reports);
            }
        }
        if trial.question == Question::FoundAlone {
            self.confirming_runs.insert(trial.id, runs);
        }
        Ok(())
    }
}
