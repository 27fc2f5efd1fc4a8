//! Updates in the lock file as changes: each run is made in a copy of the workspace with some of the new versions.

use std::{collections::BTreeSet, ffi::OsStr};

use bisect_core::{
    ChangeId,
    search::{Mode, Order},
};

use super::{
    Axis, CulpritChanges, CulpritWords,
    command_spec::AxisError,
    headlines,
    lock_runs::{LockAxis, LockRuns, VersionChanges},
    option_axis::{AxisResult, OptionAxis, SearchedTarget},
    versions::{Versions, describe_between, precise_update},
};
use crate::{
    cargo::{CargoError, DependencyUpdates, LockSelection, LockUpdate, Project, Subcommand, UpdatesError},
    output::terms::Terms,
    process::shell,
    report::{
        content::Report,
        kind::{ChangeKind, ShownSource},
    },
    run::{
        error::RunError,
        numbering::{Numbering, id, position},
        spec::Choice,
    },
    units::plural,
    vcs::file_at::file_at,
};

/// `--deps`.
pub(super) const OPTION: OptionAxis = OptionAxis {
    name: "deps",
    value: "OLD",
    has_default: true,
    searches_environment: false,
    question: "which updates in Cargo.lock",
    help: "Find the updates of dependencies that make the target fail",
    details: "The differences between OLD and Cargo.lock are searched. OLD is a lock file or a revision [default: HEAD]. \
              Runs are made in copies of the workspace, without network. Updates that need each other are one change. \
              `versions` or `versions:OLD` also finds the first bad version of each culprit, among those on this machine.",
    prepare,
};

/// The terms of this axis. The run with all updates reports at least one; equal lock files are refused before it.
const TERMS: Terms =
    Terms { axis: "deps", change: "update", reported: None, if_none_reported: Some("there is no update") };
/// Updates that are one change.
const KIND: ChangeKind =
    ChangeKind { name: "dependency", noun: "update", label: "this update", source: ShownSource::Patch };
/// The maximum number of packages in an answer that require an update.
const SHOWN: usize = 8;
/// The value of the option that asks for the first bad version. A revision or a file of this name is `heads/versions` or
/// `./versions`.
const VERSIONS: &str = "versions";

/// Updates between an old lock file and the present one. *None* is the old one, *all* is the present one.
#[derive(Debug)]
struct Deps {
    runs: LockRuns,
    /// The origin of the old lock file.
    old: String,
    /// True if the user asked for the first bad version of each culprit.
    searches_versions: bool,
}

fn prepare(target: &SearchedTarget<'_>, value: Option<&OsStr>) -> AxisResult {
    let builds = target.project.is_some();
    let project = match target.project {
        Some(project) => project.clone(),
        None => Project::load(Subcommand::Check, &[], &[])?,
    };
    let directory = fs_err::canonicalize(target.directory).map_err(CargoError::Io)?;
    let root = fs_err::canonicalize(project.root()).map_err(CargoError::Io)?;
    // Beside the workspace, a copy has only links. From there, relative paths would lead to the user's workspace.
    if !directory.starts_with(&root) && !root.starts_with(&directory) {
        return Err(AxisError::Usage(format!(
            "--deps: the working directory is neither in the workspace `{}` nor above it: change to one of these",
            root.display()
        )));
    }
    let (searches_versions, old) = split(value);
    let old = old.unwrap_or(OsStr::new("HEAD"));
    let file = target.directory.join(old);
    let name = format!("`{}`", old.to_string_lossy());
    let text = if file.is_file() {
        fs_err::read_to_string(&file).map_err(|error| AxisError::Usage(format!("--deps {name}: {error}")))?
    } else {
        file_at(&project.root(), &old.to_string_lossy(), "Cargo.lock").map_err(|error| {
            AxisError::Usage(format!(
                "--deps {name}: there is no such file, and no Cargo.lock in a revision of this name: {error}; give an \
                 old lock file, or a revision that has one"
            ))
        })?
    };
    let updates = DependencyUpdates::prepare(project, &directory, &text, &name).map_err(|error| match error {
        UpdatesError::Nothing(why) => AxisError::Nothing(why),
        UpdatesError::Cargo(error) => error.into(),
        error => AxisError::Usage(error.to_string()),
    })?;
    let runs = LockRuns::new(updates, directory, builds);
    Ok(Box::new(LockAxis(Deps { runs, old: name, searches_versions })))
}

/// Returns true if the value of the option asks for versions, and its OLD.
fn split(value: Option<&OsStr>) -> (bool, Option<&OsStr>) {
    let versions = value.and_then(OsStr::to_str).and_then(|value| value.strip_prefix(VERSIONS));
    match versions {
        Some("") => (true, None),
        // A revision has no colon.
        Some(rest) if rest.starts_with(':') => (true, Some(&rest[1..]).filter(|old| !old.is_empty()).map(OsStr::new)),
        _ => (false, value),
    }
}

impl Deps {
    /// Returns the command line that also searches versions, for that of the target.
    fn line_for_versions(&self, line: &str) -> String {
        let old = self.old.trim_matches('`');
        let old = if old == "HEAD" { String::new() } else { format!(":{old}") };
        let option = format!("--deps={}", shell::quote(VERSIONS.to_owned() + &old));
        if !self.runs.builds {
            return format!("cargo bisect-opt exec {option} {line}");
        }
        // `cargo bisect-opt SUBCOMMAND`, and all others.
        let end = line.match_indices(' ').nth(2).map_or(line.len(), |(index, _)| index);
        format!("{} {option}{}", &line[..end], &line[end..])
    }

    /// Returns the command line that undoes the only update of a culprit.
    fn short_line(&self, culprit: &CulpritChanges<'_>) -> Option<String> {
        // Several updates may need each other, and an order.
        let ([id], Mode::Enable) = (culprit.ids, culprit.mode) else { return None };
        let (_, update) = self.runs.updates.main_update_of(position(*id)?)?;
        let is_of_registry = self.runs.updates.between(update).is_some();
        (is_of_registry && update.is_compatible()).then(|| precise_update(&update.name, &update.new, &update.old))
    }

    /// Returns the command lines that find the first bad version.
    fn next_step(&self, culprit: &CulpritChanges<'_>) -> Option<String> {
        let &CulpritChanges { ids, mode, line, .. } = culprit;
        let updates = ids.iter().filter_map(|&id| self.runs.updates.main_update_of(position(id)?));
        let between = updates.filter_map(|(_, update)| Some((update, self.runs.updates.between(update)?)));
        let mut between = between.filter(|(_, versions)| !versions.is_empty() && !self.searches_versions);
        let (update, versions) = between.next()?;
        let missing = versions.iter().find(|version| !version.is_here);
        let download = missing.map(|missing| {
            format!("cargo info {}@{}  # downloads an intermediate version", update.name, missing.version)
        });
        let which = match mode {
            Mode::Enable => "bad",
            Mode::Disable => "good",
        };
        let search = format!("{}  # finds the first {which} version", self.line_for_versions(line));
        Some(download.into_iter().chain([search]).collect::<Vec<_>>().join("\n"))
    }

    fn updates_of(&self, id: ChangeId) -> Vec<&LockUpdate> {
        position(id).map(|index| self.runs.updates.updates_of(index)).unwrap_or_default()
    }
}

impl VersionChanges for Deps {
    fn runs(&self) -> &LockRuns {
        &self.runs
    }

    fn terms(&self) -> Terms {
        TERMS
    }

    fn subject(&self) -> String {
        let (updates, changes) = (self.runs.updates.updates(), self.runs.updates.changes());
        let tied = if changes < updates { format!(" as {}", plural(changes, "change")) } else { String::new() };
        format!("{}{tied} since the Cargo.lock of {}", plural(updates, "update"), self.old)
    }

    fn words(&self, culprit: &CulpritChanges<'_>) -> CulpritWords {
        CulpritWords {
            headline: Some(headlines::of_versions(TERMS.change, culprit.ids.len(), culprit.mode)),
            short_line: self.short_line(culprit),
            next_step: self.next_step(culprit),
            ..CulpritWords::default()
        }
    }

    fn numbering(&self) -> Numbering {
        Numbering::reversible(Order::Given, self.runs.updates.changes())
    }

    /// Returns the changes that a run is asked for, with what they need. A change that is disabled in a prefix takes
    /// along what needs it.
    fn selected(&self, choice: &Choice) -> Result<LockSelection, RunError> {
        let updates = &self.runs.updates;
        let count = updates.changes();
        let enabled: BTreeSet<_> = (0..count).filter(|&index| choice.enables(id(index))).collect();
        let mut selected = updates.with_needs(&enabled);
        if let Some((_, excluded)) = choice.exceptions(count) {
            let without = updates.with_dependents(&excluded.into_iter().collect());
            selected.retain(|change| !without.contains(change));
        }
        Ok(selected.into())
    }

    fn describe(&self, report: Report) -> Report {
        let updates = self.updates_of(report.id);
        let Some(first) = updates.first() else { return report };
        let text: Vec<_> = updates.iter().map(ToString::to_string).collect();
        let mut details = Vec::new();
        if updates.len() > 1 {
            details.push(format!("{} that need each other:", plural(updates.len(), "update")));
        }
        for update in &updates {
            details.push(format!("{update}, {}", required_by(&update.required_by)));
            details.extend(describe_between(&self.runs.updates.between(update).unwrap_or_default()));
        }
        if let Some(change) = position(report.id) {
            let needed = self.runs.updates.with_needs(&[change].into());
            let needed = needed.into_iter().filter(|&other| other != change);
            let needed = needed.flat_map(|other| self.runs.updates.updates_of(other)).map(ToString::to_string);
            let needed: Vec<_> = needed.collect();
            if !needed.is_empty() {
                details.push(format!("it needs {}", needed.join(", ")));
            }
        }
        Report { kind: KIND, name: first.name.clone(), text, details, ..report }
    }

    fn within(&self, ids: &[ChangeId]) -> Vec<Result<Box<dyn Axis>, String>> {
        let changes: BTreeSet<_> =
            ids.iter().filter_map(|&id| position(id)).filter(|_| self.searches_versions).collect();
        let search = |&change: &usize| Ok(Box::new(Versions::within(&self.runs, &changes, change)?) as Box<dyn Axis>);
        changes.iter().map(search).collect()
    }
}

/// Formats the packages that require an update.
fn required_by(packages: &[String]) -> String {
    if packages.is_empty() {
        return "required by no package".to_owned();
    }
    let shown = packages.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match packages.len().saturating_sub(SHOWN) {
        0 => format!("required by {shown}"),
        more => format!("required by {shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_of_many_packages_that_require_an_update_are_named() {
        let packages: Vec<_> = (0..10).map(|number| format!("p{number}")).collect();
        for (count, text) in [
            (0, "required by no package"),
            (2, "required by p0, p1"),
            (8, "required by p0, p1, p2, p3, p4, p5, p6, p7"),
            (10, "required by p0, p1, p2, p3, p4, p5, p6, p7 and 2 more"),
        ] {
            assert_eq!(required_by(&packages[..count]), text);
        }
    }
}
