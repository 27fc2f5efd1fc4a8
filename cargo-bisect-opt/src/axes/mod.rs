//! What a change is: how a selection is applied to a target, what a run reports of it, and how a culprit is worded and
//! reproduced. One file for each axis.
//!
//! An axis knows no target, and a target no axis: a target applies whatever an [`Application`] says. Changes of most axes are
//! hashes that a run reports. An axis whose changes are known before the search, in an order of their own, says so by
//! [`Axis::order`] and reports them itself.
//!
//! To add an axis, add a file that implements [`Axis`] and, if it has a command of its own, a line to
//! [`table::COMMANDS`](table).

pub(crate) mod build_toggles;
pub(crate) mod command_spec;
pub(crate) mod compilation;
pub(crate) mod contrast;
pub(crate) mod crates;
pub(crate) mod fixed;
pub(crate) mod gated;
mod list;
pub(crate) mod passes;
pub(crate) mod protocol;
pub(crate) mod runtime_toggles;
pub(crate) mod rustflags;
pub(crate) mod stop_gap;
pub(crate) mod table;

use std::{ffi::OsString, fmt::Debug, io, path::Path};

use bisect_core::{ChangeId, search::Order};

use crate::{
    cargo::{Artifacts, BuildOverrides},
    output::events::StopGap,
    report::{content::Report, scan::Reports},
    run::{
        error::RunError,
        spec::{Choice, RunSpec, Surroundings},
    },
};

/// What a change is.
pub(crate) trait Axis: Debug + Send + Sync {
    /// Returns the name of the axis, as in `start.axis` of the JSON.
    fn name(&self) -> &'static str;

    /// Returns what is searched, for people, where the target's command line does not say it.
    fn subject(&self) -> Option<String>;

    /// Returns the order of the changes: that of their hashes, or a given one, in which their IDs are positions.
    fn order(&self) -> Order {
        Order::ByHash
    }

    /// Returns what is done to a target so that exactly these changes are enabled.
    ///
    /// # Errors
    /// If no run can have them, or their files cannot be written. That ends the search.
    fn apply(&self, choice: &Choice, files: &Files<'_>) -> Result<Application, RunError>;

    /// Returns what a user does for the same, in as few words as possible.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    fn reproduction(&self, choice: &Choice, files: &Files<'_>) -> Result<Application, RunError> {
        self.apply(choice, files)
    }

    /// Whether each run begins with a build.
    fn builds(&self) -> bool {
        false
    }

    /// Whether what the target prints, and its report file, are scanned for match markers.
    fn is_reported_by_target(&self) -> bool {
        true
    }

    /// Adds the changes that are reported by something else than the processes of the run: by the build, or by the axis
    /// itself.
    ///
    /// # Errors
    /// If a file cannot be read.
    fn collect(&self, choice: &Choice, built: &AfterBuild<'_>, reports: &mut Reports) -> io::Result<()>;

    /// Whether only a run that asks for text says what changes are. Otherwise every run does.
    fn needs_text_run(&self) -> bool {
        true
    }

    /// Whether a change is that code is optimized, and not what the code means. Then every crash may be due to undefined
    /// behaviour.
    fn is_about_optimization(&self) -> bool {
        false
    }

    /// Completes what was reported about a change of a culprit; `root` is the directory of the target.
    fn change(&self, report: Report, root: &Path) -> Report;

    /// Returns what a culprit of this many changes says, where that is not that they are enabled or disabled.
    fn headline(&self, _changes: usize) -> Option<String> {
        None
    }

    /// Returns what keeps a user going until these changes are mended: what passes, by what the search has shown.
    fn stop_gap(&self, _ids: &[ChangeId], _changes: &[Report]) -> Option<StopGap> {
        None
    }

    /// Returns what else the runs have shown, for people: they took this many builds, which started rustc this many times.
    fn summary(&self, _builds: usize, _invocations: usize) -> Option<String> {
        None
    }

    /// Returns the word of a command line that stands for the changes.
    fn placeholder(&self) -> Option<Placeholder> {
        None
    }
}

/// What is done to a target so that a selection is enabled. A target that cannot do one of these cannot be searched by this
/// axis.
#[derive(Clone, Debug, Default)]
pub(crate) struct Application {
    /// Variables of whatever is executed.
    pub(crate) variables: Vec<(String, String)>,
    /// What the placeholder in the words of a command stands for.
    pub(crate) words: Option<Words>,
    /// What the build before the run differs in; `None`: there is no such build.
    pub(crate) build: Option<BuildOverrides>,
}

/// What a placeholder stands for.
#[derive(Clone, Debug)]
pub(crate) enum Words {
    /// Text, wherever the placeholder stands.
    Text(String),
    /// Arguments, in the place of an argument that is the placeholder, or else after all arguments.
    Arguments(Vec<OsString>),
}

/// A word of a command line that stands for the changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placeholder {
    /// The word.
    pub(crate) word: &'static str,
    /// Whether it must be there.
    pub(crate) is_required: bool,
    /// What must stand where, and an example.
    pub(crate) usage: &'static str,
}

/// Where an axis may write files for a run, and where the run's reports go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Files<'a> {
    /// A directory that lasts as long as the run, or as what reproduces it. It may have to be made.
    pub(crate) directory: &'a Path,
    /// What the name of a file begins with.
    pub(crate) stem: &'a str,
    /// The report file, if the compiler is to report to it.
    pub(crate) report_file: Option<&'a Path>,
}

impl<'a> Files<'a> {
    /// Returns the files of a run.
    pub(crate) fn of_run(surroundings: &Surroundings<'a>, spec: &'a RunSpec) -> Self {
        Self { directory: surroundings.scratch.path(), stem: "changes", report_file: Some(&spec.report_file) }
    }
}

/// What the build before a run has left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AfterBuild<'a> {
    /// What was built; `None`: it did not build. Where a build is the target, as much as there was before it failed.
    pub(crate) artifacts: Option<&'a Artifacts>,
    /// The log of the run, with the compiler's messages.
    pub(crate) log: &'a Path,
}

/// Returns the words for the cost of builds.
fn summary_of_builds(builds: usize, invocations: usize) -> String {
    format!("{builds} builds for these runs started rustc {invocations} times")
}
