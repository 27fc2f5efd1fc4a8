//! A fixed build, which no change affects: for a single experiment.

use std::{io, path::Path};

use bisect_core::search::Mode;

use super::{AfterBuild, Application, Axis, Files, passes};
use crate::{
    cargo::BuildOverrides,
    output::terms::Terms,
    report::{content::Report, scan::Reports},
    run::{error::RunError, spec::Choice},
};

/// An axis without changes: every run has the same build.
#[derive(Debug)]
pub(crate) struct Fixed {
    /// The overrides of the build.
    pub(crate) build: BuildOverrides,
    /// A description of the experiment, for people.
    pub(crate) subject: String,
}

impl Axis for Fixed {
    fn terms(&self) -> Terms {
        passes::TERMS
    }

    fn subject(&self) -> Option<String> {
        Some(self.subject.clone())
    }

    fn headline(&self, _: usize, _: Mode) -> Option<String> {
        Some("this compilation makes the target fail".to_owned())
    }

    fn apply(&self, _: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        Ok(Application { build: Some(self.build.clone()), ..Application::default() })
    }

    fn builds(&self) -> bool {
        true
    }

    fn needs_text_run(&self) -> bool {
        false
    }

    fn collect(&self, _: &Choice, _: &AfterBuild<'_>, _: &mut Reports) -> io::Result<()> {
        Ok(())
    }

    fn change(&self, report: Report, _: &Path) -> Report {
        report
    }
}
