//! Directories for temporary files: one for all runs at once, in it one for each run, and in that one for each process that
//! the run starts. So a process begins with an empty one, what is left there is gone with the run, and no other run sees it.

use std::{
    env, io, mem,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use super::{owned_dir::OwnedDir, remove_tree::remove_tree};

/// The variables by which programs find it.
const VARIABLES: &[&str] = if cfg!(windows) { &["TMPDIR", "TMP", "TEMP"] } else { &["TMPDIR"] };

/// A directory. It is deleted with this value.
#[derive(Debug)]
pub(crate) struct ScratchDir {
    path: PathBuf,
    /// The outermost.
    owned: Option<OwnedDir>,
    /// How many were made in it.
    inner: AtomicUsize,
}

impl ScratchDir {
    /// A new one below the system's directory for temporary files, for this user only.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn new() -> io::Result<Self> {
        // Runs work in other directories. And the name is short: that of a socket, to which programs add their own
        // directories, must not have more than some hundred bytes.
        let parent = std::path::absolute(env::temp_dir())?;
        let owned = OwnedDir::new_in(&parent, "bo-").map_err(|error| {
            io::Error::new(error.kind(), format!("no directory can be made in `{}`: {error}", parent.display()))
        })?;
        Ok(Self { path: owned.path().to_owned(), owned: Some(owned), inner: AtomicUsize::new(0) })
    }

    /// A new one in this one.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn inner(&self) -> io::Result<Self> {
        let path = self.path.join(self.inner.fetch_add(1, Ordering::Relaxed).to_string());
        fs_err::create_dir(&path)?;
        Ok(Self { path, owned: None, inner: AtomicUsize::new(0) })
    }

    /// Where it is; absolute.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What makes a program use it.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        VARIABLES.iter().map(|&name| (name, self.path()))
    }

    /// Deletes it with all that is in it.
    ///
    /// # Errors
    /// If something stays, see [`remove_tree`].
    pub(crate) fn delete(mut self) -> io::Result<()> {
        let path = mem::take(&mut self.path);
        self.owned.take().map_or_else(|| remove_tree(&path), OwnedDir::delete)
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        if self.owned.is_none() && !self.path.as_os_str().is_empty() {
            // What stays now goes with the one that this is in.
            let _ = remove_tree(&self.path);
        }
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
    fn what_is_gone_already_is_no_error() {
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
