//! Directories for temporary files: one for the search, in it one for each run, and in that one for each process.
//!
//! So each process starts with an empty directory, its files are deleted with the run, and no other run sees them.

use std::{
    collections::BTreeSet,
    env, io, mem,
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::{owned_dir::OwnedDir, remove_tree::remove_tree};

/// The variables with the path of the directory for temporary files.
pub(crate) const VARIABLES: &[&str] = if cfg!(windows) { &["TMPDIR", "TMP", "TEMP"] } else { &["TMPDIR"] };

/// The outermost directories that exist.
static OUTERMOST: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn outermost() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    // The set is consistent even if a thread panicked.
    OUTERMOST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Deletes all directories of this process, which is about to end. One that cannot be deleted stays for the next search.
pub(crate) fn delete_all() {
    for path in outermost().iter() {
        let _ = remove_tree(path);
    }
}

/// A directory for temporary files, which is deleted when this is dropped.
#[derive(Debug)]
pub(crate) struct ScratchDir {
    path: PathBuf,
    /// The outermost directory.
    owned: Option<OwnedDir>,
    /// The number of directories that were made in it.
    inner: AtomicUsize,
}

/// Returns the directory for temporary files of all programs.
pub(crate) fn temp_dir() -> PathBuf {
    or_default(env::temp_dir())
}

/// Returns the default directory if the given one is empty: POSIX tools take an empty `TMPDIR` for an unset one.
fn or_default(directory: PathBuf) -> PathBuf {
    if directory.as_os_str().is_empty() { PathBuf::from("/tmp") } else { directory }
}

impl ScratchDir {
    /// Makes one below the system's directory for temporary files, for this user only.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn new() -> io::Result<Self> {
        // The path is absolute, since runs have other working directories. The name is short, since the path of a
        // socket in it is limited to about a hundred bytes.
        Self::below(&temp_dir())
    }

    /// Makes one below this directory, for this user only.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn below(parent: &Path) -> io::Result<Self> {
        let parent = std::path::absolute(parent)?;
        let owned = OwnedDir::new_in(&parent, "bsopt-").map_err(|error| {
            io::Error::new(
                error.kind(),
                format!(
                    "cannot create a directory for temporary files in `{}`: {error}; set TMPDIR to another directory",
                    parent.display()
                ),
            )
        })?;
        outermost().insert(owned.path().to_owned());
        Ok(Self { path: owned.path().to_owned(), owned: Some(owned), inner: AtomicUsize::new(0) })
    }

    /// Makes one in this one.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn inner(&self) -> io::Result<Self> {
        let path = self.path.join(self.inner.fetch_add(1, Ordering::Relaxed).to_string());
        fs_err::create_dir(&path)?;
        Ok(Self { path, owned: None, inner: AtomicUsize::new(0) })
    }

    /// The absolute path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the variables that make a program use it.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        VARIABLES.iter().map(|&name| (name, self.path()))
    }

    /// Deletes it with its contents.
    ///
    /// # Errors
    /// See [`remove_tree`].
    pub(crate) fn delete(mut self) -> io::Result<()> {
        let path = mem::take(&mut self.path);
        outermost().remove(&path);
        self.owned.take().map_or_else(|| remove_tree(&path), OwnedDir::delete)
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        if self.owned.is_none() && !self.path.as_os_str().is_empty() {
            // The outer directory's deletion removes remaining files.
            let _ = remove_tree(&self.path);
        }
        outermost().remove(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs};

    use super::*;

    #[test]
    fn each_is_another_one_and_gone_with_all_that_is_in_it() {
        let dirs: Vec<_> = (0..3).map(|_| ScratchDir::new().unwrap()).collect();
        let paths: BTreeSet<_> = dirs.iter().map(|dir| dir.path().to_owned()).collect();
        assert_eq!(paths.len(), 3);
        for dir in &dirs {
            assert!(dir.path().is_absolute() && dir.path().is_dir());
            assert!(dir.path().file_name().unwrap().len() <= 12, "{dir:?}");
            fs::create_dir_all(dir.path().join("a/b")).unwrap();
            fs::write(dir.path().join("a/b/file"), "").unwrap();
        }
        let mut dirs = dirs.into_iter();
        dirs.next().unwrap().delete().unwrap();
        drop(dirs);
        assert!(paths.iter().all(|path| !path.exists()));
    }

    #[test]
    fn inner_ones_are_empty_and_go_with_the_outer_one() {
        let outer = ScratchDir::new().unwrap();
        let runs = [outer.inner().unwrap(), outer.inner().unwrap()];
        let process = runs[1].inner().unwrap();
        let paths = [runs[0].path(), runs[1].path(), process.path()].map(Path::to_owned);
        assert_ne!(paths[0], paths[1]);
        assert!(process.path().starts_with(runs[1].path()));
        assert!(paths[2].read_dir().unwrap().next().is_none());
        // Nothing is deleted one by one here.
        mem::forget((runs, process));
        outer.delete().unwrap();
        assert!(paths.iter().all(|path| !path.exists()));
    }

    #[test]
    fn an_empty_variable_counts_as_unset() {
        assert_eq!(or_default(PathBuf::new()), Path::new("/tmp"));
        assert_eq!(or_default("here".into()), Path::new("here"));
    }

    #[test]
    fn a_deleted_directory_is_no_error() {
        let dir = ScratchDir::new().unwrap();
        fs::remove_dir_all(dir.path()).unwrap();
        dir.delete().unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn programs_use_it_and_nobody_else_does() {
        use std::{os::unix::fs::PermissionsExt, process::Command};
        let dir = ScratchDir::new().unwrap();
        let output = Command::new("mktemp").envs(dir.variables()).output().unwrap();
        assert!(String::from_utf8(output.stdout).unwrap().starts_with(dir.path().to_str().unwrap()));
        assert_eq!(dir.path().metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }
}
