//! `--since`: the source lines that changed since a revision, so that the search looks there first.
//!
//! This is only evidence: it changes the number of trials that a search takes, never its result.

use std::{
    collections::{BTreeSet, HashMap},
    path::{Component, Path, PathBuf},
};

use bisect_core::ChangeId;

pub(crate) use super::git::SinceError;
use super::{diff::Lines, git::Git};
use crate::report::content::{Location, Report};

/// The lines of a work tree that changed since a commit, including uncommitted changes and untracked files.
#[derive(Clone, Debug)]
pub(crate) struct Since {
    commit: String,
    /// The directory that relative names start from.
    root: PathBuf,
    /// The changed lines by real path.
    files: HashMap<PathBuf, Lines>,
}

impl Since {
    /// Asks git about the work tree that contains `root`; reported paths are relative to `root`.
    ///
    /// Without a `revision`, it takes the commit at which HEAD left the default branch. This is the branch that
    /// `origin/HEAD` names, else `main`, `master`, `trunk` or the value of `init.defaultBranch`, first of `origin`,
    /// then a local one.
    ///
    /// # Errors
    /// If git cannot be asked, `root` is in no work tree, or there is no such commit.
    pub(crate) fn load(root: &Path, revision: Option<&str>) -> Result<Self, SinceError> {
        let git = Git::of_work_tree(root)?;
        let commit = match revision {
            Some(revision) => git.commit(revision)?,
            None => git.fork_point()?,
        };
        // Git names files by their real directories below the top, never through a link.
        let top = real(git.top());
        let changed = git.changed_since(&commit)?.into_iter();
        let untracked = git.untracked()?.into_iter().map(|path| (path, Lines::Whole));
        let files = changed.chain(untracked).map(|(path, lines)| (top.join(path), lines)).collect();
        Ok(Self { commit, root: real(root), files })
    }

    /// The full hash of the commit.
    pub(crate) fn commit(&self) -> &str {
        &self.commit
    }

    /// Returns whether a line, counted from 1, changed. `file` is absolute or relative to the root.
    #[cfg(test)]
    pub(crate) fn touches(&self, file: &Path, line: u32) -> bool {
        self.lines(file).is_some_and(|lines| lines.contains(line))
    }

    /// Returns the changes whose own location, or a line on whose call stack, changed.
    pub(crate) fn touched<'a>(&self, changes: impl IntoIterator<Item = &'a Report>) -> BTreeSet<ChangeId> {
        // Many stacks go through few files, and resolving a path needs the file system.
        let mut known = HashMap::new();
        let mut is_touched = |file: &'a str, line| {
            let lines: &mut Option<&Lines> = known.entry(file).or_insert_with(|| self.lines(Path::new(file)));
            lines.is_some_and(|lines| lines.contains(line))
        };
        let mut is_evident = |report: &'a Report| {
            let frames = report.frames.iter().filter_map(|frame| frame.location.as_ref());
            let line_of = |location: &'a Location| Some((location.file.as_str(), location.line?));
            report.location.iter().chain(frames).filter_map(line_of).any(|(file, line)| is_touched(file, line))
        };
        changes.into_iter().filter(|report| is_evident(report)).map(|report| report.id).collect()
    }

    fn lines(&self, file: &Path) -> Option<&Lines> {
        self.files.get(&real(&self.root.join(file)))
    }
}

/// Resolves links in a path; for a file that does not exist, only `.` and `..`.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| {
        let mut plain = PathBuf::new();
        for component in path.components() {
            match component {
                Component::CurDir => {}
                Component::ParentDir => drop(plain.pop()),
                component => plain.push(component),
            }
        }
        plain
    })
}

#[cfg(test)]
#[path = "since_tests.rs"]
mod tests;
