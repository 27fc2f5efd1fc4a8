//! An option of `test`, `run`, `build`, `check` and `exec` that chooses an axis.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use super::{Axis, command_spec::AxisError};
use crate::{
    cargo::{CargoError, Project, outside_paths},
    process::interrupt::Interrupt,
    vcs::worktrees::{WorktreeError, Worktrees},
};

/// An axis that users choose by an option. Its runs need no annotation of the target: it modifies what is built, where
/// it is built, or what is started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OptionAxis {
    /// The name of the option, without dashes.
    pub(crate) name: &'static str,
    /// The name of its value.
    pub(crate) value: &'static str,
    /// Set if the value may be left out.
    pub(crate) has_default: bool,
    /// Set if variables of the environment are searched: `--resume` needs the same ones.
    pub(crate) searches_environment: bool,
    /// The question that it answers, in a few words.
    pub(crate) question: &'static str,
    /// The help text for one line of the screen, as a sentence without a full stop.
    pub(crate) help: &'static str,
    /// The rest of the help text, in sentences.
    pub(crate) details: &'static str,
    /// Creates the axis.
    pub(crate) prepare: fn(&SearchedTarget<'_>, Option<&OsStr>) -> AxisResult,
}

impl OptionAxis {
    /// Returns the option as a user writes it.
    pub(super) fn usage(&self) -> String {
        let Self { name, value, has_default, .. } = self;
        if *has_default { format!("--{name}[={value}]") } else { format!("--{name}={value}") }
    }
}

/// An axis, or a reason why it cannot be searched.
pub(crate) type AxisResult = Result<Box<dyn Axis>, AxisError>;

/// The target for which an axis is created.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchedTarget<'a> {
    /// The user's working directory.
    pub(crate) directory: &'a Path,
    /// The project, if cargo builds the target; `None`: the target is a command.
    pub(crate) project: Option<&'a Project>,
    /// The words of the command, if the target is one.
    pub(crate) command: &'a [OsString],
    /// A request of the user to stop.
    pub(crate) interrupt: &'a Interrupt,
    /// Shows lines about work that takes long; `None`: the user wants none.
    pub(crate) show: Option<Show>,
}

/// The ways to show lines about work that takes long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Show {
    /// Shows whole lines.
    pub(crate) lines: fn(&str),
    /// Shows whole lines if live lines are shown, and nothing otherwise: the lines would split the open line of a run.
    pub(crate) lines_if_live: fn(&str),
}

impl SearchedTarget<'_> {
    /// Returns the directory of the workspace; of a command, the user's working directory.
    pub(crate) fn root(&self) -> PathBuf {
        self.project.map_or_else(|| self.directory.to_owned(), Project::root)
    }

    /// Prepares worktrees of the repository with this work tree, for runs of the target.
    ///
    /// # Errors
    /// See [`Worktrees::new`].
    pub(crate) fn worktrees(&self, repository: &Path) -> Result<Worktrees, WorktreeError> {
        let outside = self.project.map(outside_paths).unwrap_or_default();
        Worktrees::new(repository, &self.root(), &outside)
    }
}

/// An axis that the user chose, with the value of its option.
#[derive(Clone, Debug)]
pub(crate) struct ChosenAxis {
    /// The axis.
    pub(crate) option: &'static OptionAxis,
    /// The value; `None`: it was left out.
    pub(crate) value: Option<OsString>,
}

impl ChosenAxis {
    /// Creates the axis for a target.
    ///
    /// # Errors
    /// If the value is invalid for this target, or there is nothing to search; or if the user interrupts it.
    pub(crate) fn prepare(&self, target: &SearchedTarget<'_>) -> AxisResult {
        let prepared = (self.option.prepare)(target, self.value.as_deref());
        // The signal also reached the processes that were asked, so their errors do not count.
        if target.interrupt.requested() { Err(CargoError::Interrupted.into()) } else { prepared }
    }
}
