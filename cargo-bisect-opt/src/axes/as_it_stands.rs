//! The target as it stands, without changes: for a single run.

use std::{io, path::Path};

use super::{AfterBuild, Application, Axis, Files};
use crate::{
    cargo::BuildOverrides,
    output::terms::Terms,
    report::{content::Report, scan::Reports},
    run::{error::RunError, spec::Choice},
};

/// An axis without changes: a run builds and starts what the user's work tree has.
#[derive(Debug)]
pub(crate) struct AsItStands {
    /// True if the target is built.
    pub(crate) builds: bool,
}

impl Axis for AsItStands {
    fn terms(&self) -> Terms {
        Terms { axis: "verdict", change: "change", reported: None, if_none_reported: Some("there is no change") }
    }

    fn subject(&self) -> Option<String> {
        Some("as it stands".to_owned())
    }

    fn apply(&self, _: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        let build = BuildOverrides { is_plain: true, ..BuildOverrides::default() };
        Ok(Application { build: self.builds.then_some(build), ..Application::default() })
    }

    fn builds(&self) -> bool {
        self.builds
    }

    fn is_reported_by_target(&self) -> bool {
        false
    }

    fn collect(&self, _: &Choice, _: &AfterBuild<'_>, _: &mut Reports) -> io::Result<()> {
        Ok(())
    }

    fn needs_text_run(&self) -> bool {
        false
    }

    fn moves_lines(&self) -> bool {
        // The next run has another version: this one may lack the tests that are asked for.
        true
    }

    fn change(&self, report: Report, _: &Path) -> Report {
        report
    }
}
