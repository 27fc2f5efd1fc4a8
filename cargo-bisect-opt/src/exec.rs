//! `cargo bisect-opt exec`: any command as a target, as long as it takes a pattern and reports.

use std::{
    borrow::Cow,
    hash::{BuildHasher, Hasher, RandomState},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use bisect_core::{Matcher, Pattern};
use regex::bytes::Regex;

use crate::{
    launcher::Launcher,
    outcome::{SEARCHED, classify},
    process::{self, Ending, Job},
    reports::Reports,
    shell::{is_name, quote},
    slots::fill_text,
    target::{Request, Run, RunError, Target},
};

/// Stands for the pattern.
const PATTERN: &str = "PATTERN";
/// Stands for a number that is another one in each run, to get around caches of whatever runs in between.
const RANDOM: &str = "RANDOM";

/// What the user has asked for.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `[VAR=value]... COMMAND [ARGS]...`
    pub words: Vec<String>,
    /// The directory to run it in, also that of the user's code.
    pub root: PathBuf,
    /// A run that takes longer has failed.
    pub timeout: Option<Duration>,
    /// The exit status of a run that does not tell.
    pub skip_code: i32,
    /// Only a failure with output that matches counts.
    pub fail_when: Option<Regex>,
    /// What starts the command.
    pub launcher: Option<Launcher>,
}

/// Why the words cannot be used as a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UsageError {
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
#[derive(Clone, Debug)]
pub struct Exec {
    variables: Vec<(String, String)>,
    program: String,
    arguments: Vec<String>,
    settings: Settings,
}

impl Exec {
    /// The target that `settings` describe.
    ///
    /// # Errors
    /// If there is no command, or no place for the pattern.
    pub fn new(settings: Settings) -> Result<Self, UsageError> {
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
        let mut values = variables.iter().map(|(_, value)| value).chain(&arguments);
        if !values.any(|value: &String| value.contains(PATTERN)) {
            return Err(UsageError::NoPattern);
        }
        Ok(Self { variables, program, arguments, settings })
    }

    fn command(&self, request: &Request<'_>) -> Command {
        let filling = Filling::new(request.pattern);
        let mut command = Command::new(&self.program);
        command.current_dir(&self.settings.root).env("BISECT_REPORT", request.report_file);
        for (name, value) in &self.variables {
            command.env(name, filling.fill(value));
        }
        request.set_apart(&mut command);
        command.args(self.arguments.iter().map(|argument| filling.fill(argument)));
        match &self.settings.launcher {
            Some(launcher) => launcher.wrap(&command, self.settings.skip_code),
            None => command,
        }
    }
}

impl Target for Exec {
    type Shown = Run;

    fn run(&self, request: &Request<'_>) -> Result<Run, RunError> {
        // The runtime only appends to a file that exists.
        fs_err::File::create(request.report_file)?;
        let verbose = Matcher::new(request.pattern).is_some_and(|matcher| matcher.verbose());
        let mut reports = Reports::new(verbose);
        let finished = process::run(Job {
            command: self.command(request),
            timeout: self.settings.timeout,
            log: request.log,
            append: false,
            interrupt: request.interrupt,
            markers: Some(&mut reports),
            tail: if self.settings.fail_when.is_some() { SEARCHED } else { 0 },
        })?;
        if finished.ending == Ending::Interrupted {
            return Err(RunError::Interrupted);
        }
        reports.read_file(request.report_file)?;
        let (outcome, reason) = classify(&finished, self.settings.skip_code, self.settings.fail_when.as_ref());
        Ok(Run { outcome, reason, reports, failed_tests: Vec::new(), duration: finished.duration })
    }

    fn judge(&self, shown: Run) -> Result<Vec<Run>, Run> {
        Ok(vec![shown])
    }

    fn describe(&self) -> String {
        self.line(Cow::Borrowed, Cow::Borrowed)
    }

    fn root(&self) -> &Path {
        &self.settings.root
    }

    fn reproduce(&self, pattern: &Pattern, _tests: &[String]) -> String {
        let filling = Filling::new(pattern);
        // Alone, it is in the first slot.
        self.line(|word| Cow::Owned(filling.fill(word)), |value| Cow::Owned(fill_text(&filling.fill(value), 0)))
    }
}

impl Exec {
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
    fn new(pattern: &Pattern) -> Self {
        // The keys of a hash map's hasher are the random numbers that the standard library has.
        Self { pattern: pattern.to_string(), random: RandomState::new().build_hasher().finish().to_string() }
    }

    fn fill(&self, word: &str) -> String {
        word.replace(PATTERN, &self.pattern).replace(RANDOM, &self.random)
    }
}

#[cfg(all(test, unix))]
#[path = "exec_tests.rs"]
mod tests;
