//! A fixed build, which no change affects: for a single experiment.

use super::{Application, Axis, CulpritChanges, CulpritWords, Files, facts::AxisFacts, passes};
use crate::{
    cargo::BuildOverrides,
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
    fn facts(&self) -> AxisFacts {
        AxisFacts::of_builds(passes::TERMS)
    }

    fn subject(&self) -> Option<String> {
        Some(self.subject.clone())
    }

    fn words(&self, _: &CulpritChanges<'_>) -> CulpritWords {
        CulpritWords { headline: Some("this compilation makes the target fail".to_owned()), ..CulpritWords::default() }
    }

    fn apply(&self, _: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        Ok(Application { build: Some(self.build.clone()), ..Application::default() })
    }
}
