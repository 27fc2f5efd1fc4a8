//! The command lines of cargo that a user would type for a project.

use std::{env, ffi::OsString, path::PathBuf};

use super::{BuildOverrides, Executable, Project, Subcommand, feature_options};
use crate::process;

/// The variables that choose directories for what cargo builds.
pub(crate) const TARGET_DIRECTORIES: [&str; 2] = ["CARGO_TARGET_DIR", "CARGO_BUILD_BUILD_DIR"];
/// The option that overrides them.
const TARGET_DIR: &str = "--target-dir";
/// The variables that choose the compiler. Another one refuses, or compiles differently, what this one accepts.
const COMPILER: [&str; 2] = ["RUSTC", "RUSTC_BOOTSTRAP"];

/// Returns the assignments of the environment that choose the compiler, `NAME=value`.
pub(crate) fn compiler_variables() -> impl Iterator<Item = String> {
    COMPILER.into_iter().filter_map(|name| Some(format!("{name}={}", env::var_os(name)?.display())))
}

/// Returns the words of a command line of cargo without the option that chooses a target directory.
pub(crate) fn without_target_dir(words: Vec<OsString>) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if word == "--" {
            kept.push(word);
            kept.extend(words);
            break;
        }
        let text = word.to_string_lossy();
        if text == TARGET_DIR {
            words.next();
        } else if !text.strip_prefix(TARGET_DIR).is_some_and(|rest| rest.starts_with('=')) {
            kept.push(word);
        }
    }
    kept
}

impl Project {
    /// Returns the target directory for command lines whose builds depend on more than cargo knows. Beside them, cargo
    /// would take an artifact of another build for up to date.
    pub(crate) fn target_dir_of_lines(&self) -> PathBuf {
        self.workspace.build_directory(&self.config, &self.arguments).with_file_name("bisect-opt-lines")
    }

    /// Returns true if the user has chosen a target directory, which is that of all copies of the workspace.
    pub(crate) fn has_chosen_target_dir(&self) -> bool {
        self.config.has_build_dir
            || self.arguments.target_dir.is_some()
            || self.workspace.target_directory() != self.root().join("target")
    }

    /// Returns assignments with which cargo builds in a directory, which is a word for a shell.
    pub(crate) fn building_in(&self, directory: &str) -> String {
        let names = if self.config.has_build_dir { &TARGET_DIRECTORIES[..] } else { &TARGET_DIRECTORIES[..1] };
        names.iter().map(|name| format!("{name}={directory}")).collect::<Vec<_>>().join(" ")
    }

    /// Returns the assignment of a runner that limits the time of each executable, before the user's runner.
    pub(crate) fn limiting_runner(&self, limit: &[String]) -> String {
        let runner = self.config.runner.iter().map(|word| word.to_string_lossy().into_owned());
        let words: Vec<_> = limit.iter().cloned().chain(runner).collect();
        let triple = self.triple.to_uppercase().replace(['-', '.'], "_");
        format!("CARGO_TARGET_{triple}_RUNNER={}", words.join(" "))
    }

    /// Returns the command line that a user would type.
    pub(crate) fn command_line(&self) -> String {
        process::shell::line(self.command_words(&BuildOverrides::default(), &[], &self.target_arguments))
    }

    /// Returns the words of a command line for a user that builds and runs, with the settings and features of these
    /// overrides, more options, and these arguments after `--`.
    pub(crate) fn command_words(
        &self,
        with: &BuildOverrides,
        options: &[OsString],
        target_arguments: &[OsString],
    ) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["cargo".into(), self.subcommand.name().into()];
        words.extend((self.subcommand == Subcommand::Nextest).then(|| "run".into()));
        let typed = &self.arguments.typed;
        words.extend(match &with.features {
            Some(features) => feature_options::replaced(self.subcommand, typed, features),
            None => typed.clone(),
        });
        words.extend(options.iter().cloned());
        // The last value of a setting counts.
        words.extend(with.settings.iter().flat_map(|setting| ["--config".into(), setting.into()]));
        if !target_arguments.is_empty() {
            words.push("--".into());
            words.extend(target_arguments.iter().cloned());
        }
        words
    }

    /// Returns the options with which the user's command line would run only this executable; none if the user has chosen
    /// packages or targets, because cargo adds those of further options.
    pub(crate) fn options_for_only(&self, executable: &Executable) -> Vec<OsString> {
        let arguments = &self.arguments;
        let has_chosen = !arguments.packages.is_empty() || arguments.options_of_any_target() != arguments.options;
        if has_chosen { Vec::new() } else { [executable.package_options(), executable.options()].concat() }
    }
}
