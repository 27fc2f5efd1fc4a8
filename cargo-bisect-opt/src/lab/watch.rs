//! The search for the moment at which a watched condition breaks.
//!
//! The program itself searches as far as it can. This loop follows by its lines, and asks for further moments in new
//! runs until the search is over. It believes no line: each has to fit the search that it makes itself.

use std::{io, rc::Rc, thread, time::Duration};

use bisect_core::{
    moments::{Finding, MomentStep, MomentVerdict},
    search::{Mode, Question, Selection, Trial, TrialId},
};

use super::{
    Lab,
    moment_facts::{MomentFacts, WatchError},
    target::{Judgement, Target},
    trial_done,
    workers::{Next, Wait, Workers},
};
use crate::{
    output::events::{Event, RunBegins, SearchedChanges},
    process::own_file,
    record::{
        CulpritPositions,
        culprit::CulpritRecord,
        end::End,
        exit_status::Exit,
        milliseconds::in_milliseconds,
        trial::{TrialContext, TrialOutcome, TrialRecord},
    },
    report::watched::{self, Evaluation, WatchFact, WatchedProcess},
    run::{error::RunError, limit::Limit, moment},
    units::{grouped, plural},
};

/// The result of a search for a moment.
#[derive(Debug)]
pub(crate) struct Watched {
    /// The status of the search.
    pub(crate) status: Exit,
    /// The first bad moment, if there is one.
    pub(crate) bad: Option<u64>,
}

/// A search for a moment in progress.
struct MomentHunt<'s, 'lab, T> {
    lab: &'s mut Lab<'lab>,
    target: &'s mut T,
    facts: MomentFacts,
    /// The evaluation that repeats the decisive one.
    confirmed: Option<Evaluation>,
    /// The time of the last run, until an evaluation shows it.
    duration: Duration,
    /// The start of the last run since the command began to search, in milliseconds.
    started_ms: u64,
}

impl Lab<'_> {
    /// Searches for the first moment at which the condition with this name is false, and emits the end.
    ///
    /// # Errors
    /// If an event cannot be emitted.
    pub(crate) fn watch<T: Target>(&mut self, target: &mut T, name: &str) -> io::Result<Watched> {
        let begun = self.elapsed();
        self.emit_start(target, 1)?;
        let (facts, duration) = (MomentFacts::new(name), Duration::ZERO);
        let mut hunt = MomentHunt { lab: self, target, facts, confirmed: None, duration, started_ms: 0 };
        let found = match hunt.go() {
            Ok(finding) => {
                let (set, inputs) = (hunt.lab.totals.sets + 1, hunt.lab.run_dir.inputs());
                hunt.facts.found(finding, hunt.target, set, &inputs)
            }
            Err(WatchError::Io(error)) => return Err(error),
            Err(error) => Err(error),
        };
        let (status, words, found) = match found {
            Ok(found) => found,
            Err(error) => (error.exit(), error.to_string(), None),
        };
        let found = found.map(|found| Rc::new(CulpritRecord { search: hunt.lab.searches, ..found }));
        let bad = found.as_ref().and_then(|found| Some(found.moment.as_ref()?.n));
        let (trials, runs) = (hunt.facts.trials, hunt.facts.runs);
        let changes = position_of(hunt.facts.search.reached());
        if let Some(found) = &found {
            self.emit(&Event::Found(found))?;
        }
        let (sets, duration) = (usize::from(found.is_some()), self.time_since(begun));
        let end = End { sets, trials, runs, duration, ..End::new(status, words) };
        let culprits = found.iter().zip(bad).map(|(found, bad)| {
            let positions = vec![position_of(bad).saturating_sub(1)];
            CulpritPositions { set: found.set, positions }
        });
        self.emit(&Event::Searched(&SearchedChanges { changes, culprits: culprits.collect() }))?;
        self.end(end)?;
        Ok(Watched { status, bad })
    }
}

impl<T: Target> MomentHunt<'_, '_, T> {
    /// Searches to the end, and confirms the finding.
    fn go(&mut self) -> Result<Finding, WatchError> {
        self.run(&moment::search(), 1)?;
        loop {
            match self.facts.search.step() {
                MomentStep::Back { to, .. } => self.run(&moment::at(to), to)?,
                MomentStep::Forward(_) => return Err(WatchError::Unusable(self.facts.unended("no end"))),
                MomentStep::Done(finding) => {
                    match finding {
                        Finding::Change { good, bad } => self.confirm(Some(good), bad)?,
                        Finding::BadFromStart => self.confirm(None, 1)?,
                        Finding::NoMoment | Finding::NeverBad => {}
                    }
                    return Ok(finding);
                }
            }
        }
    }

    /// Makes sure that both moments are described, and that the bad one was evaluated twice.
    fn confirm(&mut self, good: Option<u64>, bad: u64) -> Result<(), WatchError> {
        let is_described = |moment| self.facts.moments.contains_key(&moment);
        let is_known = is_described(bad) && good.is_none_or(is_described);
        let confirmed = match self.confirmed.take().filter(|_| is_known) {
            Some(confirmed) => confirmed,
            None => self.evaluate_again(bad)?,
        };
        self.check(&confirmed, bad, MomentVerdict::Bad)
    }

    fn check(&self, again: &Evaluation, moment: u64, verdict: MomentVerdict) -> Result<(), WatchError> {
        if (again.moment, again.verdict) == (moment, verdict) {
            return Ok(());
        }
        let (first, second) = if verdict == MomentVerdict::Bad { ("false", "true") } else { ("true", "false") };
        let name = &self.facts.name;
        Err(WatchError::Inconsistent(format!(
            "`{name}` was {first} at moment {moment}, and {second} when it was repeated"
        )))
    }

    /// Evaluates at a moment again, in a run of its own.
    fn evaluate_again(&mut self, moment: u64) -> Result<Evaluation, WatchError> {
        let (process, _) = self.execute(&moment::describe(moment), moment)?;
        let again = process.facts.iter().find_map(|fact| match fact {
            WatchFact::Probed(again) => Some(again.clone()),
            WatchFact::Ended(_) | WatchFact::CutShort(_) | WatchFact::Diverged(..) => None,
        });
        self.facts.moments.extend(process.moments);
        let again = again.ok_or_else(|| {
            WatchError::Inconsistent(format!("moment {moment} was reached once, and not when the run was repeated"))
        })?;
        self.show_evaluation(&again)?;
        Ok(again)
    }

    /// Makes a run, and follows it.
    fn run(&mut self, selection: &Selection, moment: u64) -> Result<(), WatchError> {
        let before = self.facts.search.evaluations();
        let is_search = *selection == moment::search();
        let (process, how) = self.execute(selection, moment)?;
        if let (true, Some(why)) = (is_search, &process.no_copies) {
            let why = match why.strip_prefix("threads ") {
                Some(_) => "it has other threads at its moments",
                None => why,
            };
            let note = format!("the program cannot be copied, so it is run again for each moment: {why}");
            self.lab.emit(&Event::Note(&note))?;
        }
        self.facts.moments.extend(process.moments);
        for fact in &process.facts {
            match fact {
                WatchFact::Probed(evaluation) => {
                    self.facts.search.record(evaluation.moment, evaluation.verdict).map_err(inconsistent)?;
                    if let Some(failure) = &evaluation.failure {
                        self.facts.failures.insert(evaluation.moment, failure.clone());
                    }
                    self.show_evaluation(evaluation)?;
                }
                WatchFact::Ended(count) if is_search => self.facts.search.ended(*count).map_err(inconsistent)?,
                WatchFact::CutShort(count) => {
                    self.facts.search.ended(*count).map_err(inconsistent)?;
                    self.facts.is_cut_short = true;
                    let count = grouped(*count);
                    let note = format!(
                        "the program did not end by itself ({how}); moments after number {count} are not searched"
                    );
                    self.lab.emit(&Event::Note(&note))?;
                }
                WatchFact::Ended(count) => {
                    let text =
                        format!("a run ended after {count} moments, and another one has reached moment {moment}");
                    return Err(WatchError::Inconsistent(text));
                }
                WatchFact::Diverged(moment, end) => {
                    let text = format!(
                        "a copy of the process ended with {end} before moment {moment}, which was reached before"
                    );
                    return Err(WatchError::Inconsistent(text));
                }
            }
        }
        if let Some(confirmed) = process.confirmed {
            self.show_evaluation(&confirmed)?;
            self.confirmed = Some(confirmed);
        }
        if !is_search && self.facts.search.evaluations() == before {
            return Err(WatchError::Unusable(format!("a run did not evaluate moment {moment}: it ended with {how}")));
        }
        if is_search && matches!(self.facts.search.step(), MomentStep::Forward(_)) {
            return Err(WatchError::Unusable(self.facts.unended(&how)));
        }
        Ok(())
    }

    /// Returns the end of a search at a limit.
    fn at_limit(&self, limit: Limit) -> WatchError {
        let good = self.facts.search.last_good().map_or_else(|| "none".to_owned(), grouped);
        WatchError::Limit(limit, format!("the last moment known to be good is {good}"))
    }

    /// Makes a run. Returns the lines of the process with moments, and how the run ended.
    fn execute(&mut self, selection: &Selection, moment: u64) -> Result<(WatchedProcess, String), WatchError> {
        let time_left = self.lab.time_left();
        if self.lab.options.max_runs.is_some_and(|max| self.facts.runs >= max) {
            return Err(self.at_limit(Limit::Runs));
        }
        if time_left == Some(Duration::ZERO) {
            return Err(self.at_limit(Limit::Time));
        }
        let id = TrialId(self.facts.trials);
        let trial = Trial { id, question: Question::Prefix, selection: selection.clone(), tests: vec![0] };
        let choice = self.target.axis().numbering().choice(selection);
        self.facts.runs += 1;
        let number = self.lab.totals.runs + self.facts.runs;
        self.show_beginning(moment)?;
        let spec = self.lab.spec(number, trial.clone(), choice, 0);
        let report_file = spec.report_file.clone();
        let (interrupt, started) = (self.lab.interrupt, self.lab.elapsed());
        let shown = thread::scope(|scope| {
            let mut workers =
                Workers::new(scope, self.target.runner(), 1, interrupt, self.lab.journal.clone(), &self.lab.in_flight);
            workers.start(spec, &self.target.known_failures());
            let next = workers.next(Wait::Until(time_left));
            workers.finish();
            match next {
                Some(Next::Over { result, .. }) => result,
                None => Err(RunError::Limit(Limit::Time)),
                _ => Err(RunError::Interrupted),
            }
        });
        let shown = shown.map_err(|error| match error {
            RunError::Interrupted => WatchError::Interrupted,
            RunError::Limit(limit) => self.at_limit(limit),
            error => WatchError::Unusable(error.to_string()),
        })?;
        (self.duration, self.started_ms) = (self.lab.time_since(started), in_milliseconds(started));
        self.target.assume_no_more_ends();
        let how = match self.target.judge(&trial, shown) {
            Judgement::Ready(results) => {
                results.into_iter().map(|result| result.reason).find(|reason| !reason.is_empty())
            }
            Judgement::Pending(_) => None,
        };
        let how = how.unwrap_or_else(|| "success".to_owned());
        let lines = own_file::read(&report_file)?;
        let processes = watched::parse(&lines).map_err(|error| WatchError::Unusable(error.to_string()))?;
        self.facts.other_names.extend(processes.iter().flat_map(|process| process.other_names.iter().cloned()));
        let with_moments = processes.iter().filter(|process| process.has_moments()).count();
        if with_moments > 1 {
            let processes = plural(with_moments, "process");
            return Err(WatchError::Unusable(format!(
                "{processes} of the target pass moments of `{}`: name one program, or one test (`--test NAME`, `--lib`)",
                self.facts.name
            )));
        }
        let position = processes.iter().position(WatchedProcess::has_moments).unwrap_or(0);
        Ok((processes.into_iter().nth(position).unwrap_or_default(), how))
    }

    fn show_beginning(&mut self, moment: u64) -> io::Result<()> {
        let number = self.lab.totals.runs + self.facts.runs;
        self.lab.emit(&Event::Run(&RunBegins {
            trial: TrialId(self.facts.trials),
            number,
            n: Some(self.lab.numbered + 1),
            is_repeat: false,
            log: self.lab.shown_log(number),
            run: (1, 1),
            mode: Mode::Enable,
            question: Question::Prefix,
            subject: Some(format!("at moment {}", grouped(moment))),
            selected: None,
            tests: None,
            pattern: &format!("{}@{moment}", self.facts.name),
            left: None,
            candidates: None,
        }))
    }

    /// Shows an evaluation as a trial. One run makes several.
    fn show_evaluation(&mut self, evaluation: &Evaluation) -> io::Result<()> {
        let Evaluation { moment, verdict, failure } = evaluation;
        self.show_beginning(*moment)?;
        self.lab.numbered += 1;
        let done = TrialRecord {
            n: self.lab.numbered,
            is_repeat: false,
            pattern: format!("{}@{moment}", self.facts.name),
            matches: 0,
            outcome: if *verdict == MomentVerdict::Good { TrialOutcome::Pass } else { TrialOutcome::Fail },
            reason: failure.clone().unwrap_or_default(),
            runs: 1,
            duration: std::mem::take(&mut self.duration),
            context: TrialContext {
                search: self.lab.searches,
                question: trial_done::question_name(Question::Prefix).to_owned(),
                of: position_of(self.facts.search.reached().max(*moment)),
                selected: vec![(0, position_of(*moment))],
                start_ms: self.started_ms,
                slot: 0,
                logs: vec![self.lab.log_name(self.lab.totals.runs + self.facts.runs)],
                estimate: None,
            },
        };
        let id = TrialId(self.facts.trials);
        self.facts.trials += 1;
        self.lab.emit(&Event::Trial(id, &done))
    }
}

/// Returns the number of moments up to this one.
fn position_of(moment: u64) -> usize {
    usize::try_from(moment).unwrap_or(usize::MAX)
}

fn inconsistent(contradiction: bisect_core::moments::Contradiction) -> WatchError {
    WatchError::Inconsistent(contradiction.to_string())
}
