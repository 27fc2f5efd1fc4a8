//! Commits as changes, in first-parent order: each run is made in a worktree at one commit.

use std::{ffi::OsStr, path::Path};

use bisect_core::{
    ChangeId,
    search::{Mode, Order},
};

use super::{
    Application, Axis, Copies, CulpritChanges, CulpritWords, Files, Place, Preparation,
    command_spec::AxisError,
    facts::{AxisFacts, SourceVersions},
    headlines,
    option_axis::{OptionAxis, SearchedTarget},
};
use crate::{
    cargo::{BuildCounts, BuildOverrides},
    output::terms::Terms,
    report::{
        content::{MERGES, Report},
        kind::ChangeKind,
    },
    run::{
        error::RunError,
        numbering::{Numbering, position},
        spec::Choice,
    },
    units::plural,
    vcs::{
        history::{Commit, History},
        worktrees::Worktrees,
    },
};

/// The terms of this axis. The run at the bad commit reports at least one; an empty range is refused before it.
const TERMS: Terms =
    Terms { axis: "commits", change: "commit", reported: None, if_none_reported: Some("there is no commit") };
/// A commit.
const KIND: ChangeKind = ChangeKind::own("commit", "commit", "this commit");

/// `--commits`.
pub(super) const OPTION: OptionAxis = OptionAxis {
    name: "commits",
    value: "GOOD..BAD",
    has_default: false,
    searches_environment: false,
    question: "which commit was the first bad one",
    help: "Find the first commit that makes the target fail",
    details: "The first-parent commits after GOOD up to BAD are searched [default for BAD: HEAD]. Runs are made in \
              worktrees. A commit is unresolved if it exits with --skip-code or, with `test` and `run`, does not build.",
    prepare: |target, range| Ok(Box::new(Commits::prepare(target, range.unwrap_or_default())?)),
};

/// The commits between a good one and a bad one. *None* is the good commit, *all* is the bad one.
#[derive(Debug)]
struct Commits {
    history: History,
    worktrees: Worktrees,
    /// True if cargo builds in the worktree; false if a command is started there.
    builds: bool,
}

impl Commits {
    /// Reads the history of the repository that contains a directory, and prepares worktrees.
    ///
    /// # Errors
    /// If there is no such range of commits, or there can be no worktrees.
    fn prepare(target: &SearchedTarget<'_>, range: &OsStr) -> Result<Self, AxisError> {
        let range = range.to_string_lossy();
        let history = History::load(target.directory, &range).map_err(|error| AxisError::Usage(error.to_string()))?;
        let worktrees = target.worktrees(&history.top).map_err(|error| AxisError::Usage(error.to_string()))?;
        Ok(Self { history, worktrees, builds: target.project.is_some() })
    }

    /// Returns the commit that a choice selects: that of its last enabled change.
    fn commit(&self, choice: &Choice) -> &Commit {
        self.history.after(choice.counter_limit(self.history.commits.len()))
    }

    /// Returns the commit of a change.
    fn commit_of(&self, id: ChangeId) -> Option<&Commit> {
        self.history.commits.get(position(id)?)
    }
}

impl Commits {
    /// Returns a command line that shows the only commit of a culprit, to quote in an issue.
    fn short_line(&self, ids: &[ChangeId]) -> Option<String> {
        let [commit] = ids else { return None };
        Some(format!("git show {}", self.commit_of(*commit)?.hash))
    }

    /// Returns the command line that shows the commits of a culprit.
    fn next_step(&self, ids: &[ChangeId]) -> Option<String> {
        let last = self.commit_of(*ids.last()?)?;
        let first = self.commit_of(*ids.first()?)?;
        let show = if ids.len() == 1 {
            // Otherwise, git shows no differences of a merge.
            let of_merge = if last.merged.is_some() { " -m --first-parent" } else { "" };
            format!("git show{of_merge} {}", last.short)
        } else {
            format!("git log -p --first-parent {}^..{}", first.short, last.short)
        };
        Some(show)
    }
}

impl Axis for Commits {
    fn facts(&self) -> AxisFacts {
        AxisFacts { sources: SourceVersions::Whole, builds: self.builds, ..AxisFacts::of_known_changes(TERMS) }
    }

    fn subject(&self) -> Option<String> {
        let History { good, commits, .. } = &self.history;
        let bad = commits.last().unwrap_or(good);
        Some(format!("{} after {}, up to {}", plural(commits.len(), "commit"), good.short, bad.short))
    }

    fn words(&self, culprit: &CulpritChanges<'_>) -> CulpritWords {
        CulpritWords {
            headline: Some(headlines::of_first(TERMS.change, culprit.mode)),
            short_line: self.short_line(culprit.ids),
            next_step: self.next_step(culprit.ids),
            ..CulpritWords::default()
        }
    }

    fn numbering(&self) -> Numbering {
        Numbering::reversible(Order::Counter, self.history.commits.len())
    }

    fn copies(&self) -> Option<&dyn Copies> {
        Some(self)
    }

    fn apply(&self, _: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        // The artifacts are those that cargo builds for the user.
        let build = BuildOverrides { is_plain: true, ..BuildOverrides::default() };
        Ok(Application { build: self.builds.then_some(build), ..Application::default() })
    }

    fn reproduction(&self, choice: &Choice, files: &Files<'_>) -> Result<Application, RunError> {
        let Commit { hash, short, .. } = self.commit(choice);
        let preparation = Preparation::in_worktree(&self.worktrees, [hash, short], &[], &self.history.subdirectory);
        Ok(Application { preparation: Some(preparation), ..self.apply(choice, files)? })
    }

    fn change(&self, report: Report, _: &Path, _: Mode) -> Report {
        let Some(commit) = self.commit_of(report.id) else { return report };
        let Commit { hash, short, date, subject, .. } = commit;
        let merged = self.history.merged_by(commit).map(|range| format!("{MERGES}{range}"));
        let details = [format!("{short} {date} {subject}")].into_iter().chain(merged).collect();
        Report { kind: KIND, name: hash.clone(), text: vec![subject.clone()], details, ..report }
    }

    fn summary(&self, builds: BuildCounts) -> Option<String> {
        self.builds.then(|| builds.summary())
    }
}

impl Copies for Commits {
    fn original(&self) -> &Path {
        &self.history.top
    }

    fn place(&self, choice: &Choice, slot: usize) -> Result<Place, RunError> {
        let commit = self.commit(choice);
        let checkout = self.worktrees.checkout(slot, &commit.hash);
        let checkout = checkout.map_err(|error| RunError::Unusable(error.to_string()))?;
        let subdirectory = &self.history.subdirectory;
        Ok(Place::in_checkout(checkout, subdirectory, || {
            format!("commit {} has no directory `{}`", commit.short, subdirectory.display())
        }))
    }
}
