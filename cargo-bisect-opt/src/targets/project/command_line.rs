//! Shell command lines that run the target once more.

use std::{
    collections::{BTreeMap, HashMap},
    ffi::OsString,
    sync::Arc,
};

use super::{
    knowledge::Knowledge,
    runner::ProjectRunner,
    test_selection::{Failure, Subset},
};
use crate::{
    axes::{Application, Files, Preparation},
    cargo::{BuildOverrides, Executable, Subcommand, libtest, line_settings, nextest},
    process::shell,
    run::{reader::Reader, spec::Choice},
};

/// The environment variables that executables need, by the keys of executables. The bytes of an executable are searched
/// once, not for each culprit.
pub(super) type NeededVariables = HashMap<String, Arc<BTreeMap<String, OsString>>>;

/// A maker of shell command lines.
pub(super) struct CommandLine<'a> {
    pub(super) runner: &'a ProjectRunner,
    pub(super) knowledge: &'a Knowledge,
    pub(super) needed_variables: &'a mut NeededVariables,
    pub(super) reader: Reader,
    /// The words that limit the time of a process that may hang; empty if there is no limit.
    pub(super) limit: Vec<String>,
}

impl CommandLine<'_> {
    /// Returns a command line that runs the failing tests with these changes: `tests`, or all that are repeated if it
    /// is empty.
    pub(super) fn of(mut self, choice: &Choice, tests: &[String], files: &Files<'_>) -> String {
        let reader = self.reader;
        let application = match self.runner.axis.reproduction(choice, files) {
            Ok(application) => application,
            Err(error) => return shell::refusal(&error),
        };
        match application.build {
            // The IDs of call stacks are valid for this executable only, so it must not be built again.
            None => self.start_lines(&application, tests),
            Some(build) => {
                let line = |before| self.cargo_line(&build, before, tests);
                match &application.preparation {
                    None => line(None),
                    Some(before) => Preparation::enclose(line(Some(&*before.of(reader))), reader),
                }
            }
        }
    }

    /// Returns command lines that start each executable that is repeated.
    fn start_lines(&mut self, application: &Application, tests: &[String]) -> String {
        let executables = self.runner.project.executables(self.runner.first_artifacts()).unwrap_or_default();
        let lines: Vec<_> =
            executables.iter().flat_map(|executable| self.lines_of(executable, application, tests)).collect();
        match lines.as_slice() {
            [line] => line.clone(),
            lines => lines.iter().map(|line| format!("({line})")).collect::<Vec<_>>().join("; "),
        }
    }

    /// Returns the command lines that start an executable: one for all its tests, or for each if nextest runs them.
    fn lines_of(&mut self, executable: &Executable, application: &Application, tests: &[String]) -> Vec<String> {
        let Some(failing) = self.failing(executable, tests) else { return Vec::new() };
        let size = if self.runner.project.subcommand == Subcommand::Nextest { 1 } else { failing.len() };
        if failing.is_empty() {
            return vec![self.start_line(executable, application, &failing)];
        }
        failing.chunks(size).map(|failing| self.start_line(executable, application, failing)).collect()
    }

    fn start_line(&mut self, executable: &Executable, application: &Application, failing: &[String]) -> String {
        let mut arguments = self.runner.project.arguments();
        if !failing.is_empty() {
            arguments = libtest::repeat(&arguments, failing);
        }
        let artifacts = self.runner.first_artifacts();
        let launch = self.runner.project.launch(artifacts, executable);
        let needed = self.needed_variables.entry(executable.key()).or_insert_with(|| {
            // An executable that cannot be read now can hardly be started. The rest of the line is still correct.
            launch.needed_variables(&artifacts.libraries).unwrap_or_default().into()
        });
        let needed = needed.iter().map(|(name, value)| format!("{name}={}", value.display()));
        let variables = assignments(needed)
            .chain(launch.with_libraries(&application.variables).words())
            .collect::<Vec<_>>()
            .join(" ");
        let before = application.before.iter().chain(&self.limit).map(OsString::from);
        let mut words: Vec<_> = before.chain(launch.words().iter().cloned()).collect();
        words.extend(arguments);
        let directory = shell::quote(&launch.directory);
        let debugger = self.reader.before_program();
        format!("cd {directory} && {variables} {debugger}{}", shell::line(words))
    }

    /// Returns the failing tests of an executable. An empty list stands for all that it runs, `None` for an executable
    /// that need not be started.
    fn failing(&self, executable: &Executable, tests: &[String]) -> Option<Vec<String>> {
        match self.knowledge.tests.subset(&executable.key()) {
            Subset::Nothing => None,
            Subset::Everything => self.failing_of_everything(executable, tests),
            Subset::Tests(repeated) => {
                let fails = |test: &&String| tests.is_empty() || tests.contains(test);
                let failing: Vec<_> = repeated.iter().filter(fails).cloned().collect();
                (!failing.is_empty()).then_some(failing)
            }
        }
    }

    /// Returns the same as `failing` if everything is repeated. With a flaky target, the failing tests are known at the
    /// end only.
    fn failing_of_everything(&self, executable: &Executable, tests: &[String]) -> Option<Vec<String>> {
        if self.runner.options.all_tests || self.knowledge.tests.needs_others() {
            return Some(Vec::new());
        }
        let failed = &self.knowledge.failed;
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

    /// Returns a command line with which cargo builds and runs the target, with these overrides, after a preparation.
    fn cargo_line(&self, build: &BuildOverrides, preparation: Option<&str>, tests: &[String]) -> String {
        let project = &self.runner.project;
        let mut variables = Vec::new();
        if !build.flags.is_empty() {
            let flags: Vec<_> = [project.flags(), &build.flags].concat();
            variables.push(if flags.iter().any(|flag| flag.contains(char::is_whitespace)) {
                format!("CARGO_ENCODED_RUSTFLAGS={}", flags.join("\x1f"))
            } else {
                format!("RUSTFLAGS={}", flags.join(" "))
            });
        }
        let executables = project.executables(self.runner.first_artifacts()).unwrap_or_default();
        let with_failing = |executable| Some((executable, self.failing(executable, tests)?));
        let repeated: Vec<(&Executable, Vec<String>)> = executables.into_iter().filter_map(with_failing).collect();
        let mut target_words = self.runner.options.target.clone();
        let mut options = Vec::new();
        if let [(executable, tests)] = repeated.as_slice()
            && !tests.is_empty()
        {
            target_words = libtest::repeat(&target_words, tests);
            if self.knowledge.tests.leaves_out_elsewhere(tests, &executable.key()) {
                options = project.options_for_only(executable);
            }
        }
        options.extend(line_settings::without_documentation_tests(project, &options));
        let mut words = match project.subcommand {
            Subcommand::Nextest => {
                let tests: Vec<_> = repeated.into_iter().flat_map(|(_, tests)| tests).collect();
                nextest::command_words(project, build, &tests)
            }
            _ => project.command_words(build, &options, &target_words),
        };
        let directory = if build.needs_own_artifacts {
            Some(shell::quote(line_settings::target_dir(project)))
        } else {
            let is_in_copy = preparation.is_some() && line_settings::has_chosen_target_dir(project);
            is_in_copy.then(|| Preparation::TARGET_DIRECTORY.to_owned())
        };
        if directory.is_some() {
            words = line_settings::without_target_dir(words);
        }
        if project.subcommand.is_build() {
            words.splice(0..0, self.limit.iter().map(OsString::from));
        } else if !self.limit.is_empty() {
            variables.push(line_settings::limiting_runner(project, &self.limit));
        }
        let mut steps = vec![format!("cd {}", shell::quote(&project.directory))];
        steps.extend(preparation.map(str::to_owned));
        let of_compiler = assignments(line_settings::compiler_variables(project)).chain(build.variables.words());
        let variables = of_compiler.chain(assignments(variables.into_iter()));
        let directory = directory.map(|directory| line_settings::building_in(project, &directory));
        let parts = directory.into_iter().chain(variables).chain([shell::line(words)]);
        steps.push(parts.collect::<Vec<_>>().join(" "));
        steps.join(" && ")
    }
}

/// Returns assignments `NAME=value` for a shell, with only the values quoted.
fn assignments(variables: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    variables.map(|variable| {
        let (name, value) = variable.split_once('=').unwrap_or((&variable, ""));
        format!("{name}={}", shell::quote(value))
    })
}
