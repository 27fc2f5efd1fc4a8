//! Packages as changes: an enabled package is compiled with the bad options.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::Path,
    sync::{Arc, OnceLock},
};

use bisect_core::{ChangeId, Matcher, search::Mode};

use super::{
    AfterBuild, Application, Axis, Files,
    compilation::Compilation,
    contrast::{Contrast, Settings},
    stop_gap,
};
use crate::{
    cargo::BuildOverrides,
    output::{events::StopGap, terms::Terms},
    report::{
        content::{Location, Report},
        kind::ChangeKind,
        scan::Reports,
    },
    run::{error::RunError, spec::Choice},
};

/// The terms of this axis.
pub(crate) const TERMS: Terms = Terms::of_compilation("crates", "crate");
/// A package that is compiled with other options.
pub(crate) const KIND: ChangeKind = ChangeKind::own("crate", "crate", "compiled differently");

/// The packages of the graph as changes.
#[derive(Debug)]
pub(crate) struct Crates {
    compilation: Arc<Compilation>,
    /// The packages that the target needs, known since the first complete build.
    needed: OnceLock<BTreeSet<ChangeId>>,
}

impl Crates {
    /// Returns the axis of this compilation's packages.
    pub(crate) fn new(compilation: Arc<Compilation>) -> Self {
        Self { compilation, needed: OnceLock::new() }
    }

    fn build(&self, choice: &Choice) -> BuildOverrides {
        self.compilation.with(&self.bad(choice), &BTreeMap::new())
    }

    /// Returns the packages that are compiled with the bad options.
    fn bad(&self, choice: &Choice) -> BTreeSet<ChangeId> {
        let packages = self.compilation.packages.iter().map(|package| package.change);
        packages.filter(|&change| choice.enables(change)).collect()
    }
}

impl Axis for Crates {
    fn terms(&self) -> Terms {
        TERMS
    }

    fn subject(&self) -> Option<String> {
        Some("crates".to_owned())
    }

    fn headline(&self, changes: usize, _: Mode) -> Option<String> {
        let Contrast { good, bad } = &self.compilation.contrast;
        let bad = if bad == &Settings::default() {
            format!("by the {} profile", self.compilation.profile)
        } else {
            format!("with {bad}")
        };
        let good = if good == &Settings::default() { "plainly".to_owned() } else { format!("with {good}") };
        let (these, make) = if changes == 1 { ("this crate", "makes") } else { ("these crates", "together make") };
        Some(format!("{these} compiled {bad}, not {good}, {make} the target fail"))
    }

    fn apply(&self, choice: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        Ok(Application { build: Some(self.build(choice)), ..Application::default() })
    }

    fn reproduction(&self, choice: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        Ok(self.compilation.reproduction(self.build(choice), &self.bad(choice)))
    }

    fn builds(&self) -> bool {
        true
    }

    fn needs_text_run(&self) -> bool {
        false
    }

    fn is_about_optimization(&self) -> bool {
        true
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
        let matcher = Matcher::new(choice.pattern());
        for package in &self.compilation.packages {
            let is_there = needed.is_none_or(|needed| needed.contains(&package.change));
            if is_there && matcher.as_ref().is_some_and(|matcher| matcher.should_report(package.change)) {
                reports.add(Report::with_text(package.change, package.describe()));
            }
        }
        Ok(())
    }

    fn stop_gap(&self, ids: &[ChangeId], _: &[Report]) -> Option<StopGap> {
        let packages: Vec<_> = ids.iter().filter_map(|&id| self.compilation.package(id)).collect();
        stop_gap::of_crates(&self.compilation, &packages)
    }

    fn change(&self, report: Report, root: &Path) -> Report {
        let package = self.compilation.package(report.id);
        let location = package.map(|package| {
            let path = &package.source;
            Location::of_file(path.strip_prefix(root).unwrap_or(path).display().to_string())
        });
        let name = package.map(|package| package.name.clone()).unwrap_or_default();
        Report { kind: KIND, name, location, ..report }
    }
}
