//! Runs in copies of a workspace that differ in their lock file.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use super::{Application, Files, Place, Preparation};
use crate::{
    cargo::{BuildOverrides, CargoError, DependencyUpdates, LockSelection},
    process::shell,
    run::error::RunError,
};

/// The variable that keeps cargo from the network.
const OFFLINE: &str = "CARGO_NET_OFFLINE";
/// The name of the file with the user's lock file.
const SAVED: &str = "present.lock";
/// The variables that choose directories for what cargo builds.
const TARGET_DIRECTORIES: [&str; 2] = ["CARGO_TARGET_DIR", "CARGO_BUILD_BUILD_DIR"];

/// Copies of a workspace, each for runs with any lock file.
#[derive(Clone, Debug)]
pub(super) struct LockRuns {
    pub(super) updates: Arc<DependencyUpdates>,
    /// The user's working directory, relative to that of the workspace.
    pub(super) subdirectory: PathBuf,
    /// True if cargo builds in the copy; false if a command is started there.
    pub(super) builds: bool,
    /// The file with the user's lock file, for users who have replaced theirs by that of a culprit.
    saved: Arc<OnceLock<PathBuf>>,
}

impl LockRuns {
    /// Creates runs with these updates.
    pub(super) fn new(updates: DependencyUpdates, subdirectory: PathBuf, builds: bool) -> Self {
        Self { updates: Arc::new(updates), subdirectory, builds, saved: Arc::default() }
    }

    /// Returns the application of any lock file to a run.
    pub(super) fn application(&self) -> Application {
        let mut application = self.build();
        if !self.builds {
            let target = self.updates.home().join("target-{slot}").display().to_string();
            let directories = TARGET_DIRECTORIES.map(|name| (name.to_owned(), target.clone()));
            application.variables.extend(directories);
            application.variables.push((OFFLINE.to_owned(), "true".to_owned()));
        }
        application
    }

    fn build(&self) -> Application {
        // The artifacts are those that cargo builds for the user.
        let variables = [(OFFLINE.to_owned(), "true".into())].into();
        let build = BuildOverrides { is_plain: true, variables, ..BuildOverrides::default() };
        Application { build: self.builds.then_some(build), ..Application::default() }
    }

    /// Writes a lock file for a user. Returns the application that reproduces a run with it.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn reproduction(&self, selection: &LockSelection, files: &Files<'_>) -> io::Result<Application> {
        fs_err::create_dir_all(files.directory)?;
        let path = files.directory.join(format!("{}.lock", files.stem));
        fs_err::write(&path, self.updates.lock_file(selection))?;
        let saved = files.directory.join(SAVED);
        fs_err::write(&saved, self.updates.present_lock_file())?;
        self.saved.get_or_init(|| saved);
        let root = shell::quote(self.updates.root());
        let lock_file = shell::quote(std::path::absolute(&path)?);
        let directory = shell::quote(Path::new(".").join(&self.subdirectory));
        let replay = format!(
            "tree=$(mktemp -d) && trap 'rm -rf \"$tree\"' EXIT && \
             tar -C {root} --exclude=.git --exclude=./target -cf - . | tar -xf - -C \"$tree\" && \
             cp {lock_file} \"$tree/Cargo.lock\" && cd \"$tree\" && cd {directory}"
        );
        let person = format!("cp {} {}", shell::quote(&path), shell::quote(self.lock_file_from_here()));
        Ok(Application { preparation: Some(Preparation { person, replay }), ..self.build() })
    }

    /// Returns the command that restores the user's lock file; `None` before a culprit was worded.
    pub(super) fn restoration(&self) -> Option<String> {
        let (from, to) = (self.saved.get()?, self.lock_file_from_here());
        Some(format!("cp {} {}  # restores your lock file", shell::quote(from), shell::quote(to)))
    }

    /// Gives the copy of a slot a lock file.
    ///
    /// # Errors
    /// If that cannot be done. The error ends the search.
    pub(super) fn place(&self, selection: &LockSelection, slot: usize) -> Result<Option<Place>, RunError> {
        let placed = self.updates.place(selection, slot).map_err(|error| match error {
            CargoError::Interrupted => RunError::Interrupted,
            CargoError::Spawn(error) => RunError::Spawn(error),
            CargoError::Io(error) => RunError::Io(error),
            error => RunError::Unusable(error.to_string()),
        })?;
        Ok(Some(placed.map_or_else(Place::Missing, Place::At)))
    }

    /// Returns the path of the lock file, relative to the user's working directory.
    fn lock_file_from_here(&self) -> PathBuf {
        let up: PathBuf = self.subdirectory.components().map(|_| "..").collect();
        up.join("Cargo.lock")
    }
}
