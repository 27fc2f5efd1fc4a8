//! Command lines for a shell that run the target once more.

use std::{collections::BTreeMap, ffi::OsString, sync::Arc};

use bisect_core::Pattern;

use super::{Axis, Failure, Program, Share};
use crate::{
    axes,
    cargo::{Executable, Launch, libtest},
    process::shell,
};

impl Program {
    /// A line that runs what fails with this pattern: these tests, or all that are repeated if it is not known which.
    pub(super) fn reproduce_line(&self, pattern: &Pattern, tests: &[String]) -> String {
        match &self.axis {
            // The IDs of call stacks hold for this very executable, so it must not be built again.
            Axis::RunTime(_) => self.start_lines(pattern, tests),
            Axis::BuildTime(_) => {
                let with = self.axis.build_with(&self.toggles, pattern, "".as_ref()).unwrap_or_default();
                let variables = with.variables.iter().map(|(name, value)| format!("{name}={}", value.display()));
                self.cargo_line(variables.collect(), &[], tests)
            }
            Axis::Codegen(level) => {
                let (variables, settings) = axes::reproduce(level.as_ref(), pattern);
                self.cargo_line(variables, &settings, tests)
            }
            Axis::Flags(_) => {
                let flags: Vec<_> = [self.project.flags(), &self.axis.flags(pattern)].concat();
                let variable = if flags.iter().any(|flag| flag.contains(char::is_whitespace)) {
                    format!("CARGO_ENCODED_RUSTFLAGS={}", flags.join("\x1f"))
                } else {
                    format!("RUSTFLAGS={}", flags.join(" "))
                };
                self.cargo_line(vec![variable], &[], tests)
            }
        }
    }

    /// Starts each executable that is repeated.
    fn start_lines(&self, pattern: &Pattern, tests: &[String]) -> String {
        let executables = self.project.executables(self.first_artifacts()).unwrap_or_default();
        let line = |executable: &&Executable| self.start_line(executable, pattern, tests);
        let lines: Vec<_> = executables.iter().filter_map(line).collect();
        match lines.as_slice() {
            [line] => line.clone(),
            lines => lines.iter().map(|line| format!("({line})")).collect::<Vec<_>>().join("; "),
        }
    }

    fn start_line(&self, executable: &Executable, pattern: &Pattern, tests: &[String]) -> Option<String> {
        let failing = self.failing(executable, tests)?;
        let arguments = self.arguments(if failing.is_empty() { Share::Everything } else { Share::Tests(&failing) });
        let launch = self.project.launch(self.first_artifacts(), executable);
        let needed = self.needed_variables(executable, &launch);
        let value = self.axis.run_with(pattern).unwrap_or_default();
        let pattern = [("BISECT_PATTERN".to_owned(), value.into())];
        let variables = needed.iter().chain(pattern.iter().map(|(name, value)| (name, value)));
        let variables = variables.map(|(name, value)| format!("{name}={}", value.display()));
        let mut words = launch.words().to_vec();
        words.extend(arguments);
        let directory = shell::quote(&launch.directory);
        Some(format!("cd {directory} && {} {}", assignments(variables), shell::line(words)))
    }

    /// See [`Launch::needed_variables`]. The executable of a search does not change, so its bytes are searched once, and not
    /// for each culprit.
    fn needed_variables(&self, executable: &Executable, launch: &Launch) -> Arc<BTreeMap<String, OsString>> {
        let known = &mut self.learned().needed_variables;
        let needed = known.entry(executable.key()).or_insert_with(|| {
            // What cannot be read now can hardly be started; the line is right as far as it goes.
            launch.needed_variables(&self.first_artifacts().libraries).unwrap_or_default().into()
        });
        needed.clone()
    }

    /// The tests of an executable that fail; empty: all that it runs; `None`: it need not be started.
    fn failing(&self, executable: &Executable, tests: &[String]) -> Option<Vec<String>> {
        match self.focus().share(&executable.key()) {
            Share::Nothing => None,
            Share::Everything => self.failing_of_everything(executable, tests),
            Share::Tests(repeated) => {
                let fails = |test: &&String| tests.is_empty() || tests.contains(test);
                let failing: Vec<_> = repeated.iter().filter(fails).cloned().collect();
                (!failing.is_empty()).then_some(failing)
            }
        }
    }

    /// The same where everything is repeated: of a target that fails now and then, which tests fail is known in the end only.
    fn failing_of_everything(&self, executable: &Executable, tests: &[String]) -> Option<Vec<String>> {
        if self.settings.all_tests || self.focus().needs_others() {
            return Some(Vec::new());
        }
        let failed = &self.learned().failed;
        let fails = |test: &String, key: Option<&str>| {
            let is_it = |failure: &Failure| {
                failure.test.as_ref() == Some(test) && key.is_none_or(|key| failure.executable == key)
            };
            failed.iter().any(is_it)
        };
        if tests.is_empty() || !tests.iter().all(|test| fails(test, None)) {
            return Some(Vec::new());
        }
        let key = executable.key();
        let here: Vec<_> = tests.iter().filter(|test| fails(test, Some(&key))).cloned().collect();
        (!here.is_empty()).then_some(here)
    }

    /// Has cargo build and run the same, with these variables and settings.
    fn cargo_line(&self, variables: Vec<String>, settings: &[String], tests: &[String]) -> String {
        let executables = self.project.executables(self.first_artifacts()).unwrap_or_default();
        let failing: Vec<_> = executables.iter().filter_map(|executable| self.failing(executable, tests)).collect();
        let mut target_words = self.settings.target.clone();
        if let [tests] = failing.as_slice()
            && !tests.is_empty()
        {
            target_words = libtest::repeat(&target_words, tests);
        }
        let line = shell::line(self.project.command_words(settings, &target_words));
        let directory = shell::quote(&self.project.directory);
        if variables.is_empty() {
            return format!("cd {directory} && {line}");
        }
        format!("cd {directory} && {} {line}", assignments(variables.into_iter()))
    }
}

/// `NAME=value` for a shell, with nothing but the values quoted.
fn assignments(variables: impl Iterator<Item = String>) -> String {
    let quoted = variables.map(|variable| {
        let (name, value) = variable.split_once('=').unwrap_or((&variable, ""));
        format!("{name}={}", shell::quote(value))
    });
    quoted.collect::<Vec<_>>().join(" ")
}
