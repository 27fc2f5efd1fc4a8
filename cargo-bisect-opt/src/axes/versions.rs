//! Versions of one updated package as changes, in their order: the first bad version between the old and the new one.

use std::{collections::BTreeSet, fmt::Display};

use bisect_core::search::{Mode, Order};

use super::{
    CulpritChanges, CulpritWords, headlines,
    lock_runs::{LockAxis, LockRuns, VersionChanges},
};
use crate::{
    cargo::{KnownVersion, LockSelection, LockUpdate},
    output::terms::Terms,
    report::{
        content::Report,
        kind::{ChangeKind, ShownSource},
    },
    run::{
        error::RunError,
        numbering::{Numbering, position},
        spec::Choice,
    },
    units::plural,
};

/// The terms of this axis. The run with the new version reports at least one.
const TERMS: Terms =
    Terms { axis: "versions", change: "version", reported: None, if_none_reported: Some("there is no version") };
/// A step from one version to the next one.
const KIND: ChangeKind =
    ChangeKind { name: "dependency", noun: "version of", label: "this version", source: ShownSource::Patch };
/// The maximum number of versions in a line of an answer.
const SHOWN: usize = 12;

/// The versions of a package after the old one, up to the new one. *None* is the old version, *all* is the new one.
#[derive(Debug)]
pub(super) struct Versions {
    runs: LockRuns,
    /// The changes of the culprit, with what they need.
    changes: BTreeSet<usize>,
    /// The change that is searched.
    change: usize,
    /// The index of its update.
    update: usize,
    name: String,
    /// The versions from the old one to the new one that are on this machine.
    tested: Vec<KnownVersion>,
    /// All known intermediate versions.
    between: Vec<KnownVersion>,
}

impl Versions {
    /// Prepares a search within a change of a culprit.
    ///
    /// # Errors
    /// Returns the reason if there is nothing to search, for a note.
    pub(super) fn within(runs: &LockRuns, changes: &BTreeSet<usize>, change: usize) -> Result<LockAxis<Self>, String> {
        let updates = &runs.updates;
        let (update, described) = updates.main_update_of(change).ok_or("there is no such update")?;
        let LockUpdate { name, old, new, .. } = described;
        let Some(between) = updates.between(described) else {
            return Err(format!("the versions of {described} are not searched: it is not from a registry"));
        };
        if !between.iter().any(|version| version.is_here) {
            let known = describe_between(&between);
            return Err(match known.as_slice() {
                [] => format!("no version between {name} {old} and {new} is known on this machine"),
                known => format!("the versions of {described} are not searched: {}", known.join("; ")),
            });
        }
        let (first, last) = described.ends();
        let here = between.iter().filter(|version| version.is_here).cloned();
        let tested = [first].into_iter().chain(here).chain([last]).collect();
        let changes = updates.with_needs(changes);
        Ok(LockAxis(Self { runs: runs.clone(), changes, change, update, name: name.clone(), tested, between }))
    }

    /// Returns the number of steps from a version to the next one.
    fn steps(&self) -> usize {
        self.tested.len() - 1
    }

    /// Returns the command line that undoes the only step of a culprit.
    fn short_line(&self, culprit: &CulpritChanges<'_>) -> Option<String> {
        let (&[id], Mode::Enable) = (culprit.ids, culprit.mode) else { return None };
        let (_, update) = self.runs.updates.main_update_of(self.change).filter(|(_, update)| update.is_compatible())?;
        let step = position(id).filter(|&step| step < self.steps())?;
        Some(precise_update(&update.name, &self.tested[self.steps()].version, &self.tested[step].version))
    }

    /// Returns the known versions after one of the searched versions, and before the next one.
    fn left_out(&self, step: usize) -> &[KnownVersion] {
        let position = |version: &KnownVersion| self.between.iter().position(|other| other == version);
        let start = position(&self.tested[step]).map_or(0, |position| position + 1);
        let end = position(&self.tested[step + 1]).unwrap_or(self.between.len());
        &self.between[start..end]
    }
}

impl VersionChanges for Versions {
    fn runs(&self) -> &LockRuns {
        &self.runs
    }

    fn terms(&self) -> Terms {
        TERMS
    }

    fn subject(&self) -> String {
        let (first, last) = (&self.tested[0], &self.tested[self.steps()]);
        let versions = plural(self.steps(), "version");
        format!("{versions} of {} after {first}, up to {last}", self.name)
    }

    fn words(&self, culprit: &CulpritChanges<'_>) -> CulpritWords {
        CulpritWords {
            headline: Some(headlines::of_first(TERMS.change, culprit.mode)),
            short_line: self.short_line(culprit),
            ..CulpritWords::default()
        }
    }

    fn numbering(&self) -> Numbering {
        Numbering::reversible(Order::Counter, self.steps())
    }

    /// Returns the lock file that a choice selects: with the version after its last step.
    fn selected(&self, choice: &Choice) -> Result<LockSelection, RunError> {
        let step = choice.counter_limit(self.steps());
        let mut selection = LockSelection::from(self.changes.clone());
        if step == 0 {
            let without = self.runs.updates.with_dependents(&[self.change].into());
            selection.changes.retain(|change| !without.contains(change));
        } else if step < self.steps() {
            selection.instead = Some((self.update, self.tested[step].clone()));
        }
        Ok(selection)
    }

    fn describe(&self, report: Report) -> Report {
        let step = position(report.id).filter(|&step| step < self.steps());
        let Some(step) = step else { return report };
        let (old, new) = (&self.tested[step], &self.tested[step + 1]);
        let text = format!("{} {} -> {}", self.name, old.version, new.version);
        let mut details = vec![format!("{} {old} -> {new}", self.name)];
        let left_out = self.left_out(step);
        if !left_out.is_empty() {
            details.push(format!("not tested, because they are not on this machine: {}", listed(left_out)));
        }
        Report { kind: KIND, name: self.name.clone(), text: vec![text], details, ..report }
    }
}

/// Returns the command that changes a locked version of a package into another one.
pub(super) fn precise_update(name: &str, from: &impl Display, to: &impl Display) -> String {
    format!("cargo update -p {name}@{from} --precise {to}")
}

/// Describes the intermediate versions of an update: a line for those on this machine, and one for others.
pub(super) fn describe_between(versions: &[KnownVersion]) -> Vec<String> {
    let (here, missing): (Vec<_>, Vec<_>) = versions.iter().cloned().partition(|version| version.is_here);
    let line = |versions: &[KnownVersion], place: &str| {
        (!versions.is_empty()).then(|| format!("intermediate versions {place}: {}", listed(versions)))
    };
    [line(&here, "on this machine"), line(&missing, "not on this machine")].into_iter().flatten().collect()
}

/// Lists versions.
fn listed(versions: &[KnownVersion]) -> String {
    let shown: Vec<_> = versions.iter().take(SHOWN).map(ToString::to_string).collect();
    match versions.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
