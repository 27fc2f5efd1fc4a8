//! A file as it is in a revision.

use std::path::Path;

use super::query;
use crate::process::SpawnError;

/// A reason why a file of a revision cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileAtError {
    /// There is no git, or it cannot be started.
    #[error("a revision is read with git: {0}")]
    Start(#[from] SpawnError),
    /// The revision, or the file in it, does not exist.
    #[error("{0}")]
    Missing(String),
}

/// Returns the text of a file in a directory of a work tree, at a revision.
///
/// # Errors
/// See [`FileAtError`].
pub(crate) fn file_at(directory: &Path, revision: &str, name: &str) -> Result<String, FileAtError> {
    // Git would take these for the index and for an option.
    if revision.is_empty() {
        return Err(FileAtError::Missing("no revision is given".to_owned()));
    }
    if revision.starts_with('-') {
        return Err(FileAtError::Missing("a revision does not begin with `-`".to_owned()));
    }
    let object = format!("{revision}:./{name}");
    let reply = query::query(directory, &["cat-file", "blob", &object].map(str::to_owned))?;
    match reply.failure {
        Some(_) => Err(FileAtError::Missing(reply.message)),
        None => Ok(String::from_utf8_lossy(&reply.output).into_owned()),
    }
}
