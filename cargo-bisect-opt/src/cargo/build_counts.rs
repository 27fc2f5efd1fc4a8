//! Counts of the builds that a search makes.

use serde::{Deserialize, Serialize};

use super::Artifacts;
use crate::units::plural;

/// Counts of builds for runs.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct BuildCounts {
    pub(crate) builds: usize,
    pub(crate) compiled_crates: usize,
    /// True if cargo began to compile.
    pub(crate) has_compiled: bool,
}

impl BuildCounts {
    /// Counts a build, unless there was nothing to build.
    pub(crate) fn add(&mut self, artifacts: &Artifacts) {
        if artifacts.is_complete && artifacts.units == 0 {
            return;
        }
        self.builds += 1;
        self.compiled_crates += artifacts.compiled_crates;
    }

    /// Adds the builds of another run.
    pub(crate) fn add_all(&mut self, other: Self) {
        self.builds += other.builds;
        self.compiled_crates += other.compiled_crates;
        self.has_compiled |= other.has_compiled;
    }

    /// Describes the cost of builds without an error.
    pub(crate) fn summary(self) -> String {
        format!("{} builds for these runs compiled {}", self.builds, plural(self.compiled_crates, "crate"))
    }
}
