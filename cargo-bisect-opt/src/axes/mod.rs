//! Axes: the kinds of changes. Each axis has one file.
//!
//! An axis defines how a selection is applied to a target, what a run reports about it, and how a culprit is worded and
//! reproduced.
//!
//! An axis does not depend on a kind of target, nor a target on a kind of axis: a target applies any [`Application`].
//! The changes of most axes are hashes that a run reports. If an axis knows its changes before the search, in a given
//! order, its [`Axis::numbering`] says how many: then each run reports those that it selects.
//!
//! To add an axis, add a file that implements [`Axis`], and its `mod` line below. Then let users choose it:
//! - If it has a command of its own, which searches any command line: define a
//!   [`CommandSpec`](command_spec::CommandSpec) in that file, and add it to [`table::COMMANDS`]. Example: [`list`].
//! - If it is an option of `test`, `run`, `build`, `check` and `exec`: define an
//!   [`OptionAxis`](option_axis::OptionAxis) in that file, and add it to [`table::OPTIONS`]. Example: [`commits`].
//! - If it is an option of only some of these commands, or needs several searches: add the option and choose the axis in
//!   `commands`.

pub(crate) mod as_it_stands;
pub(crate) mod build_toggles;
pub(crate) mod command_spec;
mod commits;
pub(crate) mod compared_options;
pub(crate) mod compilation;
mod count;
pub(crate) mod crates;
mod deps;
mod diff;
mod env;
pub(crate) mod facts;
mod features;
pub(crate) mod fixed;
pub(crate) mod gated;
mod headlines;
mod list;
mod lock_runs;
pub(crate) mod occurrences;
pub(crate) mod option_axis;
pub(crate) mod passes;
pub(crate) mod protocol;
pub(crate) mod runtime_toggles;
pub(crate) mod rustflags;
pub(crate) mod stop_gap;
pub(crate) mod table;
mod versions;
pub(crate) mod watch;

use std::{
    ffi::OsString,
    fmt::Debug,
    io,
    path::{Path, PathBuf},
};

use bisect_core::{
    ChangeId,
    search::{Mode, Order},
};

use facts::AxisFacts;

use crate::{
    cargo::{Artifacts, BuildCounts, BuildOverrides},
    process::{shell, variables::Variables},
    record::culprit::StopGap,
    report::{content::Report, scan::Reports},
    run::{
        error::RunError,
        numbering::Numbering,
        outcome::UNTESTED,
        reader::Reader,
        spec::{Choice, RunSpec, Surroundings},
    },
    vcs::{
        query::LOCAL_VARIABLES,
        worktrees::{Checkout, Worktrees},
    },
};

/// A kind of change.
pub(crate) trait Axis: Debug + Send + Sync {
    /// Returns the constants of the axis.
    fn facts(&self) -> AxisFacts;

    /// Describes the searched changes for people, unless the target's command line does.
    fn subject(&self) -> Option<String>;

    /// Returns the order of the changes, with their numbers: the order of their hashes, or a given order, in which their
    /// IDs are positions. A list that is known before the first run is [`Numbering::of_list`], or, if some changes need
    /// earlier ones, [`Numbering::reversible`]: then the search disables them in the reverse order.
    fn numbering(&self) -> Numbering {
        Numbering::of(Order::ByHash)
    }

    /// Returns groups of changes that are likelier than others to be searched for, the likeliest group first. Called at
    /// the time that [`AxisFacts::likely`] names. `failed` are the tests that fail with every change enabled, and pass
    /// with none; empty before the runs at both end states.
    fn likely(&self, _failed: &[String]) -> Vec<Vec<ChangeId>> {
        Vec::new()
    }

    /// Returns the changes that take long to find, if this axis has some.
    fn late(&self) -> Option<&dyn LateChanges> {
        None
    }

    /// Returns the knowledge that runs leave in the axis and that later runs need, if there is some.
    fn stored(&self) -> Option<&dyn StoredKnowledge> {
        None
    }

    /// Returns the directories of runs, if runs are not made in the user's directory.
    fn copies(&self) -> Option<&dyn Copies> {
        None
    }

    /// Returns the application that enables exactly these changes.
    ///
    /// # Errors
    /// If no run can enable exactly these changes, or their files cannot be written. The error ends the search.
    fn apply(&self, choice: &Choice, files: &Files<'_>) -> Result<Application, RunError>;

    /// Returns an equivalent application for a user to reproduce, as short as possible.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    fn reproduction(&self, choice: &Choice, files: &Files<'_>) -> Result<Application, RunError> {
        self.apply(choice, files)
    }

    /// Adds the changes that the processes of the run do not report: those reported by the build, or by the axis
    /// itself. By default, the selected changes of a list that is known before the first run: see
    /// [`Numbering::reported`].
    ///
    /// # Errors
    /// If a file cannot be read.
    fn collect(&self, choice: &Choice, _built: &AfterBuild<'_>, reports: &mut Reports) -> io::Result<()> {
        reports.add_known(self.numbering().reported(choice));
        Ok(())
    }

    /// Reads the changes of a run from the file for reports.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn read_reports(&self, _: &Choice, report_file: &Path, reports: &mut Reports) -> io::Result<()> {
        if self.facts().reporter.is_target() { reports.read_file(report_file) } else { Ok(()) }
    }

    /// Completes the report about a change of a culprit that makes the target fail where it is enabled, or disabled. An
    /// axis whose order depends on that has other changes at the same positions. `root` is the directory of the target.
    fn change(&self, report: Report, _root: &Path, _mode: Mode) -> Report {
        report
    }

    /// Returns the words about a culprit.
    fn words(&self, _culprit: &CulpritChanges<'_>) -> CulpritWords {
        CulpritWords::default()
    }

    /// Returns these changes of a culprit as patches, if they are edits of source files.
    ///
    /// # Errors
    /// If they cannot be made.
    fn patches(&self, _ids: &[ChangeId], _mode: Mode) -> io::Result<Option<Patches>> {
        Ok(None)
    }

    /// Returns the axes of further searches, or why there can be no search, for a note. Empty if there is no reason to
    /// search further.
    fn further(&self, _: FurtherSearch<'_>) -> Vec<Result<Box<dyn Axis>, String>> {
        Vec::new()
    }

    /// Summarizes all runs for people, whose builds compiled crates without an error.
    fn summary(&self, _: BuildCounts) -> Option<String> {
        None
    }
}

/// Changes that are found only after runs at both end states, because that takes long.
pub(crate) trait LateChanges {
    /// Finds the changes. Called once the runs at the end states have shown that the target fails with every change and
    /// passes with none. Until then, runs need not report changes.
    ///
    /// # Errors
    /// If they cannot be found. The error ends the search.
    fn find(&self) -> Result<(), RunError>;

    /// Returns the changes that a failing run with every change enabled did not report, because they were found only
    /// afterwards. If they are not found, it is decided here which they are, for the whole search.
    fn unreported(&self) -> Vec<ChangeId>;

    /// Reads results of checks outside runs from a file, which an interrupted search has made, and adds those of this
    /// search. Called before the first run.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    fn keep_in(&self, file: &Path) -> io::Result<()>;
}

/// Knowledge from runs, which the journal of a search keeps.
pub(crate) trait StoredKnowledge {
    /// Returns the knowledge; `None` if there is none.
    fn knowledge(&self) -> Option<serde_json::Value>;

    /// Restores the knowledge that the axis had when the search was interrupted.
    ///
    /// # Errors
    /// If the value is not what [`knowledge`](Self::knowledge) returns.
    fn restore(&self, knowledge: serde_json::Value) -> serde_json::Result<()>;
}

/// Copies of the user's files, one for each slot.
pub(crate) trait Copies {
    /// Returns the user's top directory that is copied.
    fn original(&self) -> &Path;

    /// Prepares the directory of a run in a slot. Called once, before the run builds or starts anything. No other run has
    /// the slot at the same time.
    ///
    /// # Errors
    /// If no run can have a directory. The error ends the search.
    fn place(&self, choice: &Choice, slot: usize) -> Result<Place, RunError>;
}

/// A further search after a first one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FurtherSearch<'a> {
    /// Within a culprit with these changes, if the user asked for it.
    Within(&'a [ChangeId]),
    /// From the beginning, with these changes always disabled.
    Holding(&'a [ChangeId]),
}

/// The changes of a culprit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CulpritChanges<'a> {
    /// Their IDs.
    pub(crate) ids: &'a [ChangeId],
    /// Their completed reports.
    pub(crate) changes: &'a [Report],
    /// The direction in which they break the target.
    pub(crate) mode: Mode,
    /// The command line of the search.
    pub(crate) line: &'a str,
}

/// The words of an axis about a culprit.
#[derive(Debug, Default)]
pub(crate) struct CulpritWords {
    /// The headline; `None` for the default, that its changes are enabled or disabled.
    pub(crate) headline: Option<String>,
    /// A workaround until the changes are fixed: a configuration that passed in the search.
    pub(crate) stop_gap: Option<StopGap>,
    /// A short command line about the changes, without files of this search, to quote in an issue.
    pub(crate) short_line: Option<String>,
    /// The next step for a user who knows the changes.
    pub(crate) next_step: Option<String>,
}

/// The changes of a culprit as patches.
#[derive(Clone, Debug)]
pub(crate) struct Patches {
    /// The patch that makes the old sources fail.
    pub(crate) culprit: Vec<u8>,
    /// The patch that undoes the changes in the new sources.
    pub(crate) undo: Vec<u8>,
    /// The names of the old and the new sources.
    pub(crate) versions: (String, String),
    /// The directory to which the paths in the patches are relative, unless it is the working directory.
    pub(crate) top: Option<PathBuf>,
}

/// The modifications of a target that enable a selection. An axis cannot search a target that does not support its
/// modifications.
#[derive(Clone, Debug, Default)]
pub(crate) struct Application {
    /// Environment variables for the executed processes.
    pub(crate) variables: Variables,
    /// The replacement for the placeholder in the words of a command.
    pub(crate) words: Option<Words>,
    /// The words before the program in a command line that reproduces a culprit: a debugger.
    pub(crate) before: Vec<String>,
    /// The overrides for the build before the run; `None`: there is no build.
    pub(crate) build: Option<BuildOverrides>,
    /// The shell commands before those that reproduce a run.
    pub(crate) preparation: Option<Preparation>,
}

/// Shell commands that make a temporary directory for one run, and remove it at the end of the shell. They set `tree` to
/// its path. Some also go there.
#[derive(Clone, Debug)]
pub(crate) struct Preparation {
    /// The commands for a person, and those for a replay.
    pub(crate) commands: [String; 2],
    /// The commit whose files are there, if there are no other ones.
    pub(crate) commit: Option<String>,
}

impl Preparation {
    /// The target directory in the temporary one, as a word for a shell. It is used if the user's settings would make both
    /// share the user's artifacts.
    pub(crate) const TARGET_DIRECTORY: &str = "\"$tree\"/target";

    /// Returns the commands for a worktree of a commit, given by its hash and a short one. `steps` are run in the worktree,
    /// in this order.
    pub(crate) fn in_worktree(
        worktrees: &Worktrees,
        [hash, short]: [&str; 2],
        steps: &[Option<String>],
        subdirectory: &Path,
    ) -> Self {
        let go = (!subdirectory.as_os_str().is_empty())
            .then(|| format!("cd {}", shell::quote(Path::new(".").join(subdirectory))));
        let commands = |commit| {
            let all = [Some(worktrees.shell_commands(commit))].into_iter().chain(steps.iter().cloned());
            all.chain([worktrees.copy_command(), go.clone()]).flatten().collect::<Vec<_>>().join(" && ")
        };
        Self { commands: [short, hash].map(commands), commit: Some(hash.to_owned()) }
    }

    /// Returns the commands for this reader. With the variables that git sets for hooks, they would work on the user's
    /// repository. If they fail, the target was not tested, which the status says to a person.
    pub(crate) fn of(&self, reader: Reader) -> String {
        let [person, replay] = &self.commands;
        match reader {
            Reader::Person => {
                let set: Vec<_> = LOCAL_VARIABLES.into_iter().filter(|name| std::env::var_os(name).is_some()).collect();
                let unset = if set.is_empty() { String::new() } else { format!("unset {} && ", set.join(" ")) };
                format!("{unset}{} || exit {UNTESTED}", shell::exiting_at_signals(person))
            }
            Reader::Replay => format!("unset {} && {replay}", LOCAL_VARIABLES.join(" ")),
        }
    }

    /// Returns a line that begins with these commands, in a shell of its own, which removes the directory at its end.
    /// A replay has a shell of its own anyway.
    pub(crate) fn enclose(line: String, reader: Reader) -> String {
        if reader == Reader::Person { format!("({line})") } else { line }
    }
}

/// The directory of a run.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// This directory corresponds to that of the user.
    At(PathBuf),
    /// There is none for this selection, and why. The run is unresolved.
    Missing(String),
}

impl Place {
    /// Returns the place of the user's directory in a checkout. `missing` says that the checkout has no such directory.
    fn in_checkout(checkout: Checkout, subdirectory: &Path, missing: impl FnOnce() -> String) -> Self {
        match checkout {
            Checkout::Failed(why) => Self::Missing(why),
            Checkout::Done(tree) => {
                let directory = tree.join(subdirectory);
                if directory.is_dir() { Self::At(directory) } else { Self::Missing(missing()) }
            }
        }
    }
}

/// The replacement for a placeholder.
#[derive(Clone, Debug)]
pub(crate) enum Words {
    /// Text that replaces the placeholder everywhere. Shells do not act upon its characters.
    Text(String),
    /// The path of a file that replaces the placeholder everywhere.
    File(PathBuf),
    /// Arguments that replace an argument equal to the placeholder, or else follow all arguments.
    Arguments(Vec<OsString>),
}

/// A word of a command line that the changes replace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placeholder {
    /// The word.
    pub(crate) word: &'static str,
    /// Set if the command line must have the word.
    pub(crate) is_required: bool,
    /// Set if a path replaces it.
    pub(crate) is_path: bool,
    /// Instructions for a user who left it out, with an example.
    pub(crate) usage: &'static str,
}

/// The places for an axis's files for a run, and for the run's reports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Files<'a> {
    /// A directory that exists as long as the run, or as the command line that reproduces it. It may not exist yet.
    pub(crate) directory: &'a Path,
    /// The prefix of file names.
    pub(crate) stem: &'a str,
    /// The report file for the compiler, if the compiler reports changes.
    pub(crate) report_file: Option<&'a Path>,
}

impl<'a> Files<'a> {
    /// Returns the files of a run.
    pub(crate) fn of_run(surroundings: &Surroundings<'a>, spec: &'a RunSpec) -> Self {
        Self { directory: surroundings.scratch.path(), stem: "changes", report_file: Some(&spec.report_file) }
    }
}

/// The results of the build before a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AfterBuild<'a> {
    /// The artifacts; `None`: the build failed. If a build is the target, they include those made before a failure.
    pub(crate) artifacts: Option<&'a Artifacts>,
    /// The log of the run, which has the compiler's messages.
    pub(crate) log: &'a Path,
}
