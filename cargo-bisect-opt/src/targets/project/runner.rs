//! The runner of a project, which any thread can use: its data, its input, and its observations.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    sync::{Arc, OnceLock},
};

use serde::{Deserialize, Serialize};

use super::{
    attempt::Attempt,
    options::ProjectOptions,
    test_selection::{Failure, Subset, TestSelection},
};
use crate::{
    axes::Axis,
    cargo::{Artifacts, BuildCounts, Executable, Project},
    lab::calibration::Calibration,
    run::{result::Note, spec::EndState, target_kind::TargetKind},
};

/// A maker of runs of a project. It is immutable, except for the first build, which the first run may make.
#[derive(Debug)]
pub(crate) struct ProjectRunner {
    pub(super) options: ProjectOptions,
    pub(super) project: Arc<Project>,
    pub(super) axis: Box<dyn Axis>,
    /// The first build of everything that the command line names.
    pub(super) artifacts: OnceLock<Artifacts>,
}

/// The knowledge of the judge when a run begins.
#[derive(Clone, Debug)]
pub(crate) struct KnownFailures {
    /// The tests that are repeated.
    pub(super) tests: Arc<TestSelection>,
    /// The failures of tests that run together, in one go.
    pub(super) together: Arc<Calibration<Failure>>,
    /// The failures of tests in separate processes, which may differ from those of tests that run together.
    pub(super) apart: Arc<BTreeMap<Failure, Calibration<Failure>>>,
    /// The tests that are searched separately.
    pub(super) separate: Vec<Failure>,
    /// True if cargo began to compile in any run that was a build and nothing else.
    pub(super) has_compiled: bool,
}

/// The observations of a run, before it is known which failures count.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ProjectRun {
    pub(super) parts: Parts,
    /// The builds that were made for the run.
    pub(super) builds: BuildCounts,
    /// Notes for the user.
    pub(super) notes: Vec<Note>,
}

/// The parts of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Parts {
    /// Everything, in one go.
    Together(Attempt),
    /// Single tests, each in its own process.
    Separate(Vec<Solo>),
}

/// The observations of one test in its own process.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Solo {
    pub(super) test: Failure,
    pub(super) attempt: Attempt,
}

impl ProjectRunner {
    /// Returns the kind of the target.
    pub(super) fn kind(&self) -> TargetKind {
        if self.options.subcommand.is_build() { TargetKind::Build } else { TargetKind::Program }
    }

    /// Returns true if tests or targets may be missing in a run, because changes are disabled: then nothing fails. If they
    /// are missing with all changes enabled, that is a mistake of the user. `end` is the end state of the run, if it has
    /// one.
    pub(super) fn may_lack_tests(&self, end: Option<EndState>) -> bool {
        self.axis.facts().decides_which_tests_there_are && end != Some(EndState::AllOn)
    }

    /// Returns the first build of everything that the command line names; an empty one, before any run has built that.
    pub(super) fn first_artifacts(&self) -> &Artifacts {
        static NONE: OnceLock<Artifacts> = OnceLock::new();
        self.artifacts.get().unwrap_or_else(|| NONE.get_or_init(Artifacts::default))
    }

    /// Returns options of cargo for the targets that still have to be built, once it is known which tests are repeated.
    /// They leave out the harnesses of the other tests. Returns `None` for all targets that the user's arguments
    /// select, if tests might start a program that would not be built for them alone.
    pub(super) fn needed_targets(&self, tests: &TestSelection) -> Option<Vec<OsString>> {
        let artifacts = self.artifacts.get()?;
        if !self.options.subcommand.is_test() || !tests.is_settled() {
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
