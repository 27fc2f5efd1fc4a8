//! A snapshot of a directory: its files with their sizes and times, from which copies are made and restored.
//!
//! The contents stay in the original and in the copies. A file that a run changed is restored from any of these where
//! its size and time are unchanged. When a file is first restored, it is also saved in a backup, because the user may
//! edit the original.

use std::{
    collections::BTreeMap,
    fs::{FileTimes, Permissions},
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use crate::process::{mirror::link, remove_tree::remove_entry};

/// The maximum number of attempts to copy a file that changes at the same time.
const ATTEMPTS: usize = 3;

/// A directory at one point in time.
#[derive(Debug)]
pub(super) struct WorkspaceSnapshot {
    original: PathBuf,
    /// The directory for files that runs have changed.
    backup: PathBuf,
    /// The entries by their paths below the directory. A directory precedes its entries.
    entries: BTreeMap<PathBuf, SnapshotEntry>,
    /// Locked while a file is written to the backup.
    backing_up: Mutex<()>,
}

/// An entry of a directory. Sockets and pipes are skipped.
#[derive(Debug, PartialEq, Eq)]
enum SnapshotEntry {
    Directory,
    Link(PathBuf),
    File(FileStamp),
}

/// The properties of a file that change with its contents.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileStamp {
    size: u64,
    modified: SystemTime,
    permissions: Permissions,
}

impl WorkspaceSnapshot {
    /// Copies a directory to `copy`, except for paths that are omitted. `backup` is a directory for files that runs
    /// change.
    ///
    /// # Errors
    /// If a file cannot be copied.
    pub(super) fn take(
        original: &Path,
        copy: &Path,
        backup: &Path,
        is_omitted: &dyn Fn(&Path) -> bool,
    ) -> io::Result<Self> {
        let mut entries = BTreeMap::new();
        let mut open = vec![PathBuf::new()];
        while let Some(directory) = open.pop() {
            fs_err::create_dir_all(copy.join(&directory))?;
            for entry in fs_err::read_dir(original.join(&directory))? {
                let entry = entry?;
                if is_omitted(&entry.path()) {
                    continue;
                }
                let path = directory.join(entry.file_name());
                let kind = entry.file_type()?;
                if kind.is_dir() {
                    open.push(path.clone());
                    entries.insert(path, SnapshotEntry::Directory);
                } else if kind.is_symlink() {
                    let target = fs_err::read_link(entry.path())?;
                    link(&target, &copy.join(&path))?;
                    entries.insert(path, SnapshotEntry::Link(target));
                } else if kind.is_file() {
                    let stamp = copy_new(&entry.path(), &copy.join(&path))?;
                    entries.insert(path, SnapshotEntry::File(stamp));
                }
            }
        }
        let (original, backup) = (original.to_owned(), backup.to_owned());
        Ok(Self { original, backup, entries, backing_up: Mutex::default() })
    }

    /// Makes a copy, or restores it: deletes what is not in the snapshot, and writes files that differ. `others` are
    /// other copies.
    ///
    /// # Errors
    /// If a file cannot be copied, or if it was changed everywhere.
    pub(super) fn restore(&self, copy: &Path, others: &[PathBuf]) -> io::Result<()> {
        let is_new = fs_err::symlink_metadata(copy).is_err();
        if is_new {
            fs_err::create_dir_all(copy)?;
        } else {
            self.delete_others(copy, Path::new(""))?;
        }
        for (path, entry) in &self.entries {
            let to = copy.join(path);
            let present = if is_new { None } else { entry_at(&to)? };
            if present.as_ref() == Some(entry) {
                continue;
            }
            if present.is_some() {
                remove_entry(&to)?;
            }
            match entry {
                SnapshotEntry::Directory => fs_err::create_dir(&to)?,
                SnapshotEntry::Link(target) => link(target, &to)?,
                SnapshotEntry::File(stamp) => {
                    if !is_new {
                        self.back_up(path, stamp)?;
                    }
                    self.copy_from_any(path, stamp, &to, others)?;
                }
            }
        }
        Ok(())
    }

    /// Deletes what is in a directory of a copy, and not in the snapshot.
    fn delete_others(&self, copy: &Path, directory: &Path) -> io::Result<()> {
        for entry in fs_err::read_dir(copy.join(directory))? {
            let entry = entry?;
            let path = directory.join(entry.file_name());
            match self.entries.get(&path) {
                None => remove_entry(&entry.path())?,
                Some(SnapshotEntry::Directory) if entry.file_type()?.is_dir() => self.delete_others(copy, &path)?,
                // If it is of another kind, it is replaced later.
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Saves a file that a run has changed, if the original still has it.
    fn back_up(&self, path: &Path, stamp: &FileStamp) -> io::Result<()> {
        // A copy that a panic has interrupted has another size or time.
        let _guard = self.backing_up.lock().unwrap_or_else(PoisonError::into_inner);
        let to = self.backup.join(path);
        if stamp_of(&to).as_ref() != Some(stamp) {
            remove_entry(&to)?;
            fs_err::create_dir_all(to.parent().unwrap_or(&self.backup))?;
            copy_if(&self.original.join(path), stamp, &to)?;
        }
        Ok(())
    }

    /// Copies a file from the first place where it is as it was.
    fn copy_from_any(&self, path: &Path, stamp: &FileStamp, to: &Path, others: &[PathBuf]) -> io::Result<()> {
        for place in [&self.backup, &self.original].into_iter().chain(others) {
            if copy_if(&place.join(path), stamp, to)? {
                return Ok(());
            }
        }
        Err(io::Error::other(format!(
            "`{}` was changed or deleted after the search began, and no unchanged copy is left: start the search again",
            self.original.join(path).display()
        )))
    }
}

/// Copies a file if it has these properties. Returns whether it has them.
fn copy_if(from: &Path, stamp: &FileStamp, to: &Path) -> io::Result<bool> {
    if stamp_of(from).as_ref() != Some(stamp) {
        return Ok(false);
    }
    copy_file(from, to, stamp)?;
    if stamp_of(from).as_ref() == Some(stamp) {
        return Ok(true);
    }
    remove_entry(to)?;
    Ok(false)
}

/// Copies a file and returns its properties. A file that changes all the time (a log) is copied as it is then.
fn copy_new(from: &Path, to: &Path) -> io::Result<FileStamp> {
    for _ in 0..ATTEMPTS {
        if let Some(stamp) = stamp_of(from)
            && copy_if(from, &stamp, to)?
        {
            return Ok(stamp);
        }
    }
    let stamp = stamp(&fs_err::metadata(from)?)?;
    copy_file(from, to, &stamp)?;
    stamp_of(to).ok_or_else(|| io::Error::other(format!("`{}` cannot be copied", from.display())))
}

/// Copies a file with its time, which cargo compares.
fn copy_file(from: &Path, to: &Path, stamp: &FileStamp) -> io::Result<()> {
    fs_err::copy(from, to)?;
    // The owner may set times, even of a read-only file.
    let file = fs_err::OpenOptions::new().read(true).write(cfg!(windows)).open(to)?;
    file.file().set_times(FileTimes::new().set_modified(stamp.modified))
}

/// Returns the properties of a regular file; `None` if there is none.
fn stamp_of(path: &Path) -> Option<FileStamp> {
    let metadata = std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    stamp(&metadata).ok()
}

fn stamp(metadata: &std::fs::Metadata) -> io::Result<FileStamp> {
    Ok(FileStamp { size: metadata.len(), modified: metadata.modified()?, permissions: metadata.permissions() })
}

/// Returns the entry at a path. A file of another kind is like an empty link.
fn entry_at(path: &Path) -> io::Result<Option<SnapshotEntry>> {
    let Ok(metadata) = fs_err::symlink_metadata(path) else { return Ok(None) };
    Ok(Some(if metadata.is_dir() {
        SnapshotEntry::Directory
    } else if metadata.is_file() {
        SnapshotEntry::File(stamp(&metadata)?)
    } else {
        SnapshotEntry::Link(std::fs::read_link(path).unwrap_or_default())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    /// Takes a snapshot of a directory with these files.
    fn taken(files: &[(&str, &str)]) -> (tempfile::TempDir, WorkspaceSnapshot) {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            write(&dir.path().join("original").join(name), text);
        }
        let [original, copy, backup] = ["original", "0", "backup"].map(|name| dir.path().join(name));
        let snapshot = WorkspaceSnapshot::take(&original, &copy, &backup, &|_| false).unwrap();
        (dir, snapshot)
    }

    #[test]
    fn a_file_that_a_run_changed_does_not_follow_the_user() {
        let (dir, snapshot) = taken(&[("a", "before"), ("src/b", "before")]);
        let [copy, other] = ["0", "1"].map(|name| dir.path().join(name));
        // A run changes a file, which the next run gets back. Then the user edits it.
        write(&copy.join("src/b"), "by a run");
        snapshot.restore(&copy, &[]).unwrap();
        write(&dir.path().join("original/src/b"), "by the user");
        write(&dir.path().join("original/a"), "edited before any run changed it");
        write(&copy.join("src/b"), "by another run");
        snapshot.restore(&copy, &[]).unwrap();
        // A new copy has what the others have.
        snapshot.restore(&other, std::slice::from_ref(&copy)).unwrap();
        for place in [&copy, &other] {
            for name in ["a", "src/b"] {
                assert_eq!(fs_err::read_to_string(place.join(name)).unwrap(), "before", "{name}");
            }
        }
    }

    #[test]
    fn a_file_that_changed_everywhere_is_named() {
        let (dir, snapshot) = taken(&[("a", "before")]);
        write(&dir.path().join("original/a"), "by the user");
        write(&dir.path().join("0/a"), "by a run");
        let error = snapshot.restore(&dir.path().join("0"), &[]).unwrap_err().to_string();
        assert!(error.contains("original/a` was changed or deleted after the search began"), "{error}");
    }

    #[test]
    fn entries_of_another_kind_are_replaced() {
        let (dir, snapshot) = taken(&[("file", "f"), ("dir/inner", "i"), ("empty/x", "")]);
        let copy = dir.path().join("0");
        fs_err::remove_file(copy.join("file")).unwrap();
        write(&copy.join("file/inside"), "");
        fs_err::remove_dir_all(copy.join("dir")).unwrap();
        write(&copy.join("dir"), "");
        fs_err::remove_dir_all(copy.join("empty")).unwrap();
        link(Path::new("file"), &copy.join("empty")).unwrap();
        snapshot.restore(&copy, &[]).unwrap();
        assert_eq!(fs_err::read_to_string(copy.join("file")).unwrap(), "f");
        assert_eq!(fs_err::read_to_string(copy.join("dir/inner")).unwrap(), "i");
        assert!(fs_err::symlink_metadata(copy.join("empty")).unwrap().is_dir() && copy.join("empty/x").exists());
    }
}
