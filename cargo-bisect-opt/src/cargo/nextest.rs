//! cargo-nextest as a process: the tests that it would run, and command lines for it.

use std::{collections::BTreeMap, ffi::OsString, path::Path, process::Command};

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Artifacts, BuildOverrides, CargoError, Project, Subcommand, feature_options, workspace};

/// The list that nextest prints.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct TestList {
    rust_suites: BTreeMap<String, TestSuite>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct TestSuite {
    testcases: BTreeMap<String, TestCase>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct TestCase {
    filter_match: FilterMatch,
}

#[derive(Debug, Deserialize)]
struct FilterMatch {
    status: String,
}

/// Asks nextest which tests of these artifacts it would run. Returns their names by the keys of executables. `scratch` is
/// a directory for temporary files.
///
/// # Errors
/// If nextest is not installed, or it rejects an option or an expression.
pub(crate) fn tests(
    project: &Project,
    artifacts: &Artifacts,
    scratch: &Path,
) -> Result<BTreeMap<String, Vec<String>>, CargoError> {
    let mut suites = BTreeMap::new();
    let mut binaries = BTreeMap::new();
    for executable in project.executables(artifacts)? {
        let (id, kind) = executable.nextest_id();
        binaries.insert(
            id.clone(),
            json!({
                "binary-id": id, "binary-name": executable.name, "package-id": executable.package.id, "kind": kind,
                "binary-path": executable.path, "build-platform": "target",
            }),
        );
        suites.insert(id, executable.key());
    }
    let binaries = json!({ "rust-build-meta": build_meta(artifacts), "rust-binaries": binaries });
    let (binaries_file, metadata_file) = (scratch.join("nextest-binaries.json"), scratch.join("nextest-cargo.json"));
    fs_err::write(&binaries_file, binaries.to_string())?;
    fs_err::write(&metadata_file, workspace::metadata_text(&project.config, &project.arguments)?)?;
    let mut command = Command::new(&project.config.cargo);
    command.args(["nextest", "list", "--message-format", "json", "--color", "never"]).current_dir(&project.directory);
    command.arg("--binaries-metadata").arg(binaries_file).arg("--cargo-metadata").arg(metadata_file);
    command.args(selection(project));
    super::remove_variables(&mut command, project.config.is_in_copy);
    let text = workspace::answer(command).map_err(|error| match error {
        CargoError::Workspace(message) => CargoError::Workspace(explained(&message)),
        error => error,
    })?;
    let list: TestList = serde_json::from_str(&text)
        .map_err(|error| CargoError::Workspace(format!("cannot read the output of `cargo nextest list`: {error}")))?;
    let selected = |suite: TestSuite| {
        let matching = suite.testcases.into_iter().filter(|(_, test)| test.filter_match.status == "matches");
        matching.map(|(name, _)| name).collect()
    };
    let found = list.rust_suites.into_iter().filter_map(|(id, suite)| Some((suites.remove(&id)?, selected(suite))));
    Ok(found.collect())
}

/// Returns the words with which nextest selects tests.
fn selection(project: &Project) -> Vec<OsString> {
    let mut words = project.arguments.nextest.selection.clone();
    if !project.target_arguments.is_empty() {
        words.push("--".into());
        words.extend(project.target_arguments.iter().cloned());
    }
    words
}

/// Returns the words of a command line for a user with which nextest builds and runs these tests; those that the user's
/// command line selects if there are none.
pub(crate) fn command_words(project: &Project, with: &BuildOverrides, tests: &[String]) -> Vec<OsString> {
    let mut words: Vec<OsString> = ["cargo", "nextest", "run", "--no-fail-fast"].map(OsString::from).to_vec();
    let build = &project.arguments.nextest.build;
    words.extend(match &with.features {
        Some(features) => feature_options::replaced(Subcommand::Test, build, features),
        None => build.clone(),
    });
    words.extend(with.settings.iter().flat_map(|setting| ["--config".into(), setting.into()]));
    if tests.is_empty() {
        words.extend(selection(project));
    } else {
        let tests: Vec<_> = tests.iter().map(|test| format!("test(={test})")).collect();
        words.extend(["--run-ignored=all".into(), "-E".into(), tests.join(" | ").into()]);
    }
    words
}

/// Adds advice to a message of cargo.
fn explained(message: &str) -> String {
    let is_missing = message.contains("no such command");
    let advice = if is_missing { "\nhelp: install it with `cargo install --locked cargo-nextest`" } else { "" };
    format!("`cargo nextest list` failed: {message}{advice}")
}

fn build_meta(artifacts: &Artifacts) -> Value {
    json!({
        "target-directory": artifacts.target_dir, "base-output-directories": [], "non-test-binaries": {},
        "linked-paths": [],
    })
}
