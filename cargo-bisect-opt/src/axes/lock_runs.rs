//! Runs in copies of a workspace that differ in their lock file, and the axis of all changes that are versions in it.

use std::{
    fmt::Debug,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use bisect_core::{ChangeId, search::Mode};

use super::{
    Application, Axis, Copies, CulpritChanges, CulpritWords, Files, FurtherSearch, Place, Preparation,
    facts::{AxisFacts, SourceVersions},
};
use crate::{
    cargo::{
        BuildCounts, BuildOverrides, CargoError, DependencyUpdates, LockSelection, line_settings::TARGET_DIRECTORIES,
    },
    output::terms::Terms,
    process::{own_file, shell},
    report::content::Report,
    run::{error::RunError, numbering::Numbering, spec::Choice},
};

/// The variable that keeps cargo from the network.
const OFFLINE: &str = "CARGO_NET_OFFLINE";

/// Changes that are versions in a lock file. All changes with this trait are applied in the same way: see [`LockAxis`].
pub(super) trait VersionChanges: Debug + Send + Sync {
    /// Returns the runs in which these changes are applied.
    fn runs(&self) -> &LockRuns;

    /// Returns the name of the axis and the words for its changes.
    fn terms(&self) -> Terms;

    /// Describes the searched changes.
    fn subject(&self) -> String;

    /// See [`Axis::words`].
    fn words(&self, culprit: &CulpritChanges<'_>) -> CulpritWords;

    /// See [`Axis::numbering`].
    fn numbering(&self) -> Numbering;

    /// Returns the versions that a choice selects.
    ///
    /// # Errors
    /// If no lock file has them. The error ends the search.
    fn selected(&self, choice: &Choice) -> Result<LockSelection, RunError>;

    /// Completes the report about a change of a culprit.
    fn describe(&self, report: Report) -> Report;

    /// Returns the axes of searches within a culprit with these changes: see [`Axis::further`].
    fn within(&self, _ids: &[ChangeId]) -> Vec<Result<Box<dyn Axis>, String>> {
        Vec::new()
    }
}

/// The axis of changes that are versions in a lock file.
#[derive(Debug)]
pub(super) struct LockAxis<C>(pub(super) C);

impl<C: VersionChanges> Axis for LockAxis<C> {
    fn facts(&self) -> AxisFacts {
        AxisFacts {
            sources: SourceVersions::Whole,
            builds: self.0.runs().builds,
            // A version may need a newer compiler. Before that, cargo has accepted the lock file.
            decides_whether_cargo_compiles: true,
            ..AxisFacts::of_known_changes(self.0.terms())
        }
    }

    fn subject(&self) -> Option<String> {
        Some(self.0.subject())
    }

    fn words(&self, culprit: &CulpritChanges<'_>) -> CulpritWords {
        self.0.words(culprit)
    }

    fn copies(&self) -> Option<&dyn Copies> {
        Some(self)
    }

    fn numbering(&self) -> Numbering {
        self.0.numbering()
    }

    fn apply(&self, choice: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        self.0.selected(choice)?;
        Ok(self.0.runs().application())
    }

    fn reproduction(&self, choice: &Choice, files: &Files<'_>) -> Result<Application, RunError> {
        Ok(self.0.runs().reproduction(&self.0.selected(choice)?, files)?)
    }

    fn change(&self, report: Report, _: &Path, _: Mode) -> Report {
        self.0.describe(report)
    }

    fn further(&self, search: FurtherSearch<'_>) -> Vec<Result<Box<dyn Axis>, String>> {
        let FurtherSearch::Within(ids) = search else { return Vec::new() };
        self.0.within(ids)
    }

    fn summary(&self, builds: BuildCounts) -> Option<String> {
        self.0.runs().builds.then(|| builds.summary())
    }
}

impl<C: VersionChanges> Copies for LockAxis<C> {
    fn original(&self) -> &Path {
        self.0.runs().updates.root()
    }

    fn place(&self, choice: &Choice, slot: usize) -> Result<Place, RunError> {
        self.0.runs().place(&self.0.selected(choice)?, slot)
    }
}

/// Copies of a workspace, each for runs with any lock file.
#[derive(Clone, Debug)]
pub(super) struct LockRuns {
    pub(super) updates: Arc<DependencyUpdates>,
    /// The user's working directory.
    directory: PathBuf,
    /// True if cargo builds in the copy; false if a command is started there.
    pub(super) builds: bool,
}

impl LockRuns {
    /// Creates runs with these updates.
    pub(super) fn new(updates: DependencyUpdates, directory: PathBuf, builds: bool) -> Self {
        Self { updates: Arc::new(updates), directory, builds }
    }

    /// Returns the application of any lock file to a run.
    fn application(&self) -> Application {
        let mut application = self.build();
        if !self.builds {
            let target = self.updates.home().join("target-{slot}").display().to_string();
            application.variables.extend(TARGET_DIRECTORIES.map(|name| (name, target.clone())));
            application.variables.set(OFFLINE, "true");
        }
        application
    }

    fn build(&self) -> Application {
        // The artifacts are those that cargo builds for the user.
        let variables = [(OFFLINE, "true")].into();
        let build = BuildOverrides { is_plain: true, variables, ..BuildOverrides::default() };
        Application { build: self.builds.then_some(build), ..Application::default() }
    }

    /// Writes a lock file for a user. Returns the application that reproduces a run with it.
    ///
    /// # Errors
    /// If the file cannot be written.
    fn reproduction(&self, selection: &LockSelection, files: &Files<'_>) -> io::Result<Application> {
        fs_err::create_dir_all(files.directory)?;
        let path = files.directory.join(format!("{}.lock", files.stem));
        own_file::write(&path, self.updates.lock_file(selection))?;
        let mirror = self.updates.mirror();
        let (root, below) = (shell::quote(mirror.original()), shell::quote(Path::new(".").join(mirror.below())));
        let lock_file = shell::quote(std::path::absolute(&path)?);
        let here = self.directory.strip_prefix(mirror.base()).unwrap_or(Path::new(""));
        let here = shell::quote(Path::new(".").join(here));
        let links = mirror.link_commands();
        // If the lock file is a link, `cp` would write to the user's file through it.
        let commands = format!(
            "around=$(mktemp -d) && trap 'rm -rf \"$around\"' EXIT && tree=$around/{below} && \
             mkdir -p \"$tree\" \"$around\"/{here}{links} && \
             tar -C {root} --exclude=.git --exclude=./target -cf - . | tar -xf - -C \"$tree\" && \
             rm -f \"$tree/Cargo.lock\" && cp {lock_file} \"$tree/Cargo.lock\" && cd \"$around\"/{here}"
        );
        let preparation = Preparation { commands: [commands.clone(), commands], commit: None };
        Ok(Application { preparation: Some(preparation), ..self.build() })
    }

    /// Gives the copy of a slot a lock file.
    ///
    /// # Errors
    /// If that cannot be done. The error ends the search.
    fn place(&self, selection: &LockSelection, slot: usize) -> Result<Place, RunError> {
        let placed = self.updates.place(selection, slot).map_err(|error| match error {
            CargoError::Interrupted => RunError::Interrupted,
            CargoError::Spawn(error) => RunError::Spawn(error),
            CargoError::Io(error) => RunError::Io(error),
            error => RunError::Unusable(error.to_string()),
        })?;
        Ok(placed.map_or_else(Place::Missing, Place::At))
    }
}
