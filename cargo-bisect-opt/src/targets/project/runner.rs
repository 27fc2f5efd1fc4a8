//! What makes runs of what cargo builds, and what it must know for that.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    sync::{Arc, OnceLock},
};

use super::{
    attempt::Attempt,
    options::ProjectOptions,
    test_selection::{Failure, Subset, TestSelection},
};
use crate::{
    axes::Axis,
    cargo::{Artifacts, Executable, Project, Subcommand},
    lab::calibration::Calibration,
    run::result::Note,
};

/// Makes runs of a project. It never changes, but for the first build, which the first run may make.
#[derive(Debug)]
pub(crate) struct ProjectRunner {
    pub(super) options: ProjectOptions,
    pub(super) project: Arc<Project>,
    pub(super) axis: Box<dyn Axis>,
    /// The first build.
    pub(super) artifacts: OnceLock<Artifacts>,
}

/// What the judge knew when a run began.
#[derive(Clone, Debug)]
pub(crate) struct Brief {
    /// What is repeated.
    pub(super) tests: Arc<TestSelection>,
    /// How everything fails, run in one go.
    pub(super) together: Arc<Calibration<Failure>>,
    /// How tests fail, each in its own process: not always as beside others.
    pub(super) apart: Arc<Calibration<Failure>>,
    /// The tests that are searched each on its own.
    pub(super) separate: Vec<Failure>,
    /// Whether cargo came to compiling in any run that was a build and nothing else.
    pub(super) has_compiled: bool,
}

/// What a run showed, before it is known which failures count.
#[derive(Debug)]
pub(crate) struct ProjectRun {
    pub(super) parts: Parts,
    /// What was built for the run.
    pub(super) builds: BuildCounts,
    /// What the user should know.
    pub(super) notes: Vec<Note>,
}

/// What was run.
#[derive(Debug)]
pub(super) enum Parts {
    /// Everything, in one go.
    Together(Attempt),
    /// Single tests.
    Separate(Vec<Solo>),
}

/// What one test showed in its own process.
#[derive(Debug)]
pub(crate) struct Solo {
    pub(super) test: Failure,
    pub(super) attempt: Attempt,
}

/// What was built for a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BuildCounts {
    pub(super) builds: usize,
    pub(super) rustc_invocations: usize,
    /// Whether cargo came to compiling.
    pub(super) has_compiled: bool,
}

impl BuildCounts {
    /// Counts a build.
    pub(super) fn add(&mut self, artifacts: &Artifacts) {
        self.builds += 1;
        self.rustc_invocations += artifacts.rustc_invocations;
    }
}

impl ProjectRunner {
    /// Returns what was built first; nothing, before any run has built it.
    pub(super) fn first_artifacts(&self) -> &Artifacts {
        static NONE: OnceLock<Artifacts> = OnceLock::new();
        self.artifacts.get().unwrap_or_else(|| NONE.get_or_init(Artifacts::default))
    }

    /// Returns options of cargo for what still has to be built, once it is known which tests are repeated: not the harnesses
    /// of the others. `None`: all that the user's arguments select, where tests might start a program that is not built just
    /// for them.
    pub(super) fn needed_targets(&self, tests: &TestSelection) -> Option<Vec<OsString>> {
        let artifacts = self.artifacts.get()?;
        if self.options.subcommand != Subcommand::Test || !tests.is_settled() {
            return None;
        }
        let (harnesses, programs): (Vec<_>, Vec<_>) =
            artifacts.executables.iter().partition(|executable| executable.is_test);
        let is_needed = |harness: &&Executable| tests.subset(&harness.key()) != Subset::Nothing;
        let needed: Vec<_> = harnesses.into_iter().filter(is_needed).collect();
        let is_there = |program: &&Executable| needed.iter().all(|harness| harness.has(program));
        if !programs.iter().all(is_there) {
            return None;
        }
        let options: BTreeSet<_> = needed.into_iter().map(Executable::options).collect();
        Some(options.into_iter().flatten().collect())
    }
}
