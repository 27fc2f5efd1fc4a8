//! Target directories for parallel builds: one for each slot. That of the first slot is the driver's target directory.
//!
//! All searches build in the first one, so a search locks it for its workspace: see [`target_lock`]. Several workspaces
//! may share it; they only wait for each other's builds and copies. A search locks the other directories, which it
//! makes.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use super::{
    CargoError,
    clone_target_dir::{CloneError, OF_ONE_SEARCH, clone_target_dir},
    target_lock::{self, Lock},
};
use crate::process::{interrupt::Interrupt, owned_dir::OwnedDir};

/// The name of the lock for builds in the first directory, and for its copies.
const BUILDS: &str = "builds";

/// The resolution of the times of files, at most.
const COARSEST_CLOCK: Duration = Duration::from_secs(2);

/// Target directories, which are made on demand.
#[derive(Debug)]
pub(crate) struct SlotDirs {
    first: PathBuf,
    workspace: PathBuf,
    /// The latest time of artifacts in a copy; none if all slots have the same sources.
    latest: Option<SystemTime>,
    /// Locked during a copy, and during a build in the first directory.
    held: Mutex<Held>,
    /// The directory that contains all others, if they are deleted with this value.
    _scratch: Option<OwnedDir>,
}

/// The directories that a search has locked.
#[derive(Debug, Default)]
struct Held {
    /// The first directory, for this workspace.
    search: Option<Arc<Lock>>,
    /// The other directories by slot and by whether they are copies of the first one.
    others: BTreeMap<(usize, bool), (PathBuf, Lock)>,
}

/// A target directory. It is not copied while this is held.
#[derive(Debug)]
pub(crate) struct SlotDir<'a> {
    path: PathBuf,
    _first: Option<(MutexGuard<'a, Held>, Lock)>,
}

impl SlotDir<'_> {
    /// Returns its path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl SlotDirs {
    /// Creates the directories of a workspace that builds in `first`.
    pub(crate) fn new(first: &Path, workspace: &Path) -> Self {
        Self {
            first: first.to_owned(),
            workspace: workspace.to_owned(),
            latest: None,
            held: Mutex::default(),
            _scratch: None,
        }
    }

    /// Creates the directories of a workspace in a directory of one search. Each slot has sources of its own, which are
    /// written from now on. A copy is older than they are, so that cargo compiles them.
    pub(crate) fn in_scratch(scratch: OwnedDir, workspace: &Path) -> Self {
        let dirs = Self::new(&scratch.path().join("target"), workspace);
        Self { latest: SystemTime::now().checked_sub(COARSEST_CLOCK), _scratch: Some(scratch), ..dirs }
    }

    /// Makes a directory for temporary files of a search, on the file system of the artifacts.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn scratch(&self) -> io::Result<OwnedDir> {
        fs_err::create_dir_all(&self.first)?;
        OwnedDir::new_in(&std::path::absolute(&self.first)?, OF_ONE_SEARCH)
    }

    /// Returns the directory of a slot. With `copies`, it is a copy of the first one, so that little has to be
    /// compiled. Waits for the end of another search of this workspace.
    ///
    /// # Errors
    /// If it cannot be made, or the user interrupts.
    pub(crate) fn get(&self, slot: usize, copies: bool, interrupt: &Interrupt) -> Result<SlotDir<'_>, CargoError> {
        // After a panic, there is at worst an unused copy.
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.search.is_none() {
            held.search = Some(self.lock_search(interrupt)?);
        }
        if slot == 0 {
            let lock = self.lock_builds(interrupt)?;
            return Ok(SlotDir { path: self.first.clone(), _first: Some((held, lock)) });
        }
        if let Some((path, _)) = held.others.get(&(slot, copies)) {
            return Ok(SlotDir { path: path.clone(), _first: None });
        }
        let (path, lock) = self.other(slot, copies)?;
        if copies {
            // If this slot is used first, there is nothing to copy yet.
            fs_err::create_dir_all(&self.first)?;
            let _lock = self.lock_builds(interrupt)?;
            clone_target_dir(&self.first, &path, self.latest, &|| interrupt.requested()).map_err(
                |error| match error {
                    CloneError::Interrupted => CargoError::Interrupted,
                    CloneError::Io(error) => CargoError::Io(error),
                    error => CargoError::Usage(error.to_string()),
                },
            )?;
        }
        held.others.insert((slot, copies), (path.clone(), lock));
        Ok(SlotDir { path, _first: None })
    }

    fn lock_search(&self, interrupt: &Interrupt) -> Result<Arc<Lock>, CargoError> {
        let mut hasher = DefaultHasher::new();
        self.workspace.hash(&mut hasher);
        let name = format!("search-{:016x}", hasher.finish());
        let what = format!(
            "another search of this workspace in `{}` (`--target-dir` chooses another directory)",
            self.first.display()
        );
        target_lock::share(&self.first, &name, &what, interrupt)
    }

    fn lock_builds(&self, interrupt: &Interrupt) -> Result<Lock, CargoError> {
        let what = format!("a build of another search in `{}`", self.first.display());
        target_lock::take(&self.first, BUILDS, &what, interrupt)
    }

    /// Locks a directory next to the first one, which no other search has locked: if possible that of the slot's
    /// number.
    fn other(&self, slot: usize, copies: bool) -> io::Result<(PathBuf, Lock)> {
        for number in slot.. {
            // Copies and directories without a copy have different names.
            let end = if copies { format!("-{number}") } else { format!("-empty-{number}") };
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
    fn a_slot_starts_with_a_copy_of_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let first = dir.path().join("first");
        fs_err::create_dir(&first).unwrap();
        fs_err::write(first.join("built"), "once").unwrap();
        let dirs = SlotDirs::new(&first, dir.path());
        let interrupt = Interrupt::default();
        let path = |slot, copies| dirs.get(slot, copies, &interrupt).unwrap().path().to_owned();
        assert_eq!(path(0, true), first);
        let other = path(2, true);
        assert_eq!(fs_err::read_to_string(other.join("built")).unwrap(), "once");
        // From then on it is independent.
        fs_err::write(other.join("built"), "again").unwrap();
        assert_eq!(path(2, true), other);
        assert_eq!(fs_err::read_to_string(other.join("built")).unwrap(), "again");
        assert!(!path(2, false).join("built").exists(), "without a copy it is empty");
    }

    #[test]
    fn a_copy_for_other_sources_is_older_than_the_search() {
        let dir = tempfile::tempdir().unwrap();
        let scratch = OwnedDir::new_in(dir.path(), OF_ONE_SEARCH).unwrap();
        let dirs = SlotDirs::in_scratch(scratch, dir.path());
        let modified = |path: &Path| fs_err::metadata(path).unwrap().modified().unwrap();
        let source = dir.path().join("source");
        fs_err::write(&source, "").unwrap();
        fs_err::create_dir_all(&dirs.first).unwrap();
        fs_err::write(dirs.first.join("artifact"), "").unwrap();
        let slot = dirs.get(1, true, &Interrupt::default()).unwrap();
        assert!(modified(&slot.path().join("artifact")) < modified(&source));
    }

    #[test]
    fn nothing_need_have_been_built() {
        let dir = tempfile::tempdir().unwrap();
        let first = dir.path().join("target/first");
        // The second search finds the directory of the first one.
        for _ in 0..2 {
            let dirs = SlotDirs::new(&first, dir.path());
            let path = dirs.get(1, true, &Interrupt::default()).unwrap().path().to_owned();
            fs_err::write(path.join("built"), "").unwrap();
        }
    }

    #[test]
    fn an_interrupted_search_copies_nothing() {
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
    fn directories_of_another_search_are_not_used() {
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
