//! Variables of the environment as changes: set, unset or changed, as in a file with the variables of another shell.
//!
//! They act on what runs; with `build` and `check`, on the build. Variables that cargo, rustup and this program set for
//! their own processes differ in any case. So they are changes only where the file gives them another value. A file
//! without `PATH` is no whole environment, so it unsets nothing.

mod dump;

use std::{
    collections::BTreeMap,
    env,
    ffi::{OsStr, OsString},
    path::Path,
};

use bisect_core::{ChangeId, protocol::names, search::Mode};

use self::dump::{Dump, DumpedVariable};
use super::{
    Application, Axis, CulpritChanges, CulpritWords, Files, Preparation,
    command_spec::AxisError,
    facts::AxisFacts,
    option_axis::{AxisResult, OptionAxis, SearchedTarget},
};
use crate::{
    cargo::{BuildCounts, BuildOverrides, line_settings::TARGET_DIRECTORIES},
    output::terms::Terms,
    process::{
        shell::{is_name, quote},
        variables::{Variable, Variables, is_secret},
    },
    report::{
        content::{Location, Report},
        kind::{ChangeKind, ShownSource},
    },
    run::{
        error::RunError,
        numbering::{Numbering, position},
        spec::Choice,
    },
    units::plural,
};

/// `--env`.
pub(super) const OPTION: OptionAxis = OptionAxis {
    name: "env",
    value: "FILE",
    has_default: false,
    searches_environment: true,
    question: "which variable, if it fails in another environment: FILE from `env -0 > FILE` there",
    help: "Find the variables of the environment that make the target fail",
    details: "The differences between the present environment and FILE are searched. FILE is what `env -0` or `env` prints \
              in the other shell, or has lines KEY=value; without PATH, it unsets no variable. With `build` and `check`, \
              the variables act on the build. Values of variables such as tokens and passwords are not shown.",
    prepare,
};

/// The terms of this axis. Equal environments are refused before a run.
const TERMS: Terms = Terms {
    axis: "env",
    change: "variable",
    reported: None,
    if_none_reported: Some("there is no variable that differs"),
};
/// A variable. The line of the file may be a secret, so it is not shown.
const KIND: ChangeKind =
    ChangeKind { name: "variable", noun: "variable", label: "this variable", source: ShownSource::Patch };
/// The maximum number of characters of a value in an answer.
const MAX_VALUE: usize = 80;
/// Variables that this program sets for each process that it starts. A shell sets `_` for each command.
const SET_FOR_EACH_RUN: [&str; 4] = [names::REPORT, names::SLOT, names::OPT_RUN, "_"];
/// Variables that cargo sets for each executable. Inherited values have no effect.
const SET_FOR_EACH_EXECUTABLE: [&str; 4] = ["CARGO", "CARGO_CRATE_NAME", "CARGO_PRIMARY_PACKAGE", "OUT_DIR"];
/// Prefixes of the names of further ones.
const PREFIXES_SET_FOR_EACH_EXECUTABLE: [&str; 3] = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_"];
/// Variables that may be set only because cargo, rustup or a search started this program. They are never unset.
const MAYBE_OURS: [&str; 6] =
    ["RUST_RECURSION_COUNT", "LD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "TMPDIR", "TMP", "TEMP"];
/// Prefixes of the names of further ones.
const PREFIXES_MAYBE_OURS: [&str; 3] = ["CARGO", "RUSTUP_", names::FAMILY];

/// Variables that differ. *None* is the present environment, *all* is that of the file.
#[derive(Debug)]
struct Env {
    /// The file as the user wrote it.
    file: String,
    changes: Vec<Change>,
    /// True if the variables act on a build.
    is_of_build: bool,
}

/// A variable that differs.
#[derive(Debug, PartialEq, Eq)]
struct Change {
    name: OsString,
    /// The present value; `None`: it is not set.
    old: Option<OsString>,
    /// The state in the file.
    new: Variable,
    /// The line in the file, from 1, if the file sets it and has lines.
    line: Option<u32>,
}

fn prepare(target: &SearchedTarget<'_>, file: Option<&OsStr>) -> AxisResult {
    let file = Path::new(file.unwrap_or_default());
    let usage = |why: &dyn std::fmt::Display| AxisError::Usage(format!("--env {}: {why}", file.display()));
    let path = target.directory.join(file);
    let bytes = fs_err::read(&path).map_err(|error| usage(&error))?;
    let dump = Dump::parse(&bytes).map_err(|error| usage(&error))?;
    if !path.is_file() && dump.entries.keys().any(|name| is_secret(name)) {
        return Err(usage(&"lines for pasting read the values of secrets from it, so it must be a regular file"));
    }
    let is_of_build = target.project.is_some_and(|project| project.subcommand.is_build());
    let assigned: Vec<_> = target.command.iter().map_while(|word| assigned_name(word)).collect();
    let is_left_out = |name: &OsStr| {
        let is_in = |names: &[&str]| names.iter().any(|other| name == *other);
        is_in(&SET_FOR_EACH_RUN)
            || is_in(&assigned)
            || is_of_build && is_in(&TARGET_DIRECTORIES)
            || target.project.is_some() && !is_of_build && is_set_for_each_executable(name)
    };
    let changes = changes(env::vars_os().collect(), &dump.entries, &|entry| dump.form.word(&path, entry));
    let changes: Vec<_> = changes.into_iter().filter(|change| !is_left_out(&change.name)).collect();
    let file = file.display().to_string();
    if changes.is_empty() {
        return Err(AxisError::Nothing(format!(
            "all variables in {file} have the same values here, except for those that cargo or the command line sets: write \
             the file with `env -0 > FILE` in the shell where the target behaves differently"
        )));
    }
    Ok(Box::new(Env { file, changes, is_of_build }))
}

/// Returns the name of the variable that a word before a command sets, if it sets one.
fn assigned_name(word: &OsStr) -> Option<&str> {
    let (name, _) = word.to_str()?.split_once('=')?;
    is_name(name).then_some(name)
}

/// Returns the variables whose states differ, in the order of their names. `word` returns the word of a shell that reads
/// the value of an entry from the file.
fn changes(
    present: BTreeMap<OsString, OsString>,
    entries: &BTreeMap<OsString, DumpedVariable>,
    word: &dyn Fn(&DumpedVariable) -> String,
) -> Vec<Change> {
    let mut changes = Vec::new();
    for (name, entry) in entries {
        let old = present.get(name).cloned();
        if old.as_ref() == Some(&entry.value) {
            continue;
        }
        let value = entry.value.clone();
        let new = if is_secret(name) { Variable::Secret { value, word: word(entry) } } else { Variable::Set(value) };
        changes.push(Change { name: name.clone(), old, new, line: entry.line });
    }
    let is_whole = entries.keys().any(|name| name.eq_ignore_ascii_case("PATH"));
    let unset = present.into_iter().filter(|(name, _)| is_whole && !entries.contains_key(name) && !may_be_ours(name));
    changes.extend(unset.map(|(name, old)| Change { name, old: Some(old), new: Variable::Unset, line: None }));
    changes.sort_by(|one, other| one.name.cmp(&other.name));
    changes
}

/// Returns true if each executable that cargo starts gets its own value of a variable.
fn is_set_for_each_executable(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    SET_FOR_EACH_EXECUTABLE.contains(&&*name)
        || PREFIXES_SET_FOR_EACH_EXECUTABLE.iter().any(|prefix| name.starts_with(prefix))
}

/// Returns true if a variable may be set only because this program runs.
fn may_be_ours(name: &OsStr) -> bool {
    let text = name.to_string_lossy();
    is_set_for_each_executable(name)
        || MAYBE_OURS.contains(&&*text)
        || PREFIXES_MAYBE_OURS.iter().any(|prefix| text.starts_with(prefix))
}

impl Change {
    /// Describes the change on one line.
    fn describe(&self) -> String {
        let is_secret = is_secret(&self.name);
        let shown = |value: &OsStr| if is_secret { "(a value that is not shown)".to_owned() } else { shown(value) };
        let old = self.old.as_deref().map_or_else(|| "unset".to_owned(), shown);
        let new = match &self.new {
            Variable::Set(value) | Variable::Secret { value, .. } => shown(value),
            Variable::Unset => "unset".to_owned(),
        };
        format!("{}: {old} -> {new}", self.name.to_string_lossy())
    }
}

/// Returns a value for people: on one line, and not too long.
fn shown(value: &OsStr) -> String {
    if value.is_empty() {
        return "(empty)".to_owned();
    }
    let text = value.to_string_lossy();
    let escaped = text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] });
    let mut shown: String = escaped.clone().take(MAX_VALUE).collect();
    if escaped.count() > MAX_VALUE {
        shown.push('…');
    }
    shown
}

impl Env {
    fn at(&self, id: ChangeId) -> Option<&Change> {
        self.changes.get(position(id)?)
    }

    /// Returns the headline of a culprit with this number of variables.
    fn headline(&self, mode: Mode, variables: usize) -> String {
        let file = &self.file;
        match (mode, variables) {
            (Mode::Enable, 1) => format!("the target fails with this variable as in {file}"),
            (Mode::Enable, _) => format!("the target fails with these variables together as in {file}"),
            (Mode::Disable, 1) => format!("the target passes with this variable as in {file}, and fails as it is here"),
            (Mode::Disable, _) => {
                format!("the target passes with any of these variables as in {file}, and fails as they are here")
            }
        }
    }

    /// Returns the variables of the file that a choice enables.
    fn variables(&self, choice: &Choice) -> Variables {
        let mut variables = Variables::default();
        for (_, change) in (0..).map(ChangeId).zip(&self.changes).filter(|&(id, _)| choice.enables(id)) {
            variables.insert(change.name.clone(), change.new.clone());
        }
        variables
    }
}

impl Axis for Env {
    fn facts(&self) -> AxisFacts {
        AxisFacts {
            builds: self.is_of_build,
            // It may name the compiler, or forbid downloads.
            decides_whether_cargo_compiles: self.is_of_build,
            ..AxisFacts::of_known_changes(TERMS)
        }
    }

    fn subject(&self) -> Option<String> {
        let variables = plural(self.changes.len(), TERMS.change);
        Some(format!("{variables}, between the present environment and {}", self.file))
    }

    fn numbering(&self) -> Numbering {
        Numbering::of_list(self.changes.len())
    }

    fn apply(&self, choice: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        let variables = self.variables(choice);
        if !self.is_of_build {
            return Ok(Application { variables, ..Application::default() });
        }
        // Cargo does not know all variables that a build depends on.
        let build = BuildOverrides { variables, is_plain: true, is_from_scratch: true, ..BuildOverrides::default() };
        Ok(Application { build: Some(build), ..Application::default() })
    }

    fn reproduction(&self, choice: &Choice, files: &Files<'_>) -> Result<Application, RunError> {
        let preparation = self.is_of_build.then(|| {
            let directory = Preparation::TARGET_DIRECTORY;
            let commands =
                format!("tree=$(mktemp -d) && trap 'rm -rf \"$tree\"' EXIT && export CARGO_TARGET_DIR={directory}");
            Preparation { commands: [commands.clone(), commands], commit: None }
        });
        Ok(Application { preparation, ..self.apply(choice, files)? })
    }

    fn change(&self, report: Report, _: &Path, _: Mode) -> Report {
        let Some(change) = self.at(report.id) else { return report };
        let location = change.line.map(|line| Location { line: Some(line), ..Location::of_file(self.file.clone()) });
        let name = change.describe();
        Report { kind: KIND, location, text: vec![name.clone()], name, ..report }
    }

    fn words(&self, culprit: &CulpritChanges<'_>) -> CulpritWords {
        let headline = self.headline(culprit.mode, culprit.ids.len());
        CulpritWords { headline: Some(headline), ..CulpritWords::default() }
    }

    fn summary(&self, builds: BuildCounts) -> Option<String> {
        self.is_of_build.then(|| builds.summary())
    }
}
