//! Git's records of one worktree, restored before each run.
//!
//! The run before may have changed them: by a commit, a merge that it did not end, or flags in the index.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs::File,
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::diff::to_path;
use crate::process::remove_tree::remove_entry;

/// The file in a worktree that leads to the directory with git's records.
const LINK: &str = ".git";
/// The list of the files that git has checked out.
const INDEX: &str = "index";

/// The records of a worktree, as they were after a checkout.
#[derive(Debug)]
pub(super) struct WorktreeFiles {
    link: PathBuf,
    content_of_link: Vec<u8>,
    directory: PathBuf,
    /// The entries of the directory; of files, with their content.
    entries: BTreeMap<OsString, Option<Vec<u8>>>,
    /// The time of the index, by which git decides which files it must read again.
    time_of_index: Option<SystemTime>,
}

impl WorktreeFiles {
    /// Reads the records of a worktree.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(super) fn of(tree: &Path) -> io::Result<Self> {
        let link = tree.join(LINK);
        let content_of_link = fs_err::read(&link)?;
        let directory = content_of_link.trim_ascii().strip_prefix(b"gitdir: ");
        let directory = tree.join(to_path(directory.ok_or(io::ErrorKind::InvalidData)?));
        let mut entries = BTreeMap::new();
        for entry in fs_err::read_dir(&directory)? {
            let entry = entry?;
            let content = if entry.file_type()?.is_file() { Some(fs_err::read(entry.path())?) } else { None };
            entries.insert(entry.file_name(), content);
        }
        let time_of_index = fs_err::metadata(directory.join(INDEX)).and_then(|index| index.modified()).ok();
        Ok(Self { link, content_of_link, directory, entries, time_of_index })
    }

    /// Undoes what a run has changed.
    ///
    /// # Errors
    /// If a file cannot be read, written or removed.
    pub(super) fn restore(&self) -> io::Result<()> {
        write_if_changed(&self.link, &self.content_of_link)?;
        for entry in fs_err::read_dir(&self.directory)? {
            let entry = entry?;
            // The state of a merge or a rebase, for example, or a lock.
            if !self.entries.contains_key(&entry.file_name()) {
                remove_entry(&entry.path())?;
            }
        }
        for (name, content) in &self.entries {
            let Some(content) = content else { continue };
            let path = self.directory.join(name);
            if write_if_changed(&path, content)?
                && name == INDEX
                && let Some(time) = self.time_of_index
            {
                File::options().write(true).open(path)?.set_modified(time)?;
            }
        }
        Ok(())
    }
}

/// Writes a file unless it has this content. Returns true if it was written.
fn write_if_changed(path: &Path, content: &[u8]) -> io::Result<bool> {
    if fs_err::read(path).is_ok_and(|present| present == content) {
        return Ok(false);
    }
    // A run may have put a link or a directory in its place.
    remove_entry(path)?;
    fs_err::write(path, content)?;
    Ok(true)
}
