//! Where runs at the same time build: each slot has a target directory, the first one that of the project.
//!
//! The first one is built in by all searches, so a search locks it for its workspace: see [`target_lock`]. Workspaces may
//! share it; they only wait for each other's builds and copies. The others are locked by the search that has made them.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{
    CargoError,
    clone_target_dir::{CloneError, OF_ONE_SEARCH, seed},
    target_lock::{self, Lock},
};
use crate::process::{interrupt::Interrupt, owned_dir::OwnedDir};

/// The lock that is held while something is built in the first directory, or copied from it.
const BUILDS: &str = "builds";

/// Target directories, made when they are first needed.
#[derive(Debug)]
pub(crate) struct SlotDirs {
    first: PathBuf,
    workspace: PathBuf,
    /// Locked while a copy is made, and while something is built in the first.
    held: Mutex<Held>,
}

/// What a search has for itself.
#[derive(Debug, Default)]
struct Held {
    /// The first directory, for this workspace.
    search: Option<Arc<Lock>>,
    /// By slot, and whether they are copies of the first one.
    others: BTreeMap<(usize, bool), (PathBuf, Lock)>,
}

/// A target directory; nobody copies it as long as this is held.
#[derive(Debug)]
pub(crate) struct SlotDir<'a> {
    path: PathBuf,
    _first: Option<(MutexGuard<'a, Held>, Lock)>,
}

impl SlotDir<'_> {
    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl SlotDirs {
    /// Those of a workspace that builds in `first`.
    pub(crate) fn new(first: &Path, workspace: &Path) -> Self {
        Self { first: first.to_owned(), workspace: workspace.to_owned(), held: Mutex::default() }
    }

    /// A new directory for what a search needs only while it lasts, where there is room for what is compiled.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn scratch(&self) -> io::Result<OwnedDir> {
        fs_err::create_dir_all(&self.first)?;
        OwnedDir::new_in(&std::path::absolute(&self.first)?, OF_ONE_SEARCH)
    }

    /// The one for this slot. Where `seeds` is set it is a copy of what was built first, so that little is left to build.
    /// Waits for another search of this workspace to end.
    ///
    /// # Errors
    /// If it cannot be made, or is not to be made any more.
    pub(crate) fn get(&self, slot: usize, seeds: bool, interrupt: &Interrupt) -> Result<SlotDir<'_>, CargoError> {
        // What a panic has left is at worst a copy too many.
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.search.is_none() {
            held.search = Some(self.lock_search(interrupt)?);
        }
        if slot == 0 {
            let lock = self.lock_builds(interrupt)?;
            return Ok(SlotDir { path: self.first.clone(), _first: Some((held, lock)) });
        }
        if let Some((path, _)) = held.others.get(&(slot, seeds)) {
            return Ok(SlotDir { path: path.clone(), _first: None });
        }
        let (path, lock) = self.other(slot, seeds)?;
        if seeds {
            // This slot may be the first to come, when there is nothing to copy.
            fs_err::create_dir_all(&self.first)?;
            let _lock = self.lock_builds(interrupt)?;
            seed(&self.first, &path, &|| interrupt.requested()).map_err(|error| match error {
                CloneError::Stopped => CargoError::Interrupted,
                CloneError::Io(error) => CargoError::Io(error),
                error => CargoError::Usage(error.to_string()),
            })?;
        }
        held.others.insert((slot, seeds), (path.clone(), lock));
        Ok(SlotDir { path, _first: None })
    }

    fn lock_search(&self, interrupt: &Interrupt) -> Result<Arc<Lock>, CargoError> {
        let mut hasher = DefaultHasher::new();
        self.workspace.hash(&mut hasher);
        let name = format!("search-{:016x}", hasher.finish());
        let what = format!(
            "another search of this workspace in `{}` (with `--target-dir`, this one can have a directory of its own)",
            self.first.display()
        );
        target_lock::share(&self.first, &name, &what, interrupt)
    }

    fn lock_builds(&self, interrupt: &Interrupt) -> Result<Lock, CargoError> {
        let what = format!("a build of another search in `{}`", self.first.display());
        target_lock::take(&self.first, BUILDS, &what, interrupt)
    }

    /// A directory beside the first that no other search has; the one with the number of the slot, if it is free.
    fn other(&self, slot: usize, seeds: bool) -> io::Result<(PathBuf, Lock)> {
        for number in slot.. {
            // Copies are never taken for what cargo has made from nothing.
            let end = if seeds { format!("-{number}") } else { format!("-empty-{number}") };
            if let Some(lock) = target_lock::try_take(&self.first, &format!("copy{end}"))? {
                let mut name = self.first.file_name().unwrap_or_default().to_owned();
                name.push(end);
                return Ok((self.first.with_file_name(name), lock));
            }
        }
        unreachable!("numbers do not end")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_begins_with_what_was_built_first() {
        let dir = tempfile::tempdir().unwrap();
        let first = dir.path().join("first");
        fs_err::create_dir(&first).unwrap();
        fs_err::write(first.join("built"), "once").unwrap();
        let dirs = SlotDirs::new(&first, dir.path());
        let interrupt = Interrupt::default();
        let path = |slot, seeds| dirs.get(slot, seeds, &interrupt).unwrap().path().to_owned();
        assert_eq!(path(0, true), first);
        let other = path(2, true);
        assert_eq!(fs_err::read_to_string(other.join("built")).unwrap(), "once");
        // It is its own from then on.
        fs_err::write(other.join("built"), "again").unwrap();
        assert_eq!(path(2, true), other);
        assert_eq!(fs_err::read_to_string(other.join("built")).unwrap(), "again");
        assert!(!path(2, false).join("built").exists(), "empty where nothing in it would be of use");
    }

    #[test]
    fn nothing_need_have_been_built() {
        let dir = tempfile::tempdir().unwrap();
        let first = dir.path().join("target/first");
        // Once more, a second search finds what the first one has left.
        for _ in 0..2 {
            let dirs = SlotDirs::new(&first, dir.path());
            let path = dirs.get(1, true, &Interrupt::default()).unwrap().path().to_owned();
            fs_err::write(path.join("built"), "").unwrap();
        }
    }

    #[test]
    fn what_is_not_needed_any_more_is_not_copied() {
        let dir = tempfile::tempdir().unwrap();
        let first = dir.path().join("first");
        fs_err::create_dir(&first).unwrap();
        fs_err::write(first.join("built"), "").unwrap();
        let interrupt = Interrupt::default();
        interrupt.raise();
        let dirs = SlotDirs::new(&first, dir.path());
        let result = dirs.get(1, true, &interrupt).map(|dir| dir.path().to_owned());
        assert!(matches!(result, Err(CargoError::Interrupted)));
        assert!(!dir.path().join("first-1").exists());
    }

    #[test]
    fn what_another_search_builds_in_is_left_to_it() {
        let dir = tempfile::tempdir().unwrap();
        let first = dir.path().join("first");
        let interrupt = Interrupt::default();
        let (one, other) = (SlotDirs::new(&first, Path::new("one")), SlotDirs::new(&first, Path::new("other")));
        let path = |dirs: &SlotDirs, slot| dirs.get(slot, true, &interrupt).unwrap().path().to_owned();
        let taken = path(&one, 1);
        fs_err::write(taken.join("built"), "").unwrap();
        assert_ne!(path(&other, 1), taken);
        assert!(taken.join("built").exists());
        drop(one);
        assert_eq!(path(&SlotDirs::new(&first, Path::new("next")), 1), taken);
    }
}
