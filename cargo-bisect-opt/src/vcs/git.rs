//! Queries to git.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use super::{
    diff::{self, DiffError, Lines},
    query::{self, GitReply},
};
use crate::process::SpawnError;

/// Names of default branches.
const DEFAULTS: [&str; 3] = ["main", "master", "trunk"];

/// A reason why git cannot list the changes.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SinceError {
    /// There is no git, or it cannot be started.
    #[error("{0}; `--since` needs git: install it, or leave out `--since`")]
    Start(#[source] SpawnError),
    /// The code is not in a work tree.
    #[error("`{}` is not in a git work tree: {message}; leave out `--since`", directory.display())]
    NoWorkTree {
        /// The directory of the code.
        directory: PathBuf,
        /// Git's message.
        message: String,
    },
    /// The revision names no commit.
    #[error(
        "`--since {revision}` names no commit: {message}; give a branch, a tag or a hash, and fetch it if necessary"
    )]
    UnknownRevision {
        /// The revision as the user wrote it.
        revision: String,
        /// Git's message.
        message: String,
    },
    /// The repository has no commit.
    #[error("the repository has no commit yet; leave out `--since`")]
    NoCommit,
    /// No branch that could be the default one exists.
    #[error(
        "cannot find the default branch: there is neither `origin/HEAD` nor a branch called {names}; \
         give a revision with `--since REV`, or set the branch with `git remote set-head origin --auto`"
    )]
    NoDefaultBranch {
        /// The names that were tried.
        names: String,
    },
    /// The default branch and HEAD have no common ancestor.
    #[error(
        "HEAD and the default branch `{branch}` have no commit in common; give a revision with `--since REV`, \
         or fetch more of the history if this clone is shallow"
    )]
    NoForkPoint {
        /// The default branch.
        branch: String,
    },
    /// A query failed.
    #[error("`git {query}` failed with {status}: {message}; run it by hand to see why, or leave out `--since`")]
    Failed {
        /// The arguments of git.
        query: String,
        /// The way it ended.
        status: String,
        /// Git's message.
        message: String,
    },
    /// The output cannot be parsed.
    #[error(transparent)]
    Diff(#[from] DiffError),
}

/// Git in one work tree.
#[derive(Debug)]
pub(crate) struct Git {
    top: PathBuf,
}

impl Git {
    /// Finds the work tree that contains a directory.
    pub(crate) fn of_work_tree(directory: &Path) -> Result<Self, SinceError> {
        let reply = ask(directory, &["rev-parse", "--show-toplevel"])?;
        if reply.failure.is_some() {
            return Err(SinceError::NoWorkTree { directory: directory.to_owned(), message: reply.message });
        }
        Ok(Self { top: diff::to_path(query::line(&reply.output)) })
    }

    /// The top directory of the work tree.
    pub(crate) fn top(&self) -> &Path {
        &self.top
    }

    /// Returns the hash of the commit that a revision names.
    pub(crate) fn commit(&self, revision: &str) -> Result<String, SinceError> {
        let commit = query::commit_of(revision, |arguments| ask(&self.top, arguments))?;
        commit.map_err(|message| SinceError::UnknownRevision { revision: revision.into(), message })
    }

    /// Returns the commit at which HEAD left the default branch.
    pub(crate) fn fork_point(&self) -> Result<String, SinceError> {
        if ask(&self.top, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?.failure.is_some() {
            return Err(SinceError::NoCommit);
        }
        let branch = self.default_branch()?;
        let arguments = ["merge-base", "HEAD", &branch];
        let reply = ask(&self.top, &arguments)?;
        if reply.failure.is_some() && reply.message.is_empty() {
            let short = branch.strip_prefix("refs/remotes/").or(branch.strip_prefix("refs/heads/")).unwrap_or(&branch);
            return Err(SinceError::NoForkPoint { branch: short.into() });
        }
        Ok(success(reply, &arguments)?.text())
    }

    /// Returns the full name of the default branch.
    fn default_branch(&self) -> Result<String, SinceError> {
        // Without the setting, git exits with 1 and prints nothing.
        let configured = ask(&self.top, &["config", "--get", "init.defaultBranch"])?.text();
        let mut names: Vec<&str> = DEFAULTS.to_vec();
        if !configured.is_empty() && !names.contains(&configured.as_str()) {
            names.push(&configured);
        }
        let at = |place: &'static str| names.iter().map(move |name| format!("{place}/{name}"));
        let head = ["refs/remotes/origin/HEAD".to_owned()].into_iter();
        let candidates: Vec<_> = head.chain(at("refs/remotes/origin")).chain(at("refs/heads")).collect();
        let arguments =
            ["for-each-ref", "--format=%(refname)"].into_iter().chain(candidates.iter().map(String::as_str));
        let arguments: Vec<_> = arguments.collect();
        // A symbolic reference to a deleted branch is not listed.
        let existing = success(ask(&self.top, &arguments)?, &arguments)?.text();
        let is_there = |candidate: &String| existing.lines().any(|existing| existing == candidate);
        candidates.into_iter().find(is_there).ok_or_else(|| SinceError::NoDefaultBranch { names: format_names(&names) })
    }

    /// Returns the files that differ from those of a commit, relative to the top.
    pub(crate) fn changed_since(&self, commit: &str) -> Result<Vec<(PathBuf, Lines)>, SinceError> {
        let arguments = [
            "diff",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules",
            "-U0",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            "-M",
            commit,
            "--",
        ];
        Ok(diff::parse(&success(ask(&self.top, &arguments)?, &arguments)?.output)?)
    }

    /// Returns the files that git neither tracks nor ignores, relative to the top.
    pub(crate) fn untracked(&self) -> Result<Vec<PathBuf>, SinceError> {
        let arguments = ["ls-files", "--others", "--exclude-standard", "-z"];
        let reply = success(ask(&self.top, &arguments)?, &arguments)?;
        let names = reply.output.split(|&byte| byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(diff::to_path).collect())
    }
}

/// Returns a reply if git succeeded.
fn success(reply: GitReply, arguments: &[&str]) -> Result<GitReply, SinceError> {
    match reply.failure {
        Some(status) => Err(SinceError::Failed { query: arguments.join(" "), status, message: reply.message }),
        None => Ok(reply),
    }
}

fn ask<S: AsRef<OsStr>>(directory: &Path, arguments: &[S]) -> Result<GitReply, SinceError> {
    query::query(directory, arguments).map_err(SinceError::Start)
}

/// Formats branch names: `main`, `master` or `trunk`.
fn format_names(names: &[&str]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        all => all.join(""),
    }
}
