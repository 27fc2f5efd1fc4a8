//! Work trees that hold any selection of a patch's parts: one a slot, and one for checks.
//!
//! Only files that differ from the selection before are written, so that cargo rebuilds only what changed. What runs
//! have changed or left there is undone.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    conversions::{Conversions, has_attributes},
    parts::{Composition, Patch},
    trees::{FileMode, FileVersion},
};
use crate::vcs::{
    diff::to_path,
    query,
    worktrees::{Checkout, WorktreeError, Worktrees},
};

/// The work trees of one search.
#[derive(Debug)]
pub(crate) struct Overlays {
    worktrees: Arc<Worktrees>,
    /// The commit of the old tree.
    commit: String,
    /// The files that git converts.
    conversions: Conversions,
    /// The slots whose work tree exists.
    slots: Arc<Mutex<BTreeSet<usize>>>,
}

impl Overlays {
    /// Prepares work trees at a commit for the selections of a patch.
    ///
    /// # Errors
    /// If git cannot convert a file.
    pub(crate) fn new(worktrees: Worktrees, commit: &str, patch: &Patch) -> Result<Self, WorktreeError> {
        let conversions = Conversions::of(patch, worktrees.repository()).map_err(WorktreeError::Conversion)?;
        Ok(Self { worktrees: Arc::new(worktrees), commit: commit.to_owned(), conversions, slots: Arc::default() })
    }

    /// Returns the same work trees for the selections of another patch.
    ///
    /// # Errors
    /// If git cannot convert a file.
    pub(crate) fn of_patch(&self, patch: &Patch) -> Result<Self, WorktreeError> {
        let conversions = Conversions::of(patch, self.worktrees.repository()).map_err(WorktreeError::Conversion)?;
        let (worktrees, slots) = (Arc::clone(&self.worktrees), Arc::clone(&self.slots));
        Ok(Self { worktrees, commit: self.commit.clone(), conversions, slots })
    }

    /// Returns the worktrees.
    pub(crate) fn worktrees(&self) -> &Worktrees {
        &self.worktrees
    }

    /// Gives the work tree of a slot the files of a selection of parts. A slot is used by one thread at a time.
    ///
    /// # Errors
    /// If there can be no work tree for the slot.
    pub(crate) fn set(
        &self,
        slot: usize,
        patch: &Patch,
        is_enabled: impl Fn(usize) -> bool,
    ) -> Result<Checkout, WorktreeError> {
        let tree = if self.slots().contains(&slot) {
            if let Err(error) = self.worktrees.forget_run(slot) {
                return Ok(Checkout::Failed(error.to_string()));
            }
            self.worktrees.tree(slot)
        } else {
            match self.worktrees.checkout(slot, &self.commit)? {
                Checkout::Failed(why) => return Ok(Checkout::Failed(why)),
                Checkout::Done(tree) => tree,
            }
        };
        self.slots().insert(slot);
        let mut wanted = patch.compose(is_enabled);
        let attributes = wanted.iter().filter(|(path, _)| has_attributes(path));
        let attributes = attributes.map(|(&path, version)| (path, version.clone())).collect();
        let not_written = |error| Checkout::Failed(format!("the files of this selection cannot be written: {error}"));
        if let Err(error) = write(&tree, &attributes) {
            return Ok(not_written(error));
        }
        if let Err(error) = self.conversions.apply(&tree, &mut wanted) {
            return Ok(Checkout::Failed(format!("git cannot convert the files of this selection: {error}")));
        }
        if let Err(why) = restore(&tree, &wanted) {
            return Ok(Checkout::Failed(why));
        }
        match write(&tree, &wanted) {
            Ok(()) => self.worktrees.completed(tree),
            Err(error) => Ok(not_written(error)),
        }
    }

    /// Returns the Rust files of a work tree that no part changes, with their paths; none if there is no work tree, or
    /// it has more than this number of files.
    pub(crate) fn unchanged_sources(&self, patch: &Patch, most: usize) -> Vec<(PathBuf, Vec<u8>)> {
        let Some(slot) = self.slots().first().copied() else { return Vec::new() };
        let tree = self.worktrees.tree(slot);
        let Ok(listed) = query::call(&tree, &["ls-files", "-z", "--", "*.rs"]) else { return Vec::new() };
        let changed = patch.compose(|_| true);
        let paths = listed.output.split(|&byte| byte == 0).filter(|path| !path.is_empty()).map(to_path);
        let paths: Vec<_> = paths.filter(|path| !changed.contains_key(path)).collect();
        if paths.len() > most {
            return Vec::new();
        }
        let read = |path: PathBuf| fs_err::read(tree.join(&path)).ok().map(|content| (path, content));
        paths.into_iter().filter_map(read).collect()
    }

    fn slots(&self) -> std::sync::MutexGuard<'_, BTreeSet<usize>> {
        // The set is still correct after a panic.
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Undoes changes of files that are not in the composition.
///
/// # Errors
/// If that fails: the reason, for people.
fn restore(tree: &Path, wanted: &Composition<'_>) -> Result<(), String> {
    let found = differences(tree)?;
    let (untracked, tracked): (Vec<_>, Vec<_>) =
        found.into_iter().filter(|(_, path)| !wanted.contains_key(path)).partition(|(state, _)| state == b"??");
    for (_, path) in untracked {
        remove(tree, &path).map_err(|error| error.to_string())?;
    }
    if tracked.is_empty() {
        return Ok(());
    }
    let checkout = ["--literal-pathspecs", "checkout", "--force", "--quiet", "--"].map(OsStr::new).into_iter();
    git(tree, &checkout.chain(tracked.iter().map(|(_, path)| path.as_os_str())).collect::<Vec<_>>()).map(drop)
}

/// The state of a file, as `git status` prints it in two letters, and its path.
type ListedFile = ([u8; 2], PathBuf);

/// Returns the files that differ from the commit, and those that git neither tracks nor ignores. The submodules are left
/// to [`Worktrees::completed`].
fn differences(tree: &Path) -> Result<Vec<ListedFile>, String> {
    let status = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all"];
    let listed = git(tree, &status.map(OsStr::new))?;
    let entries = listed.split(|&byte| byte == 0).filter_map(|entry| entry.split_at_checked(3));
    Ok(entries.map(|(state, path)| ([state[0], state[1]], to_path(path))).collect())
}

/// Returns the output of git in a work tree.
fn git(tree: &Path, arguments: &[&OsStr]) -> Result<Vec<u8>, String> {
    let reply = query::call(tree, arguments).map_err(|error| error.to_string())?;
    let is_option = |word: &&&OsStr| word.as_encoded_bytes().starts_with(b"-");
    let command = arguments.iter().find(|word| !is_option(word)).map_or(OsStr::new(""), |name| name).display();
    reply.failure.map_or(Ok(reply.output), |_| Err(format!("`git {command}` failed: {}", reply.message)))
}

/// Writes the files of a composition below a directory, where they differ from those that are there.
///
/// # Errors
/// If a file cannot be written.
pub(crate) fn write(tree: &Path, wanted: &Composition<'_>) -> io::Result<()> {
    // First removals: they make room for directories.
    for path in wanted.iter().filter(|(_, version)| version.is_none()).map(|(path, _)| path) {
        remove(tree, path)?;
    }
    wanted.values().flatten().try_for_each(|version| write_file(tree, version))
}

/// Removes a file, if it is there, and the directories that become empty. A directory in its place stays.
fn remove(tree: &Path, path: &Path) -> io::Result<()> {
    // A link may lead out of the tree, and a file has nothing below it.
    if obstacle(tree, path).is_some() {
        return Ok(());
    }
    let file = tree.join(path);
    match file.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => fs_err::remove_file(&file)?,
        Err(_) => return Ok(()),
    }
    for parent in parents(tree, path) {
        if fs_err::remove_dir(parent).is_err() {
            break;
        }
    }
    Ok(())
}

fn write_file(tree: &Path, version: &FileVersion) -> io::Result<()> {
    let path = &tree.join(&version.path);
    if let Some(obstacle) = obstacle(tree, &version.path) {
        fs_err::remove_file(obstacle)?;
    }
    if is_there(path, version) {
        return Ok(());
    }
    match path.symlink_metadata() {
        // A run created this directory. `git status` does not list empty or ignored directories.
        Ok(metadata) if metadata.is_dir() => fs_err::remove_dir_all(path)?,
        Ok(_) => fs_err::remove_file(path)?,
        Err(_) => {}
    }
    if let Some(parent) = path.parent() {
        fs_err::create_dir_all(parent)?;
    }
    if version.mode == FileMode::Link {
        return link(&version.content, path);
    }
    fs_err::write(path, &version.content)?;
    set_executable(path, version.mode == FileMode::Executable)
}

/// Returns the file or the link that a run created where a directory of this path must be; the outermost one, because the
/// path of an inner one may lead through a link. A link could redirect what is written to a place outside of the tree.
fn obstacle(tree: &Path, path: &Path) -> Option<PathBuf> {
    let is_in_the_way = |place: &PathBuf| place.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir());
    parents(tree, path).filter(is_in_the_way).last()
}

/// Returns the directories of the tree that contain this path, the innermost first, without the tree itself.
fn parents(tree: &Path, path: &Path) -> impl Iterator<Item = PathBuf> {
    let within = path.ancestors().skip(1).filter(|directory| !directory.as_os_str().is_empty());
    within.map(|directory| tree.join(directory))
}

/// Returns true if a file is as it should be.
fn is_there(path: &Path, version: &FileVersion) -> bool {
    let Ok(metadata) = path.symlink_metadata() else { return false };
    if version.mode == FileMode::Link {
        return metadata.is_symlink()
            && fs_err::read_link(path).is_ok_and(|target| target == to_path(&version.content));
    }
    metadata.is_file()
        && metadata.len() == version.content.len() as u64
        && has_mode(&metadata, version.mode)
        && fs_err::read(path).is_ok_and(|content| content == version.content)
}

#[cfg(unix)]
fn has_mode(metadata: &std::fs::Metadata, mode: FileMode) -> bool {
    use std::os::unix::fs::PermissionsExt;

    (metadata.permissions().mode() & 0o100 != 0) == (mode == FileMode::Executable)
}

#[cfg(not(unix))]
fn has_mode(_: &std::fs::Metadata, _: FileMode) -> bool {
    true
}

#[cfg(unix)]
fn set_executable(path: &Path, is_executable: bool) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    let mut permissions = fs_err::metadata(path)?.permissions();
    let mode = permissions.mode();
    permissions.set_mode(if is_executable { mode | (mode & 0o444) >> 2 } else { mode & !0o111 });
    fs_err::set_permissions(path, permissions)
}

#[cfg(not(unix))]
fn set_executable(_: &Path, _: bool) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn link(target: &[u8], path: &Path) -> io::Result<()> {
    fs_err::os::unix::fs::symlink(to_path(target), path)
}

/// Git writes links as files where the system has no links.
#[cfg(not(unix))]
fn link(target: &[u8], path: &Path) -> io::Result<()> {
    fs_err::write(path, target)
}
