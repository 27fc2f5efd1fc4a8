//! The settings of command lines for a user: the compiler, the target directory, and a limit of time.

use std::{env, ffi::OsString, path::PathBuf};

use super::{Project, Subcommand, toolchain};

/// The variables that choose directories for what cargo builds.
pub(crate) const TARGET_DIRECTORIES: [&str; 2] = ["CARGO_TARGET_DIR", "CARGO_BUILD_BUILD_DIR"];
/// The option that overrides them.
const TARGET_DIR: &str = "--target-dir";
/// The variables that choose the compiler. Another one refuses, or compiles differently, what this one accepts.
const COMPILER: [&str; 2] = ["RUSTC", "RUSTC_BOOTSTRAP"];

/// Returns the option that leaves out documentation tests, if the environment chooses a compiler and nothing else chooses
/// targets: rustdoc may be of another version than that compiler. They are not searched.
pub(crate) fn without_documentation_tests(project: &Project, options: &[OsString]) -> Option<OsString> {
    let chooses_targets = !options.is_empty() || project.arguments.chooses_targets();
    let is_other = project.subcommand == Subcommand::Test && env::var_os(COMPILER[0]).is_some();
    (is_other && !chooses_targets).then(|| "--tests".into())
}

/// Returns the assignments that choose the compiler, `NAME=value`.
pub(crate) fn compiler_variables(project: &Project) -> impl Iterator<Item = String> {
    let of_environment =
        COMPILER.into_iter().filter_map(|name| Some(format!("{name}={}", env::var_os(name)?.display())));
    project.toolchain.assignment(&project.directory).map(str::to_owned).into_iter().chain(of_environment)
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

/// Returns the target directory for command lines whose builds depend on more than cargo knows. In the usual one, cargo
/// would take artifacts of other builds for up to date.
pub(crate) fn target_dir(project: &Project) -> PathBuf {
    project.workspace.build_directory(&project.config, &project.arguments).with_file_name("bisect-opt-lines")
}

/// Returns true if the user has chosen a target directory, which is that of all copies of the workspace.
pub(crate) fn has_chosen_target_dir(project: &Project) -> bool {
    project.config.has_build_dir
        || project.arguments.target_dir.is_some()
        || project.workspace.target_directory() != project.root().join("target")
}

/// Returns assignments with which cargo builds in a directory, which is a word for a shell.
pub(crate) fn building_in(project: &Project, directory: &str) -> String {
    used_directories(project).iter().map(|name| format!("{name}={directory}")).collect::<Vec<_>>().join(" ")
}

/// Returns the variables that must be set to choose the directory for all that cargo builds.
fn used_directories(project: &Project) -> &'static [&'static str] {
    if project.config.has_build_dir { &TARGET_DIRECTORIES } else { &TARGET_DIRECTORIES[..1] }
}

/// Returns the variables with which a search runs a line that is printed for the user, unless the line sets them, or has
/// an option instead: cargo then builds where the search does, not among the user's artifacts. Beside other runs, which
/// may copy that directory, it builds in one of its own. Variables without a value are removed: those that select
/// changes belong to an outer search, and that of the toolchain to the driver.
pub(crate) fn of_pasted_lines(project: &Project, is_alone: bool) -> impl Iterator<Item = (OsString, Option<OsString>)> {
    let own = project.workspace.build_directory(&project.config, &project.arguments);
    let directory = if is_alone { own } else { target_dir(project) };
    let directories = used_directories(project).iter().map(move |&name| (name.into(), Some(directory.clone().into())));
    let outer = env::vars_os().map(|(name, _)| name).filter(|name| super::is_protocol_variable(name));
    directories.chain(outer.chain([toolchain::TOOLCHAIN.into()]).map(|name| (name, None)))
}

/// Returns the assignment of a runner that limits the time of each executable, before the user's runner.
pub(crate) fn limiting_runner(project: &Project, limit: &[String]) -> String {
    let runner = project.config.runner.iter().map(|word| word.to_string_lossy().into_owned());
    let words: Vec<_> = limit.iter().cloned().chain(runner).collect();
    let triple = project.triple.to_uppercase().replace(['-', '.'], "_");
    format!("CARGO_TARGET_{triple}_RUNNER={}", words.join(" "))
}
