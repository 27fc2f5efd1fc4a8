//! Copies of a target directory, so that parallel builds, each in its own directory, need not compile everything.
//!
//! Cargo compares the times of files, and paths relative to the target directory. So in a copy with the same times,
//! artifacts are fresh. If the sources of the copy are others, the artifacts must be older than these. Only a package whose build script watches a file in its own `OUT_DIR` is built again, once: its
//! absolute path has changed.
//!
//! Paths that were compiled into artifacts stay the same: `env!("OUT_DIR")` is the directory in the original, which
//! must not be moved. But tests and benches can contain the paths of programs, and of the directory for temporary
//! files. With those of the original, they would start programs of another build, and disturb each other. The copy
//! leaves these executables out, and cargo builds them again.

use std::{
    collections::BTreeSet,
    fs::{FileTimes, Metadata},
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::target_lock::LOCKS;
use crate::process::remove_tree::remove_tree;

/// The file that marks a directory as a copy of the driver's, which the next copy may replace.
const MARK: &str = ".bisect-opt-seed";
const MARK_TEXT: &[u8] = b"A copy that cargo bisect-opt has made, and replaces when it needs another one.\n";

/// The prefix of directories for one search, which are not copied. No profile has a name of this form.
pub(crate) const OF_ONE_SEARCH: &str = ".search-";

/// The beginnings of lines in dep-info files that record compiled-in paths in the target directory.
const BOUND: [&[u8]; 2] = [b"\n# env-dep:CARGO_BIN_EXE_", b"\n# env-dep:CARGO_TARGET_TMPDIR="];

/// A reason why a target directory cannot be copied.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CloneError {
    /// The user interrupted. The partial copy is deleted.
    #[error("interrupted")]
    Interrupted,
    /// The destination has files that are not the driver's.
    #[error("`{}` is not empty, and no earlier search has made it: nothing in it was changed; move it away", .0.display())]
    NotOurs(PathBuf),
    /// The original is inside the destination.
    #[error("cannot copy `{}` to `{}`, a directory that contains it", from.display(), to.display())]
    Inside {
        /// The original.
        from: PathBuf,
        /// The destination.
        to: PathBuf,
    },
    /// A file cannot be read or written. The partial copy is deleted.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Makes `to` a copy of the target directory `from`, in which no build may run. Replaces an earlier copy. `to` may be
/// below `from`; copies are not copied.
///
/// Keeps permissions and times, but no time is later than `latest`, and copies links as links. Omits the files of incremental compilation, which are large
/// and only help to compile crates again. Checks `is_interrupted` between files.
///
/// # Errors
/// See [`CloneError`].
pub(crate) fn clone_target_dir(
    from: &Path,
    to: &Path,
    latest: Option<SystemTime>,
    is_interrupted: &dyn Fn() -> bool,
) -> Result<(), CloneError> {
    clear(from, to)?;
    let copied = copy_all(from, to, latest, is_interrupted);
    if copied.is_err() {
        // The first error is reported; a failed cleanup does not matter.
        let _ = remove_tree(to);
    }
    copied
}

/// Deletes an earlier copy, and makes an empty directory with the mark, so that a partial copy has it, too.
fn clear(from: &Path, to: &Path) -> Result<(), CloneError> {
    match fs_err::symlink_metadata(to) {
        Ok(metadata) if metadata.is_dir() => {
            if fs_err::canonicalize(from)?.starts_with(fs_err::canonicalize(to)?) {
                return Err(CloneError::Inside { from: from.to_owned(), to: to.to_owned() });
            }
            let is_empty = || Ok::<_, io::Error>(fs_err::read_dir(to)?.next().is_none());
            if !is_copy(to) && !is_empty()? {
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

fn is_copy(dir: &Path) -> bool {
    std::fs::read(dir.join(MARK)).is_ok_and(|text| text == MARK_TEXT)
}

fn copy_all(
    from: &Path,
    to: &Path,
    latest: Option<SystemTime>,
    is_interrupted: &dyn Fn() -> bool,
) -> Result<(), CloneError> {
    let metadata = fs_err::metadata(from)?;
    let mut directories = vec![(from.to_owned(), to.to_owned(), metadata)];
    let mut next = 0;
    while let Some((from, to, _)) = directories.get(next).cloned() {
        next += 1;
        let entries = fs_err::read_dir(&from)?.collect::<Result<Vec<_>, _>>()?;
        let bound = bound_to_place(entries.iter().map(fs_err::DirEntry::path))?;
        for entry in entries {
            if is_interrupted() {
                return Err(CloneError::Interrupted);
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
                set_times(&target, &metadata, latest)?;
            }
            // Other files (sockets, pipes) belong to processes that have ended.
        }
    }
    // From the bottom up: a new file changes the time of its directory, and permissions may forbid it. Other systems
    // cannot open a directory as a file.
    #[cfg(unix)]
    for (_, to, metadata) in directories.iter().rev() {
        set_times(to, metadata, latest)?;
        fs_err::set_permissions(to, metadata.permissions())?;
    }
    Ok(())
}

/// Returns whether a directory is not copied: copies, directories of one search, locks, and the directory `incremental`
/// of a profile, which is next to its fingerprints.
fn is_left_out(parent: &Path, dir: &Path) -> bool {
    let name = dir.file_name().unwrap_or_default();
    name == "incremental" && parent.join(".fingerprint").is_dir()
        || name.to_string_lossy().starts_with(OF_ONE_SEARCH)
        || name == LOCKS
        || is_copy(dir)
}

/// Returns the artifacts, without extension, with compiled-in paths that must differ in each copy.
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

fn set_times(path: &Path, metadata: &Metadata, latest: Option<SystemTime>) -> io::Result<()> {
    // On Unix the owner may set times, even of a read-only file.
    let file = fs_err::OpenOptions::new().read(true).write(cfg!(windows)).open(path)?;
    let modified = metadata.modified()?;
    let modified = latest.map_or(modified, |latest| modified.min(latest));
    file.file().set_times(FileTimes::new().set_modified(modified))
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
