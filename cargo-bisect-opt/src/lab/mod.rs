//! The search loop: the engine asks for trials, workers make runs, the target judges them, listeners get events.
//!
//! Threads make runs, one thread decides. Each run has a slot, a directory and an interrupt of its own. The meaning of
//! a run may depend on the first ones, so a `Runner` makes it and a `Judge` decides about it later.

pub(crate) mod calibration;
mod control_runs;
mod emit;
pub(crate) mod journal;
mod moment_facts;
mod noisy_notes;
mod noisy_stats;
mod parallelism_hint;
mod passing;
mod pasting;
mod per_test;
mod search_loop;
mod session;
#[cfg(test)]
mod simulation;
mod smallest_failure;
pub(crate) mod target;
mod text_runs;
mod texts;
mod trial_done;
mod trials_left;
mod untested_steps;
mod usual_failures;
pub(crate) mod watch;
mod workers;

use std::{
    cell::Cell,
    io,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    rc::Rc,
    thread,
    time::Duration,
};

use bisect_core::{
    ChangeId,
    search::{Incomplete, Mode, Options, Order, Question, Search, Selection, Trial, TrialId, Verdict},
};

use crate::{
    output::{
        events::{Event, RunBegins, SearchedChanges, Start},
        listeners::Listeners,
        next_steps::NextSteps,
        run_dir::RunDir,
    },
    process::interrupt::Interrupt,
    record::{
        CulpritPositions, SearchRecord,
        culprit::CulpritRecord,
        end::End,
        exit_status::Exit,
        milliseconds::in_milliseconds,
        trial::{TrialContext, TrialRecord},
    },
    report::content::Report,
    run::{
        error::RunError,
        in_flight::InFlight,
        limit::Limit,
        numbering::Numbering,
        repetition::Repetition,
        result::RunResult,
        seed::Seed,
        spec::{Choice, Purpose, RunSpec},
    },
    vcs::since::Since,
};
use calibration::BothFail;
use journal::Journal;
use session::Session;
use target::{Judgement, Target};
use workers::{Next, Wait, Workers};

/// The settings and resources of a search, except its target.
pub(crate) struct Lab<'a> {
    /// The options of the engine.
    pub(crate) options: Options,
    /// The maximum number of parallel runs.
    pub(crate) jobs: NonZeroUsize,
    /// The number of executions of the target in a run, and the rule that combines their outcomes.
    pub(crate) repetition: Repetition,
    /// The seed of random choices.
    pub(crate) seed: Seed,
    /// True if the seed was given to repeat a search: then nothing may depend on how long runs take.
    pub(crate) is_repeated: bool,
    /// The lines that changed since a revision: changes of the search on them are likelier culprits.
    pub(crate) since: Option<Since>,
    /// The directory for logs.
    pub(crate) run_dir: &'a RunDir,
    /// The ends of runs, from which an interrupted command continues.
    pub(crate) journal: Rc<Journal>,
    /// The path of that directory as messages show it.
    pub(crate) out_dir: &'a Path,
    /// The receivers of events.
    pub(crate) listeners: Listeners<'a>,
    /// The user's request to stop.
    pub(crate) interrupt: &'a Interrupt,
    /// The totals of the previous searches: numbers continue from there.
    pub(crate) totals: Totals,
    /// The time for the command, from its first run on; `None` if it is not limited.
    pub(crate) budget: Option<Duration>,
    /// The limit that has kept the command from a run that its answer needs.
    pub(crate) cut_short: Option<Limit>,
    /// The number of the earlier culprit that this search examines, if it examines one.
    pub(crate) parent_culprit: Option<usize>,
    /// The number of trials shown so far, in all searches. Each of them has a number.
    pub(crate) numbered: usize,
    /// The runs in flight, for a display of them.
    pub(crate) in_flight: InFlight,
    /// The number of command lines of culprits that were run to check them.
    pub(crate) pasted: Cell<usize>,
    /// The number of searches that have begun.
    pub(crate) searches: usize,
    /// The next steps for the user, as far as they are known.
    pub(crate) next_steps: NextSteps,
}

/// The work done by completed searches.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    /// The number of reported culprits.
    pub(crate) sets: usize,
    /// The number of trials made.
    pub(crate) trials: usize,
    /// The number of runs made.
    pub(crate) runs: usize,
}

/// The result of a search.
#[derive(Debug)]
pub(crate) struct Searched {
    /// The end of the search, not yet emitted as an event.
    pub(crate) end: End,
    /// The culprits, as they were reported.
    pub(crate) found: Vec<Named>,
    /// The verdict of the engine, if the search was completed.
    pub(crate) verdict: Option<Verdict>,
    /// The changes to disable in a further search, if the target fails in unrelated ways at both ends.
    pub(crate) other_failure: Option<OtherFailure>,
}

/// The changes that make a target fail in another way than without any change. Without them, it passes.
#[derive(Debug)]
pub(crate) struct OtherFailure {
    pub(crate) changes: Vec<ChangeId>,
    pub(crate) reports: Vec<Report>,
    pub(crate) both: BothFail,
}

/// A culprit: its changes, their reports, and its record.
#[derive(Debug)]
pub(crate) struct Named {
    /// Its changes.
    pub(crate) changes: Vec<ChangeId>,
    /// The reports of its changes, and of those that no run could tell apart from them.
    pub(crate) reports: Vec<Report>,
    /// Its record, which listeners share.
    pub(crate) found: Rc<CulpritRecord>,
}

impl Lab<'_> {
    /// Emits a list of all culprits, one line each, if there are several.
    ///
    /// # Errors
    /// If the event cannot be emitted.
    pub(crate) fn list(&mut self, found: &[Named]) -> io::Result<()> {
        let found: Vec<_> = found.iter().map(|named| &*named.found).collect();
        if found.len() > 1 { self.emit(&Event::List(&found)) } else { Ok(()) }
    }

    /// Returns the number of runs that are left after the completed searches; `None` if there is no limit.
    pub(crate) fn runs_left(&self) -> Option<usize> {
        self.options.max_runs.map(|max| max.saturating_sub(self.totals.runs))
    }

    /// Returns true if no run is left, or no time, and then records that the command is cut short. Call it only where a
    /// run follows.
    pub(crate) fn stops_at_limit(&mut self) -> bool {
        let is_last = self.runs_left() == Some(0);
        self.cut_short = is_last.then_some(Limit::Runs).or(self.cut_short);
        is_last || self.is_out_of_time()
    }

    /// Returns true if the time is over, and then records that the command is cut short.
    fn is_out_of_time(&mut self) -> bool {
        let is_over = self.time_left() == Some(Duration::ZERO);
        self.cut_short = is_over.then_some(Limit::Time).or(self.cut_short);
        is_over
    }

    /// Returns the time that is left for runs; `None` if there is no limit. Runs that the journal has take no time.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        self.budget.filter(|_| !self.journal.has_earlier()).map(|budget| budget.saturating_sub(self.elapsed()))
    }

    /// Returns true if less time than `default` has passed, or than the user allows. Runs that the journal has take no
    /// time.
    pub(crate) fn has_time(&self, default: Duration) -> bool {
        self.journal.has_earlier() || self.elapsed() < self.budget.unwrap_or(default)
    }

    /// Returns the limit at which runs stop: the time, if it is over.
    pub(crate) fn limit(&self) -> Limit {
        if self.time_left() == Some(Duration::ZERO) { Limit::Time } else { Limit::Runs }
    }

    /// Runs a whole search, and returns its result without emitting its end.
    ///
    /// # Errors
    /// If an event cannot be emitted. A target that cannot be run, or an interruption, is an end, not an error.
    pub(crate) fn search<T: Target>(&mut self, target: &mut T) -> io::Result<Searched> {
        let begun = self.elapsed();
        // Without the file, `--resume` repeats checks. A full disk is reported where runs are recorded.
        if let Some(late) = target.axis().late() {
            let _ = late.keep_in(&self.run_dir.checks());
        }
        self.emit_start(target, self.jobs.get())?;
        let interrupt = self.interrupt;
        let (search, end, found, other_failure) = thread::scope(|scope| {
            let workers =
                Workers::new(scope, target.runner(), self.jobs.get(), interrupt, self.journal.clone(), &self.in_flight);
            let mut session = Session::new(self, target, workers);
            let end = session.go()?;
            let end = End { noise: noisy_notes::estimate(&session), log: emit::last_log(&session), ..end };
            let other_failure = emit::changes_of_other_failure(&session);
            io::Result::Ok((session.search, end, session.named, other_failure))
        })?;
        let of_tests: Vec<_> = found.iter().map(|named| &*named.found).filter(|found| found.is_of_tests).collect();
        if !of_tests.is_empty() {
            self.emit(&Event::Groups(&of_tests))?;
        }
        self.emit(&Event::Searched(&changes_of(&search, target.axis().numbering(), &found)))?;
        if let Some(summary) = target.axis().summary(target.builds()) {
            self.emit(&Event::Note(&summary))?;
        }
        let end = End {
            sets: found.len(),
            trials: search.progress().trials(),
            runs: search.progress().runs(),
            pasted: self.pasted.take(),
            duration: self.time_since(begun),
            ..end
        };
        self.totals.sets += found.len();
        self.totals.trials += end.trials;
        self.totals.runs += end.runs;
        let verdict = search.verdict();
        if verdict == Some(Verdict::Incomplete(Incomplete::MaxRuns)) {
            self.cut_short = Some(self.limit());
        }
        Ok(Searched { end, found, verdict, other_failure })
    }

    /// Runs the target once with every change, outside any search. Returns an error if the target cannot be run, if no
    /// run is left, or if the user wants to stop.
    ///
    /// # Errors
    /// If an event cannot be emitted.
    pub(crate) fn try_once<T: Target>(&mut self, target: &mut T) -> io::Result<Result<RunResult, RunError>> {
        let subject = target.axis().subject();
        self.try_selection(target, Question::AllOn, Selection::all(), subject)
    }

    /// Runs the target once without the changes of a culprit, after its search; where disabled changes break the target,
    /// with these changes alone. Returns an error as [`try_once`](Self::try_once) does.
    ///
    /// # Errors
    /// If an event cannot be emitted.
    pub(crate) fn try_without<T: Target>(
        &mut self,
        target: &mut T,
        culprit: &Named,
    ) -> io::Result<Result<RunResult, RunError>> {
        let (mode, set) = (culprit.found.mode, culprit.found.set);
        let excluded = culprit.changes.iter().map(|&id| target.axis().numbering().rank(mode, id)).collect();
        let subject = match mode {
            Mode::Enable => format!("with everything except culprit {set}"),
            Mode::Disable => format!("with culprit {set} alone"),
        };
        let selection = Selection { excluded, inverted: mode == Mode::Disable, ..Selection::all() };
        self.try_selection(target, Question::AllButFound, selection, Some(subject))
    }

    fn try_selection<T: Target>(
        &mut self,
        target: &mut T,
        question: Question,
        selection: Selection,
        subject: Option<String>,
    ) -> io::Result<Result<RunResult, RunError>> {
        if self.stops_at_limit() {
            return Ok(Err(RunError::Limit(self.limit())));
        }
        let (interrupt, time_left) = (self.interrupt, self.time_left());
        let number = self.totals.runs + 1;
        let choice = target.axis().numbering().choice(&selection);
        let mode = Mode::of(&selection);
        let trial = Trial { id: TrialId(0), question, selection, tests: vec![0] };
        self.numbered += 1;
        let (id, n, pattern) = (trial.id, self.numbered, choice.to_string());
        let context = TrialContext {
            search: self.searches,
            question: trial_done::question_name(trial.question).to_owned(),
            start_ms: in_milliseconds(self.elapsed()),
            logs: vec![self.log_name(number)],
            ..TrialContext::default()
        };
        self.emit(&Event::Run(&RunBegins {
            trial: id,
            number,
            n: Some(n),
            is_repeat: false,
            log: self.shown_log(number),
            run: (1, 1),
            mode,
            question: trial.question,
            subject,
            selected: None,
            tests: None,
            pattern: &pattern,
            left: None,
            candidates: None,
        }))?;
        let spec = RunSpec { repetition: self.repetition, ..self.spec(number, trial.clone(), choice, 0) };
        let shown = thread::scope(|scope| {
            let mut workers = Workers::new(scope, target.runner(), 1, interrupt, self.journal.clone(), &self.in_flight);
            workers.start(spec, &target.known_failures());
            let next = workers.next(Wait::Until(time_left));
            workers.finish();
            match next {
                Some(Next::Over { result, .. }) => result,
                None => Err(RunError::Limit(Limit::Time)),
                _ => Err(RunError::Interrupted),
            }
        });
        self.totals.trials += 1;
        self.totals.runs += 1;
        target.assume_no_more_ends();
        let result = shown.and_then(|shown| match target.judge(&trial, shown) {
            Judgement::Ready(mut results) => results.pop().ok_or(RunError::Interrupted),
            Judgement::Pending(_) => Err(RunError::Interrupted),
        });
        if let Ok(result) = &result {
            let results = std::slice::from_ref(result);
            let done = TrialRecord { context, ..trial_done::done(n, pattern, 1, result.duration, results) };
            self.emit(&Event::Trial(id, &done))?;
        }
        Ok(result)
    }

    /// Returns the specification of the run with this number, executed once.
    fn spec(&self, number: usize, trial: Trial, choice: Choice, slot: usize) -> RunSpec {
        // If this fails, the run makes what it needs, or fails.
        let _ = self.run_dir.restore();
        RunSpec {
            number,
            trial,
            purpose: Purpose::Answer,
            choice,
            repetition: Repetition::Once,
            tests: None,
            log: self.run_dir.log(number),
            report_file: self.run_dir.report_file(number),
            slot,
        }
    }

    /// Returns the name of a run's log.
    fn log_name(&self, run: usize) -> String {
        let log = self.run_dir.log(run);
        log.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Returns the path of a run's log as messages show it.
    fn shown_log(&self, run: usize) -> PathBuf {
        let log = self.run_dir.log(run);
        log.file_name().map_or_else(|| log.clone(), |name| self.out_dir.join("runs").join(name))
    }

    /// Emits that a search of this target begins.
    fn emit_start<T: Target>(&mut self, target: &T, jobs: usize) -> io::Result<()> {
        self.searches += 1;
        let terms = target.terms();
        let search = SearchRecord {
            search: self.searches,
            axis: terms.axis.to_owned(),
            noun: terms.change.to_owned(),
            subject: target.axis().subject(),
            target: target.describe(),
            jobs,
            seed: self.seed.of_search(),
            order: order_name(target.axis().numbering().order).to_owned(),
            within: self.parent_culprit,
            changes: None,
            culprits: Vec::new(),
        };
        let start = Start { search, terms, rustc: if self.searches == 1 { target.rustc() } else { None } };
        self.emit(&Event::Start(&start))
    }

    /// Emits the end of the command, with the next steps, and returns its status. If the limit of runs has cut the
    /// command short, that is the status, even if the last search was complete.
    ///
    /// # Errors
    /// If the event cannot be emitted.
    pub(crate) fn end(&mut self, mut end: End) -> io::Result<Exit> {
        if let Some(limit) = self.cut_short
            && matches!(end.status, Exit::Found | Exit::Nothing)
        {
            end.status = Exit::Limit;
            let more = limit.more();
            end.words = format!("{}; stopped at {limit}: allow {more} for the rest of the answer", end.words);
        }
        end.continuation = self.next_steps.continuation(&end);
        end.next = self.next_steps.after(&end);
        self.emit(&Event::End(&end))?;
        Ok(end.status)
    }

    /// Returns the time that the command has taken, without the time between an interruption and its continuation.
    pub(crate) fn elapsed(&self) -> Duration {
        self.journal.elapsed()
    }

    /// Returns the time that the command has taken since this time.
    pub(crate) fn time_since(&self, begun: Duration) -> Duration {
        self.elapsed().saturating_sub(begun)
    }

    /// Emits an event to all listeners.
    ///
    /// # Errors
    /// If no listener is left.
    pub(crate) fn emit(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.next_steps.learn(event);
        self.listeners.emit(event)?;
        let Some(mut note) = self.run_dir.take_note() else { return Ok(()) };
        if self.journal.lose() {
            self.next_steps.lose_journal();
            note += ", and --resume cannot continue this search";
        }
        self.listeners.emit(&Event::OutputLost(&note))
    }
}

/// Returns the name of an order of changes in the record.
fn order_name(order: Order) -> &'static str {
    match order {
        Order::ByHash => "hash",
        Order::Given => "given",
        Order::Counter => "counter",
    }
}

/// Returns the number of changes that a search knows, and the positions of those of its culprits.
fn changes_of(search: &Search, numbering: Numbering, found: &[Named]) -> SearchedChanges {
    let progress = search.progress();
    let positions = |named: &Named| {
        let position = |&change: &ChangeId| progress.position(numbering.rank(named.found.mode, change));
        CulpritPositions { set: named.found.set, positions: named.changes.iter().filter_map(position).collect() }
    };
    SearchedChanges { changes: progress.changes(), culprits: found.iter().map(positions).collect() }
}
