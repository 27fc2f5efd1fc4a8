//! The loop of one search, from its first run to its end.

use std::io;

use bisect_core::search::{Mode, Observation, Outcome, Question, Step, Trial, TrialId, Unusable, Verdict};

use super::{
    control_runs, emit, noisy_notes, per_test,
    session::Session,
    target::{Judgement, Target},
    text_runs,
    workers::{self, Next, Wait},
};
use crate::{
    output::conclusion::{TargetFacts, conclude, stopped_at},
    record::{conclusion_kind::ConclusionKind, end::End, exit_status::Exit},
    run::{
        error::RunError,
        limit::Limit,
        result::RunResult,
        spec::{Purpose, RunSpec},
    },
};

impl<T: Target> Session<'_, '_, '_, '_, T> {
    /// Searches to the end. Returns its status and conclusion; the caller adds the numbers.
    pub(super) fn go(&mut self) -> io::Result<End> {
        let ended = self.until_it_ends()?;
        self.workers.finish();
        emit::culprits(self, true)?;
        emit::notes(self)?;
        Ok(match ended {
            Ok(()) => {
                let verdict = self.search.verdict().expect("the search has ended");
                let beliefs = |test| noisy_notes::estimate_of(self, test);
                let (kind, terms) = (self.target.kind(), self.target.terms());
                let (log, line) = (|trial| emit::name_of(self, trial), |trial, id| emit::line_with(self, trial, id));
                let both = emit::both_fail(self);
                let usual_failure = both.as_ref().map(|both| both.usual.as_str());
                let repetition = self.lab.repetition;
                let (numbering, passed) = (self.target.axis().numbering(), self.passed_with_all);
                let about =
                    TargetFacts { numbering, log: &log, line: &line, passed, kind, repetition, terms, usual_failure };
                match emit::unrelated_failures(self) {
                    Some(both) => End::new(Exit::Nothing, both.conclusion()),
                    None => conclude(&self.search, &verdict, &beliefs, self.tests.as_deref(), &about),
                }
            }
            Err(RunError::Interrupted) => {
                let (known, directory) = (self.search.progress().changes(), self.lab.out_dir.display());
                let what = match self.smallest_failure.changes() {
                    Some(n) => format!("all logs and the smallest failing set so far ({n} of {known} changes)"),
                    None => "all logs".to_owned(),
                };
                End::new(Exit::Interrupted, format!("interrupted; {what} are in {directory}"))
            }
            Err(RunError::Limit(limit)) => stopped_at(limit, &self.search),
            Err(error) => {
                let (kind, words) = match error.machine_fault() {
                    Some(fault) => (Some(ConclusionKind::Machine), error.of_machine(fault)),
                    None => (None, format!("the target cannot be used: {error}")),
                };
                End { kind, ..End::new(Exit::Unusable, words) }
            }
        })
    }

    /// Makes runs until the search has ended, or cannot continue.
    fn until_it_ends(&mut self) -> io::Result<Result<(), RunError>> {
        loop {
            emit::notes(self)?;
            // The request may have come before the workers listened.
            if self.lab.interrupt.requested() {
                return Ok(Err(RunError::Interrupted));
            }
            if self.search.verdict().is_none() && self.lab.is_out_of_time() {
                return Ok(Err(RunError::Limit(Limit::Time)));
            }
            self.end_obsolete();
            text_runs::want_texts(self);
            if self.search.verdict().is_some() && !self.texts.is_pending() {
                return Ok(Ok(()));
            }
            self.start_runs()?;
            if self.workers.is_idle() && !self.awaiting_judgement.is_empty() {
                // At a limit, the runs that they wait for are not made.
                self.target.assume_no_more_ends();
                self.judge_runs()?;
                continue;
            }
            if self.workers.is_idle() {
                // The search has just ended.
                assert!(self.search.verdict().is_some(), "a search that goes on wants runs");
                continue;
            }
            if let Err(error) = self.take_results() {
                return Ok(Err(error));
            }
            self.judge_runs()?;
            if text_runs::favour_touched(self)? {
                self.try_split()?;
            }
            emit::culprits(self, false)?;
        }
    }

    /// Waits for a run to end, and takes runs that end at the same time with it: the next step is better decided when
    /// all their answers are known.
    fn take_results(&mut self) -> Result<(), RunError> {
        let mut next = self.workers.next(Wait::Until(self.lab.time_left()));
        while let Some(came) = next.take() {
            match came {
                Next::Cancelled => {}
                Next::Interrupted => return Err(RunError::Interrupted),
                Next::Over { spec, result, coalesce_window } => {
                    let shown = result?;
                    if spec.purpose != Purpose::Text {
                        self.target.learn(&spec.trial, &shown)?;
                    }
                    match spec.purpose {
                        Purpose::Answer => self.awaiting_judgement.push((spec, shown)),
                        Purpose::Text => text_runs::take(self, &spec, &shown),
                        Purpose::Repeat | Purpose::Control => control_runs::take(self, &spec, shown),
                    }
                    next = coalesce_window.and_then(|window| self.workers.next(Wait::Joined(window)));
                }
            }
        }
        Ok(())
    }

    /// Starts runs in all free slots.
    fn start_runs(&mut self) -> io::Result<()> {
        if control_runs::start(self) || text_runs::start_text_run(self) {
            return Ok(());
        }
        while let Some(slot) = self.workers.free_slot() {
            self.limit_in_flight();
            let Step::Run(trial) = self.search.step() else {
                text_runs::want_text_early(self);
                text_runs::start_text_run(self);
                return Ok(());
            };
            let number = self.lab.totals.runs + self.search.progress().runs();
            let choice = self.target.axis().numbering().choice(&trial.selection);
            let tests = self.tests.as_ref().map(|_| trial.tests.clone());
            let repetition = self.repetition_of(&trial);
            let spec = RunSpec { repetition, tests, ..self.lab.spec(number, trial, choice, slot) };
            emit::run(self, &spec)?;
            self.workers.start(spec, &self.target.known_failures());
        }
        Ok(())
    }

    /// Sets the search's limit of runs in flight. Runs that await judgement count as in flight.
    fn limit_in_flight(&mut self) {
        self.search.set_in_flight(self.lab.jobs.saturating_add(self.awaiting_judgement.len()));
    }

    /// Judges the runs that can be judged, and records them in the order of their trials.
    fn judge_runs(&mut self) -> io::Result<()> {
        self.awaiting_judgement.sort_by_key(|(spec, _)| spec.trial.id);
        let mut held = std::mem::take(&mut self.awaiting_judgement).into_iter();
        for (spec, shown) in held.by_ref() {
            let trial = &spec.trial;
            let is_end = self.is_end(trial);
            // Other runs wait until both ends are known, and whether single tests are searched.
            let is_time = is_end || self.knows_ends() && !self.waits_for_rest(trial);
            let is_time = is_time && !control_runs::want(self, trial, &shown);
            let judgement = if is_time { self.target.judge(trial, shown) } else { Judgement::Pending(shown) };
            match judgement {
                Judgement::Ready(results) => {
                    self.record(trial, results)?;
                    if !self.is_quoted(trial.id) {
                        workers::delete_reports(&spec);
                    }
                }
                Judgement::Pending(shown) => self.awaiting_judgement.push((spec, shown)),
            }
            if is_end && self.try_split()? {
                break;
            }
        }
        // After a split, these are of the whole target and obsolete.
        self.awaiting_judgement.extend(held);
        Ok(())
    }

    /// Continues the search for each failing test, if the target is searched so and both ends are known.
    fn try_split(&mut self) -> io::Result<bool> {
        Ok(self.knows_ends() && !text_runs::awaits_places(self) && self.search.can_split() && per_test::split(self)?)
    }

    /// Returns true if the conclusion quotes the reports of this trial's runs. Those of all others were read and are
    /// deleted, because they could fill the disk.
    fn is_quoted(&self, trial: TrialId) -> bool {
        let tests = self.tests.as_ref().map_or(1, Vec::len);
        (0..tests).filter_map(|test| self.search.test(test).verdict()).any(
            |verdict| matches!(verdict, Verdict::Unusable(Unusable::Unasked { trial: quoted, .. }) if *quoted == trial),
        )
    }

    /// Records the results of a run.
    fn record(&mut self, trial: &Trial, runs: Vec<RunResult>) -> io::Result<()> {
        let (numbering, mode) = (self.target.axis().numbering(), Mode::of(&trial.selection));
        self.limit_in_flight();
        let observe = |outcome, run: &RunResult| {
            let reported = run.reports.ids().iter().map(|&id| numbering.rank(mode, id)).collect();
            Observation { outcome, reported }
        };
        self.search.record(trial.id, runs.iter().map(|run| observe(run.outcome, run)));
        if let [run] = runs.as_slice() {
            for &outcome in &run.extra_outcomes {
                self.search.record_extra_execution(trial.id, &observe(outcome, run));
            }
        }
        self.untested_steps.learn_run(numbering.order, self.search.progress().changes(), trial, &runs);
        self.usual_failures.learn(trial, &runs);
        for failed in runs.iter().filter(|run| run.outcome == Outcome::Fail).flat_map(|run| &run.failures) {
            if !self.failures.iter().any(|known| known.is_same(failed)) {
                self.failures.push(failed.clone());
            }
        }
        emit::trial(self, trial, &runs)?;
        emit::smallest(self, trial, &runs)?;
        if self.is_end(trial) {
            self.ends[usize::from(trial.question == Question::AllOff)] += 1;
            let failed = runs.iter().filter(|run| run.outcome == Outcome::Fail);
            let mut failed: Vec<_> = failed.map(|run| run.failed_tests.clone()).collect();
            if self.failing_question() == Some(trial.question) && failed.is_empty() {
                failed.push(Vec::new());
            }
            if trial.question == Question::AllOn {
                self.passed_with_all +=
                    runs.iter().filter(|run| run.outcome == Outcome::Pass).map(|run| run.executions).sum::<usize>();
                self.duration_with_all = runs.iter().map(|run| run.duration).max().unwrap_or_default();
            }
            if !failed.is_empty() {
                self.failing_end = Some(trial.clone());
            }
            self.failed_at_end.extend(failed);
        }
        let is_noisy = |index: usize| self.tests.is_none() || self.search.test(trial.tests[index]).is_noisy();
        self.noisy_stats.add(runs.iter().enumerate().filter(|&(index, _)| is_noisy(index)).map(|(_, run)| run));
        noisy_notes::emit_noise(self)?;
        if trial.question == Question::FoundAlone || self.is_end(trial) {
            for run in &runs {
                self.texts.learn(&run.reports);
            }
        }
        self.passing.learn(trial, self.steps(&trial.selection), &runs);
        if trial.question == Question::FoundAlone {
            self.confirming_runs.insert(trial.id, runs);
        }
        Ok(())
    }
}
