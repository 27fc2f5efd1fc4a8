//! Where runs at the same time build: each slot has a target directory, the first one that of the project.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::{
    CargoError,
    seed::{OF_ONE_SEARCH, SeedError, seed},
};
use crate::{interrupt::Interrupt, owned_dir::OwnedDir};

/// Target directories, made when they are first needed.
#[derive(Debug)]
pub struct SlotDirs {
    first: PathBuf,
    /// The slots that have a copy of the first one. Locked while a copy is made, and while something is built in the first.
    seeded: Mutex<BTreeSet<usize>>,
}

/// A target directory; nobody copies it as long as this is held.
#[derive(Debug)]
pub struct SlotDir<'a> {
    path: PathBuf,
    _first: Option<MutexGuard<'a, BTreeSet<usize>>>,
}

impl SlotDir<'_> {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl SlotDirs {
    /// Those of a project that builds in `first`.
    pub fn new(first: &Path) -> Self {
        Self { first: first.to_owned(), seeded: Mutex::default() }
    }

    /// A new directory for what a search needs only while it lasts, where there is room for what is compiled.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn scratch(&self) -> io::Result<OwnedDir> {
        fs_err::create_dir_all(&self.first)?;
        OwnedDir::new_in(&std::path::absolute(&self.first)?, OF_ONE_SEARCH)
    }

    /// The one for this slot. Where `seeds` is set it is a copy of what was built first, so that little is left to build.
    ///
    /// # Errors
    /// If it cannot be made, or is not to be made any more.
    pub fn get(&self, slot: usize, seeds: bool, interrupt: &Interrupt) -> Result<SlotDir<'_>, CargoError> {
        // A set that a panic has left is at worst one too small.
        let mut seeded = self.seeded.lock().unwrap_or_else(PoisonError::into_inner);
        if slot == 0 {
            return Ok(SlotDir { path: self.first.clone(), _first: Some(seeded) });
        }
        // Beside the first; and copies are never taken for what cargo has made from nothing.
        let mut name = self.first.file_name().unwrap_or_default().to_owned();
        name.push(if seeds { format!("-{slot}") } else { format!("-empty-{slot}") });
        let path = self.first.with_file_name(name);
        if seeds && !seeded.contains(&slot) {
            // This slot may be the first to come, when there is nothing to copy.
            fs_err::create_dir_all(&self.first)?;
            seed(&self.first, &path, &|| interrupt.requested()).map_err(|error| match error {
                SeedError::Stopped => CargoError::Interrupted,
                SeedError::Io(error) => CargoError::Io(error),
                error => CargoError::Usage(error.to_string()),
            })?;
            seeded.insert(slot);
        }
        Ok(SlotDir { path, _first: None })
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
        let dirs = SlotDirs::new(&first);
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
            let dirs = SlotDirs::new(&first);
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
        let dirs = SlotDirs::new(&first);
        let result = dirs.get(1, true, &interrupt).map(|dir| dir.path().to_owned());
        assert!(matches!(result, Err(CargoError::Interrupted)));
        assert!(!dir.path().join("first-1").exists());
    }
}
