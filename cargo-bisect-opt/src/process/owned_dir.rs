//! Directories for temporary files that are deleted with their process.
//!
//! The directories of a killed process are deleted by the next process.
//!
//! A locked file in each directory shows whether its process is alive: unlike a process ID, a lock is released at every
//! end of a process, and it is not reused.

use std::{
    fs::{DirEntry, File, TryLockError},
    io, mem,
    path::{Path, PathBuf},
};

use super::remove_tree::{remove_entry, remove_tree};

/// The name of the file that is locked while the owner lives.
const LOCK: &str = ".lock";

/// A directory that is deleted when this is dropped.
#[derive(Debug)]
pub(crate) struct OwnedDir {
    path: PathBuf,
    _lock: File,
}

impl OwnedDir {
    /// Makes one in `parent`, for this user only, with a name that begins with `prefix`. First deletes all others with
    /// this prefix whose owners have ended.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn new_in(parent: &Path, prefix: &str) -> io::Result<Self> {
        Self::sweep(parent, prefix);
        loop {
            let mut builder = tempfile::Builder::new();
            builder.prefix(prefix);
            #[cfg(unix)]
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
            let path = builder.tempdir_in(parent)?.keep();
            let lock = match File::create(path.join(LOCK)) {
                // Another process swept the directory while it was empty.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                lock => lock?,
            };
            // Another process may have swept the directory before it was locked.
            if !matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) && path.join(LOCK).exists() {
                return Ok(Self { path, _lock: lock });
            }
        }
    }

    /// Deletes the directories with this prefix whose owners have ended. A directory that cannot be deleted stays for
    /// the next sweep.
    pub(crate) fn sweep(parent: &Path, prefix: &str) {
        for entry in parent.read_dir().into_iter().flatten().flatten() {
            let is_one = entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix)) && is_our_dir(&entry);
            if !is_one {
                continue;
            }
            match File::open(entry.path().join(LOCK)) {
                Ok(lock) if lock.try_lock().is_ok() => drop(remove_owned(&entry.path())),
                Ok(_) => {}
                // There is no lock file: a process is making or deleting the directory, was killed meanwhile, or is
                // another program. Only an empty directory is deleted; its maker then makes another one.
                Err(_) => drop(std::fs::remove_dir(entry.path())),
            }
        }
    }

    /// The path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Deletes it with its contents.
    ///
    /// # Errors
    /// See [`remove_tree`].
    pub(crate) fn delete(mut self) -> io::Result<()> {
        remove_owned(&mem::take(&mut self.path))
    }
}

impl Drop for OwnedDir {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // Callers that need the error call `delete`.
            let _ = remove_owned(&self.path);
        }
    }
}

/// Returns whether an entry is a directory, not a link, and belongs to this user.
fn is_our_dir(entry: &DirEntry) -> bool {
    let Ok(metadata) = entry.metadata() else { return false };
    #[cfg(unix)]
    let is_ours = std::os::unix::fs::MetadataExt::uid(&metadata) == rustix::process::geteuid().as_raw();
    #[cfg(not(unix))]
    let is_ours = true;
    metadata.is_dir() && is_ours
}

/// Deletes a directory: its lock file last, and only if the rest is gone, since the next sweep needs that file.
fn remove_owned(path: &Path) -> io::Result<()> {
    let mut result = Ok(());
    for entry in path.read_dir().into_iter().flatten().flatten() {
        if entry.file_name() != LOCK {
            result = result.and(remove_entry(&entry.path()));
        }
    }
    result.and_then(|()| remove_tree(path))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_directories_of_ended_processes_are_deleted() {
        let parent = tempfile::tempdir().unwrap();
        let living = OwnedDir::new_in(parent.path(), "x-").unwrap();
        let dead = OwnedDir::new_in(parent.path(), "x-").unwrap();
        fs::create_dir(dead.path().join("tree")).unwrap();
        fs::write(dead.path().join("tree/file"), "").unwrap();
        // As at the end of a process: the lock is released, and nothing is deleted.
        let dead_path = dead.path().to_owned();
        let copy = parent.path().join("x-dead");
        fs::create_dir(&copy).unwrap();
        for name in ["file", LOCK] {
            fs::write(copy.join(name), "").unwrap();
        }
        for other in ["x-empty", "x-no-lock", "y-1"] {
            fs::create_dir(parent.path().join(other)).unwrap();
        }
        fs::write(parent.path().join("x-no-lock/file"), "").unwrap();
        fs::write(parent.path().join("y-1").join(LOCK), "").unwrap();

        let new = OwnedDir::new_in(parent.path(), "x-").unwrap();
        assert!(!copy.exists());
        // Its process was killed before it had made the lock file, or after it had deleted it.
        assert!(!parent.path().join("x-empty").exists());
        for path in
            [living.path(), new.path(), &dead_path, &parent.path().join("x-no-lock"), &parent.path().join("y-1")]
        {
            assert!(path.exists(), "{}", path.display());
        }
        dead.delete().unwrap();
        assert!(!dead_path.exists());
    }

    #[test]
    fn many_can_be_made_and_swept_at_once() {
        let parent = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let dir = OwnedDir::new_in(parent.path(), "x-").unwrap();
                        fs::write(dir.path().join("file"), "").unwrap();
                        assert!(dir.path().join(LOCK).exists());
                        dir.delete().unwrap();
                    }
                });
            }
        });
    }
}
