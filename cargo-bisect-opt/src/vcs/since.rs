//! `--since`: the source lines that changed since a revision, so that the search looks there first.
//!
//! This is only evidence: it changes the number of trials that a search takes, never its result.
//!
//! Where a run must report the places of changes, the user asks for this evidence. Where places are known anyway,
//! changes on edited lines, then those in edited files, are favoured by default.

use std::{
    collections::{BTreeSet, HashMap},
    ops::{Bound, RangeInclusive},
    path::{Component, Path, PathBuf},
};

use bisect_core::ChangeId;

pub(crate) use super::git::SinceError;
use super::{diff::Lines, git::Git};
use crate::report::{
    content::{Location, Report},
    kind::ShownSource,
};

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

    /// Returns the changes since this branch left the default branch, if git knows of any.
    pub(crate) fn found(root: &Path) -> Option<Self> {
        Self::load(root, None).ok().filter(|since| !since.files.is_empty())
    }

    /// The full hash of the commit.
    pub(crate) fn commit(&self) -> &str {
        &self.commit
    }

    /// Returns whether a line, counted from 1, changed. `file` is absolute or relative to the root.
    #[cfg(test)]
    pub(crate) fn touches(&self, file: &Path, line: u32) -> bool {
        self.lines(file).is_some_and(|lines| lines.meet(line..=line))
    }

    /// Returns the changes that are on edited lines or in edited files, by their own location or that of a frame of
    /// their call stack.
    ///
    /// A function counts as edited if a line from its own up to the next function in its file is edited. A location
    /// without a line is a crate: it counts as on an edited line if a file in the directory of the named file, or below,
    /// is edited.
    pub(crate) fn touched<'a>(&self, changes: impl IntoIterator<Item = &'a Report>) -> Touched {
        let changes: Vec<_> = changes.into_iter().collect();
        let functions = Functions::of(&changes);
        // Many stacks go through few files, and resolving a path needs the file system.
        let mut known = HashMap::new();
        let mut touched = Touched::default();
        for report in changes {
            let frames = report.frames.iter().filter_map(|frame| frame.location.as_ref());
            for location in report.location.iter().chain(frames) {
                let Some(line) = location.line else {
                    if self.touches_beside(Path::new(&location.file)) {
                        touched.on_lines.insert(report.id);
                    }
                    continue;
                };
                let file = location.file.as_str();
                let Some(lines) = *known.entry(file).or_insert_with(|| self.lines(Path::new(file))) else { continue };
                touched.in_files.insert(report.id);
                let range = if is_function(report) { functions.range(location, line) } else { line..=line };
                if lines.meet(range) {
                    touched.on_lines.insert(report.id);
                }
            }
        }
        touched
    }

    /// Returns true if a file in the directory of this one, or below it, has changed.
    fn touches_beside(&self, file: &Path) -> bool {
        let file = real(&self.root.join(file));
        file.parent().is_some_and(|directory| self.files.keys().any(|changed| changed.starts_with(directory)))
    }

    fn lines(&self, file: &Path) -> Option<&Lines> {
        self.files.get(&real(&self.root.join(file)))
    }
}

/// The changes of a search that edits may concern.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Touched {
    /// Changes on edited lines, functions with an edited line, and crates with an edited file.
    pub(crate) on_lines: BTreeSet<ChangeId>,
    /// Changes with a line in an edited file. Some are on edited lines, too; crates are never here.
    pub(crate) in_files: BTreeSet<ChangeId>,
}

/// The lines at which functions begin.
struct Functions<'a>(BTreeSet<(&'a str, u32)>);

impl<'a> Functions<'a> {
    fn of(changes: &[&'a Report]) -> Self {
        let functions = changes.iter().filter(|report| is_function(report));
        let locations = functions.filter_map(|report| report.location.as_ref());
        Self(locations.filter_map(|location| Some((location.file.as_str(), location.line?))).collect())
    }

    /// Returns the lines from that of a function up to the next function in its file.
    fn range(&self, location: &Location, line: u32) -> RangeInclusive<u32> {
        let after = (Bound::Excluded((location.file.as_str(), line)), Bound::Unbounded);
        let next = self.0.range::<(&str, u32), _>(after).next().filter(|(file, _)| *file == location.file);
        line..=next.map_or(u32::MAX, |(_, next)| next - 1)
    }
}

fn is_function(report: &Report) -> bool {
    report.kind.source == ShownSource::Function
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
