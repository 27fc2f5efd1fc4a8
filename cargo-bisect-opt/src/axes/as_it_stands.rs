//! The target as it stands, without changes: for a single run.

use super::{
    Application, Axis, Files,
    facts::{AxisFacts, SourceVersions},
};
use crate::{
    cargo::BuildOverrides,
    output::terms::Terms,
    run::{error::RunError, spec::Choice},
};

/// The terms of this axis.
const TERMS: Terms =
    Terms { axis: "verdict", change: "change", reported: None, if_none_reported: Some("there is no change") };

/// An axis without changes: a run builds and starts what the user's work tree has.
#[derive(Debug)]
pub(crate) struct AsItStands {
    /// True if the target is built.
    pub(crate) builds: bool,
}

impl Axis for AsItStands {
    fn facts(&self) -> AxisFacts {
        AxisFacts {
            builds: self.builds,
            // The next run has another version: this one may lack the tests that are asked for.
            sources: SourceVersions::Whole,
            ..AxisFacts::of_known_changes(TERMS)
        }
    }

    fn subject(&self) -> Option<String> {
        Some("as it stands".to_owned())
    }

    fn apply(&self, _: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        let build = BuildOverrides { is_plain: true, ..BuildOverrides::default() };
        Ok(Application { build: self.builds.then_some(build), ..Application::default() })
    }
}
