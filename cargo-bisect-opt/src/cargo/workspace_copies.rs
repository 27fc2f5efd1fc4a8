//! Copies of a workspace: one a slot, without git's files and target directories, deleted when the search ends.
//!
//! A copy is at the place that corresponds to its original below a common directory: the top of the git work tree, or
//! the directory that also contains path dependencies outside of the workspace and the user's working directory.
//! Everything beside the workspace is a link. The files are copied once before the first run. Before each run, those that
//! the run before has changed are restored.
//!
//! The copies are in the driver's target directory, where cargo finds the user's configuration in parent directories.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use super::workspace_snapshot::WorkspaceSnapshot;
use crate::{
    process::{
        mirror::{Mirror, is_read_anyway},
        owned_dir::OwnedDir,
    },
    vcs::source_files::CACHE_TAG,
};

/// The directory for files that runs have changed.
const BACKUP: &str = "backup";
/// The slot whose copy is made first.
const FIRST: usize = 0;

/// The copies of one search.
#[derive(Debug)]
pub(super) struct WorkspaceCopies {
    places: CopyPlaces,
    snapshot: WorkspaceSnapshot,
    /// The slots that have a copy.
    slots: Mutex<BTreeSet<usize>>,
    home: OwnedDir,
}

/// The places of copies.
#[derive(Debug)]
struct CopyPlaces {
    mirror: Mirror,
    /// The real path of the directory that contains the copies.
    home: PathBuf,
}

impl WorkspaceCopies {
    /// Copies the workspace in `root` to `home`. `outside` are directories that it refers to, and `target` is its target
    /// directory.
    ///
    /// # Errors
    /// If a file cannot be copied.
    pub(super) fn new(root: &Path, outside: &[PathBuf], target: &Path, home: OwnedDir) -> io::Result<Self> {
        let root = fs_err::canonicalize(root)?;
        let git = root.ancestors().find(|directory| directory.join(".git").exists()).unwrap_or(&root);
        let mirror = Mirror::new(&root, git, outside);
        let places = CopyPlaces { mirror, home: fs_err::canonicalize(home.path())? };
        let omitted = |path: &Path| {
            path == target
                || path == places.home
                || path.file_name().is_some_and(|name| name == ".git")
                || path.parent() == Some(&root) && is_read_anyway(path, &places.home)
                || path.join(CACHE_TAG).exists() && path != root
        };
        places.make(FIRST)?;
        let backup = places.home.join(BACKUP);
        let snapshot = WorkspaceSnapshot::take(&root, &places.root_of(FIRST), &backup, &omitted)?;
        Ok(Self { places, snapshot, slots: Mutex::new([FIRST].into()), home })
    }

    /// Returns the directory in the copy of a slot that corresponds to a directory of the user. Makes the copy, or
    /// restores it. No other run has the slot at the same time.
    ///
    /// # Errors
    /// If a file cannot be copied.
    pub(super) fn prepare(&self, slot: usize, directory: &Path) -> io::Result<PathBuf> {
        let mut others = self.slots.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if !others.remove(&slot) {
            self.places.make(slot)?;
        }
        let others: Vec<_> = others.into_iter().map(|other| self.root(other)).collect();
        self.snapshot.restore(&self.root(slot), &others)?;
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).insert(slot);
        let directory = fs_err::canonicalize(directory)?;
        let below = directory.strip_prefix(self.places.mirror.base()).unwrap_or(Path::new(""));
        Ok(self.places.top_of(slot).join(below))
    }

    /// Returns the directory of the workspace in a slot.
    pub(super) fn root(&self, slot: usize) -> PathBuf {
        self.places.root_of(slot)
    }

    /// Returns the places of the workspace and of its copies.
    pub(super) fn mirror(&self) -> &Mirror {
        &self.places.mirror
    }

    /// Writes a file in the copy of a slot. A link is replaced by a file, so that nothing is written through it to a file
    /// of the user.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write(&self, slot: usize, name: &str, text: &str) -> io::Result<()> {
        let path = self.root(slot).join(name);
        if path.is_symlink() {
            fs_err::remove_file(&path)?;
        }
        fs_err::write(&path, text)
    }

    /// Returns the directory that contains the copies.
    pub(super) fn home(&self) -> &Path {
        self.home.path()
    }
}

impl CopyPlaces {
    /// Returns the directory of a slot, which corresponds to the common directory.
    fn top_of(&self, slot: usize) -> PathBuf {
        self.home.join(slot.to_string())
    }

    /// Returns the directory of the workspace in a slot.
    fn root_of(&self, slot: usize) -> PathBuf {
        self.mirror.place_in(&self.top_of(slot))
    }

    /// Makes the directories of a slot above that of the workspace, with links to all that is beside it.
    fn make(&self, slot: usize) -> io::Result<()> {
        self.mirror.make(&self.top_of(slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    fn read(path: &Path) -> String {
        fs_err::read_to_string(path).unwrap()
    }

    #[test]
    fn a_copy_is_restored_and_the_original_stays() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("top/ws");
        for (name, text) in [("Cargo.toml", "m"), ("src/lib.rs", "l"), ("target/CACHEDIR.TAG", ""), (".git/HEAD", "h")]
        {
            write(&root.join(name), text);
        }
        write(&dir.path().join("top/beside/src/lib.rs"), "b");
        fs_err::create_dir(dir.path().join("home")).unwrap();
        let home = OwnedDir::new_in(&dir.path().join("home"), "x-").unwrap();
        let outside = [root.join("../beside")];
        let outside = outside.map(|path| dir.path().canonicalize().unwrap().join(path));
        let copies = WorkspaceCopies::new(&root, &outside, &root.join("target"), home).unwrap();
        let place = copies.prepare(1, &root.join("src")).unwrap();
        let copy = copies.root(1);
        assert_eq!(place, copy.join("src"));
        assert_eq!(read(&copy.join("../beside/src/lib.rs")), "b");
        assert!(!copy.join("target").exists() && !copy.join(".git").exists());
        // A run changes, deletes and adds files.
        write(&copy.join("src/lib.rs"), "changed");
        fs_err::remove_file(copy.join("Cargo.toml")).unwrap();
        write(&copy.join("left/over"), "");
        copies.prepare(1, &root).unwrap();
        assert_eq!((read(&copy.join("src/lib.rs")).as_str(), read(&copy.join("Cargo.toml")).as_str()), ("l", "m"));
        assert!(!copy.join("left").exists());
        assert_eq!(read(&root.join("src/lib.rs")), "l");
        let home = copies.home().to_owned();
        drop(copies);
        assert!(!home.exists() && dir.path().join("top/beside/src/lib.rs").exists());
    }
}
