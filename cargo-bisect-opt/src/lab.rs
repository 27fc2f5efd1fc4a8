//! The loop: the search says which trials it wants, the target runs them, everyone who listens is told.

use std::{
    collections::HashMap,
    io,
    path::Path,
    time::{Duration, Instant},
};

use bisect_core::search::{Culprit, Mode, Observation, Options, Outcome, Question, Search, Step, Trial, TrialId};

use crate::{
    conclude::conclude,
    describe::Description,
    events::{Change, End, Event, Found, RunBegins, Sink, Start, TrialDone},
    exit_code::Exit,
    interrupt::Interrupt,
    reports::Reports,
    run_dir::RunDir,
    target::{Kind, Request, Run, RunError, Target},
};

/// Everything that a search needs beside its target.
pub struct Lab<'a> {
    /// How to search.
    pub options: Options,
    /// Where logs go.
    pub run_dir: &'a RunDir,
    /// Where they are, for people.
    pub out_dir: &'a Path,
    /// Told what happens.
    pub sinks: Vec<Box<dyn Sink + 'a>>,
    /// Set when the user wants to stop.
    pub interrupt: &'a Interrupt,
}

/// A trial that is being answered.
#[derive(Default)]
struct Progress {
    runs: usize,
    duration: Duration,
    matches: usize,
}

impl Lab<'_> {
    /// Searches until the search is over, and says how it ended.
    ///
    /// # Errors
    /// If an event cannot be told. A target that cannot be run, or an interruption, is an end, not an error.
    pub fn search(&mut self, target: &mut dyn Target) -> io::Result<Exit> {
        let begun = Instant::now();
        let start = Start { axis: target.axis(), target: target.describe(), jobs: 1, seed: 0 };
        self.tell(&Event::Start(&start))?;
        let mut search = Search::new(self.options.clone());
        // What the runs that may confirm a culprit said about it.
        let mut accounts = HashMap::new();
        let mut progress = Progress::default();
        let mut told = 0;
        let (status, conclusion) = loop {
            self.tell_notes(target)?;
            match search.step() {
                Step::Wait => unreachable!("runs are recorded as soon as they are made"),
                Step::Done(verdict) => break conclude(&search, &verdict, self.out_dir),
                Step::Run(trial) => {
                    let run = match self.run(target, &search, &trial, &progress)? {
                        Ok(run) => run,
                        Err(RunError::Interrupted) => {
                            break (
                                Exit::Interrupted,
                                format!("interrupted; all logs are in {}", self.out_dir.display()),
                            );
                        }
                        Err(error) => break (Exit::Unusable, format!("the target cannot be used: {error}")),
                    };
                    search.record(trial.id, Observation { outcome: run.outcome, reported: run.reports.ids() });
                    let over = search.verdict().is_some();
                    self.tell_trial(&mut progress, &trial, &run, over)?;
                    if trial.question == Question::Exactly {
                        accounts.insert(trial.id, (run.reports, run.failed_tests));
                    }
                    for (i, culprit) in search.found().iter().enumerate().skip(told) {
                        let found = found(i + 1, culprit, &accounts, &search, target);
                        self.tell(&Event::Found(&found))?;
                        told += 1;
                    }
                }
            }
        };
        self.tell_notes(target)?;
        if let Some(summary) = target.summary() {
            self.tell(&Event::Note(&summary))?;
        }
        let end = End {
            status,
            sets: search.found().len(),
            trials: search.trials(),
            runs: search.runs(),
            duration: begun.elapsed(),
            conclusion,
        };
        self.tell(&Event::End(&end))?;
        Ok(status)
    }

    fn run(
        &mut self,
        target: &mut dyn Target,
        search: &Search,
        trial: &Trial,
        progress: &Progress,
    ) -> io::Result<Result<Run, RunError>> {
        let pattern = trial.pattern();
        let selected = (search.changes() > 0).then(|| (search.selected(&trial.selection), search.changes()));
        self.tell(&Event::Run(&RunBegins {
            n: trial.id.0 + 1,
            run: (progress.runs + 1, self.options.runs_per_trial.get()),
            question: trial.question,
            selected,
            pattern: &pattern.to_string(),
            left: search.trials_left(),
        }))?;
        let log = self.run_dir.log(search.runs());
        let report_file = self.run_dir.report_file(search.runs());
        let request = Request { pattern: &pattern, log: &log, report_file: &report_file, interrupt: self.interrupt };
        Ok(target.run(&request))
    }

    fn tell_trial(&mut self, progress: &mut Progress, trial: &Trial, run: &Run, over: bool) -> io::Result<()> {
        progress.runs += 1;
        progress.duration += run.duration;
        progress.matches = progress.matches.max(run.reports.len());
        if progress.runs < self.options.runs_per_trial.get() && !over {
            return Ok(());
        }
        let Progress { runs, duration, matches } = std::mem::take(progress);
        let outcome = match run.outcome {
            Outcome::Pass => "pass",
            Outcome::Fail => "fail",
            Outcome::Unresolved(_) => "unresolved",
        };
        let pattern = trial.pattern().to_string();
        let reason = run.reason.clone();
        self.tell(&Event::Trial(&TrialDone { n: trial.id.0 + 1, pattern, matches, outcome, reason, runs, duration }))
    }

    fn tell_notes(&mut self, target: &mut dyn Target) -> io::Result<()> {
        target.take_notes().iter().try_for_each(|note| self.tell(&Event::Note(note)))
    }

    fn tell(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.sinks.iter_mut().try_for_each(|sink| sink.event(event))
    }
}

fn found(
    number: usize,
    culprit: &Culprit,
    accounts: &HashMap<TrialId, (Reports, Vec<String>)>,
    search: &Search,
    target: &dyn Target,
) -> Found {
    let (reports, tests) = &accounts[&culprit.confirmed_by];
    let change = |&id| {
        let text = reports.text(id).to_vec();
        let description = Description::parse(&text);
        let name = description.name.unwrap_or_default();
        let by_form = if description.frames.is_empty() { Kind::Site } else { Kind::Stack };
        let (file, line, column) = match description.place {
            Some(place) => (Some(place.file), Some(place.line), place.column),
            None => (None, None, None),
        };
        let kind = target.kind(&name).unwrap_or(by_form);
        Change { id: id.to_string(), kind, name, text, file, line, column, frames: description.frames }
    };
    Found {
        set: number,
        mode: match culprit.mode {
            Mode::Enable => "enable",
            Mode::Disable => "disable",
        },
        confirmed: true,
        changes: culprit.changes.iter().map(change).collect(),
        tests: tests.clone(),
        reproduce: target.reproduce(&search.trial(culprit.confirmed_by).pattern(), tests),
    }
}
