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
    io,
    path::Path,
};

use bisect_core::{
    ChangeId,
    protocol::names,
    search::{Mode, Order},
};

use self::dump::{Dump, DumpedVariable};
use super::{
    AfterBuild, Application, Axis, CulpritChanges, CulpritWords, Files, Preparation,
    command_spec::AxisError,
    facts::AxisFacts,
    option_axis::{AxisResult, OptionAxis, SearchedTarget},
};
use crate::{
    cargo::BuildOverrides,
    output::terms::Terms,
    process::{
        shell::{is_name, quote},
        variables::{Variable, Variables},
    },
    report::{
        content::{Location, Report},
        kind::{ChangeKind, ShownSource},
        scan::Reports,
    },
    run::{error::RunError, numbering::Numbering, spec::Choice},
    units::plural,
};

/// `--env`.
pub(super) const OPTION: OptionAxis = OptionAxis {
    name: "env",
    value: "FILE",
    has_default: false,
    searches_environment: true,
    question: "which variable of another environment, from `env -0 > FILE` there",
    help: "Find the variables of the environment that make the target fail",
    details: "The differences between the present environment and FILE are searched. FILE is what `env -0` or `env` prints \
              in the other shell, or has lines KEY=value; without PATH, it unsets no variable. With `build` and `check`, the variables act on the build. Values \
              of variables such as tokens and passwords are not shown.",
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
/// Parts of the names of variables whose values are neither shown nor stored.
const SECRET: [&str; 5] = ["TOKEN", "SECRET", "KEY", "PASS", "CRED"];
/// The maximum number of characters of a value in an answer.
const SHOWN: usize = 80;
/// Variables that cargo and this program set for each process that they start, whatever it would inherit; and the one
/// with which a shell describes each command.
const SET_FOR_EACH: [&str; 8] =
    ["CARGO", "CARGO_CRATE_NAME", "CARGO_PRIMARY_PACKAGE", "OUT_DIR", names::REPORT, names::SLOT, names::OPT_RUN, "_"];
/// The beginnings of further names of such variables.
const FAMILIES_SET_FOR_EACH: [&str; 3] = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_"];
/// Variables that cargo, rustup and this program set for themselves, as in a shell that does not start them.
const OWN: [&str; 6] =
    ["RUST_RECURSION_COUNT", "LD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "TMPDIR", "TMP", "TEMP"];
/// The beginnings of further names of such variables.
const OWN_FAMILIES: [&str; 3] = ["CARGO", "RUSTUP_", names::FAMILY];

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
    let assigned: Vec<_> = target.command.iter().map_while(|word| assigned_name(word)).collect();
    let present = env::vars_os().filter(|(name, _)| !assigned.iter().any(|other| name == other));
    let changes = changes(present.collect(), &dump.entries, &|entry| dump.form.word(&path, entry));
    let changes: Vec<_> =
        changes.into_iter().filter(|change| !assigned.iter().any(|other| change.name == **other)).collect();
    let file = file.display().to_string();
    if changes.is_empty() {
        return Err(AxisError::Nothing(format!(
            "no variable differs between the present environment and {file}: write the file in the shell where the result \
             is another one, with `env -0 > FILE`"
        )));
    }
    let is_of_build = target.project.is_some_and(|project| project.subcommand.is_build());
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
        if old.as_ref() == Some(&entry.value) || is_set_for_each(name) {
            continue;
        }
        let value = entry.value.clone();
        let new = if is_secret(name) { Variable::Secret { value, word: word(entry) } } else { Variable::Set(value) };
        changes.push(Change { name: name.clone(), old, new, line: entry.line });
    }
    let is_whole = entries.keys().any(|name| name.eq_ignore_ascii_case("PATH"));
    let unset = present.into_iter().filter(|(name, _)| is_whole && !entries.contains_key(name) && !is_own(name));
    changes.extend(unset.map(|(name, old)| Change { name, old: Some(old), new: Variable::Unset, line: None }));
    changes.sort_by(|one, other| one.name.cmp(&other.name));
    changes
}

/// Returns true if the value of a variable is neither shown nor stored.
fn is_secret(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_uppercase();
    SECRET.iter().any(|part| name.contains(part))
}

/// Returns true if each process gets its own value of a variable.
fn is_set_for_each(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    SET_FOR_EACH.contains(&&*name) || FAMILIES_SET_FOR_EACH.iter().any(|family| name.starts_with(family))
}

/// Returns true if a variable may be set only because this program runs.
fn is_own(name: &OsStr) -> bool {
    let text = name.to_string_lossy();
    is_set_for_each(name) || OWN.contains(&&*text) || OWN_FAMILIES.iter().any(|family| text.starts_with(family))
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
    let mut shown: String = escaped.clone().take(SHOWN).collect();
    if escaped.count() > SHOWN {
        shown.push('…');
    }
    shown
}

impl Env {
    fn at(&self, id: ChangeId) -> Option<&Change> {
        self.changes.get(usize::try_from(id.0).ok()?)
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
        AxisFacts { builds: self.is_of_build, ..AxisFacts::of_known_changes(TERMS) }
    }

    fn subject(&self) -> Option<String> {
        let variables = plural(self.changes.len(), TERMS.change);
        Some(format!("{variables}, between the present environment and {}", self.file))
    }

    fn numbering(&self) -> Numbering {
        Numbering::of(Order::Given)
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
            let commands =
                "tree=$(mktemp -d) && trap 'rm -rf \"$tree\"' EXIT && export CARGO_TARGET_DIR=\"$tree\"/target";
            Preparation { commands: [commands.to_owned(), commands.to_owned()], commit: None }
        });
        Ok(Application { preparation, ..self.apply(choice, files)? })
    }

    fn collect(&self, choice: &Choice, _: &AfterBuild<'_>, reports: &mut Reports) -> io::Result<()> {
        let ids = (0..self.changes.len()).map(|at| ChangeId(at as u64));
        reports.add_known(ids.filter(|&id| choice.selects(id)));
        Ok(())
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
}
