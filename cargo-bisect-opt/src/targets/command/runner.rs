//! The runner of a command, which any thread can use.

use std::{
    env,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use bisect_core::{
    protocol::names,
    search::{Outcome, Reason},
};
use serde::{Deserialize, Serialize};
use tempfile::TempPath;

use super::{
    CommandOptions,
    input_paths::{InputPaths, UnsafePath},
};
use crate::{
    axes::{AfterBuild, Application, Axis, Files, Place, Placeholder, Preparation, Words},
    cargo::line_settings::TARGET_DIRECTORIES,
    lab::{
        calibration::{Calibration, Meaning, environment_note},
        target::Runner,
    },
    process::{
        self, Ending, ProcessSpec, ReadAlong, SpawnError, own_file,
        scratch_dir::{self, ScratchDir},
        shell::{is_name, quote},
        slots::{self, fill_text},
    },
    report::scan::Reports,
    run::{
        cause::{Cause, Environment},
        error::RunError,
        in_flight::Activity,
        lost_reports,
        outcome::{SEARCHED, classify},
        pasting::{LineResult, Pasting},
        reader::Reader,
        repetition::Repetition,
        result::Note,
        spec::{RunSpec, Surroundings},
        stored_outcome,
        target_kind::TargetKind,
    },
    vcs::query,
};

/// The placeholder for a number that differs in each execution, to bypass the caches of programs in between.
const RANDOM: &str = "RANDOM";

/// A reason why words cannot be used as a target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UsageError {
    /// A missing command: the words are variables only.
    #[error("a command is missing; for example: cargo bisect-opt exec BISECT_PATTERN=PATTERN ./program")]
    NoCommand,
    /// A missing placeholder: the target would never learn which changes are enabled.
    #[error("{0}")]
    NoPlaceholder(&'static str),
    /// A shell would act upon the path that replaces a placeholder.
    #[error(transparent)]
    UnsafePath(#[from] UnsafePath),
}

/// A command with placeholders, which an axis fills in.
#[derive(Debug)]
pub(crate) struct CommandRunner {
    pub(super) options: CommandOptions,
    pub(super) axis: Box<dyn Axis>,
    placeholder: Option<Placeholder>,
    /// The place of files that replace the placeholder; `None`: no path replaces it.
    paths: Option<InputPaths>,
    variables: Vec<(String, String)>,
    pub(super) program: String,
    arguments: Vec<String>,
}

/// The observations of one run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CommandRun {
    /// The pattern or the positions.
    pub(super) choice: String,
    pub(super) executions: Vec<CommandExecution>,
    pub(super) repetition: Repetition,
    pub(super) reports: Reports,
    pub(super) duration: Duration,
    /// Notes for the user.
    pub(super) notes: Vec<Note>,
}

impl CommandRun {
    /// Returns the causes of its failed executions.
    pub(super) fn causes(&self) -> impl Iterator<Item = &Cause> {
        self.executions.iter().filter_map(|execution| execution.cause.as_ref())
    }
}

/// The observations of one execution.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CommandExecution {
    pub(super) random: u64,
    #[serde(with = "stored_outcome")]
    pub(super) outcome: Outcome,
    pub(super) reason: String,
    /// The cause of a failure.
    pub(super) cause: Option<Cause>,
    /// The message of the runtime, if it could not write reports.
    pub(super) lost_reports: Option<String>,
}

impl CommandRunner {
    /// Returns the runner for [`CommandTarget::new`](super::CommandTarget::new).
    ///
    /// # Errors
    /// If there is no command, if a required placeholder is missing, or if a shell would act upon what replaces it.
    pub(super) fn new(options: CommandOptions, axis: Box<dyn Axis>) -> Result<Self, UsageError> {
        let mut words = options.words.iter();
        let mut variables = Vec::new();
        let program = loop {
            let word = words.next().ok_or(UsageError::NoCommand)?;
            match word.split_once('=').filter(|(name, _)| is_name(name)) {
                Some((name, value)) => variables.push((name.into(), value.into())),
                None => break word.clone(),
            }
        };
        let arguments: Vec<_> = words.cloned().collect();
        let placeholder = axis.facts().placeholder;
        let mut runner = Self { options, axis, placeholder, paths: None, variables, program, arguments };
        match placeholder {
            Some(Placeholder { word, usage, is_required: true, .. })
                if !runner.texts().any(|text| text.contains(word)) =>
            {
                return Err(UsageError::NoPlaceholder(usage));
            }
            Some(Placeholder { word, is_path: true, .. }) => {
                let CommandOptions { root, inputs, .. } = &runner.options;
                runner.paths = Some(InputPaths::new(root, inputs, word, runner.texts())?);
            }
            _ => {}
        }
        Ok(runner)
    }

    /// Returns a note about the paths in the words.
    pub(super) fn note_about_paths(&self) -> Option<String> {
        self.paths.as_ref()?.note(self.placeholder?.word)
    }

    /// Returns true if random numbers are filled in.
    pub(super) fn uses_random(&self) -> bool {
        self.texts().any(|text| text.contains(RANDOM))
    }

    /// Returns the texts in which placeholders are filled in.
    fn texts(&self) -> impl Iterator<Item = &String> {
        self.variables.iter().map(|(_, value)| value).chain(&self.arguments)
    }

    /// Returns the command, and its directory for temporary files.
    fn command(
        &self,
        spec: &RunSpec,
        surroundings: &Surroundings<'_>,
        applied: &Applied,
        random: u64,
    ) -> io::Result<(Command, ScratchDir)> {
        let application = &applied.application;
        let filling = self.filling(application, random);
        let mut command = match &applied.place {
            None => Command::new(self.program_for(application)),
            Some(place) => {
                let mut command = Command::new(self.program_at(place));
                for name in query::LOCAL_VARIABLES {
                    command.env_remove(name);
                }
                command
            }
        };
        command.current_dir(applied.place.as_ref().unwrap_or(&self.options.root)).env(names::REPORT, &spec.report_file);
        for (name, value) in &self.variables {
            command.env(name, filling.text(value));
        }
        application.variables.apply(&mut command);
        let temporary = surroundings.set_apart(&mut command, spec.slot)?;
        // The directory for temporary files may be what is searched.
        application
            .variables
            .apply_some(&mut command, |name| scratch_dir::VARIABLES.iter().any(|other| name == *other));
        command.args(filling.arguments(&self.arguments));
        let command = match &self.options.launcher {
            Some(launcher) => launcher.wrap(&command, self.options.skip_code),
            None => command,
        };
        Ok((command, temporary))
    }

    /// Returns the program for a run in the user's directory. The present `PATH` leads to it, if that of the run differs.
    fn program_for(&self, application: &Application) -> PathBuf {
        let program = Path::new(&self.program);
        let is_name = program.components().count() == 1 && !self.program.starts_with('.');
        let other_path = application.variables.get("PATH").filter(|_| is_name);
        let path = other_path.and_then(|_| env::var_os("PATH")).unwrap_or_default();
        process::find_in_path(&path, Path::new(""), program).unwrap_or_else(|| program.to_owned())
    }

    /// Returns the program for a run in another directory. A relative path that does not exist there is taken from the
    /// user's directory.
    fn program_at(&self, place: &Path) -> PathBuf {
        self.program_from_here(|program| !place.join(program).exists())
    }

    /// Returns the program for a line that starts it in a worktree of this commit.
    fn program_in_worktree(&self, commit: &str) -> PathBuf {
        self.program_from_here(|program| !query::is_in_commit(&self.options.root, commit, program))
    }

    /// Returns the program: that in the user's directory if a relative path leads there and is missing elsewhere.
    fn program_from_here(&self, is_missing: impl FnOnce(&Path) -> bool) -> PathBuf {
        let program = Path::new(&self.program);
        let here = self.options.root.join(program);
        let is_path = program.components().count() > 1 || self.program.starts_with('.');
        if is_path && here.exists() && is_missing(program) { here } else { program.to_owned() }
    }

    /// Executes the command. Returns its observations, its duration, and a note for the user.
    fn execute(
        &self,
        spec: &RunSpec,
        surroundings: &Surroundings<'_>,
        applied: &Applied,
        i: usize,
        reports: &mut Reports,
    ) -> Result<(CommandExecution, Duration, Option<Note>), RunError> {
        let random = self.options.seed.number(spec.number, i);
        let (command, _temporary) = self.command(spec, surroundings, applied, random)?;
        let mut scanner = self.axis.facts().reporter.is_target().then(|| reports.scanner());
        surroundings.seat.set(Activity::Program(self.program.clone()));
        let started = process::run(ProcessSpec {
            command,
            timeout: self.options.timeout,
            log: &spec.log,
            append: true,
            interrupt: surroundings.interrupt,
            reader: scanner.as_mut().map(|scanner| scanner as &mut dyn ReadAlong),
            tail: SEARCHED,
        });
        let finished = match started {
            // Other commits may have the program.
            Err(error @ SpawnError::NotFound { .. }) if applied.place.is_some() => {
                let outcome = Outcome::Unresolved(Reason::Spawn);
                let execution =
                    CommandExecution { random, outcome, reason: error.to_string(), cause: None, lost_reports: None };
                return Ok((execution, Duration::ZERO, None));
            }
            started => started?,
        };
        if finished.ending == Ending::Interrupted {
            return Err(RunError::Interrupted);
        }
        let (mut outcome, mut reason) = classify(&finished, self.options.skip_code, self.options.fail_when.as_ref());
        let lost_reports = lost_reports::in_output(&finished.output);
        if let (Outcome::Fail, Some(lost)) = (outcome, &lost_reports) {
            (outcome, reason) = (Outcome::Unresolved(Reason::Environment), lost.clone());
        }
        let cause = (outcome == Outcome::Fail).then(|| Cause::of_program(&finished));
        // Runs of other source code fail on other lines.
        let cause = if self.axis.facts().sources.differ() { cause.map(Cause::without_lines) } else { cause };
        let note = finished.lost_log.as_ref().map(Note::lost_log);
        Ok((CommandExecution { random, outcome, reason, cause, lost_reports }, finished.duration, note))
    }

    /// Returns the places for the axis's files for a run.
    fn files<'a>(&'a self, stem: &'a str, surroundings: &Surroundings<'a>, spec: &'a RunSpec) -> Files<'a> {
        let of_run = Files::of_run(surroundings, spec);
        match self.paths.as_ref().map(|paths| paths.of_run(of_run.directory)) {
            Some(directory) if directory != of_run.directory => Files { directory, stem, ..of_run },
            _ => of_run,
        }
    }

    /// Returns a run without an execution, which is unresolved.
    fn unmade(&self, spec: &RunSpec, reason: String, mut reports: Reports) -> Result<CommandRun, RunError> {
        own_file::write(&spec.log, &reason)?;
        self.axis.collect(&spec.choice, &AfterBuild { artifacts: None, log: &spec.log }, &mut reports)?;
        let outcome = Outcome::Unresolved(Reason::Skip);
        Ok(CommandRun {
            choice: spec.choice.to_string(),
            executions: vec![CommandExecution { random: 0, outcome, reason, cause: None, lost_reports: None }],
            repetition: Repetition::Once,
            reports,
            duration: Duration::ZERO,
            notes: Vec::new(),
        })
    }

    /// Returns the outcome of an execution, compared with these failures.
    pub(super) fn outcome(&self, execution: &CommandExecution, calibration: &Calibration<()>) -> Outcome {
        let Some(cause) = &execution.cause else { return execution.outcome };
        // Without a failure at an end, only the command itself can be what is searched for, not what it could not build.
        let is_only_unbuilt = cause.is_unbuilt() && calibration.of(&()).next().is_none();
        match calibration.meaning(&(), cause) {
            _ if self.options.same_failure && is_only_unbuilt => Outcome::Unresolved(Reason::Build),
            Meaning::Another if cause.environment().is_some() => Outcome::Unresolved(Reason::Environment),
            Meaning::Another if self.options.same_failure && cause.is_unbuilt() => Outcome::Unresolved(Reason::Build),
            Meaning::Another if self.options.same_failure => Outcome::Unresolved(Reason::Skip),
            Meaning::Usual if self.options.same_failure => Outcome::Pass,
            _ => execution.outcome,
        }
    }

    /// Returns the command as a line for a shell, with its placeholders.
    pub(super) fn line(&self) -> String {
        let program = Path::new(&self.program);
        self.write_line((Reader::Person, program), &[], str::to_owned, |arguments| {
            arguments.iter().map(OsString::from).collect()
        })
    }

    /// Returns the command as a line for a shell, filled in for the first slot.
    /// `limit` are the words that limit its time.
    pub(super) fn line_with(
        &self,
        mut application: Application,
        random: u64,
        (reader, limit): (Reader, Vec<String>),
    ) -> String {
        application.before.extend(limit);
        let application = &application;
        let filling = self.filling(application, random);
        let has_chosen = TARGET_DIRECTORIES.iter().any(|name| env::var_os(name).is_some());
        let target = TARGET_DIRECTORIES.map(|name| format!("{name}={} ", Preparation::TARGET_DIRECTORY)).concat();
        let target = if has_chosen { format!("export {target}&& ") } else { String::new() };
        let before = application.preparation.iter().map(|before| format!("{} && {target}", before.of(reader)));
        let more = application.variables.words().into_iter().map(|word| word + " ");
        let value = |value: &str| filling.text_with(value, |part| fill_text(part, 0));
        let commit = application.preparation.as_ref().and_then(|preparation| preparation.commit.as_deref());
        let program = commit.map_or_else(|| self.program_for(application), |commit| self.program_in_worktree(commit));
        let line =
            self.write_line((reader, &program), &application.before, value, |arguments| filling.arguments(arguments));
        let directory = (reader == Reader::Replay).then(|| format!("cd {} && ", quote(&self.options.root)));
        let line = directory.into_iter().chain(before).chain(more).chain([line]).collect();
        if application.preparation.is_some() { Preparation::enclose(line, reader) } else { line }
    }

    /// Writes a line for a shell. The words `before` come between the variables and the program.
    fn write_line(
        &self,
        (reader, program): (Reader, &Path),
        before: &[String],
        value: impl Fn(&str) -> String,
        arguments: impl FnOnce(&[String]) -> Vec<OsString>,
    ) -> String {
        let mut words: Vec<_> =
            self.variables.iter().map(|(name, text)| format!("{name}={}", quote(value(text)))).collect();
        words.extend(before.iter().map(quote));
        words.push(format!("{}{}", reader.before_program(), quote(program)));
        words.extend(arguments(&self.arguments).iter().map(quote));
        words.join(" ")
    }

    fn filling<'a>(&'a self, application: &'a Application, random: u64) -> Filling<'a> {
        Filling {
            placeholder: self.placeholder.map(|placeholder| placeholder.word),
            words: application.words.as_ref(),
            paths: self.paths.as_ref(),
            random: random.to_string(),
        }
    }
}

/// The means by which an axis enables a selection in one run.
#[derive(Debug)]
struct Applied {
    application: Application,
    /// The directory to run the command in; `None`: the user's own.
    place: Option<PathBuf>,
}

impl Runner for CommandRunner {
    type KnownFailures = Calibration<()>;
    type Observations = CommandRun;

    fn run(
        &self,
        spec: &RunSpec,
        calibration: &Calibration<()>,
        surroundings: &Surroundings<'_>,
    ) -> Result<CommandRun, RunError> {
        let (spec, lost) = spec.create_files(surroundings.scratch.path())?;
        let spec = &*spec;
        let stem = format!("run-{:04}", spec.number);
        let files = self.files(&stem, surroundings, spec);
        let application = self.axis.apply(&spec.choice, &files)?;
        let _file = match &application.words {
            Some(Words::File(path)) if files.directory != surroundings.scratch.path() => {
                TempPath::try_from_path(path).ok()
            }
            _ => None,
        };
        let mut reports = Reports::new(spec.choice.asks_for_text() || !self.axis.facts().reporter.needs_text_run());
        let place = match self.axis.copies().map(|copies| copies.place(&spec.choice, spec.slot)).transpose()? {
            None => None,
            Some(Place::At(place)) => Some(place),
            Some(Place::Missing(why)) => return self.unmade(spec, why, reports),
        };
        let applied = Applied { application, place };
        let (mut executions, mut duration) = (Vec::new(), Duration::ZERO);
        let mut notes: Vec<_> = lost.as_ref().map(Note::lost_log).into_iter().collect();
        for i in 0..spec.repetition.times() {
            let (mut execution, took, note) = self.execute(spec, surroundings, &applied, i, &mut reports)?;
            duration += took;
            notes.extend(note);
            if let Some(environment) = disturbance(&execution, calibration) {
                notes.push(Note::new(environment_note(environment)));
                let (again, took, note) = self.execute(spec, surroundings, &applied, i, &mut reports)?;
                (execution, duration) = (again, duration + took);
                notes.extend(note);
            }
            let outcome = self.outcome(&execution, calibration);
            executions.push(execution);
            if spec.repetition.ends_with(outcome) {
                break;
            }
        }
        self.axis.read_reports(&spec.choice, &spec.report_file, &mut reports)?;
        self.axis.collect(&spec.choice, &AfterBuild { artifacts: None, log: &spec.log }, &mut reports)?;
        Ok(CommandRun {
            choice: spec.choice.to_string(),
            executions,
            repetition: spec.repetition,
            reports,
            duration,
            notes,
        })
    }

    fn paste(&self, line: &Pasting<'_>) -> LineResult {
        // The line is that of the first slot, which another run may use.
        let is_taken = !line.is_alone && !self.can_paste_at_once();
        if self.options.launcher.is_some() || is_taken {
            return LineResult::NotRun;
        }
        line.run(TargetKind::Command, self.options.skip_code, [])
    }

    fn can_paste_at_once(&self) -> bool {
        !self.line().contains(slots::PLACEHOLDER)
    }
}

/// Returns the problem of the environment that made an execution fail, unless the changes are known to cause it.
fn disturbance(execution: &CommandExecution, calibration: &Calibration<()>) -> Option<Environment> {
    let environment = execution.cause.as_ref()?.environment()?;
    (!calibration.is_made_by_changes(&(), environment)).then_some(environment)
}

/// The values of the placeholders in one execution.
struct Filling<'a> {
    placeholder: Option<&'static str>,
    words: Option<&'a Words>,
    paths: Option<&'a InputPaths>,
    random: String,
}

impl Filling<'_> {
    /// Returns a text with its placeholders filled in.
    fn text(&self, text: &str) -> String {
        self.text_with(text, str::to_owned)
    }

    /// Does the same, and changes the user's own parts. What replaces the placeholder of the axis stays as it is: the
    /// path of a file may contain other placeholders by chance.
    fn text_with(&self, text: &str, change: impl Fn(&str) -> String) -> String {
        let own = |text: &str| change(&text.replace(RANDOM, &self.random));
        let words = match self.words {
            Some(Words::Text(text)) => text.clone(),
            Some(Words::File(path)) => {
                let path = self.paths.map_or_else(|| path.clone(), |paths| paths.written(path));
                path.display().to_string()
            }
            Some(Words::Arguments(_)) | None => return own(text),
        };
        let Some(placeholder) = self.placeholder else { return own(text) };
        text.split(placeholder).map(own).collect::<Vec<_>>().join(&words)
    }

    /// Returns arguments with their placeholders filled in.
    fn arguments(&self, arguments: &[String]) -> Vec<OsString> {
        let Some(Words::Arguments(words)) = self.words else {
            return arguments.iter().map(|argument| self.text(argument).into()).collect();
        };
        let is_placeholder = |argument: &&String| Some(argument.as_str()) == self.placeholder;
        let mut filled = Vec::new();
        for argument in arguments {
            if is_placeholder(&argument) {
                filled.extend(words.iter().cloned());
            } else {
                filled.push(self.text(argument).into());
            }
        }
        if !arguments.iter().any(|argument| is_placeholder(&argument)) {
            filled.extend(words.iter().cloned());
        }
        filled
    }
}
