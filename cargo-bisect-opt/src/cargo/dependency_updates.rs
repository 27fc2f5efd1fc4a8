//! Updates of dependencies as changes: which there are, and a copy of the workspace with any of them.
//!
//! Which updates need each other follows from `cargo metadata` at both ends, so it costs no build. Cargo completes each
//! lock file without network; if it selects other versions, the run is unresolved.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use super::{
    CargoError, Project,
    lock_file::{LockFileError, LockGraph, describe},
    lock_selection::LockSelection,
    lock_updates::{LockPair, LockUpdate},
    registry_versions::{KnownVersion, versions_between},
    resolution::{Resolution, VersionKey},
    update_groups::UpdateGroups,
    workspace_copies::WorkspaceCopies,
};
use crate::process::mirror::Mirror;

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
    /// A lock file cannot be read.
    #[error("the lock file of {name} cannot be used: {error}")]
    LockFile {
        /// The name of the lock file's origin.
        name: String,
        /// The reason.
        error: LockFileError,
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

/// Explains why two different lock files, of which the old one has this name, contain no update.
fn no_update(name: &str, [old, new]: &[LockGraph; 2]) -> String {
    let list = |what: &str, one: &LockGraph, other: &LockGraph| {
        let packages = one.packages_not_in(other).filter(|package| package.source.is_some());
        let packages: Vec<_> = packages.map(describe).collect();
        (!packages.is_empty()).then(|| format!("{what}: {}", packages.join(", ")))
    };
    let lists: Vec<_> = [list("added", new, old), list("removed", old, new)].into_iter().flatten().collect();
    if lists.is_empty() {
        return format!("Cargo.lock has the same versions as that of {name}");
    }
    format!(
        "no package was updated since the Cargo.lock of {name}; packages were only added or removed ({})\n\
         help: `--diff` and `--commits` also search edits of manifests",
        lists.join("; ")
    )
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
    /// The directories with the sources of the new versions from registries.
    sources: BTreeMap<VersionKey, PathBuf>,
    /// The lock files that cargo has completed, or its errors.
    known: Mutex<BTreeMap<LockSelection, Result<String, String>>>,
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
        let unusable = |name: &str| {
            let name = name.to_owned();
            move |error| UpdatesError::LockFile { name, error }
        };
        let graphs = [
            LockGraph::parse(old).map_err(unusable(name))?,
            LockGraph::parse(&present).map_err(unusable("the workspace"))?,
        ];
        if old == present {
            return Err(UpdatesError::Nothing(format!("Cargo.lock has the same versions as that of {name}")));
        }
        let copies = WorkspaceCopies::new(
            &root,
            // Paths on the command line are relative to the working directory, which may be above the workspace.
            &[project.workspace.outside_paths(), vec![directory.to_owned()]].concat(),
            &project.workspace.target_directory(),
            project.scratch()?,
        )?;
        let place = copies.prepare(0, directory)?;
        // Cargo stores rustc's answers only in a directory that exists.
        fs_err::create_dir_all(copies.home().join(METADATA))?;
        let resolve = |text: &str, name: &str| {
            copies.write(0, LOCK_FILE, text)?;
            Resolution::of(&project, &place, &copies.root(0), &copies.home().join(METADATA)).map_err(
                |error| match error {
                    CargoError::Workspace(message) => UpdatesError::Unusable { name: name.to_owned(), message },
                    error => error.into(),
                },
            )
        };
        let new = resolve(&present, "Cargo.lock")?;
        let old = resolve(old, name)?;
        let (ends, sources) = ([old.text, new.text], new.sources);
        let mut requirements = old.requirements;
        requirements.extend(new.requirements);
        let pair = LockPair::new(old.graph, new.graph, requirements);
        if pair.updates().is_empty() {
            return Err(UpdatesError::Nothing(no_update(name, &graphs)));
        }
        let groups = UpdateGroups::new(&pair.needs());
        let (directory, known) = (directory.to_owned(), Mutex::default());
        Ok(Self { pair, groups, copies, project, directory, ends, sources, known })
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
        self.mirror().original()
    }

    /// Returns the places of the user's workspace and of its copies.
    pub(crate) fn mirror(&self) -> &Mirror {
        self.copies.mirror()
    }

    /// Returns the directory that contains all copies.
    pub(crate) fn home(&self) -> &Path {
        self.copies.home()
    }

    /// Returns the update of a change that no other one of its updates follows, with its index.
    pub(crate) fn main_update_of(&self, change: usize) -> Option<(usize, &LockUpdate)> {
        let last = *self.groups.groups().get(change)?.last()?;
        Some((last, &self.pair.updates()[last]))
    }

    /// Returns the known versions between the old and the new version of an update; `None` if it has no registry.
    pub(crate) fn between(&self, update: &LockUpdate) -> Option<Vec<KnownVersion>> {
        let (old, new) = &update.versions;
        let source = self.sources.get(&(update.name.clone(), new.clone()))?;
        Some(versions_between(&update.name, old, new, source))
    }

    /// Returns the lock file with these versions, as cargo completed it if a run had it.
    pub(crate) fn lock_file(&self, selection: &LockSelection) -> String {
        match self.known.lock().unwrap_or_else(PoisonError::into_inner).get(selection) {
            Some(Ok(text)) => text.clone(),
            _ => self.wanted(&selection.changes),
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

    /// Gives the copy of a slot the lock file with these versions. Returns the directory that corresponds to the user's
    /// working directory, or the reason why there is no such lock file.
    ///
    /// # Errors
    /// If files cannot be written, or cargo cannot be started.
    pub(crate) fn place(&self, selection: &LockSelection, slot: usize) -> Result<Result<PathBuf, String>, CargoError> {
        let place = self.copies.prepare(slot, &self.directory)?;
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(selection).cloned();
        let completed = if let Some(completed) = known {
            completed
        } else {
            let completed = self.complete(selection, &place, slot)?;
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.insert(selection.clone(), completed.clone());
            completed
        };
        match completed {
            Ok(text) => {
                self.copies.write(slot, LOCK_FILE, &text)?;
                Ok(Ok(place))
            }
            Err(why) => Ok(Err(why)),
        }
    }

    /// Has cargo complete the lock file with these versions.
    fn complete(
        &self,
        selection: &LockSelection,
        place: &Path,
        slot: usize,
    ) -> Result<Result<String, String>, CargoError> {
        let parse = |text: &str| LockGraph::parse(text).map_err(|error| CargoError::Workspace(error.to_string()));
        let mut wanted = self.wanted(&selection.changes);
        if let Some((update, version)) = &selection.instead {
            let LockUpdate { name, versions, .. } = &self.pair.updates()[*update];
            let Some(text) = parse(&wanted)?.with_version(name, &versions.1, version) else {
                return Ok(Err(format!("nothing requires {name}")));
            };
            wanted = text;
        } else if self.ends.contains(&wanted) {
            return Ok(Ok(wanted));
        }
        let root = self.copies.root(slot);
        self.copies.write(slot, LOCK_FILE, &wanted)?;
        let completed = match Resolution::of(&self.project, place, &root, &self.home().join(METADATA)) {
            Ok(completed) => completed,
            Err(CargoError::Workspace(message)) => return Ok(Err(format!("cargo refuses these versions: {message}"))),
            Err(error) => return Err(error),
        };
        let moved = self.moved(selection, &completed.graph, &parse(&wanted)?);
        Ok(if moved.is_empty() {
            Ok(completed.text)
        } else {
            Err(format!("cargo cannot combine these versions, and selects others: {}", moved.join(", ")))
        })
    }

    /// Returns descriptions of the packages to which cargo has given another version than the wanted one. A version
    /// between may bring along packages that are not wanted in any version, and moves those that are tied to it.
    fn moved(&self, selection: &LockSelection, completed: &LockGraph, wanted: &LockGraph) -> Vec<String> {
        let moved = completed.packages_not_in(wanted);
        let Some((update, _)) = &selection.instead else { return moved.map(describe).collect() };
        let group = self.groups.groups().iter().find(|group| group.contains(update));
        let tied = group.into_iter().flatten().filter(|&other| other != update);
        let tied: Vec<_> = tied.map(|&other| &self.pair.updates()[other].name).collect();
        let others = moved.filter(|package| {
            let is_wanted = wanted.packages().iter().any(|other| other.name == package.name);
            is_wanted && !tied.iter().any(|name| package.name.as_str() == *name)
        });
        others.map(describe).collect()
    }
}
