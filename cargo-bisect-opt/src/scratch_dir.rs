//! A directory for the temporary files of one run: what is left there is gone with the run, and no other run sees it.

use std::{
    env, io, mem,
    path::{Path, PathBuf},
};

use crate::remove::remove_tree;

/// The variables by which programs find it.
const VARIABLES: &[&str] = if cfg!(windows) { &["TMPDIR", "TMP", "TEMP"] } else { &["TMPDIR"] };

/// The directory. It is deleted with this value.
#[derive(Debug)]
pub struct ScratchDir {
    path: PathBuf,
}

impl ScratchDir {
    /// A new one below the system's directory for temporary files, for this user only.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new() -> io::Result<Self> {
        // Runs work in other directories. And the name is short: that of a socket, to which programs add their own
        // directories, must not have more than some hundred bytes.
        let parent = std::path::absolute(env::temp_dir())?;
        let mut builder = tempfile::Builder::new();
        builder.prefix("bo-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let path = builder.tempdir_in(&parent).map_err(|error| {
            io::Error::new(error.kind(), format!("no directory can be made in `{}`: {error}", parent.display()))
        })?;
        Ok(Self { path: path.keep() })
    }

    /// Where it is; absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What makes a program use it.
    pub fn variables(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        VARIABLES.iter().map(|&name| (name, self.path()))
    }

    /// Deletes it with all that is in it.
    ///
    /// # Errors
    /// If something stays, see [`remove_tree`].
    pub fn delete(mut self) -> io::Result<()> {
        remove_tree(&mem::take(&mut self.path))
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // Nobody is left to tell; whoever wants to know calls `delete`.
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
    fn what_is_gone_already_is_no_error() {
        let dir = ScratchDir::new().unwrap();
        fs::remove_dir(dir.path()).unwrap();
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
