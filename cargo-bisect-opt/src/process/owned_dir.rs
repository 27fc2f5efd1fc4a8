//! Directories for temporary files that are deleted with their process.
//!
//! The directories of a killed process are deleted by the next process.
//!
//! A locked file in each directory shows whether its process is alive: unlike a process ID, a lock is released at every
//! end of a process, and it is not reused.
//!
//! The parent directory may be that of all programs, so a name proves nothing. Only a directory whose locked file has
//! the words of this module is deleted. One whose process was killed before it wrote them stays, because an empty
//! directory may belong to another program.

use std::{
    fs::{self, DirEntry, File},
    io::{self, Read, Write},
    mem,
    path::{Path, PathBuf},
};

use super::remove_tree::{remove_entry, remove_tree};

/// The name of the file that is locked while the owner lives.
const LOCK: &str = ".lock";
/// The content of that file, once it is locked.
const WORDS: &str =
    "made by cargo-bisect-opt, which deletes this directory when the process that locks this file has ended\n";
/// The number of random characters in the name of a directory.
const RANDOM: usize = 6;

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
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix).rand_bytes(RANDOM);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let directory = builder.tempdir_in(parent)?;
        let mut lock = File::create_new(directory.path().join(LOCK))?;
        // Another process deletes only what has the words. So they come after the lock, which a process that looks for
        // them holds for a moment; without locks, none deletes it.
        let _ = lock.lock();
        lock.write_all(WORDS.as_bytes())?;
        Ok(Self { path: directory.keep(), _lock: lock })
    }

    /// Deletes the directories with this prefix whose owners have ended. A directory that cannot be deleted stays for
    /// the next sweep.
    pub(crate) fn sweep(parent: &Path, prefix: &str) {
        for entry in parent.read_dir().into_iter().flatten().flatten() {
            let is_one = entry.file_name().to_str().is_some_and(|name| is_name(name, prefix)) && is_our_dir(&entry);
            if let Some(_lock) = is_one.then(|| lock_of_ended(&entry.path())).flatten() {
                let _ = remove_owned(&entry.path());
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

/// Returns true if a name is the prefix and a random part.
fn is_name(name: &str, prefix: &str) -> bool {
    let random = name.strip_prefix(prefix).map(str::as_bytes);
    random.is_some_and(|random| random.len() == RANDOM && random.iter().all(u8::is_ascii_alphanumeric))
}

/// Returns the lock of a directory that this module has made, and whose owner has ended.
fn lock_of_ended(directory: &Path) -> Option<File> {
    let path = directory.join(LOCK);
    // A pipe would block, and a link may lead to any file.
    fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
    let mut lock = File::open(path).ok()?;
    lock.try_lock().ok()?;
    let mut words = Vec::new();
    Read::by_ref(&mut lock).take(WORDS.len() as u64 + 1).read_to_end(&mut words).ok()?;
    (words == WORDS.as_bytes()).then_some(lock)
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
    use super::*;

    /// Makes a directory with a file and this lock file.
    fn leave(parent: &Path, name: &str, lock: &str, words: &str) -> PathBuf {
        let path = parent.join(name);
        fs::create_dir(&path).unwrap();
        fs::write(path.join("file"), "").unwrap();
        fs::write(path.join(lock), words).unwrap();
        path
    }

    #[test]
    fn only_directories_of_ended_processes_are_deleted() {
        let parent = tempfile::tempdir().unwrap();
        let living = OwnedDir::new_in(parent.path(), "x-").unwrap();
        // As at the end of a process: the lock is released, and nothing is deleted.
        let dead = leave(parent.path(), "x-dead00", LOCK, WORDS);
        let other = leave(parent.path(), "y-dead00", LOCK, WORDS);
        let new = OwnedDir::new_in(parent.path(), "x-").unwrap();
        assert!(!dead.exists());
        for path in [living.path(), new.path(), &other] {
            assert!(path.exists(), "{}", path.display());
        }
        let path = living.path().to_owned();
        living.delete().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn what_no_search_has_made_is_never_deleted() {
        let parent = tempfile::tempdir().unwrap();
        let mut others = Vec::new();
        for stem in ["bo-Dead01", "bo-photos", "bo-x", "bo-2026-11-27", "bo-abcdef.d", "bo-", "bsopt-"] {
            for (end, lock, words) in
                [("lock", "lock", ""), (".lock", LOCK, ""), ("ab12CD", LOCK, ""), ("ab12CE", "lock", WORDS)]
            {
                others.push(leave(parent.path(), &format!("{stem}{end}"), lock, words));
            }
        }
        let more = WORDS.to_owned() + "and more";
        others.push(leave(parent.path(), "bo-dead01", LOCK, &more));
        others.push(leave(parent.path(), "bo-dead2", LOCK, WORDS));
        others.push(leave(parent.path(), "bo-dead003", LOCK, WORDS));
        others.push(parent.path().join("bo-empty0"));
        fs::create_dir(others.last().unwrap()).unwrap();
        for prefix in ["bo-", "bsopt-"] {
            OwnedDir::sweep(parent.path(), prefix);
        }
        for path in others {
            assert!(path.exists(), "{}", path.display());
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_the_words_is_no_lock() {
        let parent = tempfile::tempdir().unwrap();
        let path = leave(parent.path(), "x-dead00", "words", WORDS);
        std::os::unix::fs::symlink("words", path.join(LOCK)).unwrap();
        OwnedDir::sweep(parent.path(), "x-");
        assert!(path.join("words").exists());
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
