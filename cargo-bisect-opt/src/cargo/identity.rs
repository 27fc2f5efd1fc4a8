//! Detection of built files that another process has replaced.
//!
//! Executables are started at their original paths, not as copies: tests look for programs and data next to their own
//! executable, libraries are found from there, and the command that reproduces a culprit must start the same file. So
//! other processes can replace a file, but that is detected.

use std::{
    fs::Metadata,
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::{Deserialize, Serialize};

/// A file as it was built.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BuiltFile {
    path: PathBuf,
    identity: Option<Identity>,
}

/// The properties that change if a file is replaced or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Identity {
    file: (u64, u64),
    length: u64,
    modified: Option<SystemTime>,
}

impl BuiltFile {
    /// Records the current file.
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), identity: identity(path) }
    }

    /// Returns its path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether it was replaced or deleted.
    pub(crate) fn is_exchanged(&self) -> bool {
        self.identity != identity(&self.path)
    }
}

fn identity(path: &Path) -> Option<Identity> {
    let metadata = path.metadata().ok()?;
    Some(Identity { file: file(&metadata), length: metadata.len(), modified: metadata.modified().ok() })
}

#[cfg(unix)]
fn file(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;

    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn file(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn any_other_file_is_another() {
        let dir = tempfile::tempdir().unwrap();
        let (path, other) = (dir.path().join("file"), dir.path().join("other"));
        fs::write(&path, "built").unwrap();
        let built = BuiltFile::new(&path);
        assert!(!built.is_exchanged());
        fs::hard_link(&path, &other).unwrap();
        fs::rename(&other, &path).unwrap();
        assert!(!built.is_exchanged(), "the same under another name");

        fs::copy(&path, &other).unwrap();
        let times = fs::FileTimes::new().set_modified(path.metadata().unwrap().modified().unwrap());
        fs::File::options().write(true).open(&other).unwrap().set_times(times).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(built.is_exchanged(), "it is gone");
        fs::rename(&other, &path).unwrap();
        assert_eq!(built.is_exchanged(), cfg!(unix), "the same bytes, at the same time, in another file");
        assert!(!BuiltFile::new(&path).is_exchanged());
        let built = BuiltFile::new(&path);
        fs::write(&path, "longer").unwrap();
        assert!(built.is_exchanged());
    }
}
