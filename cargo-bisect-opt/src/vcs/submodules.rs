//! Submodules of a worktree, from the repositories of the user's submodules: nothing is fetched.

use std::path::{Path, PathBuf};

use super::{diff::to_path, query};
use crate::process::{SpawnError, shell};

/// A submodule of a commit.
struct Submodule {
    path: PathBuf,
    commit: String,
}

/// Checks out the submodules of a worktree, and theirs. A submodule that the user's `repository` does not have, for
/// example because the user never initialized it, stays empty. Returns why that failed, if it did.
///
/// # Errors
/// If git cannot be started.
pub(super) fn check_out(repository: &Path, tree: &Path) -> Result<Option<String>, SpawnError> {
    let mut left = vec![(repository.to_owned(), tree.to_owned())];
    while let Some((repository, tree)) = left.pop() {
        if !tree.join(".gitmodules").exists() {
            continue;
        }
        for submodule in submodules(&tree)? {
            let Some(source) = source(&repository, &tree, &submodule.path)? else { continue };
            let target = tree.join(&submodule.path);
            if let Some(why) = check_out_one(&source, &target, &submodule.commit)? {
                return Ok(Some(format!("the submodule `{}` cannot be checked out: {why}", submodule.path.display())));
            }
            left.push((source, target));
        }
    }
    Ok(None)
}

/// Returns shell commands, each after ` && `, that check out submodules of the worktree in which the shell is: those in
/// the index of the user's work tree, at the commits of the worktree. Unlike with [`check_out`], submodules of submodules
/// stay empty.
pub(super) fn shell_commands(repository: &Path) -> String {
    let found = submodules(repository).unwrap_or_default();
    let sources = found.iter().filter_map(|Submodule { path, .. }| {
        let source = shell::quote(source(repository, repository, path).ok()??);
        let path = shell::quote(path);
        // At another commit, the path may be that of a directory or a file.
        Some(format!(
            " && commit=$(git ls-tree HEAD -- {path} | sed -n 's/^160000 commit \\([0-9a-f]*\\).*/\\1/p') && \
             if test -n \"$commit\"; then git clone -q -n -s -- {source} {path} && git -C {path} checkout -q \"$commit\"; fi"
        ))
    });
    sources.collect()
}

/// Returns the submodules that are in the index of a tree.
fn submodules(tree: &Path) -> Result<Vec<Submodule>, SpawnError> {
    let listed = query::call(tree, &["ls-files", "--stage", "-z"])?;
    let of_entry = |entry: &[u8]| {
        let (head, path) = entry.split_at_checked(memchr::memchr(b'\t', entry)?)?;
        let mut words = head.strip_prefix(b"160000 ")?.split(|&byte| byte == b' ');
        let commit = String::from_utf8_lossy(words.next()?).into_owned();
        Some(Submodule { path: to_path(&path[1..]), commit })
    };
    Ok(listed.output.split(|&byte| byte == 0).filter_map(of_entry).collect())
}

/// Returns the user's repository of a submodule. Git keeps it by the submodule's name, which stays when the submodule
/// moves.
fn source(repository: &Path, tree: &Path, path: &Path) -> Result<Option<PathBuf>, SpawnError> {
    let names = ["config", "--file", ".gitmodules", "--null", "--get-regexp", "^submodule\\..*\\.path$"];
    let names = query::call(tree, &names)?;
    let name = names.output.split(|&byte| byte == 0).find_map(|entry| {
        let (key, value) = entry.split_at_checked(memchr::memchr(b'\n', entry)?)?;
        let key = String::from_utf8_lossy(key).into_owned();
        let name = key.strip_prefix("submodule.")?.strip_suffix(".path")?.to_owned();
        (to_path(&value[1..]) == path).then_some(name)
    });
    let mut candidates = Vec::new();
    for kind in ["--git-dir", "--git-common-dir"] {
        let found = query::call(repository, &["rev-parse", "--path-format=absolute", kind])?;
        let directory = to_path(query::line(&found.output));
        candidates.extend(name.iter().map(|name| directory.join("modules").join(name)));
    }
    // An old submodule, or one that was added by hand, has its repository inside.
    candidates.push(repository.join(path).join(".git"));
    Ok(candidates.into_iter().find(|candidate| candidate.is_dir()))
}

/// Checks out a commit in the worktree of a submodule, whose objects are those of `source`.
fn check_out_one(source: &Path, target: &Path, commit: &str) -> Result<Option<String>, SpawnError> {
    if !target.join(".git").exists() {
        let directory = target.parent().unwrap_or(target);
        let clone =
            ["clone".as_ref(), "--quiet".as_ref(), "--no-checkout".as_ref(), "--shared".as_ref(), source.as_os_str()];
        let cloned = query::call(directory, &[&clone[..], &[target.as_os_str()]].concat())?;
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
