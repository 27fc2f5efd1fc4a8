//! The changes that compilations by `bisect-rustc` have reported, and the patterns in use for each package.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use bisect_core::{ChangeId, Matcher, Pattern};
use serde::{Deserialize, Serialize};

use super::{
    super::StoredKnowledge,
    places::{Places, Writer},
};
use crate::report::{content::Report, scan::Reports};

/// The known changes of all packages. Parallel runs share them: a run compiles less if it knows the patterns of the
/// others, and the cache of a build may have reports that were written for another run.
#[derive(Debug, Default)]
pub(crate) struct KnownChanges(Mutex<BTreeMap<ChangeId, PackageChanges>>);

/// The known changes of a package, for the journal.
#[derive(Serialize, Deserialize)]
struct StoredPackage {
    package: u64,
    met: Reports,
    patterns: Vec<String>,
    places: Vec<(Writer, Places)>,
}

/// The known changes of a package.
#[derive(Debug, Default)]
struct PackageChanges {
    /// The changes that were reported when it was compiled, with their reports: its own changes, and those of packages
    /// whose macros it expands.
    met: BTreeMap<ChangeId, Report>,
    /// The patterns used so far. Once changes are known, a pattern that enables the same ones as an earlier pattern is
    /// not added.
    patterns: Vec<Pattern>,
    /// The numbers of places in each of the package's crates, and in macros that they expand.
    places: BTreeMap<Writer, Places>,
}

impl KnownChanges {
    /// Adds the reports from a compilation of a package. Returns the reports of all its changes: first the reported
    /// ones, then those in macros of other packages that were reported earlier.
    ///
    /// Reports from the cache of a build may lack changes in macros of other packages, because they were written under
    /// another pattern of those packages. The macros always have the same changes.
    pub(super) fn add(
        &self,
        package: ChangeId,
        reported: &Reports,
        places: BTreeMap<Writer, Places>,
    ) -> Vec<(ChangeId, Report)> {
        let mut known = self.lock();
        let PackageChanges { met, places: all_places, .. } = known.entry(package).or_default();
        for (writer, found) in places {
            all_places.entry(writer).or_default().widen(found);
        }
        for &id in reported.ids() {
            met.entry(id).or_insert_with(|| reported.get(id));
        }
        let is_missing = |id: &ChangeId| !is_of(package, *id) && !reported.ids().contains(id);
        let of_others: Vec<_> = met.keys().copied().filter(is_missing).collect();
        reported.ids().iter().copied().chain(of_others).map(|id| (id, met[&id].clone())).collect()
    }

    /// Returns a pattern that enables the same known changes of a package as `pattern`: an earlier one, if there is
    /// one. With the same value of its variable as before, cargo does not compile the package again.
    pub(super) fn equivalent(&self, package: ChangeId, pattern: &Pattern) -> Pattern {
        let mut known = self.lock();
        let changes = own_changes(&known, package);
        let decisions = |pattern: &Pattern| {
            let matcher = Matcher::new(pattern);
            let enables = |&id: &ChangeId| matcher.as_ref().is_none_or(|matcher| matcher.should_enable(id));
            changes.iter().map(enables).collect::<Vec<_>>()
        };
        let wanted = decisions(pattern);
        let is_alike = |other: &&Pattern| decisions(other) == wanted;
        let patterns = &mut known.entry(package).or_default().patterns;
        let earlier = patterns.iter().find(is_alike).filter(|_| !changes.is_empty()).cloned();
        earlier.unwrap_or_else(|| {
            patterns.push(pattern.clone());
            pattern.clone()
        })
    }

    /// Returns true if any of a package's own changes fulfils a condition.
    pub(super) fn any_of(&self, package: ChangeId, is_on: impl Fn(&ChangeId) -> bool) -> bool {
        own_changes(&self.lock(), package).iter().any(is_on)
    }

    /// Returns true if any change that was reported when a package was compiled fulfils a condition.
    pub(super) fn any_met_in(&self, package: ChangeId, is_on: impl Fn(&ChangeId) -> bool) -> bool {
        self.lock().get(&package).is_some_and(|known| known.met.keys().any(is_on))
    }

    /// Returns the sum of all places.
    pub(super) fn places(&self) -> Places {
        let known = self.lock();
        let mut places = BTreeMap::<_, Places>::new();
        for (package, known) in known.iter() {
            for (writer, found) in &known.places {
                // Macros have the same changes in each package that expands them.
                let package = Some(package).filter(|_| !writer.is_expanded_elsewhere);
                places.entry((package, writer)).or_default().widen(*found);
            }
        }
        places.into_values().sum()
    }

    /// Returns the number of changes whose reports have this name.
    pub(super) fn count(&self, name: &str) -> usize {
        let known = self.lock();
        let met = known.values().flat_map(|known| &known.met).filter(|(_, report)| report.name == name);
        met.map(|(id, _)| id).collect::<BTreeSet<_>>().len()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ChangeId, PackageChanges>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StoredKnowledge for KnownChanges {
    fn knowledge(&self) -> Option<serde_json::Value> {
        let stored = |(package, known): (&ChangeId, &PackageChanges)| {
            let mut met = Reports::new(true);
            known.met.values().for_each(|report| met.add(report.clone()));
            let patterns = known.patterns.iter().map(ToString::to_string).collect();
            let places = known.places.iter().map(|(writer, places)| (writer.clone(), *places)).collect();
            StoredPackage { package: package.0, met, patterns, places }
        };
        serde_json::to_value(self.lock().iter().map(stored).collect::<Vec<_>>()).ok()
    }

    fn restore(&self, stored: serde_json::Value) -> serde_json::Result<()> {
        let stored: Vec<StoredPackage> = serde_json::from_value(stored)?;
        *self.lock() = stored
            .into_iter()
            .map(|StoredPackage { package, met, patterns, places }| {
                let met = met.ids().iter().map(|&id| (id, met.get(id))).collect();
                let patterns = patterns.iter().filter_map(|text| text.parse().ok()).collect();
                (ChangeId(package), PackageChanges { met, patterns, places: places.into_iter().collect() })
            })
            .collect();
        Ok(())
    }
}

/// Returns a package's own changes, also those reported when another package was compiled.
fn own_changes(known: &BTreeMap<ChangeId, PackageChanges>, package: ChangeId) -> BTreeSet<ChangeId> {
    let met = known.values().flat_map(|known| known.met.keys());
    met.copied().filter(|&id| is_of(package, id)).collect()
}

/// Returns true if a change is one of a package.
fn is_of(package: ChangeId, id: ChangeId) -> bool {
    id.in_crate(package) == id
}
