//! Questions to git.

use std::{
    ffi::OsStr,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::diff::{self, DiffError, Lines};
use crate::process::describe;

/// Names of default branches.
const DEFAULTS: [&str; 3] = ["main", "master", "trunk"];

/// Why git does not say what changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SinceError {
    /// There is no git, or it cannot be started.
    #[error("cannot start `git`: {0}; install it, or leave out `--since`")]
    Start(#[source] io::Error),
    /// The code is not in a work tree.
    #[error("`{}` is in no work tree of git: {words}; leave out `--since`", directory.display())]
    NoWorkTree {
        /// Where the code is.
        directory: PathBuf,
        /// What git says.
        words: String,
    },
    /// The revision names no commit.
    #[error(
        "`--since {revision}` names no commit: {words}; give a branch, a tag or a hash, and fetch it if it is elsewhere"
    )]
    UnknownRevision {
        /// What the user gave.
        revision: String,
        /// What git says.
        words: String,
    },
    /// Nothing was ever committed.
    #[error("nothing is committed yet, so nothing changed since; leave out `--since`")]
    NoCommit,
    /// There is none of the branches that could be the default one.
    #[error(
        "cannot tell the default branch: there is neither `origin/HEAD` nor one called {names}; \
         give a revision with `--since REV`, or tell git with `git remote set-head origin --auto`"
    )]
    NoDefaultBranch {
        /// The names that were tried.
        names: String,
    },
    /// The default branch and what is checked out have nothing in common.
    #[error(
        "HEAD and the default branch `{branch}` have no commit in common; give a revision with `--since REV`, \
         or fetch more of the history if this clone is shallow"
    )]
    NoForkPoint {
        /// The default branch.
        branch: String,
    },
    /// A question has no answer.
    #[error("`git {question}` failed with {status}: {words}")]
    Failed {
        /// What was asked.
        question: String,
        /// How it ended.
        status: String,
        /// What git says.
        words: String,
    },
    /// The answer cannot be understood.
    #[error(transparent)]
    Diff(#[from] DiffError),
}

/// Git in one work tree.
#[derive(Debug)]
pub(crate) struct Git {
    top: PathBuf,
}

/// What git answered.
struct GitReply {
    output: Vec<u8>,
    /// In words, how it ended if that was not well.
    failure: Option<String>,
    words: String,
}

impl Git {
    /// Git in the work tree that a directory is in.
    pub(crate) fn of_work_tree(directory: &Path) -> Result<Self, SinceError> {
        let answer = ask(directory, &["rev-parse", "--show-toplevel"])?;
        if answer.failure.is_some() {
            return Err(SinceError::NoWorkTree { directory: directory.to_owned(), words: answer.words });
        }
        Ok(Self { top: diff::to_path(line(&answer.output)) })
    }

    /// The directory that the work tree begins with.
    pub(crate) fn top(&self) -> &Path {
        &self.top
    }

    /// The hash of the commit that a revision names.
    pub(crate) fn commit(&self, revision: &str) -> Result<String, SinceError> {
        let unknown = |words: &str| SinceError::UnknownRevision { revision: revision.into(), words: words.into() };
        if revision.starts_with('-') {
            // Git would take it for an option.
            return Err(unknown("a revision does not begin with `-`"));
        }
        let object = ask(&self.top, &["rev-parse", "--verify", revision])?;
        if object.failure.is_some() {
            return Err(unknown(&object.words));
        }
        // Behind `:/words`, what follows would be taken for words; and `^HEAD` is answered by something that is no object.
        let commit = ask(&self.top, &["rev-parse", "--verify", &format!("{}^{{commit}}", object.text())])?;
        let is_hash = |text: &str| text.chars().all(|c| c.is_ascii_hexdigit());
        match commit.failure {
            Some(_) => Err(unknown(&commit.words)),
            None => Some(commit.text()).filter(|text| is_hash(text)).ok_or_else(|| unknown("it is a range")),
        }
    }

    /// The commit at which HEAD left the default branch.
    pub(crate) fn fork_point(&self) -> Result<String, SinceError> {
        if ask(&self.top, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?.failure.is_some() {
            return Err(SinceError::NoCommit);
        }
        let branch = self.default_branch()?;
        let question = ["merge-base", "HEAD", &branch];
        let answer = ask(&self.top, &question)?;
        if answer.failure.is_some() && answer.words.is_empty() {
            let short = branch.strip_prefix("refs/remotes/").or(branch.strip_prefix("refs/heads/")).unwrap_or(&branch);
            return Err(SinceError::NoForkPoint { branch: short.into() });
        }
        Ok(answer.good(&question)?.text())
    }

    /// The full name of the default branch.
    fn default_branch(&self) -> Result<String, SinceError> {
        // Without the setting, git ends with 1 and says nothing.
        let configured = ask(&self.top, &["config", "--get", "init.defaultBranch"])?.text();
        let mut names: Vec<&str> = DEFAULTS.to_vec();
        if !configured.is_empty() && !names.contains(&configured.as_str()) {
            names.push(&configured);
        }
        let at = |place: &'static str| names.iter().map(move |name| format!("{place}/{name}"));
        let head = ["refs/remotes/origin/HEAD".to_owned()].into_iter();
        let candidates: Vec<_> = head.chain(at("refs/remotes/origin")).chain(at("refs/heads")).collect();
        let question = ["for-each-ref", "--format=%(refname)"].into_iter().chain(candidates.iter().map(String::as_str));
        let question: Vec<_> = question.collect();
        // One that names a branch that is gone is not listed.
        let existing = ask(&self.top, &question)?.good(&question)?.text();
        let is_there = |candidate: &String| existing.lines().any(|existing| existing == candidate);
        candidates.into_iter().find(is_there).ok_or_else(|| SinceError::NoDefaultBranch { names: list(&names) })
    }

    /// The files that differ from those of a commit, relative to the top.
    pub(crate) fn changed_since(&self, commit: &str) -> Result<Vec<(PathBuf, Lines)>, SinceError> {
        let question = [
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
        Ok(diff::parse(&ask(&self.top, &question)?.good(&question)?.output)?)
    }

    /// The files that git neither tracks nor ignores, relative to the top.
    pub(crate) fn untracked(&self) -> Result<Vec<PathBuf>, SinceError> {
        let question = ["ls-files", "--others", "--exclude-standard", "-z"];
        let answer = ask(&self.top, &question)?.good(&question)?;
        let names = answer.output.split(|&byte| byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(diff::to_path).collect())
    }
}

impl GitReply {
    /// This, if git had one.
    fn good(self, question: &[&str]) -> Result<Self, SinceError> {
        match self.failure {
            Some(status) => Err(SinceError::Failed { question: question.join(" "), status, words: self.words }),
            None => Ok(self),
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(line(&self.output)).into_owned()
    }
}

fn ask<S: AsRef<OsStr>>(directory: &Path, question: &[S]) -> Result<GitReply, SinceError> {
    let mut git = Command::new("git");
    git.arg("-C").arg(directory).args(question).stdin(Stdio::null());
    // To look is not to write, and what a person likes to see in a diff is not for us.
    git.env("GIT_OPTIONAL_LOCKS", "0").env_remove("GIT_DIFF_OPTS");
    let output = git.output().map_err(|error| SinceError::Start(name_missing(error)))?;
    let words = String::from_utf8_lossy(&output.stderr);
    Ok(GitReply {
        failure: (!output.status.success()).then(|| describe(output.status)),
        words: words.trim_end().strip_prefix("fatal: ").unwrap_or(words.trim_end()).to_owned(),
        output: output.stdout,
    })
}

/// The system says only that a file is missing.
fn name_missing(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::NotFound => io::Error::new(ErrorKind::NotFound, "no directory in PATH has it"),
        _ => error,
    }
}

/// Without the end of the line, which is all that git adds.
fn line(output: &[u8]) -> &[u8] {
    output.strip_suffix(b"\n").unwrap_or(output)
}

/// `main`, `master` or `trunk`
fn list(names: &[&str]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        all => all.join(""),
    }
}
