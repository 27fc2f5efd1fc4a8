//! A command as a target. An axis determines the text that replaces a placeholder.

mod input_paths;
mod runner;

use std::{
    collections::{BTreeSet, HashMap},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bisect_core::search::{Mode, Outcome, Question, Reason, Selection, Trial};
use regex::bytes::Regex;

pub(crate) use runner::UsageError;
use runner::{CommandRun, CommandRunner};

use crate::{
    axes::{Axis, Files},
    lab::{
        calibration::{
            BothFail, Calibration, Meaning, another, another_note, made_by_changes_note, unbuilt, usual, usual_note,
        },
        target::{Judge, Judgement, Reproduction, Target},
    },
    process::{launcher::Launcher, shell},
    report::scan::Reports,
    run::{
        cause::Cause,
        error::RunError,
        lost_reports::LostReports,
        result::{Failed, Note, Notes, RunResult},
        seed::Seed,
        spec::EndState,
    },
};

/// The user's options for a command.
#[derive(Clone, Debug)]
pub(crate) struct CommandOptions {
    /// The command line: `[VAR=value]... COMMAND [ARGS]...`
    pub(crate) words: Vec<String>,
    /// The directory to run the command in, which also holds the user's code.
    pub(crate) root: PathBuf,
    /// The directory for files that its words name and that outlive the search, as an absolute path.
    pub(crate) inputs: PathBuf,
    /// The time limit of an execution, which fails if it takes longer.
    pub(crate) timeout: Option<Duration>,
    /// The exit status of a command that neither passes nor fails.
    pub(crate) skip_code: i32,
    /// A regular expression: only a failure whose output matches counts.
    pub(crate) fail_when: Option<Regex>,
    /// True if only a failure like those at the failing end state counts.
    pub(crate) same_failure: bool,
    /// The direction that the user asks for: the failure at its failing end is searched for, even if others occur at the
    /// other end.
    pub(crate) direction: Option<Mode>,
    /// The seed of the random numbers.
    pub(crate) seed: Seed,
    /// The command that starts the command.
    pub(crate) launcher: Option<Launcher>,
}

/// A command, ready to be searched by an axis.
#[derive(Debug)]
pub(crate) struct CommandTarget {
    runner: Arc<CommandRunner>,
    /// The known causes of failures.
    calibration: Arc<Calibration<()>>,
    /// The end states that were run: true for every change enabled, false for every change disabled.
    ends: BTreeSet<bool>,
    /// True if both end states were run, or if no other run at one will come.
    is_settled: bool,
    /// The random number of the last failure, by the choice of changes.
    failing: HashMap<String, u64>,
    notes: Notes,
    lost_reports: LostReports,
}

impl CommandTarget {
    /// Returns the target that `options` describe, searched by `axis`.
    ///
    /// # Errors
    /// If there is no command, if a required placeholder is missing, or if a shell would act upon what replaces it.
    pub(crate) fn new(options: CommandOptions, axis: Box<dyn Axis>) -> Result<Self, UsageError> {
        let (seed, direction) = (options.seed, options.direction);
        let runner = CommandRunner::new(options, axis)?;
        let mut notes = Notes::default();
        if runner.uses_random() {
            notes.repeat([format!("RANDOM comes from the seed {seed}: --seed {seed} repeats it")]);
        }
        notes.repeat(runner.note_about_paths());
        Ok(Self {
            runner: Arc::new(runner),
            calibration: Arc::new(Calibration::new(direction)),
            ends: BTreeSet::new(),
            is_settled: false,
            failing: HashMap::new(),
            notes,
            lost_reports: LostReports::default(),
        })
    }

    /// Returns the same command, for a search by another axis.
    ///
    /// # Errors
    /// If the placeholder of that axis is missing.
    pub(crate) fn searched_by(&self, axis: Box<dyn Axis>) -> Result<Self, UsageError> {
        Self::new(self.runner.options.clone(), axis)
    }

    /// Returns the causes of a run's failures, if all of them are of another kind.
    fn only_another<'a>(&self, selection: &Selection, shown: &'a CommandRun) -> Vec<&'a Cause> {
        let known = self.calibration.for_runs_of(Some(selection));
        let causes: Vec<_> = shown.causes().filter(|cause| cause.environment().is_none()).collect();
        let are_another =
            causes.iter().all(|cause| !cause.is_unbuilt() && known.meaning(&(), cause) == Meaning::Another);
        if self.runner.options.same_failure && are_another { causes } else { Vec::new() }
    }
}

impl Judge for CommandTarget {
    type Runner = CommandRunner;

    fn runner(&self) -> Arc<CommandRunner> {
        self.runner.clone()
    }

    fn known_failures(&self) -> Arc<Calibration<()>> {
        self.calibration.clone()
    }

    fn learn(&mut self, trial: &Trial, shown: &CommandRun) -> Result<(), RunError> {
        self.notes.add(shown.notes.iter().cloned());
        for execution in &shown.executions {
            self.lost_reports.count(execution.lost_reports.as_deref())?;
        }
        if let Some(end) = EndState::of(trial.question) {
            let calibration = Arc::make_mut(&mut self.calibration);
            shown.executions.iter().for_each(|_| calibration.learn_execution(end));
            shown.causes().for_each(|cause| calibration.learn(end, &(), cause));
            self.ends.insert(end == EndState::AllOn);
            self.is_settled |= self.ends.len() == 2;
        }
        Ok(())
    }

    fn assume_no_more_ends(&mut self) {
        self.is_settled = true;
    }

    fn needs_controls(&mut self, trial: &Trial, shown: &CommandRun) -> bool {
        if trial.question != Question::AllButFound {
            return false;
        }
        let another = self.only_another(&trial.selection, shown);
        let another = another.into_iter().map(|cause| (&(), cause));
        Arc::make_mut(&mut self.calibration).record_unconfirmed(&trial.selection, another)
    }

    fn judge(&mut self, trial: &Trial, shown: CommandRun) -> Judgement<CommandRun> {
        if shown.causes().any(|cause| cause.environment().is_some()) && !self.is_settled {
            return Judgement::Pending(shown);
        }
        if trial.question == Question::AllButFound {
            let left_out = trial.selection.excluded.iter().copied().collect();
            let again = self.only_another(&trial.selection, &shown).into_iter().map(|cause| (&(), cause));
            let decided = Arc::make_mut(&mut self.calibration).decide(&trial.selection, &left_out, again);
            self.notes.repeat(decided.map(|decided| decided.note(&decided.cause)));
        }
        let calibration = self.calibration.for_runs_of(Some(&trial.selection));
        let outcomes: Vec<_> =
            shown.executions.iter().map(|execution| self.runner.outcome(execution, &calibration)).collect();
        let decisive = shown.repetition.decisive(&outcomes);
        let (outcome, execution) = (outcomes[decisive], &shown.executions[decisive]);
        if let (Outcome::Fail, Some(environment)) = (outcome, execution.cause.as_ref().and_then(Cause::environment)) {
            self.notes.add([Note::new(made_by_changes_note(environment))]);
        }
        let reason = match &execution.cause {
            Some(cause) if outcome == Outcome::Unresolved(Reason::Environment) => cause.to_string(),
            Some(cause) if outcome == Outcome::Unresolved(Reason::Build) => unbuilt(cause),
            Some(cause) if outcome == Outcome::Pass => {
                let text = self.both_fail().map_or_else(|| usual_note(cause), |both| both.note());
                self.notes.add([Note { about: "usual failure".to_owned(), text }]);
                usual(cause)
            }
            Some(cause) if outcome != Outcome::Fail => {
                self.notes.add([Note { about: "another failure".to_owned(), text: another_note(cause) }]);
                another(cause)
            }
            _ => execution.reason.clone(),
        };
        if outcome == Outcome::Fail {
            self.failing.insert(shown.choice.clone(), execution.random);
        }
        let counts = outcome == Outcome::Fail && self.runner.options.same_failure;
        let failed = execution.cause.as_ref().filter(|_| counts);
        let failures = failed.map(|cause| Failed::new(None, cause)).into_iter().collect();
        Judgement::Ready(vec![RunResult {
            outcome,
            reason,
            failed_tests: Vec::new(),
            failures,
            duration: shown.duration,
            executions: shown.executions.len(),
            extra_outcomes: shown.repetition.also(&outcomes).to_vec(),
            build_time: Duration::ZERO,
            reports: shown.reports,
        }])
    }

    fn reports<'a>(&self, shown: &'a CommandRun) -> Vec<&'a Reports> {
        vec![&shown.reports]
    }

    fn both_fail(&self) -> Option<BothFail> {
        self.calibration.both_fail(&()).filter(|_| self.runner.options.same_failure)
    }

    fn take_notes(&mut self) -> Vec<String> {
        self.notes.take()
    }
}

impl Target for CommandTarget {
    fn axis(&self) -> &dyn Axis {
        &*self.runner.axis
    }

    fn describe(&self) -> String {
        self.runner.line()
    }

    fn root(&self) -> &Path {
        &self.runner.options.root
    }

    fn reproduce(&self, again: &Reproduction<'_>) -> String {
        let &Reproduction { selection, directory, stem, reader, .. } = again;
        let choice = self.axis().numbering().choice(selection);
        // What failed by chance may fail again with the same random number.
        let random = self.failing.get(&choice.to_string()).copied();
        let random = random.unwrap_or_else(|| self.runner.options.seed.number(0, 0));
        let files = Files { directory, stem, report_file: None };
        match self.axis().reproduction(&choice, &files) {
            Ok(application) => {
                self.runner.line_with(application, random, (reader, again.limit(self.runner.options.timeout)))
            }
            Err(error) => shell::refusal(&error),
        }
    }
}

#[cfg(all(test, unix))]
#[path = "command_tests.rs"]
mod tests;
