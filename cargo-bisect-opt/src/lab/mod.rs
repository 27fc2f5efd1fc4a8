//! The loop: the search says which trials it wants, a crew runs them, everyone who listens is told.

pub(crate) mod calibration;
mod emit;
mod noisy_stats;
mod parallelism_hint;
mod per_test;
#[cfg(test)]
mod simulation;
pub(crate) mod target;
mod texts;
mod workers;

use std::{
    collections::{BTreeSet, HashMap},
    io,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use bisect_core::{
    ChangeId,
    search::{Observation, Options, Outcome, Question, Search, Selection, Step, Trial, TrialId, Verdict},
};

use noisy_stats::Doubts;
use texts::Texts;

use parallelism_hint::{ParallelismHint, Processors};
use target::Target;
use workers::{Assignment, Crew, Next};

use crate::{
    output::{
        conclusion::{About, conclude},
        events::{End, Event, Found, RunBegins, Start},
        exit_status::Exit,
        groups,
        listeners::Listeners,
        run_dir::RunDir,
    },
    process::interrupt::Interrupt,
    run::{error::RunError, repetition::Repetition, result::Run, seed::Seed},
    vcs::since::Since,
};

/// Everything that a search needs beside its target.
pub(crate) struct Lab<'a> {
    /// How to search.
    pub(crate) options: Options,
    /// Runs at once.
    pub(crate) jobs: NonZeroUsize,
    /// How often the target is executed in a run.
    pub(crate) repetition: Repetition,
    /// What random choices come from.
    pub(crate) seed: Seed,
    /// The seed was given, to have the same search again: so nothing may depend on how long runs take.
    pub(crate) is_repeated: bool,
    /// Changes that this touches are likelier.
    pub(crate) since: Option<Since>,
    /// Where logs go.
    pub(crate) run_dir: &'a RunDir,
    /// Where they are, for people.
    pub(crate) out_dir: &'a Path,
    /// Told what happens.
    pub(crate) listeners: Listeners<'a>,
    /// Set when the user wants to stop.
    pub(crate) interrupt: &'a Interrupt,
    /// What the searches before this one have used up: numbers go on from there.
    pub(crate) before: Before,
    /// The culprit that is looked into, by its number, if it is one that was found before.
    pub(crate) within: Option<usize>,
    /// Trials that have a number: all that were shown, of all searches.
    pub(crate) numbered: usize,
}

/// How much was done by searches that are over.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Before {
    /// Culprits that were told.
    pub(crate) sets: usize,
    /// Trials made.
    pub(crate) trials: usize,
    /// Runs made.
    pub(crate) runs: usize,
}

/// What came of a search.
#[derive(Debug)]
pub(crate) struct Searched {
    /// How it ended. Nobody was told so far.
    pub(crate) end: End,
    /// The culprits, as they were told.
    pub(crate) found: Vec<Named>,
    /// The same as the search says it, if it came to its end.
    pub(crate) verdict: Option<Verdict>,
}

/// A culprit that was told.
#[derive(Debug)]
pub(crate) struct Named {
    /// Its changes.
    pub(crate) changes: Vec<ChangeId>,
    /// What was told.
    pub(crate) found: Found,
}

impl Lab<'_> {
    /// Searches until the search is over, and tells how it ended.
    ///
    /// # Errors
    /// If an event cannot be told. A target that cannot be run, or an interruption, is an end, not an error.
    pub(crate) fn run<T: Target>(&mut self, target: &T) -> io::Result<Exit> {
        let Searched { end, found, .. } = self.search(target)?;
        self.list(&found)?;
        self.tell(&Event::End(&end))?;
        Ok(end.status)
    }

    /// Tells all culprits once more, each on one line, if there are several.
    ///
    /// # Errors
    /// If it cannot be told.
    pub(crate) fn list(&mut self, found: &[Named]) -> io::Result<()> {
        let found: Vec<_> = found.iter().map(|named| &named.found).collect();
        if found.len() > 1 { self.tell(&Event::List(&found)) } else { Ok(()) }
    }

    /// Searches until the search is over.
    ///
    /// # Errors
    /// See [`run`](Self::run).
    pub(crate) fn search<T: Target>(&mut self, target: &T) -> io::Result<Searched> {
        let begun = Instant::now();
        let (axis, subject) = (target.axis(), target.subject());
        let start = Start { axis, subject, target: target.describe(), jobs: self.jobs.get(), seed: self.seed };
        self.tell(&Event::Start(&start))?;
        let interrupt = self.interrupt;
        let (search, status, conclusion, noise, found, log) = thread::scope(|scope| {
            let crew = Crew::new(scope, target, self.jobs.get(), interrupt);
            let mut session = Session::new(self, target, crew);
            let (status, conclusion) = session.go()?;
            let noise = session.beliefs();
            let log = session.telling_log();
            io::Result::Ok((session.search, status, conclusion, noise, session.named, log))
        })?;
        let of_tests = found.iter().map(|named| &named.found).filter(|found| found.is_of_tests).cloned();
        let groups = groups::groups(of_tests.collect());
        if !groups.is_empty() {
            self.tell(&Event::Groups(&groups))?;
        }
        if let Some(summary) = target.summary() {
            self.tell(&Event::Note(&summary))?;
        }
        let end = End {
            status,
            sets: search.culprits().len(),
            trials: search.trials(),
            runs: search.runs(),
            duration: begun.elapsed(),
            noise,
            answers: Vec::new(),
            conclusion,
            log,
        };
        self.before.sets += found.len();
        self.before.trials += end.trials;
        self.before.runs += end.runs;
        Ok(Searched { end, found, verdict: search.verdict() })
    }

    /// Runs the target once with every change, outside any search; what that means is for it to say.
    ///
    /// # Errors
    /// If an event cannot be told. `None`: the target cannot be run, or the user wants to stop.
    pub(crate) fn try_once<T: Target>(&mut self, target: &T) -> io::Result<Option<Run>> {
        let interrupt = self.interrupt;
        let run = self.before.runs + 1;
        let (log, report_file) = (self.run_dir.log(run), self.run_dir.report_file(run));
        let selection = Selection::all(self.options.order);
        let pattern = selection.pattern();
        let trial = Trial { id: TrialId(0), question: Question::All, selection, tests: vec![0] };
        let repetition = self.repetition;
        self.numbered += 1;
        let (id, n, text) = (trial.id, self.numbered, pattern.to_string());
        self.tell(&Event::Run(&RunBegins {
            trial: id,
            n: Some(n),
            is_repeat: false,
            log: self.shown_log(run),
            run: (1, 1),
            question: trial.question,
            subject: target.subject(),
            selected: None,
            tests: None,
            pattern: &text,
            left: None,
        }))?;
        let assignment =
            Assignment { trial: trial.clone(), pattern, run, repetition, is_split: false, log, report_file };
        let shown = thread::scope(|scope| {
            let mut crew = Crew::new(scope, target, 1, interrupt);
            crew.start(assignment);
            let next = crew.next(None);
            crew.finish();
            io::Result::Ok(match next {
                Some(Next::Over { result: Ok(shown), .. }) => Some(shown),
                _ => None,
            })
        })?;
        self.before.trials += 1;
        self.before.runs += 1;
        target.settle();
        let run = shown.and_then(|shown| target.judge(&trial, shown).ok()?.pop());
        if let Some(run) = &run {
            let runs = std::slice::from_ref(run);
            self.tell(&Event::Trial(&emit::done(id, n, text, 1, run.duration, runs)))?;
        }
        Ok(run)
    }

    /// The log of a run, as people find it.
    fn shown_log(&self, run: usize) -> PathBuf {
        let log = self.run_dir.log(run);
        log.file_name().map_or_else(|| log.clone(), |name| self.out_dir.join("runs").join(name))
    }

    /// Tells all who listen.
    ///
    /// # Errors
    /// If nobody listens any more.
    pub(crate) fn tell(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.listeners.tell(event)
    }
}

/// A search in progress.
struct Session<'s, 'lab, 'scope, 'env, T: Target> {
    lab: &'s mut Lab<'lab>,
    target: &'env T,
    search: Search,
    crew: Crew<'scope, 'env, T>,
    /// Runs that are over, but cannot be judged yet.
    held: Vec<(Trial, T::Shown)>,
    /// Runs with every change, and with none, that were recorded.
    ends: [usize; 2],
    /// The numbers of trials that have one.
    numbers: HashMap<TrialId, usize>,
    /// The runs of each trial, by their numbers.
    runs: HashMap<TrialId, Vec<usize>>,
    /// The first run of the whole target with every change, and with none, by its number.
    run_at_end: HashMap<Question, usize>,
    /// What the target says about changes.
    texts: Texts,
    /// Of trials that have been asked and not told yet.
    progress: HashMap<TrialId, Progress>,
    /// What the runs that may confirm a culprit said about it, for each of the trial's tests.
    accounts: HashMap<TrialId, Vec<Run>>,
    /// The culprits that were told, in that order.
    told: Vec<BTreeSet<ChangeId>>,
    /// The same, as it was told.
    named: Vec<Named>,
    /// The names of the tests, once the search goes on for each of them.
    tests: Option<Vec<String>>,
    /// Whether more runs at once would help; of no interest where there are.
    waiting: Option<ParallelismHint>,
    /// The tests that failed in each failing run at an end, and in that which was made once more to see whether they do.
    failed_at_end: Vec<Vec<String>>,
    /// The end that is run once more.
    looks_again: Option<Question>,
    /// What there is to say where runs are only evidence.
    doubts: Doubts,
}

/// A trial that is being answered.
#[derive(Default)]
struct Progress {
    /// What the target got.
    pattern: String,
    /// Runs that have begun. What they showed may not be judged yet.
    started: usize,
    /// Runs that were judged.
    runs: usize,
    duration: Duration,
    matches: usize,
}

impl<'s, 'lab, 'scope, 'env, T: Target> Session<'s, 'lab, 'scope, 'env, T> {
    fn new(lab: &'s mut Lab<'lab>, target: &'env T, crew: Crew<'scope, 'env, T>) -> Self {
        Self {
            search: Search::new(lab.options.clone()),
            waiting: (lab.jobs.get() == 1).then(|| ParallelismHint::new(Processors::now())),
            lab,
            target,
            crew,
            held: Vec::new(),
            ends: [0; 2],
            numbers: HashMap::new(),
            runs: HashMap::new(),
            run_at_end: HashMap::new(),
            texts: Texts::default(),
            progress: HashMap::new(),
            accounts: HashMap::new(),
            told: Vec::new(),
            named: Vec::new(),
            tests: None,
            failed_at_end: Vec::new(),
            looks_again: None,
            doubts: Doubts::default(),
        }
    }

    fn go(&mut self) -> io::Result<(Exit, String)> {
        let ended = self.until_it_ends()?;
        self.crew.finish();
        self.tell_found(true)?;
        self.tell_notes()?;
        Ok(match ended {
            Ok(()) => {
                let verdict = self.search.verdict().expect("the search has ended");
                let beliefs = |test| self.beliefs_of(test);
                let (is_build, axis) = (self.target.is_build(), self.target.axis());
                let (log, line) = (|trial| self.name_of(trial), |trial, id| self.line_with(trial, id));
                let about = About { log: &log, line: &line, is_build, axis };
                conclude(&self.search, &verdict, &beliefs, self.tests.as_deref(), &about)
            }
            Err(RunError::Interrupted) => {
                (Exit::Interrupted, format!("interrupted; all logs are in {}", self.lab.out_dir.display()))
            }
            Err(error) => (Exit::Unusable, format!("the target cannot be used: {error}")),
        })
    }

    /// Goes on until the search has ended, or cannot go on.
    fn until_it_ends(&mut self) -> io::Result<Result<(), RunError>> {
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
            if self.crew.is_idle() && !self.held.is_empty() {
                // At a limit: what they wait for is not run any more.
                self.target.settle();
                self.judge_held()?;
                continue;
            }
            if self.crew.is_idle() {
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
    fn take_results(&mut self) -> Result<(), RunError> {
        let mut next = self.crew.next(None);
        while let Some(came) = next.take() {
            match came {
                Next::Gone => {}
                Next::Interrupted => return Err(RunError::Interrupted),
                Next::Over { trial, result, patience } => {
                    let shown = result?;
                    if !self.take_text(&trial, &shown) {
                        self.target.learn(&trial, &shown)?;
                        self.held.push((trial, shown));
                    }
                    if patience.is_some() {
                        next = self.crew.next(patience);
                    }
                }
            }
        }
        Ok(())
    }

    /// Ends the runs that do not matter any more.
    fn end_obsolete(&mut self) {
        for id in self.search.obsolete() {
            let held = self.held.len();
            self.held.retain(|(trial, _)| trial.id != id);
            let ended = self.crew.end(|trial| trial.id == id) + held - self.held.len();
            (0..ended).for_each(|_| self.search.cancel(id));
            self.progress.remove(&id);
        }
    }

    fn start_runs(&mut self) -> io::Result<()> {
        if self.start_text_run() {
            return Ok(());
        }
        while self.crew.has_room() {
            // Those that are held are in flight as far as the search knows.
            self.search.set_in_flight(self.lab.jobs.saturating_add(self.held.len()));
            let Step::Run(trial) = self.search.step() else { return Ok(()) };
            let run = self.lab.before.runs + self.search.runs();
            self.tell_run(&trial, run)?;
            let (log, report_file) = (self.lab.run_dir.log(run), self.lab.run_dir.report_file(run));
            let pattern = trial.pattern();
            let (repetition, is_split) = (self.repetition(), self.tests.is_some());
            self.crew.start(Assignment { trial, pattern, run, repetition, is_split, log, report_file });
        }
        Ok(())
    }

    /// How often the next run executes the target. Where runs are only evidence, and each begins with a build, as much time
    /// goes into executions as into that: whichever of them is dear, it takes at most twice as long as the best choice.
    fn repetition(&self) -> Repetition {
        match self.lab.repetition {
            Repetition::Once if self.search.is_noisy() && !self.lab.is_repeated => self.doubts.repetition(),
            asked => asked,
        }
    }

    /// Tells the search what came of the runs that can be judged by now, in the order of their trials.
    fn judge_held(&mut self) -> io::Result<()> {
        self.held.sort_by_key(|(trial, _)| trial.id);
        let mut held = std::mem::take(&mut self.held).into_iter();
        for (trial, shown) in held.by_ref() {
            let is_end = self.is_end(&trial);
            // Before it is known what fails at the ends, and whether the search is about single tests, others can wait.
            match if is_end || self.knows_ends() && !self.waits_for_rest(&trial) {
                self.target.judge(&trial, shown)
            } else {
                Err(shown)
            } {
                Ok(runs) => self.record(&trial, runs)?,
                Err(shown) => self.held.push((trial, shown)),
            }
            if is_end && self.try_split()? {
                break;
            }
        }
        // After a split: what was asked of the whole, and is obsolete.
        self.held.extend(held);
        Ok(())
    }

    /// Whether a trial is of the whole target with every change, or with none.
    fn is_end(&self, trial: &Trial) -> bool {
        self.tests.is_none() && matches!(trial.question, Question::All | Question::None)
    }

    /// Whether it is being found out what happens without the changes that this trial leaves out, so that it is not known
    /// yet which failures count in it.
    fn waits_for_rest(&self, trial: &Trial) -> bool {
        let left_out = &trial.selection.excluded;
        let is_of = |rest: &&Trial| {
            let without = &rest.selection.excluded;
            rest.tests.iter().any(|test| trial.tests.contains(test)) && without.iter().all(|id| left_out.contains(id))
        };
        let rests = || self.crew.trials().filter(|rest| rest.question == Question::Rest && rest.id != trial.id);
        !left_out.is_empty() && !self.search.is_noisy() && rests().any(|rest| is_of(&rest))
    }

    /// Goes on for each failing test, if that is how the target is searched and all is known that has to be.
    fn try_split(&mut self) -> io::Result<bool> {
        Ok(self.knows_ends() && !self.awaits_places() && self.search.can_split() && self.split()?)
    }

    /// Returns whether enough runs with every change and with no change were recorded.
    fn knows_ends(&self) -> bool {
        if self.tests.is_some() {
            // A split search recorded both ends before the split.
            return true;
        }
        // Under noise each run is a trial.
        let runs = if self.search.is_noisy() { 1 } else { self.lab.options.runs_per_trial.get() };
        self.ends.iter().all(|&recorded| recorded >= runs)
    }

    fn record(&mut self, trial: &Trial, runs: Vec<Run>) -> io::Result<()> {
        let observe = |run: &Run| Observation { outcome: run.outcome, reported: run.reports.ids().to_vec() };
        self.search.record_each(trial.id, runs.iter().map(observe).collect());
        if let [run] = runs.as_slice() {
            for &outcome in &run.also {
                self.search.record_also(trial.id, &Observation { outcome, reported: run.reports.ids().to_vec() });
            }
        }
        self.tell_trial(trial, &runs)?;
        if self.is_end(trial) {
            self.ends[usize::from(trial.question == Question::None)] += 1;
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
        self.doubts.add(runs.iter().enumerate().filter(|&(index, _)| is_noisy(index)).map(|(_, run)| run));
        self.tell_doubts()?;
        if trial.question == Question::Exactly || self.is_end(trial) {
            for run in &runs {
                self.texts.learn(&run.reports);
            }
        }
        if trial.question == Question::Exactly {
            self.accounts.insert(trial.id, runs);
        }
        Ok(())
    }
}
