//! The compiler's answer about a selection of parts, from `cargo check` in a work tree.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{checks::Checked, complaint::Complaint};
use crate::{
    cargo::{self, BuildOutput, BuildOverrides, CargoError, IfMissing, Project},
    process::{Ending, interrupt::Interrupt, scratch_dir::ScratchDir},
    run::error::RunError,
};

/// The project of the search, checked in work trees.
#[derive(Clone, Debug)]
pub(super) struct Compiler {
    /// The project, with target directories for this search.
    project: Arc<Project>,
    interrupt: Interrupt,
    /// Locked while the work tree for checks is in use.
    tree: Arc<Mutex<()>>,
}

/// All checks build in the same target directory, so that each finds the artifacts of the one before.
const SLOT: usize = 0;

impl Compiler {
    /// Creates a compiler of this project.
    ///
    /// # Errors
    /// If the project cannot be read, or there can be no target directory.
    pub(super) fn new(project: &Project, interrupt: &Interrupt) -> Result<Self, CargoError> {
        let project = Arc::new(cargo::for_check(project, project.scratch()?)?);
        Ok(Self { project, interrupt: interrupt.clone(), tree: Arc::default() })
    }

    /// Locks the work tree for checks, so that only one check runs at a time.
    pub(super) fn lock(&self) -> MutexGuard<'_, ()> {
        // A panic leaves nothing behind that the next check relies on.
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks a work tree. `top` is the top directory of the tree, and `directory` the one in it that
    /// corresponds to the user's.
    ///
    /// # Errors
    /// If cargo cannot be started, or is interrupted.
    pub(super) fn check(&self, top: &Path, directory: &Path) -> Result<Checked, RunError> {
        Ok(match self.project.in_copy(directory) {
            Err(error) => Checked::Fails(Complaint::of(format!("error: {error}").as_bytes())),
            Ok(project) => {
                let scratch = ScratchDir::new()?;
                let log = scratch.path().join("log");
                let if_missing = IfMissing::BuildOthers;
                let overrides = BuildOverrides { is_plain: true, if_missing, ..BuildOverrides::default() };
                let output = BuildOutput::Log(&log);
                let built = project.attempt_in(SLOT, &overrides, output, scratch.path(), None, &self.interrupt);
                let built = built.map_err(|error| match error {
                    CargoError::Interrupted => RunError::Interrupted,
                    CargoError::Spawn(error) => RunError::Spawn(error),
                    CargoError::Io(error) => RunError::Io(error),
                    error => RunError::Unusable(error.to_string()),
                })?;
                if matches!(built.ending, Ending::Exited(status) if status.success()) {
                    Checked::Compiles
                } else {
                    let mut complaint = Complaint::of(&built.messages);
                    // The compiler names files relative to the directory of the workspace.
                    let root = project.root();
                    let relative = |(file, line): (PathBuf, usize)| {
                        let file = root.join(file);
                        (file.strip_prefix(top).map(Path::to_owned).unwrap_or(file), line)
                    };
                    complaint.places = complaint.places.into_iter().map(relative).collect();
                    Checked::Fails(complaint)
                }
            }
        })
    }
}
