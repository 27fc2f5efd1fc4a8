//! Build-time toggles: a variable for each package selects the changes that are compiled in.

use std::{collections::BTreeSet, io, path::Path};

use bisect_core::{protocol::names, search::Mode};

use super::{AfterBuild, Application, Axis, Files, facts::AxisFacts, runtime_toggles};
use crate::{
    cargo::{
        BuildCounts, BuildOverrides,
        toggles::{self, Toggle},
        variables,
    },
    output::terms::Terms,
    report::{content::Report, scan::Reports},
    run::{error::RunError, spec::Choice},
};

/// The build-time toggles as an axis.
#[derive(Debug)]
pub(crate) struct BuildToggles {
    toggles: BTreeSet<Toggle>,
    /// The names of the searched toggles.
    names: Vec<String>,
    /// Set if the build is the target. Otherwise the program reports the changes that are compiled in.
    is_build: bool,
}

impl BuildToggles {
    /// Returns the axis of the toggles with these names, among all toggles of a target. `is_build`: the target is a
    /// build.
    pub(crate) fn new(toggles: BTreeSet<Toggle>, names: Vec<String>, is_build: bool) -> Self {
        Self { toggles, names, is_build }
    }

    fn overrides(&self, choice: &Choice) -> BuildOverrides {
        let values = variables::values(&self.toggles, &self.names, choice.pattern()).into_iter();
        let variables = values.collect();
        BuildOverrides { variables, ..BuildOverrides::default() }
    }
}

impl Axis for BuildToggles {
    fn facts(&self) -> AxisFacts {
        AxisFacts { builds: true, ..AxisFacts::of(Terms::TOGGLES) }
    }

    fn subject(&self) -> Option<String> {
        let build_time = self.toggles.iter().filter(|toggle| toggle.build.is_some());
        Some(toggles::subject(build_time, &self.names, "build-time toggle"))
    }

    fn apply(&self, choice: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        let value = runtime_toggles::value(&self.names, choice);
        let variables = [(names::PATTERN, value)].into();
        Ok(Application { variables, build: Some(self.overrides(choice)), ..Application::default() })
    }

    fn reproduction(&self, choice: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        Ok(Application { build: Some(self.overrides(choice)), ..Application::default() })
    }

    fn collect(&self, choice: &Choice, built: &AfterBuild<'_>, reports: &mut Reports) -> io::Result<()> {
        if self.is_build {
            toggles::report(&self.toggles, &self.names, choice.pattern(), reports);
        } else if built.artifacts.is_none() {
            reports.read_file(built.log)?;
        }
        Ok(())
    }

    fn change(&self, report: Report, _: &Path, _: Mode) -> Report {
        Report { kind: toggles::kind(&self.toggles, &report), ..report }
    }

    fn summary(&self, builds: BuildCounts) -> Option<String> {
        Some(builds.summary())
    }
}
