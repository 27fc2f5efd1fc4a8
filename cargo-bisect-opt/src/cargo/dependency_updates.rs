//! Updates of dependencies as changes: which there are, and a copy of the workspace with any of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use super::{
    CargoError, Project,
    lock_file::LockGraph,
    lock_updates::{LockPair, LockUpdate},
    resolution::Resolution,
    update_groups::UpdateGroups,
    workspace_copies::WorkspaceCopies,
};

/// The name of the lock file.
const LOCK_FILE: &str = "Cargo.lock";
/// The directory for files that `cargo metadata` writes.
const METADATA: &str = "metadata";

/// A reason why updates cannot be searched.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UpdatesError {
    /// The workspace has no lock file.
    #[error("`{}` does not exist: build the workspace once, so that cargo writes it", .0.display())]
    NoLockFile(PathBuf),
    /// A lock file is invalid.
    #[error("the lock file of {name} is invalid: {message}")]
    Invalid {
        /// The name of the lock file's origin.
        name: String,
        /// The parser's message.
        message: String,
    },
    /// Cargo cannot use a lock file without network.
    #[error(
        "cargo cannot use the versions of {name} without network: {message}\n\
         help: if they are not on this machine, run `cargo fetch` with that lock file, and search again"
    )]
    Unusable {
        /// The name of the lock file's origin.
        name: String,
        /// Cargo's message.
        message: String,
    },
    /// There is no difference.
    #[error("{0}")]
    Nothing(String),
    /// Cargo cannot be run.
    #[error(transparent)]
    Cargo(#[from] CargoError),
    /// A file cannot be copied.
    #[error("the workspace cannot be copied: {0}")]
    Copy(#[from] io::Error),
}

/// The updates between an old lock file and that of a workspace.
#[derive(Debug)]
pub(crate) struct DependencyUpdates {
    pair: LockPair,
    groups: UpdateGroups,
    copies: WorkspaceCopies,
    /// The user's project.
    project: Project,
    /// The user's working directory.
    directory: PathBuf,
    /// The lock files of both ends, as cargo completed them.
    ends: [String; 2],
    /// The lock files that cargo has completed, or its errors.
    known: Mutex<BTreeMap<BTreeSet<usize>, Result<String, String>>>,
}

impl DependencyUpdates {
    /// Compares the lock file of a workspace with an old one, whose origin is `name`.
    ///
    /// # Errors
    /// See [`UpdatesError`].
    pub(crate) fn prepare(project: Project, directory: &Path, old: &str, name: &str) -> Result<Self, UpdatesError> {
        let root = project.root();
        let path = root.join(LOCK_FILE);
        let present = fs_err::read_to_string(&path).map_err(|_| UpdatesError::NoLockFile(path))?;
        let invalid = |name: &str| {
            let name = name.to_owned();
            move |error: cargo_lock::Error| UpdatesError::Invalid { name, message: error.to_string() }
        };
        LockGraph::parse(old).map_err(invalid(name))?;
        LockGraph::parse(&present).map_err(invalid("the workspace"))?;
        if old == present {
            return Err(UpdatesError::Nothing(format!("Cargo.lock has the same versions as that of {name}")));
        }
        let copies = WorkspaceCopies::new(
            &root,
            &project.workspace.outside_paths(),
            &project.workspace.target_directory(),
            project.scratch()?,
        )?;
        let place = copies.prepare(0, directory)?;
        let resolve = |text: &str, name: &str| {
            fs_err::write(copies.root(0).join(LOCK_FILE), text)?;
            Resolution::of(&project, &place, &copies.root(0), &copies.home().join(METADATA)).map_err(
                |error| match error {
                    CargoError::Workspace(message) => UpdatesError::Unusable { name: name.to_owned(), message },
                    error => error.into(),
                },
            )
        };
        let new = resolve(&present, "Cargo.lock")?;
        let old = resolve(old, name)?;
        let ends = [old.text, new.text];
        let mut requirements = old.requirements;
        requirements.extend(new.requirements);
        let pair = LockPair::new(old.graph, new.graph, requirements);
        if pair.updates().is_empty() {
            return Err(UpdatesError::Nothing(format!(
                "with the present manifests, Cargo.lock has the same versions as that of {name}"
            )));
        }
        let groups = UpdateGroups::new(&pair.needs());
        Ok(Self { pair, groups, copies, project, directory: directory.to_owned(), ends, known: Mutex::default() })
    }

    /// Returns the number of changes.
    pub(crate) fn changes(&self) -> usize {
        self.groups.groups().len()
    }

    /// Returns the number of updates.
    pub(crate) fn updates(&self) -> usize {
        self.pair.updates().len()
    }

    /// Returns the updates of a change.
    pub(crate) fn updates_of(&self, change: usize) -> Vec<&LockUpdate> {
        let group = self.groups.groups().get(change).map_or(&[][..], Vec::as_slice);
        group.iter().map(|&update| &self.pair.updates()[update]).collect()
    }

    /// Returns changes with all that they need.
    pub(crate) fn with_needs(&self, changes: &BTreeSet<usize>) -> BTreeSet<usize> {
        self.groups.with_needs(changes)
    }

    /// Returns changes with all that need them.
    pub(crate) fn with_dependents(&self, changes: &BTreeSet<usize>) -> BTreeSet<usize> {
        self.groups.with_dependents(changes)
    }

    /// Returns the directory of the user's workspace.
    pub(crate) fn root(&self) -> &Path {
        self.copies.original()
    }

    /// Returns the directory that contains all copies.
    pub(crate) fn home(&self) -> &Path {
        self.copies.home()
    }

    /// Returns the lock file with these changes, as cargo completed it if a run had it.
    pub(crate) fn lock_file(&self, changes: &BTreeSet<usize>) -> String {
        match self.known.lock().unwrap_or_else(PoisonError::into_inner).get(changes) {
            Some(Ok(text)) => text.clone(),
            _ => self.wanted(changes),
        }
    }

    fn wanted(&self, changes: &BTreeSet<usize>) -> String {
        match changes.len() {
            0 => self.ends[0].clone(),
            count if count == self.changes() => self.ends[1].clone(),
            _ => {
                let groups = self.groups.groups();
                self.pair.lock_file(&changes.iter().flat_map(|&change| groups[change].iter().copied()).collect())
            }
        }
    }

    /// Gives the copy of a slot the lock file with these changes. Returns the directory that corresponds to the user's
    /// working directory, or the reason why there is no such lock file.
    ///
    /// # Errors
    /// If files cannot be written, or cargo cannot be started.
    pub(crate) fn place(&self, changes: &BTreeSet<usize>, slot: usize) -> Result<Result<PathBuf, String>, CargoError> {
        let place = self.copies.prepare(slot, &self.directory)?;
        let lock_file = self.copies.root(slot).join(LOCK_FILE);
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(changes).cloned();
        let completed = if let Some(completed) = known {
            completed
        } else {
            let completed = self.complete(changes, &place, slot)?;
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.insert(changes.clone(), completed.clone());
            completed
        };
        match completed {
            Ok(text) => {
                fs_err::write(&lock_file, text)?;
                Ok(Ok(place))
            }
            Err(why) => Ok(Err(why)),
        }
    }

    /// Has cargo complete the lock file with these changes.
    fn complete(
        &self,
        changes: &BTreeSet<usize>,
        place: &Path,
        slot: usize,
    ) -> Result<Result<String, String>, CargoError> {
        let wanted = self.wanted(changes);
        if self.ends.contains(&wanted) {
            return Ok(Ok(wanted));
        }
        let root = self.copies.root(slot);
        fs_err::write(root.join(LOCK_FILE), &wanted)?;
        let completed = match Resolution::of(&self.project, place, &root, &self.home().join(METADATA)) {
            Ok(completed) => completed,
            Err(CargoError::Workspace(message)) => return Ok(Err(format!("cargo refuses these versions: {message}"))),
            Err(error) => return Err(error),
        };
        let wanted = LockGraph::parse(&wanted).map_err(|error| CargoError::Workspace(error.to_string()))?;
        let moved: Vec<_> = completed.graph.packages_not_in(&wanted).collect();
        Ok(if moved.is_empty() {
            Ok(completed.text)
        } else {
            Err(format!("cargo cannot combine these versions, and selects others: {}", moved.join(", ")))
        })
    }
}
