//! Copies of a target directory, so that several builds can go on at the same time, each in its own, and none begins anew.
//!
//! Cargo goes by the times of files and by paths relative to the target directory, so in a copy with the same times what is
//! compiled is fresh. Only a package whose build script watches a file in its own `OUT_DIR` is built again, once: cargo
//! takes its name for another one.
//!
//! What was compiled into the artifacts stays as it is: `env!("OUT_DIR")` is the directory in the original, which must stay
//! where it is therefore. For the names of programs, and of the directory for files of tests, which cargo lets tests and
//! benches have, that does not do: they would start programs of another build, and get into each other's way. Such
//! executables are left out, and cargo makes them anew.

use std::{
    collections::BTreeSet,
    fs::{FileTimes, Metadata},
    io,
    path::{Path, PathBuf},
};

use super::target_lock::LOCKS;
use crate::process::remove_tree::remove_tree;

/// The file that says that a directory is a copy of ours, to be replaced by the next one.
const MARK: &str = ".bisect-opt-seed";
const MARK_TEXT: &[u8] = b"A copy that cargo bisect-opt has made, and replaces when it needs another one.\n";

/// How the names of directories begin that are for one search, and so in no copy. No profile has such a name.
pub(crate) const OF_ONE_SEARCH: &str = ".search-";

/// Where rustc writes down what was compiled in, how lines begin that say it of paths in the target directory.
const BOUND: [&[u8]; 2] = [b"\n# env-dep:CARGO_BIN_EXE_", b"\n# env-dep:CARGO_TARGET_TMPDIR="];

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CloneError {
    /// It was to stop. Nothing is left of the copy.
    #[error("interrupted")]
    Stopped,
    /// Someone else's files are where the copy was to be.
    #[error("`{}` is not empty, and no earlier search has made it: nothing in it was touched; move it away", .0.display())]
    NotOurs(PathBuf),
    /// The copy cannot be a part of the original without being copied itself, nor the other way round.
    #[error("`{}` cannot be copied to `{}`, which it is in", from.display(), to.display())]
    Inside {
        /// The original.
        from: PathBuf,
        /// Where the copy was to be.
        to: PathBuf,
    },
    /// A file cannot be read or written. Nothing is left of the copy.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Makes `to` a copy of the target directory `from`, which nobody builds in at that time. An earlier copy is replaced; it, and
/// this one, may be below `from`, which is then copied without it.
///
/// Permissions and times are kept, and links are as they are. The incremental compiler's files are left out: they are large, and
/// only of use to crates that are compiled again. `stop` is asked between files.
///
/// # Errors
/// See [`CloneError`].
pub(crate) fn seed(from: &Path, to: &Path, stop: &dyn Fn() -> bool) -> Result<(), CloneError> {
    clear(from, to)?;
    let copied = copy_all(from, to, stop);
    if copied.is_err() {
        // What made it fail is told; this is only tidying.
        let _ = remove_tree(to);
    }
    copied
}

/// Takes an earlier copy away and makes an empty directory that is marked as ours, so that half a copy is ours too.
fn clear(from: &Path, to: &Path) -> Result<(), CloneError> {
    match fs_err::symlink_metadata(to) {
        Ok(metadata) if metadata.is_dir() => {
            if fs_err::canonicalize(from)?.starts_with(fs_err::canonicalize(to)?) {
                return Err(CloneError::Inside { from: from.to_owned(), to: to.to_owned() });
            }
            let is_empty = || Ok::<_, io::Error>(fs_err::read_dir(to)?.next().is_none());
            if !is_seed(to) && !is_empty()? {
                return Err(CloneError::NotOurs(to.to_owned()));
            }
            remove_tree(to)?;
        }
        Ok(_) => return Err(CloneError::NotOurs(to.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(CloneError::Io(error)),
    }
    fs_err::create_dir_all(to)?;
    Ok(fs_err::write(to.join(MARK), MARK_TEXT)?)
}

fn is_seed(dir: &Path) -> bool {
    std::fs::read(dir.join(MARK)).is_ok_and(|text| text == MARK_TEXT)
}

fn copy_all(from: &Path, to: &Path, stop: &dyn Fn() -> bool) -> Result<(), CloneError> {
    let metadata = fs_err::metadata(from)?;
    let mut directories = vec![(from.to_owned(), to.to_owned(), metadata)];
    let mut next = 0;
    while let Some((from, to, _)) = directories.get(next).cloned() {
        next += 1;
        let entries = fs_err::read_dir(&from)?.collect::<Result<Vec<_>, _>>()?;
        let bound = bound_to_place(entries.iter().map(fs_err::DirEntry::path))?;
        for entry in entries {
            if stop() {
                return Err(CloneError::Stopped);
            }
            let (source, target) = (entry.path(), to.join(entry.file_name()));
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                if !is_left_out(&from, &source) {
                    fs_err::create_dir(&target)?;
                    directories.push((source, target, metadata));
                }
            } else if metadata.is_symlink() {
                copy_link(&source, &target)?;
            } else if metadata.is_file() && !bound.contains(&source.with_extension("")) {
                fs_err::copy(&source, &target)?;
                set_times(&target, &metadata)?;
            }
            // What else there is (a socket, a pipe) belongs to a process that is gone.
        }
    }
    // From the bottom up: what is put into a directory changes its time, and its permissions may be against it. Other
    // systems do not open a directory as a file.
    #[cfg(unix)]
    for (_, to, metadata) in directories.iter().rev() {
        set_times(to, metadata)?;
        fs_err::set_permissions(to, metadata.permissions())?;
    }
    Ok(())
}

/// The copies themselves, what is for one search, and the directory `incremental` of a profile, which has its fingerprints
/// beside it.
fn is_left_out(parent: &Path, dir: &Path) -> bool {
    let name = dir.file_name().unwrap_or_default();
    name == "incremental" && parent.join(".fingerprint").is_dir()
        || name.to_string_lossy().starts_with(OF_ONE_SEARCH)
        || name == LOCKS
        || is_seed(dir)
}

/// The artifacts, without extension, of which rustc has written down that a path of cargo's is compiled in that must be
/// another one in each copy.
fn bound_to_place(paths: impl Iterator<Item = PathBuf>) -> io::Result<BTreeSet<PathBuf>> {
    let mut bound = BTreeSet::new();
    for path in paths.filter(|path| path.extension().is_some_and(|extension| extension == "d") && path.is_file()) {
        let text = fs_err::read(&path)?;
        if BOUND.iter().any(|line| memchr::memmem::find(&text, line).is_some()) {
            bound.insert(path.with_extension(""));
        }
    }
    Ok(bound)
}

fn set_times(path: &Path, metadata: &Metadata) -> io::Result<()> {
    // To be the owner is enough on Unix, also of what must not be written.
    let file = fs_err::OpenOptions::new().read(true).write(cfg!(windows)).open(path)?;
    file.file().set_times(FileTimes::new().set_modified(metadata.modified()?))
}

#[cfg(unix)]
fn copy_link(from: &Path, to: &Path) -> io::Result<()> {
    fs_err::os::unix::fs::symlink(fs_err::read_link(from)?, to)
}

#[cfg(windows)]
fn copy_link(from: &Path, to: &Path) -> io::Result<()> {
    let target = fs_err::read_link(from)?;
    if from.is_dir() {
        fs_err::os::windows::fs::symlink_dir(target, to)
    } else {
        fs_err::os::windows::fs::symlink_file(target, to)
    }
}

#[cfg(test)]
#[path = "clone_target_dir_tests.rs"]
mod tests;
