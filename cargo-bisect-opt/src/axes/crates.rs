//! Packages as changes: an enabled package is compiled with the bad options.
//!
//! They are searched in the order of their dependencies, the user's own packages last. The prefixes of this order cost
//! the least processor time. Of the packages that a prefix leaves out, those that depend on it are compiled again, but
//! with the good options, which are usually the ones that compile faster. A package in the prefix has its dependencies
//! there too, so it is already compiled, by the run with everything.
//!
//! The user's own packages are also favoured, so the first prefix is often all others.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::Path,
    sync::{Arc, OnceLock},
};

use bisect_core::{
    ChangeId,
    search::{Mode, Order},
};
use serde::{Deserialize, Serialize};

use super::{
    AfterBuild, Application, Axis, CulpritChanges, CulpritWords, Files, StoredKnowledge,
    compared_options::{ComparedOptions, Settings},
    compilation::Compilation,
    facts::{AxisFacts, LikelyKnown},
    stop_gap,
};
use crate::{
    cargo::{BuildOverrides, graph::Package},
    output::terms::Terms,
    report::{
        content::{Location, Report},
        kind::ChangeKind,
        scan::Reports,
    },
    run::{error::RunError, numbering::Numbering, spec::Choice},
};

/// The terms of this axis.
pub(crate) const TERMS: Terms = Terms::of_compilation("crates", "crate");
/// A package that is compiled with other options.
pub(crate) const KIND: ChangeKind = ChangeKind::own("crate", "crate", "compiled differently");

/// The packages of the graph as changes.
#[derive(Debug)]
pub(crate) struct Crates {
    compilation: Arc<Compilation>,
    /// The packages in the order of the search. Packages with the same name and version are one change, at the place of
    /// the last one.
    order: Vec<ChangeId>,
    /// The packages that the target needs, known since the first complete build.
    needed: OnceLock<BTreeSet<ChangeId>>,
}

/// The knowledge about packages from earlier runs, for the journal.
#[derive(Serialize, Deserialize)]
struct CratesKnowledge {
    needed: Option<Vec<u64>>,
    seen: Vec<(u64, BTreeMap<String, String>)>,
}

impl Crates {
    /// Returns the axis of this compilation's packages.
    pub(crate) fn new(compilation: Arc<Compilation>) -> Self {
        let mut seen = BTreeSet::new();
        let packages = compilation.packages.iter().rev().map(|package| package.change);
        let mut order: Vec<_> = packages.filter(|&change| seen.insert(change)).collect();
        order.reverse();
        Self { compilation, order, needed: OnceLock::new() }
    }

    fn build(&self, choice: &Choice) -> BuildOverrides {
        self.compilation.with(&self.bad(choice), &BTreeMap::new())
    }

    /// Returns the packages with their positions.
    fn packages(&self) -> impl Iterator<Item = (ChangeId, &Package)> {
        let package = |&change: &ChangeId| self.compilation.package(change);
        (0..).map(ChangeId).zip(self.order.iter().filter_map(package))
    }

    /// Returns the package at a position.
    fn at(&self, position: ChangeId) -> Option<&Package> {
        self.packages().find_map(|(at, package)| (at == position).then_some(package))
    }

    fn headline(&self, changes: usize, mode: Mode) -> String {
        let ComparedOptions { good, bad, .. } = &self.compilation.contrast;
        let bad = if bad == &Settings::default() {
            format!("by the {} profile", self.compilation.profile)
        } else {
            format!("with {bad}")
        };
        let good = if good == &Settings::default() { "plainly".to_owned() } else { format!("with {good}") };
        match (mode, changes) {
            (Mode::Enable, 1) => format!("this crate compiled {bad}, not {good}, makes the target fail"),
            (Mode::Enable, _) => format!("these crates compiled {bad}, not {good}, together make the target fail"),
            (Mode::Disable, 1) => {
                format!("the target fails with this crate compiled {good}, and passes with it compiled {bad}")
            }
            (Mode::Disable, _) => format!(
                "the target fails with all of these crates compiled {good}, and passes with any of them compiled {bad}"
            ),
        }
    }

    /// Returns the packages that are compiled with the bad options.
    fn bad(&self, choice: &Choice) -> BTreeSet<ChangeId> {
        self.packages().filter(|&(at, _)| choice.enables(at)).map(|(_, package)| package.change).collect()
    }
}

impl StoredKnowledge for Crates {
    fn knowledge(&self) -> Option<serde_json::Value> {
        let needed = self.needed.get().map(|needed| needed.iter().map(|change| change.0).collect());
        serde_json::to_value(CratesKnowledge { needed, seen: self.compilation.seen() }).ok()
    }

    fn restore(&self, knowledge: serde_json::Value) -> serde_json::Result<()> {
        let CratesKnowledge { needed, seen } = serde_json::from_value(knowledge)?;
        if let Some(needed) = needed {
            self.needed.get_or_init(|| needed.into_iter().map(ChangeId).collect());
        }
        self.compilation.restore_seen(seen);
        Ok(())
    }
}

impl Axis for Crates {
    fn facts(&self) -> AxisFacts {
        AxisFacts { likely: LikelyKnown::BeforeRuns, ..AxisFacts::of_builds(TERMS) }
    }

    fn subject(&self) -> Option<String> {
        Some("crates".to_owned())
    }

    fn words(&self, culprit: &CulpritChanges<'_>) -> CulpritWords {
        let packages: Vec<_> = culprit.ids.iter().filter_map(|&id| self.at(id)).collect();
        CulpritWords {
            headline: Some(self.headline(culprit.ids.len(), culprit.mode)),
            stop_gap: stop_gap::of_crates(&self.compilation, &packages),
            ..CulpritWords::default()
        }
    }

    fn numbering(&self) -> Numbering {
        Numbering::of(Order::Given)
    }

    /// Returns the user's own packages.
    fn likely(&self, _: &[String]) -> Vec<Vec<ChangeId>> {
        vec![self.packages().filter(|(_, package)| package.is_own).map(|(at, _)| at).collect()]
    }

    fn stored(&self) -> Option<&dyn StoredKnowledge> {
        Some(self)
    }

    fn apply(&self, choice: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        Ok(Application { build: Some(self.build(choice)), ..Application::default() })
    }

    fn reproduction(&self, choice: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        Ok(self.compilation.reproduction(self.build(choice), &self.bad(choice)))
    }

    /// Reports all selected packages that the target needs, or all packages until that is known. A failed build counts
    /// as well: the packages that cargo compiles before a failure vary.
    fn collect(&self, choice: &Choice, built: &AfterBuild<'_>, reports: &mut Reports) -> io::Result<()> {
        if let Some(artifacts) = built.artifacts {
            let seen = self.compilation.see(artifacts, &self.bad(choice));
            if artifacts.is_complete {
                self.needed.get_or_init(|| seen);
            }
        }
        let needed = self.needed.get();
        for (at, package) in self.packages().filter(|&(at, _)| choice.selects(at)) {
            if needed.is_none_or(|needed| needed.contains(&package.change)) {
                reports.add(Report::with_text(at, package.describe()));
            }
        }
        Ok(())
    }

    /// Completes the report of the package at a position. The position means little to users, so the report gets the
    /// package's own ID.
    fn change(&self, report: Report, root: &Path, _: Mode) -> Report {
        let Some(package) = self.at(report.id) else { return Report { kind: KIND, ..report } };
        let path = &package.source;
        let location = Location::of_file(path.strip_prefix(root).unwrap_or(path).display().to_string());
        Report { id: package.change, kind: KIND, name: package.name.clone(), location: Some(location), ..report }
    }
}
