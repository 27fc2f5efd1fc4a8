//! Submodules of a worktree, from the repositories of the user's submodules: nothing is fetched.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::{diff::to_path, query};
use crate::process::{SpawnError, shell};

/// The options with which `git config` lists the paths of submodules.
const PATHS: [&str; 3] = ["--null", "--get-regexp", r"^submodule\..*\.path$"];

/// A submodule of a commit.
struct Submodule {
    path: PathBuf,
    commit: String,
}

/// The repository of the user, or of a submodule of the user.
struct Repository {
    /// The directories that have repositories of submodules by their names. The first one is its own directory.
    git_directories: Vec<PathBuf>,
    /// The directory that has repositories of submodules by their paths: old ones, and those that were added by hand. Of a
    /// submodule whose own repository is among those of the user's, it has none.
    tree: PathBuf,
}

impl Repository {
    fn of_user(top: &Path) -> Result<Self, SpawnError> {
        let directory = |kind: &str| {
            let found = query::call(top, &["rev-parse", "--path-format=absolute", kind])?;
            Ok(to_path(query::line(&found.output)))
        };
        let git_directories = vec![directory("--git-dir")?, directory("--git-common-dir")?];
        Ok(Self { git_directories, tree: top.to_owned() })
    }

    fn of_submodule(directory: PathBuf) -> Self {
        Self { tree: directory.parent().unwrap_or(&directory).to_owned(), git_directories: vec![directory] }
    }

    /// Returns the repository of a submodule. Git keeps it by the submodule's name, which stays when the submodule moves.
    fn submodule(&self, names: &BTreeMap<PathBuf, String>, path: &Path) -> Option<PathBuf> {
        let name = names.get(path);
        let by_name = self.git_directories.iter().filter_map(|git| Some(git.join("modules").join(name?)));
        by_name.chain([self.tree.join(path).join(".git")]).find(|candidate| candidate.is_dir())
    }

    /// Asks git about this repository.
    fn ask(&self, arguments: &[&str]) -> Result<Vec<u8>, SpawnError> {
        // The work tree of a submodule may have been removed.
        let here = ["--git-dir=.", "--work-tree=."];
        Ok(query::call(&self.git_directories[0], &[&here, arguments].concat())?.output)
    }
}

/// Checks out the submodules of a worktree, and theirs. A submodule that the user's repository does not have, for
/// example because the user never initialized it, stays empty. Returns why that failed, if it did.
///
/// # Errors
/// If git cannot be started.
pub(super) fn check_out(top: &Path, tree: &Path) -> Result<Option<String>, SpawnError> {
    let is_without = |tree: &Path| !tree.join(".gitmodules").exists();
    if is_without(tree) {
        return Ok(None);
    }
    let mut left = vec![(Repository::of_user(top)?, tree.to_owned())];
    while let Some((repository, tree)) = left.pop() {
        if is_without(&tree) {
            continue;
        }
        let names =
            parse_names(&query::call(&tree, &[&["config", "--file", ".gitmodules"], &PATHS[..]].concat())?.output);
        let listed = query::call(&tree, &["ls-files", "--stage", "-z"])?.output;
        for Submodule { path, commit } in parse(&listed) {
            let Some(source) = repository.submodule(&names, &path) else { continue };
            let target = tree.join(&path);
            if let Some(why) = check_out_one(&source, &target, &commit)? {
                return Ok(Some(format!("the submodule `{}` cannot be checked out: {why}", path.display())));
            }
            left.push((Repository::of_submodule(source), target));
        }
    }
    Ok(None)
}

/// Returns shell commands, each after ` && `, that check out the submodules of a commit, and theirs, in the worktree in
/// which the shell is. As with [`check_out`], those that the user's repository does not have stay empty.
///
/// # Errors
/// If git cannot be started.
pub(super) fn shell_commands(top: &Path, commit: &str) -> Result<String, SpawnError> {
    let mut commands = Vec::new();
    let mut left = vec![(Repository::of_user(top)?, commit.to_owned(), PathBuf::from("."))];
    while let Some((repository, commit, tree)) = left.pop() {
        let listed = repository.ask(&["ls-tree", "-r", "-z", &commit])?;
        if !listed.split(|&byte| byte == 0).any(|entry| entry.ends_with(b"\t.gitmodules")) {
            continue;
        }
        let submodules = parse(&listed);
        let file = format!("--blob={commit}:.gitmodules");
        let names = parse_names(&repository.ask(&[&["config", &file], &PATHS[..]].concat())?);
        for Submodule { path, commit } in submodules {
            let Some(source) = repository.submodule(&names, &path) else { continue };
            let target = tree.join(&path);
            let (from, to) = (shell::quote(&source), shell::quote(&target));
            commands.push(format!(" && git clone -q -n -s -- {from} {to} && git -C {to} checkout -q {commit}"));
            left.push((Repository::of_submodule(source), commit, target));
        }
    }
    Ok(commands.concat())
}

/// Parses lists of `git ls-files` (mode, hash, stage) and `git ls-tree` (mode, type, hash).
fn parse(listed: &[u8]) -> Vec<Submodule> {
    let of_entry = |entry: &[u8]| {
        let (head, path) = entry.split_at_checked(memchr::memchr(b'\t', entry)?)?;
        let words = head.strip_prefix(b"160000 ")?;
        let hash = words.strip_prefix(b"commit ").unwrap_or(words).split(|&byte| byte == b' ').next()?;
        Some(Submodule { path: to_path(&path[1..]), commit: String::from_utf8_lossy(hash).into_owned() })
    };
    listed.split(|&byte| byte == 0).filter_map(of_entry).collect()
}

/// Parses the list of submodules in a `.gitmodules`: names by paths.
fn parse_names(listed: &[u8]) -> BTreeMap<PathBuf, String> {
    let of_entry = |entry: &[u8]| {
        let (key, value) = entry.split_at_checked(memchr::memchr(b'\n', entry)?)?;
        let key = String::from_utf8_lossy(key).into_owned();
        let name = key.strip_prefix("submodule.")?.strip_suffix(".path")?.to_owned();
        Some((to_path(&value[1..]), name))
    };
    listed.split(|&byte| byte == 0).filter_map(of_entry).collect()
}

/// Checks out a commit in the worktree of a submodule, whose objects are those of `source`.
fn check_out_one(source: &Path, target: &Path, commit: &str) -> Result<Option<String>, SpawnError> {
    if !target.join(".git").exists() {
        let clone =
            ["clone".as_ref(), "--quiet".as_ref(), "--no-checkout".as_ref(), "--shared".as_ref(), source.as_os_str()];
        // The directory of the target may not exist.
        let cloned = query::call(source, &[&clone[..], &[target.as_os_str()]].concat())?;
        if cloned.failure.is_some() {
            return Ok(Some(cloned.message));
        }
    }
    for arguments in [&["checkout", "--quiet", "--force", "--detach", commit, "--"][..], &["clean", "--quiet", "-ffd"]]
    {
        let reply = query::call(target, arguments)?;
        if reply.failure.is_some() {
            return Ok(Some(reply.message));
        }
    }
    Ok(None)
}
