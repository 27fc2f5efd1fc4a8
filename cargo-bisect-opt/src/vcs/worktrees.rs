//! Worktrees of a repository: one a slot, at any commit, removed when the search ends.
//!
//! They are outside of the user's work tree: cargo, rustup and other tools look for configuration in all parent
//! directories, and would find that of the user's work tree. If its manifests name directories outside, relative paths
//! lead from a worktree to these, too. A later search removes the worktrees of a killed one.
//!
//! They are in a directory for temporary files, in a directory with a locked file, like those of other runs. The next
//! search removes git's records of those that a killed search left, and only those.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{diff, ignored_file::IgnoredFile, query, submodules, worktree_files::WorktreeFiles};
use crate::process::{SpawnError, mirror::Mirror, owned_dir::OwnedDir, scratch_dir::temp_dir, shell};

/// The beginning of the name of the directory that holds the worktrees of a search. It begins like other directories
/// for temporary files, so any search removes what a killed one left.
const PREFIX: &str = "bo-commits-";

/// A reason why worktrees cannot be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorktreeError {
    /// There is no git, or it cannot be started.
    #[error(transparent)]
    Start(#[from] SpawnError),
    /// The directory for them cannot be made.
    #[error("cannot create a directory in `{}`: {error}; set TMPDIR to another directory", parent.display())]
    Directory {
        /// The directory that was to contain it.
        parent: PathBuf,
        /// The error.
        error: io::Error,
    },
    /// The directories above a worktree cannot be made.
    #[error("cannot make the directories and links above the worktree `{}`: {error}; set TMPDIR to a directory where links can be made", tree.display())]
    Surroundings {
        /// The worktree.
        tree: PathBuf,
        /// The error.
        error: io::Error,
    },
    /// The user's lock file cannot be read.
    #[error("cannot read the lock file, which each worktree needs: {0}; make it readable")]
    LockFile(io::Error),
    /// Git cannot convert a file to the content that it has in a worktree.
    #[error("cannot find out how git writes the files of a worktree: {0}; make the repository and TMPDIR writable")]
    Conversion(io::Error),
    /// Git cannot make one.
    #[error("`git worktree add` failed, and runs need a worktree: {0}; run it by hand to see why")]
    Add(String),
}

/// The worktrees of one search.
#[derive(Debug)]
pub(crate) struct Worktrees {
    /// The user's work tree, and the places of worktrees in the directories of slots.
    mirror: Mirror,
    /// The directory that holds them; none after their removal.
    home: Option<OwnedDir>,
    /// The lock file that they get if git ignores it.
    lock_file: Option<IgnoredFile>,
    /// The slots whose worktrees exist, with git's records after the last checkout.
    slots: Mutex<BTreeMap<usize, Option<Arc<WorktreeFiles>>>>,
}

/// The state of a worktree after a checkout.
#[derive(Debug)]
pub(crate) enum Checkout {
    /// The worktree is at the commit, without other files.
    Done(PathBuf),
    /// This commit cannot be checked out, and why.
    Failed(String),
}

impl Worktrees {
    /// Prepares worktrees of the repository with this work tree. They get the lock file of the user's `directory`, if
    /// git ignores it. Relative paths lead from them to the directories `outside`. Removes the worktrees of killed
    /// searches.
    ///
    /// # Errors
    /// If no directory for them can be made, or git cannot be started.
    pub(crate) fn new(repository: &Path, directory: &Path, outside: &[PathBuf]) -> Result<Self, WorktreeError> {
        let lock_file = IgnoredFile::find(repository, directory, "Cargo.lock").map_err(WorktreeError::LockFile)?;
        let parent = temp_dir();
        // Git lists worktrees by their real paths.
        let home = fs_err::canonicalize(&parent)
            .and_then(|parent| OwnedDir::new_in(&parent, PREFIX))
            .map_err(|error| WorktreeError::Directory { parent, error })?;
        let mirror = Mirror::new(repository, repository, outside);
        let worktrees = Self { mirror, home: Some(home), lock_file, slots: Mutex::default() };
        worktrees.sweep()?;
        Ok(worktrees)
    }

    /// Returns the top directory of the user's work tree.
    pub(crate) fn repository(&self) -> &Path {
        self.mirror.original()
    }

    /// Moves the worktree of a slot to a commit, and deletes files that the commit neither has nor ignores. A slot is
    /// used by one thread at a time.
    ///
    /// # Errors
    /// If there can be no worktree for the slot.
    pub(crate) fn checkout(&self, slot: usize, commit: &str) -> Result<Checkout, WorktreeError> {
        let tree = self.tree(slot);
        {
            // Git makes one worktree at a time.
            let mut slots = self.slots();
            if let Entry::Vacant(vacant) = slots.entry(slot) {
                self.surround(slot).map_err(|error| WorktreeError::Surroundings { tree: tree.clone(), error })?;
                let name = tree.to_string_lossy();
                let add = ["worktree", "add", "--quiet", "--detach", "--no-checkout", "--lock", &name, commit];
                let added = query::call(self.repository(), &add)?;
                if added.failure.is_some() {
                    return Err(WorktreeError::Add(added.message));
                }
                vacant.insert(None);
            }
        }
        if let Err(error) = self.forget_run(slot) {
            return Ok(Checkout::Failed(error.to_string()));
        }
        for arguments in [
            &["checkout", "--quiet", "--force", "--detach", commit, "--"][..],
            // Twice `f`: also repositories, such as those of submodules that the commit does not have.
            &["clean", "--quiet", "-ffd"],
        ] {
            let reply = query::call(&tree, arguments)?;
            if reply.failure.is_some() {
                return Ok(Checkout::Failed(format!("`git {}` failed: {}", arguments[0], reply.message)));
            }
        }
        match WorktreeFiles::of(&tree) {
            Ok(files) => self.slots().insert(slot, Some(Arc::new(files))),
            Err(error) => return Ok(Checkout::Failed(error.to_string())),
        };
        self.completed(tree)
    }

    /// Undoes what a run has done to git's records of the worktree of a slot. Its files stay as they are.
    ///
    /// # Errors
    /// If a file cannot be read, written or removed.
    pub(super) fn forget_run(&self, slot: usize) -> io::Result<()> {
        let files = self.slots().get(&slot).cloned().flatten();
        files.map_or(Ok(()), |files| files.restore())
    }

    fn slots(&self) -> MutexGuard<'_, BTreeMap<usize, Option<Arc<WorktreeFiles>>>> {
        // The list is still correct after a panic.
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a worktree its submodules, and the file that git ignores.
    ///
    /// # Errors
    /// If git cannot be started.
    pub(super) fn completed(&self, tree: PathBuf) -> Result<Checkout, WorktreeError> {
        if let Some(why) = submodules::check_out(self.repository(), &tree)? {
            return Ok(Checkout::Failed(why));
        }
        let written = self.lock_file.as_ref().map_or(Ok(Ok(())), |file| file.write(&tree))?;
        Ok(written.map_or_else(|error| Checkout::Failed(error.to_string()), |()| Checkout::Done(tree)))
    }

    /// Returns shell commands that make a worktree at a commit, go there, and remove it when the shell ends.
    pub(crate) fn shell_commands(&self, commit: &str) -> String {
        let links = self.mirror.link_commands();
        // Git refuses to remove a worktree whose `.git` is gone, but forgets one that does not exist.
        let remove = "cd / && rm -rf \"$tree\" && git -C \"$top\" worktree remove --force \"$tree\"";
        let (tree, remove) = if links.is_empty() {
            ("tree=$(mktemp -d)".to_owned(), remove.to_owned())
        } else {
            let below = shell::quote(self.mirror.below());
            let tree = format!("around=$(mktemp -d) && tree=$around/{below} && mkdir -p \"$tree\"{links}");
            (tree, format!("{remove}; rm -rf \"$around\""))
        };
        // A hook of the user may change the worktree, or fail.
        let no_hooks = if self.has_checkout_hook() { "-c core.hooksPath=/dev/null " } else { "" };
        // If git cannot be started, these commands fail before.
        let submodules = submodules::shell_commands(self.repository(), commit).unwrap_or_default();
        format!(
            "top={} && {tree} && trap '{remove}' EXIT && git -C \"$top\" {no_hooks}worktree add -q --detach \"$tree\" {commit} && \
             cd \"$tree\"{submodules}",
            shell::quote(self.repository())
        )
    }

    /// Returns true if git runs a program of the user after each checkout.
    fn has_checkout_hook(&self) -> bool {
        let path = query::query(
            self.repository(),
            &["rev-parse", "--path-format=absolute", "--git-path", "hooks/post-checkout"],
        );
        path.is_ok_and(|reply| reply.failure.is_none() && Path::new(&reply.text()).exists())
    }

    /// Returns the shell command that copies the ignored file into such a worktree, if there is one.
    pub(crate) fn copy_command(&self) -> Option<String> {
        let path = shell::quote(self.lock_file.as_ref()?.path());
        let (is_there, copy) = (format!("test -e {path}"), format!("cp \"$top\"/{path} {path}"));
        Some(format!("{{ {is_there} || {copy}; }}"))
    }

    /// Returns the shell command that checks out these files of the commit in such a worktree, and writes their paths to a
    /// list that it reads. It is necessary only in a sparse checkout, whose patterns may omit the files.
    ///
    /// # Errors
    /// If the list cannot be written.
    pub(crate) fn checkout_command<'a>(
        &self,
        files: impl IntoIterator<Item = &'a Path>,
        list: &Path,
    ) -> io::Result<Option<String>> {
        if !query::is_sparse(self.repository()).unwrap_or(false) {
            return Ok(None);
        }
        let paths: Vec<_> =
            files.into_iter().map(|file| [file.as_os_str().as_encoded_bytes(), b"\0"].concat()).collect();
        if paths.is_empty() {
            return Ok(None);
        }
        fs_err::write(list, paths.concat())?;
        let checkout = "git --literal-pathspecs checkout -q --ignore-skip-worktree-bits HEAD --pathspec-file-nul";
        Ok(Some(format!("{checkout} --pathspec-from-file={}", shell::quote(list))))
    }

    /// Returns true if `git apply` may change or refuse a patch because of its white space.
    pub(crate) fn checks_whitespace(&self) -> bool {
        let setting = query::call(self.repository(), &["config", "apply.whitespace"]);
        setting.is_ok_and(|reply| reply.failure.is_none())
    }

    /// Returns the worktree of a slot, which may not exist yet.
    pub(super) fn tree(&self, slot: usize) -> PathBuf {
        self.mirror.place_in(&self.top_of(slot))
    }

    /// Returns the directory of a slot.
    fn top_of(&self, slot: usize) -> PathBuf {
        let home = self.home.as_ref().map_or(Path::new(""), OwnedDir::path);
        home.join(slot.to_string())
    }

    /// Makes the directories above the worktree of a slot, with links to what is beside the user's work tree.
    fn surround(&self, slot: usize) -> io::Result<()> {
        self.mirror.make(&self.top_of(slot))
    }

    /// Removes the worktrees of searches that were killed.
    fn sweep(&self) -> Result<(), WorktreeError> {
        let listed = query::call(self.repository(), &["worktree", "list", "--porcelain"])?;
        for line in listed.output.split(|&byte| byte == b'\n') {
            let Some(tree) = line.strip_prefix(b"worktree ").map(diff::to_path) else { continue };
            let is_ours = |path: &&Path| {
                path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(PREFIX))
            };
            let Some(home) = tree.ancestors().skip(1).find(is_ours) else { continue };
            home.parent().into_iter().for_each(|parent| OwnedDir::sweep(parent, PREFIX));
            // A tree that cannot be read may be in use.
            if tree.try_exists().is_ok_and(|exists| !exists) {
                self.forget(&tree)?;
            }
        }
        Ok(())
    }

    /// Removes git's records of a deleted worktree.
    fn forget(&self, tree: &Path) -> Result<(), WorktreeError> {
        // Twice: it is locked.
        let remove = ["worktree", "remove", "--force", "--force", &tree.to_string_lossy()];
        // If that fails, the next search tries again.
        query::call(self.repository(), &remove)?;
        Ok(())
    }
}

impl Drop for Worktrees {
    fn drop(&mut self) {
        let slots = std::mem::take(self.slots.get_mut().unwrap_or_else(PoisonError::into_inner));
        let trees: Vec<_> = slots.into_keys().map(|slot| self.tree(slot)).collect();
        // What cannot be deleted now is left to the next search.
        let is_deleted = self.home.take().is_some_and(|home| home.delete().is_ok());
        for tree in trees.iter().filter(|_| is_deleted) {
            let _ = self.forget(tree);
        }
    }
}
