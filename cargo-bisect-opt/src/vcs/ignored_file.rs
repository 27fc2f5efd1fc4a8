//! A file that git ignores in the user's work tree, and that worktrees get, such as a lock file.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::query;
use crate::process::SpawnError;

/// A file that git ignores in the user's work tree.
#[derive(Debug)]
pub(crate) struct IgnoredFile {
    /// The path, relative to the top directory.
    path: PathBuf,
    content: Vec<u8>,
}

impl IgnoredFile {
    /// Finds the nearest file with a name, from a directory up to the top directory of the work tree. Returns `None` if
    /// there is none, or git does not ignore it.
    ///
    /// # Errors
    /// If git cannot be started, or the file cannot be read.
    pub(crate) fn find(top: &Path, directory: &Path, name: &str) -> Result<Option<Self>, io::Error> {
        let inside = directory.ancestors().take_while(|directory| directory.starts_with(top));
        let Some(file) = inside.map(|directory| directory.join(name)).find(|file| file.is_file()) else {
            return Ok(None);
        };
        let query = query::query(top, &["check-ignore".as_ref(), "--quiet".as_ref(), "--".as_ref(), file.as_os_str()]);
        // A file that git tracks is not ignored, whatever the patterns say.
        if query.map_err(io::Error::other)?.failure.is_some() {
            return Ok(None);
        }
        let path = file.strip_prefix(top).unwrap_or(&file).to_owned();
        Ok(Some(Self { content: fs_err::read(&file)?, path }))
    }

    /// Returns the path, relative to the top directory.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the file into a worktree whose commit does not have it, if it is not there as it should be.
    ///
    /// # Errors
    /// If git cannot be started.
    pub(super) fn write(&self, tree: &Path) -> Result<io::Result<()>, SpawnError> {
        let tracked = query::call(tree, &["ls-files".as_ref(), "--".as_ref(), self.path.as_os_str()])?;
        let path = tree.join(&self.path);
        let is_wanted = tracked.output.is_empty() && path.parent().is_some_and(Path::is_dir);
        // An equal file keeps its time.
        let is_there = || fs_err::read(&path).is_ok_and(|content| content == self.content);
        Ok(if is_wanted && !is_there() { fs_err::write(&path, &self.content) } else { Ok(()) })
    }
}
