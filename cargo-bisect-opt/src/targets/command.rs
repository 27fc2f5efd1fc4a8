//! `cargo bisect-opt exec`: any command as a target, as long as it takes a pattern and reports.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap},
    io,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, MutexGuard, Once, PoisonError},
    time::Duration,
};

use bisect_core::{
    Matcher, Pattern,
    search::{Outcome, Question, Reason, Selection, Trial},
};
use regex::bytes::Regex;

use crate::{
    lab::{
        calibration::{Calibration, Side, another, another_note, environment_note, left_note, made_by_changes_note},
        target::Target,
    },
    process::{
        self, Ending, ProcessSpec,
        launcher::Launcher,
        scratch_dir::ScratchDir,
        shell::{is_name, quote},
        slots::fill_text,
    },
    report::scan::Reports,
    run::{
        cause::{Cause, Environment},
        error::RunError,
        lost_reports::LostReports,
        outcome::{SEARCHED, classify},
        repetition::Repetition,
        result::{Failed, Run, lost_log_note},
        seed::Seed,
        spec::Request,
    },
};

/// Stands for the pattern.
const PATTERN: &str = "PATTERN";
/// Stands for a number that is another one in each execution, to get around caches of whatever runs in between.
const RANDOM: &str = "RANDOM";

/// What the user has asked for.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// `[VAR=value]... COMMAND [ARGS]...`
    pub(crate) words: Vec<String>,
    /// The directory to run it in, also that of the user's code.
    pub(crate) root: PathBuf,
    /// A run that takes longer has failed.
    pub(crate) timeout: Option<Duration>,
    /// The exit status of a run that does not tell.
    pub(crate) skip_code: i32,
    /// Only a failure with output that matches counts.
    pub(crate) fail_when: Option<Regex>,
    /// Only a failure like those at the end of the search that fails counts.
    pub(crate) same_failure: bool,
    /// What the random numbers come from.
    pub(crate) seed: Seed,
    /// What starts the command.
    pub(crate) launcher: Option<Launcher>,
}

/// Why the words cannot be used as a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UsageError {
    /// There are only variables.
    #[error("a command is missing; for example: cargo bisect-opt exec BISECT_PATTERN=PATTERN ./program")]
    NoCommand,
    /// The target would never get to know what to do.
    #[error(
        "the word PATTERN must stand in the value of a variable or in an argument, where the target expects the pattern; \
         for example: cargo bisect-opt exec BISECT_PATTERN=PATTERN ./program"
    )]
    NoPattern,
}

/// A command with places for the pattern.
#[derive(Debug)]
pub(crate) struct Exec {
    variables: Vec<(String, String)>,
    program: String,
    arguments: Vec<String>,
    settings: Settings,
    learned: Mutex<Learned>,
    lost_log: Once,
    lost_reports: LostReports,
}

/// What the runs so far have taught.
#[derive(Debug)]
struct Learned {
    calibration: Calibration<()>,
    /// The ends of the search that were run, or else that no other run will come.
    ends: BTreeSet<bool>,
    is_settled: bool,
    /// With which random number it failed last, by pattern.
    failing: HashMap<String, u64>,
    notes: Vec<String>,
    /// Notes that are not repeated.
    said: BTreeSet<String>,
    saw_another: bool,
}

/// What one run showed.
#[derive(Debug)]
pub(crate) struct Shown {
    pattern: String,
    executions: Vec<Execution>,
    repetition: Repetition,
    reports: Reports,
    duration: Duration,
}

#[derive(Debug)]
struct Execution {
    random: u64,
    outcome: Outcome,
    reason: String,
    /// Of a failure.
    cause: Option<Cause>,
}

impl Exec {
    /// The target that `settings` describe.
    ///
    /// # Errors
    /// If there is no command, or no place for the pattern.
    pub(crate) fn new(settings: Settings) -> Result<Self, UsageError> {
        let mut words = settings.words.iter();
        let mut variables = Vec::new();
        let program = loop {
            let word = words.next().ok_or(UsageError::NoCommand)?;
            match word.split_once('=').filter(|(name, _)| is_name(name)) {
                Some((name, value)) => variables.push((name.into(), value.into())),
                None => break word.clone(),
            }
        };
        let arguments: Vec<_> = words.cloned().collect();
        let values = || variables.iter().map(|(_, value)| value).chain(&arguments);
        if !values().any(|value: &String| value.contains(PATTERN)) {
            return Err(UsageError::NoPattern);
        }
        let seed = settings.seed;
        let note = || format!("RANDOM comes from the seed {seed}: --seed {seed} repeats it");
        let learned = Learned {
            calibration: Calibration::default(),
            failing: HashMap::new(),
            notes: values().any(|value| value.contains(RANDOM)).then(note).into_iter().collect(),
            said: BTreeSet::new(),
            saw_another: false,
            ends: BTreeSet::new(),
            is_settled: false,
        };
        Ok(Self {
            learned: learned.into(),
            lost_log: Once::new(),
            lost_reports: LostReports::default(),
            variables,
            program,
            arguments,
            settings,
        })
    }

    fn learned(&self) -> MutexGuard<'_, Learned> {
        // Nothing that is done under the lock stops halfway.
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The command, and its directory for temporary files.
    fn command(&self, request: &Request<'_>, random: u64) -> io::Result<(Command, ScratchDir)> {
        let filling = Filling::new(request.pattern, random);
        let mut command = Command::new(&self.program);
        command.current_dir(&self.settings.root).env("BISECT_REPORT", request.report_file);
        for (name, value) in &self.variables {
            command.env(name, filling.fill(value));
        }
        let temporary = request.set_apart(&mut command)?;
        command.args(self.arguments.iter().map(|argument| filling.fill(argument)));
        let command = match &self.settings.launcher {
            Some(launcher) => launcher.wrap(&command, self.settings.skip_code),
            None => command,
        };
        Ok((command, temporary))
    }
}

impl Target for Exec {
    type Shown = Shown;

    fn run(&self, request: &Request<'_>) -> Result<Shown, RunError> {
        // The runtime only appends to a file that exists.
        fs_err::File::create(request.report_file)?;
        let verbose = Matcher::new(request.pattern).is_some_and(|matcher| matcher.verbose());
        let mut reports = Reports::new(verbose);
        let (mut executions, mut duration) = (Vec::new(), Duration::ZERO);
        for i in 0..request.repetition.times() {
            let (mut execution, took) = self.execute(request, i, &mut reports)?;
            duration += took;
            if let Some(environment) = self.disturbance(&execution) {
                self.note_once(environment_note(environment));
                let (again, took) = self.execute(request, i, &mut reports)?;
                (execution, duration) = (again, duration + took);
            }
            let outcome = self.outcome(&execution, &self.learned().calibration);
            executions.push(execution);
            if request.repetition.ends_with(outcome) {
                break;
            }
        }
        reports.read_file(request.report_file)?;
        let pattern = request.pattern.to_string();
        Ok(Shown { pattern, executions, repetition: request.repetition, reports, duration })
    }

    fn learn(&self, trial: &Trial, shown: &Shown) -> Result<(), RunError> {
        if let Some(side) = Side::of(trial.question) {
            let causes = shown.executions.iter().filter_map(|execution| execution.cause.as_ref());
            let mut learned = self.learned();
            causes.for_each(|cause| learned.calibration.learn(side, &(), cause));
            learned.ends.insert(side == Side::All);
            learned.is_settled |= learned.ends.len() == 2;
        }
        Ok(())
    }

    fn settle(&self) {
        self.learned().is_settled = true;
    }

    fn judge(&self, trial: &Trial, shown: Shown) -> Result<Vec<Run>, Shown> {
        let mut causes = shown.executions.iter().filter_map(|execution| execution.cause.as_ref());
        if causes.any(|cause| cause.environment().is_some()) && !self.learned().is_settled {
            return Err(shown);
        }
        if trial.question == Question::Rest {
            self.learn_left(&trial.selection, &shown);
        }
        let calibration = self.learned().calibration.for_runs_of(Some(&trial.selection));
        let outcomes: Vec<_> = shown.executions.iter().map(|execution| self.outcome(execution, &calibration)).collect();
        let decisive = shown.repetition.decisive(&outcomes);
        let (outcome, execution) = (outcomes[decisive], &shown.executions[decisive]);
        if let (Outcome::Fail, Some(environment)) = (outcome, execution.cause.as_ref().and_then(Cause::environment)) {
            self.note_once(made_by_changes_note(environment));
        }
        let mut learned = self.learned();
        let reason = match &execution.cause {
            Some(cause) if outcome == Outcome::Unresolved(Reason::Environment) => cause.to_string(),
            Some(cause) if outcome != Outcome::Fail => {
                if !std::mem::replace(&mut learned.saw_another, true) {
                    learned.notes.push(another_note(cause));
                }
                another(cause)
            }
            _ => execution.reason.clone(),
        };
        if outcome == Outcome::Fail {
            learned.failing.insert(shown.pattern, execution.random);
        }
        let told = execution.cause.as_ref().filter(|_| outcome == Outcome::Fail && self.settings.same_failure);
        let failures = told.map(|cause| Failed { test: None, how: cause.to_string() }).into_iter().collect();
        Ok(vec![Run {
            outcome,
            reason,
            reports: shown.reports,
            failed_tests: Vec::new(),
            failures,
            duration: shown.duration,
            executions: shown.executions.len(),
            also: shown.repetition.also(&outcomes).to_vec(),
            started_in: Duration::ZERO,
        }])
    }

    fn reports<'a>(&self, shown: &'a Shown) -> Vec<&'a Reports> {
        vec![&shown.reports]
    }

    fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut self.learned().notes)
    }

    fn describe(&self) -> String {
        self.line(Cow::Borrowed, Cow::Borrowed)
    }

    fn root(&self) -> &Path {
        &self.settings.root
    }

    fn reproduce(&self, pattern: &Pattern, _tests: &[String]) -> String {
        // What has failed by chance may do so again by the same.
        let random = self.learned().failing.get(&pattern.to_string()).copied();
        let filling = Filling::new(pattern, random.unwrap_or_else(|| self.settings.seed.number(0, 0)));
        // Alone, it is in the first slot.
        self.line(|word| Cow::Owned(filling.fill(word)), |value| Cow::Owned(fill_text(&filling.fill(value), 0)))
    }
}

impl Exec {
    /// Executes the command, and says how long that took.
    fn execute(
        &self,
        request: &Request<'_>,
        i: usize,
        reports: &mut Reports,
    ) -> Result<(Execution, Duration), RunError> {
        let Settings { timeout, skip_code, .. } = self.settings;
        let fail_when = self.settings.fail_when.as_ref();
        let random = self.settings.seed.number(request.run, i);
        let (command, _temporary) = self.command(request, random)?;
        let mut scanner = reports.scanner();
        let finished = process::run(ProcessSpec {
            command,
            timeout,
            log: request.log,
            append: true,
            interrupt: request.interrupt,
            reader: Some(&mut scanner),
            tail: SEARCHED,
        })?;
        if finished.ending == Ending::Interrupted {
            return Err(RunError::Interrupted);
        }
        if let Some(error) = &finished.lost_log {
            self.lost_log.call_once(|| self.learned().notes.push(lost_log_note(error)));
        }
        let (mut outcome, mut reason) = classify(&finished, skip_code, fail_when);
        let lost = self.lost_reports.in_output(&finished.output)?;
        if outcome == Outcome::Fail
            && let Some(lost) = lost
        {
            (outcome, reason) = (Outcome::Unresolved(Reason::Environment), lost);
        }
        let cause = (outcome == Outcome::Fail).then(|| Cause::of_program(&finished));
        Ok((Execution { random, outcome, reason, cause }, finished.duration))
    }

    /// What an execution means, compared with these failures.
    fn outcome(&self, execution: &Execution, calibration: &Calibration<()>) -> Outcome {
        match &execution.cause {
            Some(cause) if cause.environment().is_some() && !calibration.fits(&(), cause) => {
                Outcome::Unresolved(Reason::Environment)
            }
            Some(cause) if self.settings.same_failure && !calibration.fits(&(), cause) => {
                Outcome::Unresolved(Reason::Skip)
            }
            _ => execution.outcome,
        }
    }

    /// What surrounds the command and made it fail, unless it is known to do so because of the changes.
    fn disturbance(&self, execution: &Execution) -> Option<Environment> {
        let environment = execution.cause.as_ref()?.environment()?;
        (!self.learned().calibration.is_made_by_changes(&(), environment)).then_some(environment)
    }

    /// Where the culprits found so far are left out and what is left fails in another way, that is what is searched for
    /// next.
    fn learn_left(&self, selection: &Selection, shown: &Shown) {
        let mut learned = self.learned();
        let known = learned.calibration.for_runs_of(Some(selection));
        let causes = shown.executions.iter().filter_map(|execution| execution.cause.as_ref());
        let causes: Vec<_> = causes.filter(|cause| cause.environment().is_none()).collect();
        if self.settings.same_failure && !causes.is_empty() && !causes.iter().any(|cause| known.fits(&(), cause)) {
            learned.notes.push(left_note(causes[0]));
            let left_out = selection.excluded.iter().copied().collect();
            for cause in causes {
                learned.calibration.learn_left(&left_out, &(), cause);
            }
        }
    }

    /// Tells the user something, unless it was said before.
    fn note_once(&self, note: String) {
        let mut learned = self.learned();
        if learned.said.insert(note.clone()) {
            learned.notes.push(note);
        }
    }

    /// The command as a line for a shell, with arguments and values of variables filled in.
    fn line<'a>(
        &'a self,
        argument: impl Fn(&'a str) -> Cow<'a, str>,
        value: impl Fn(&'a str) -> Cow<'a, str>,
    ) -> String {
        let assignment = |(name, text): &'a (String, String)| format!("{name}={}", quote(&*value(text)));
        let mut words: Vec<_> = self.variables.iter().map(assignment).collect();
        words.push(quote(&self.program));
        words.extend(self.arguments.iter().map(|text| quote(&*argument(text))));
        words.join(" ")
    }
}

/// What the placeholders of one run stand for.
struct Filling {
    pattern: String,
    random: String,
}

impl Filling {
    fn new(pattern: &Pattern, random: u64) -> Self {
        Self { pattern: pattern.to_string(), random: random.to_string() }
    }

    fn fill(&self, word: &str) -> String {
        word.replace(PATTERN, &self.pattern).replace(RANDOM, &self.random)
    }
}

#[cfg(all(test, unix))]
#[path = "command_tests.rs"]
mod tests;
