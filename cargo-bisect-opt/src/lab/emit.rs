//! What the search does, as events.

use std::{
    collections::{BTreeSet, HashSet},
    io,
    time::Duration,
};

use bisect_core::{
    ChangeId,
    search::{Culprit, Mode, Outcome, Question, Shared, Trial, TrialId, Unusable, Verdict},
};

use super::{
    Named,
    parallelism_hint::Processors,
    session::{Progress, Session},
    target::Target,
};
use crate::{
    output::{
        events::{Event, Found, LogEnd, RunBegins, TrialDone},
        log_end,
        noise::CulpritEstimate,
    },
    report::{content::Report, scan},
    run::{result::RunResult, spec::RunSpec},
};

impl<T: Target> Session<'_, '_, '_, '_, T> {
    pub(super) fn tell_run(&mut self, spec: &RunSpec) -> io::Result<()> {
        let RunSpec { trial, number: run, .. } = spec;
        let run = *run;
        let is_repeat = self.search.repeated(trial.id).is_some();
        let n = (self.lab.jobs.get() == 1 && !is_repeat).then(|| self.number(trial.id));
        self.runs.entry(trial.id).or_default().push(run);
        if self.is_end(trial) {
            self.run_at_end.entry(trial.question).or_insert(run);
        }
        let search = &self.search;
        let pattern = spec.choice.to_string();
        let selected = (search.changes() > 0).then(|| (search.selected(&trial.selection), search.changes()));
        let progress = self.progress.entry(trial.id).or_default();
        progress.pattern.clone_from(&pattern);
        progress.started += 1;
        let nth = progress.started;
        let log = self.lab.shown_log(run);
        self.lab.emit(&Event::Run(&RunBegins {
            trial: trial.id,
            n,
            is_repeat,
            log,
            run: (nth, search.runs_of_trial(trial.id)),
            question: trial.question,
            subject: None,
            selected,
            tests: self.tests.as_ref().map(|tests| (trial.tests.len(), tests.len())),
            pattern: &pattern,
            left: search.trials_left(),
        }))
    }

    pub(super) fn tell_trial(&mut self, trial: &Trial, runs: &[RunResult]) -> io::Result<()> {
        let progress = self.progress.entry(trial.id).or_default();
        progress.runs += 1;
        // Single tests are run side by side.
        progress.duration += runs.iter().map(|run| run.duration).max().unwrap_or_default();
        progress.matches = progress.matches.max(distinct(runs));
        if progress.runs < self.search.runs_of_trial(trial.id) && self.search.verdict().is_none() {
            return Ok(());
        }
        let Progress { pattern, runs: times, duration, matches, .. } =
            self.progress.remove(&trial.id).unwrap_or_default();
        let is_repeat = self.search.repeated(trial.id).is_some();
        let n = if is_repeat { 0 } else { self.number(trial.id) };
        let done = TrialDone { is_repeat, matches, ..done(trial.id, n, pattern, times, duration, runs) };
        self.lab.emit(&Event::Trial(&done))?;
        let advice = self.parallelism_hint.as_mut().and_then(|hint| hint.add(done.duration, Processors::now()));
        advice.map_or(Ok(()), |advice| self.lab.emit(&Event::Note(&advice)))
    }

    /// The number of a trial. Trials are numbered in the order in which they are shown.
    fn number(&mut self, id: TrialId) -> usize {
        let numbered = &mut self.lab.numbered;
        *self.numbers.entry(id).or_insert_with(|| {
            *numbered += 1;
            *numbered
        })
    }

    /// A line that reports a change, as a run of this trial has printed or written it.
    pub(super) fn line_with(&self, trial: TrialId, id: ChangeId) -> Option<String> {
        let runs = self.runs.get(&trial).into_iter().flatten();
        let mut files = runs.flat_map(|&run| [self.lab.run_dir.log(run), self.lab.run_dir.report_file(run)]);
        files.find_map(|file| scan::line_with(&file, id))
    }

    /// A trial in the conclusion: its number, and where its output is.
    pub(super) fn name_of(&self, id: TrialId) -> String {
        // What was shown first: a repeated run is none of its own.
        let id = self.search.repeated(id).unwrap_or(id);
        let logs = self.runs.get(&id).into_iter().flatten().map(|&run| self.lab.shown_log(run).display().to_string());
        let logs = logs.collect::<Vec<_>>().join(", ");
        match self.numbers.get(&id) {
            Some(n) => format!("trial {n}, log {logs}"),
            None => format!("log {logs}"),
        }
    }

    /// The end of the log in which the target says why it cannot be searched: of the run without any change, if it fails even
    /// then.
    pub(super) fn telling_log(&self) -> Option<LogEnd> {
        let question = match self.search.verdict()? {
            Verdict::NoDifference(Outcome::Fail) => Question::AllOff,
            Verdict::Unusable(Unusable::Unresolved(question, _)) => question,
            _ => return None,
        };
        let run = *self.run_at_end.get(&question)?;
        let lines = log_end::last_lines(&self.lab.run_dir.log(run))?;
        Some(LogEnd { path: self.lab.shown_log(run), lines })
    }

    /// Tells the culprits that were found. Of several tests, which of them a culprit breaks is known at the end only: until
    /// then it is told that there is one.
    pub(super) fn tell_found(&mut self, at_end: bool) -> io::Result<()> {
        let is_final = self.tests.is_none() || at_end;
        let culprits = self.search.culprits();
        let mut found = Vec::new();
        for (index, shared) in culprits.iter().enumerate() {
            let changes: BTreeSet<_> = shared.culprit.ids(self.target.order()).collect();
            let known = self.told.iter().position(|told| *told == changes);
            if known.is_some() && (self.tests.is_none() || !at_end) {
                continue;
            }
            if !at_end && !self.has_text(&changes) {
                continue;
            }
            let number = known.unwrap_or(self.told.len());
            if known.is_none() {
                self.told.push(changes);
            }
            let names = |tests: &[String]| shared.tests.iter().map(|&test| tests[test].clone()).collect();
            let noise = self.sureness(index, shared);
            let tests = self.tests.as_deref().map(names);
            let number = self.lab.totals.sets + number + 1;
            let changes = shared.culprit.ids(self.target.order()).collect();
            found.push(Named { changes, found: self.found(number, shared.culprit, noise, tests) });
        }
        found.sort_by_key(|named| named.found.set);
        for Named { found, .. } in &found {
            self.lab.emit(&if is_final { Event::Found(found) } else { Event::Preliminary(found) })?;
        }
        if is_final {
            self.named.extend(found);
        }
        if at_end { self.tell_taken_back() } else { Ok(()) }
    }

    /// Tells which culprits were told too early: the target has contradicted itself after that, and they were not found
    /// again.
    fn tell_taken_back(&mut self) -> io::Result<()> {
        let culprits = self.search.culprits();
        let is_one = |told: &BTreeSet<ChangeId>| {
            culprits.iter().any(|shared| shared.culprit.ids(self.target.order()).collect::<BTreeSet<_>>() == *told)
        };
        self.named.retain(|named| is_one(&named.changes.iter().copied().collect()));
        let taken_back = self.told.iter().enumerate().filter(|(_, told)| !is_one(told));
        let numbers: Vec<_> = taken_back.map(|(i, _)| self.lab.totals.sets + i + 1).collect();
        numbers.iter().try_for_each(|number| {
            let note = format!("culprit {number} was told before the target contradicted itself: it is taken back");
            self.lab.emit(&Event::Note(&note))
        })
    }

    pub(super) fn tell_notes(&mut self) -> io::Result<()> {
        let notes = [self.target.take_notes(), self.workers.take_notes()].concat();
        notes.iter().try_for_each(|note| self.lab.emit(&Event::Note(note)))
    }

    /// How sure a culprit is, by its index among all; of several tests, for the one for which that is least.
    fn sureness(&self, index: usize, shared: &Shared<'_>) -> Option<CulpritEstimate> {
        let Some(tests) = &self.tests else { return self.search.test(0).certainty(index).map(Into::into) };
        let set = |culprit: &Culprit| culprit.ids(self.target.order()).collect::<BTreeSet<_>>();
        let of_test = |&test: &usize| {
            let index = self.search.test(test).found().iter().position(|found| set(found) == set(shared.culprit))?;
            let sureness = CulpritEstimate::from(self.search.test(test).certainty(index)?);
            Some(CulpritEstimate { test: Some(tests[test].clone()), ..sureness })
        };
        shared.tests.iter().filter_map(of_test).min_by(|a, b| a.confidence.total_cmp(&b.confidence))
    }

    fn found(
        &self,
        number: usize,
        culprit: &Culprit,
        noise: Option<CulpritEstimate>,
        tests: Option<Vec<String>>,
    ) -> Found {
        let runs = &self.confirming_runs[&culprit.confirmed_by];
        let tests = tests.unwrap_or_else(|| runs.iter().flat_map(|run| run.failed_tests.iter().cloned()).collect());
        let mut failures: Vec<_> = runs.iter().flat_map(|run| run.failures.iter().cloned()).collect();
        failures.dedup();
        let ids: Vec<_> = culprit.ids(self.target.order()).collect();
        let report = |&id: &ChangeId| self.texts.of(id).cloned().unwrap_or_else(|| Report::new(id));
        let changes: Vec<_> = ids.iter().map(|id| self.target.change(report(id))).collect();
        let stop_gap = match culprit.mode {
            Mode::Enable => self.target.stop_gap(&ids, &changes),
            Mode::Disable => None,
        };
        Found {
            set: number,
            mode: match culprit.mode {
                Mode::Enable => "enable",
                Mode::Disable => "disable",
            },
            confirmed: true,
            changes,
            noise,
            within: self.lab.parent_culprit,
            headline: self.target.headline(ids.len()),
            is_of_tests: self.tests.is_some(),
            reproduce: self.lab.repetition.line(self.target.reproduce(
                &self.search.alone(culprit),
                &tests,
                &self.lab.run_dir.inputs(),
                &format!("culprit-{number}"),
            )),
            tests,
            stop_gap,
            failures,
        }
    }
}

/// What these runs of one trial, of each of its tests, show.
pub(super) fn done(
    trial: TrialId,
    n: usize,
    pattern: String,
    times: usize,
    duration: Duration,
    runs: &[RunResult],
) -> TrialDone {
    let (outcome, reason) = together(runs);
    TrialDone { n, trial, is_repeat: false, pattern, matches: distinct(runs), outcome, reason, runs: times, duration }
}

/// How many changes the runs of a trial's tests reported together.
fn distinct(runs: &[RunResult]) -> usize {
    match runs {
        [run] => run.reports.len(),
        runs => runs.iter().flat_map(|run| run.reports.ids()).collect::<HashSet<_>>().len(),
    }
}

/// The outcome of all tests of a trial, and words for it.
fn together(runs: &[RunResult]) -> (&'static str, String) {
    let with = |is: fn(Outcome) -> bool| runs.iter().filter(|run| is(run.outcome)).collect::<Vec<_>>();
    let failed = with(|outcome| outcome == Outcome::Fail);
    let unresolved = with(|outcome| matches!(outcome, Outcome::Unresolved(_)));
    let (outcome, those) = match (failed.as_slice(), unresolved.as_slice()) {
        ([], []) => return ("pass", String::new()),
        ([], unresolved) => ("unresolved", unresolved),
        (failed, _) => ("fail", failed),
    };
    let reason = match (runs, those) {
        ([run], _) => run.reason.clone(),
        (_, those) => format!("{} of {} tests", those.len(), runs.len()),
    };
    (outcome, reason)
}
