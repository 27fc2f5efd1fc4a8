//! The commits between two revisions, in first-parent order.

use std::path::{Path, PathBuf};

use super::{diff, query};
use crate::process::SpawnError;

/// A reason why a range of commits cannot be searched.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HistoryError {
    /// The text is not a range.
    #[error("`--commits {0}`: give a range GOOD..BAD, for example v1.2..HEAD")]
    NoRange(String),
    /// There is no git, or it cannot be started.
    #[error("`--commits` reads the history with git: {0}")]
    Start(#[from] SpawnError),
    /// The directory is not in a work tree.
    #[error("`--commits`: `{}` is not in a git work tree: {message}; change to a directory of the repository", directory.display())]
    NoWorkTree {
        /// The directory.
        directory: PathBuf,
        /// Git's message.
        message: String,
    },
    /// A revision names no commit.
    #[error(
        "`--commits {range}`: `{revision}` names no commit: {message}; give a branch, a tag or a hash, and fetch it if necessary"
    )]
    UnknownRevision {
        /// The range as the user wrote it.
        range: String,
        /// The part of the range.
        revision: String,
        /// Git's message.
        message: String,
    },
    /// There is no commit after the good one.
    #[error(
        "`--commits {range}` contains no commit: {why}; the good commit comes first, and the bad one is a later commit"
    )]
    Empty {
        /// The range as the user wrote it.
        range: String,
        /// The relation of both revisions.
        why: &'static str,
    },
    /// The first-parent line of the bad commit does not contain the good one.
    #[error(
        "`--commits {range}`: the good commit {why}, so there is no line of commits between both; {}",
        match instead {
            Some(commit) => format!(
                "the newest commit of the first-parent line that it contains is {commit}: if that one is good, use --commits {commit}..{bad}"
            ),
            None => "give an ancestor of the bad commit, or fetch more of the history if this clone is shallow".to_owned(),
        }
    )]
    NotOnLine {
        /// The range as the user wrote it.
        range: String,
        /// The relation of both revisions.
        why: &'static str,
        /// The last commit of the line that the good commit contains.
        instead: Option<String>,
        /// The bad revision.
        bad: String,
    },
    /// A query failed.
    #[error("`--commits`: `git {query}` failed: {message}; run it by hand in the repository to see why")]
    Failed {
        /// The name of the query.
        query: &'static str,
        /// Git's message.
        message: String,
    },
}

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Commit {
    /// The full hash.
    pub(crate) hash: String,
    /// The abbreviated hash.
    pub(crate) short: String,
    /// The author date, as `2024-05-31`.
    pub(crate) date: String,
    /// The first line of its message.
    pub(crate) subject: String,
    /// The tip of the branch that it merges, if it is a merge.
    pub(crate) merged: Option<String>,
}

/// The commits between a good revision and a bad one.
#[derive(Debug)]
pub(crate) struct History {
    /// The top directory of the user's work tree.
    pub(crate) top: PathBuf,
    /// The user's directory, relative to the top.
    pub(crate) subdirectory: PathBuf,
    /// The good commit.
    pub(crate) good: Commit,
    /// The commits after the good one, up to the bad one, in order.
    pub(crate) commits: Vec<Commit>,
}

impl History {
    /// Reads the history of the work tree that contains `directory`. `range` is `GOOD..BAD`; without `BAD`, it ends at
    /// `HEAD`.
    ///
    /// # Errors
    /// If there is no such range of commits, each of which is the first parent of the next one.
    pub(crate) fn load(directory: &Path, range: &str) -> Result<Self, HistoryError> {
        let no_range = || HistoryError::NoRange(range.to_owned());
        let (good, bad) = range.split_once("..").ok_or_else(no_range)?;
        if good.is_empty() || bad.starts_with('.') || bad.contains("..") {
            return Err(no_range());
        }
        let bad = if bad.is_empty() { "HEAD" } else { bad };
        let top = query::call(directory, &["rev-parse", "--show-toplevel"])?;
        if top.failure.is_some() {
            return Err(HistoryError::NoWorkTree { directory: directory.to_owned(), message: top.message });
        }
        let top = diff::to_path(query::line(&top.output));
        let subdirectory = ask(directory, "rev-parse", &["--show-prefix"])?;
        let subdirectory = diff::to_path(query::line(&subdirectory));
        let find = |revision| find(&top, range, revision);
        let (first, last) = (find(good)?, find(bad)?);
        let line = format!("{first}..{last}");
        let listed = log(&top, &["--first-parent", "--reverse", &line])?;
        let is_ancestor =
            |one: &str, of: &str| Ok(query::call(&top, &["merge-base", "--is-ancestor", one, of])?.failure.is_none());
        let Some(parent) = listed.first().map(|(_, parent)| parent) else {
            let why =
                if first == last { "both are the same commit" } else { "the bad commit is older than the good one" };
            return Err(HistoryError::Empty { range: range.to_owned(), why });
        };
        if *parent != first {
            let is_ancestor: Result<bool, HistoryError> = is_ancestor(&first, &last);
            let why =
                if is_ancestor? { "is on a branch that was merged later" } else { "is no ancestor of the bad one" };
            let instead = Some(parent).filter(|parent| !parent.is_empty());
            let instead = instead.map(|parent| parent.chars().take(12).collect());
            return Err(HistoryError::NotOnLine { range: range.to_owned(), why, instead, bad: bad.to_owned() });
        }
        let good = log(&top, &["--max-count=1", &first])?.into_iter().next().map(|(commit, _)| commit);
        let good = good.ok_or(HistoryError::Failed { query: "log", message: format!("it does not show {first}") })?;
        Ok(Self { top, subdirectory, good, commits: listed.into_iter().map(|(commit, _)| commit).collect() })
    }

    /// Returns the range of the commits that a merge merges, if they can be searched like these.
    pub(crate) fn merged_by(&self, commit: &Commit) -> Option<String> {
        let tip = commit.merged.as_deref()?;
        let base = query::call(&self.top, &["merge-base", &format!("{}^1", commit.hash), tip]).ok()?;
        let short = |hash: &str| hash.chars().take(12).collect::<String>();
        let range = format!("{}..{}", short(&base.text()), short(tip));
        Self::load(&self.top, &range).is_ok().then_some(range)
    }

    /// Returns the commit after this number of commits; 0 is the good one.
    pub(crate) fn after(&self, count: usize) -> &Commit {
        count.checked_sub(1).and_then(|index| self.commits.get(index)).unwrap_or(&self.good)
    }
}

/// Returns the hash of the commit that a revision names.
fn find(top: &Path, range: &str, revision: &str) -> Result<String, HistoryError> {
    let commit = query::commit_of(revision, |arguments| query::call(top, arguments))?;
    let (range, revision) = (range.to_owned(), revision.to_owned());
    commit.map_err(|message| HistoryError::UnknownRevision { range, revision, message })
}

/// Lists commits, each with its first parent; the parent is empty if there is none.
fn log(top: &Path, arguments: &[&str]) -> Result<Vec<(Commit, String)>, HistoryError> {
    const OPTIONS: [&str; 6] = [
        "--no-show-signature",
        "--no-color",
        "--encoding=UTF-8",
        "--date=short",
        "-z",
        // The subject is last: it may contain any character but a line break.
        "--format=tformat:%H %h %ad %P%n%s",
    ];
    let output = ask(top, "log", &[&OPTIONS[..], arguments].concat())?;
    let text = String::from_utf8_lossy(&output);
    let commits = text.split('\0').filter(|entry| !entry.is_empty()).filter_map(|entry| {
        let (head, subject) = entry.split_once('\n')?;
        let mut words = head.split(' ');
        let mut word = || words.next().map(str::to_owned);
        let (hash, short, date) = (word()?, word()?, word()?);
        let (parent, merged) = (word().unwrap_or_default(), word());
        Some((Commit { hash, short, date, subject: subject.to_owned(), merged }, parent))
    });
    Ok(commits.collect())
}

/// Returns the output of a query that succeeds.
fn ask(directory: &Path, query: &'static str, arguments: &[&str]) -> Result<Vec<u8>, HistoryError> {
    let reply = query::call(directory, &[&[query], arguments].concat())?;
    match reply.failure {
        Some(_) => Err(HistoryError::Failed { query, message: reply.message }),
        None => Ok(reply.output),
    }
}
