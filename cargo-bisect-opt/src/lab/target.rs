//! What is run again and again: the interface between the search loop and the things that can be searched.

use std::{path::Path, process::Command, time::Duration};

use bisect_core::{
    ChangeId, Pattern,
    search::{Outcome, Trial},
};
use serde::Serialize;

use crate::{
    output::events::{Change, Failed, StopGap},
    process::{SpawnError, interrupt::Interrupt, scratch_dir::ScratchDir, slots::Slots},
    report::scan::Reports,
    run::repetition::Repetition,
};

/// Something that runs with a pattern and passes or fails.
///
/// Several threads run it at once. What a run means may depend on what the first runs show (a test that fails whatever is
/// enabled does not count), so running and judging are two steps; the second is made by one thread, in any order.
pub(crate) trait Target: Sync {
    /// What one run showed, before it is judged.
    type Shown: Send + 'static;

    /// Runs once.
    ///
    /// # Errors
    /// Where this run, and so the whole search, cannot go on: see [`RunError`]. What concerns this selection only (it does
    /// not build with it) is an unresolved outcome, not an error.
    fn run(&self, request: &Request<'_>) -> Result<Self::Shown, RunError>;

    /// Learns from a run with every change, or with none, what the others mean.
    ///
    /// # Errors
    /// If the target cannot be searched.
    fn learn(&self, _trial: &Trial, _shown: &Self::Shown) -> Result<(), RunError> {
        Ok(())
    }

    /// What a run means for each test that it was made for; for all together, unless single tests were asked for.
    ///
    /// # Errors
    /// The run itself, as long as that depends on others.
    fn judge(&self, trial: &Trial, shown: Self::Shown) -> Result<Vec<Run>, Self::Shown>;

    /// What a run reported, however it ended: of each process that was asked for text of its own.
    fn reports<'a>(&self, shown: &'a Self::Shown) -> Vec<&'a Reports>;

    /// Whether only a run that asks for text says what changes are. Else every run does.
    fn needs_text_run(&self) -> bool {
        true
    }

    /// No other run will come: from now on every run can be judged, by what is known.
    fn settle(&self) {}

    /// The tests that fail, if the search is to go on for each of them, now that the first runs were made.
    fn tests(&self) -> Option<Vec<String>> {
        None
    }

    /// What is run, on one line, for the trace and for `start` in the JSON.
    fn describe(&self) -> String;

    /// Paths in reports are relative to this directory, and what lies below it is the user's own code.
    fn root(&self) -> &Path;

    /// What is searched, as `start.axis` in the JSON.
    fn axis(&self) -> &'static str {
        "toggles"
    }

    /// What is searched, for people, where that is not plain.
    fn subject(&self) -> Option<String> {
        None
    }

    /// What a culprit of so many changes says, where that is not that they are enabled or disabled.
    fn headline(&self, _changes: usize) -> Option<String> {
        None
    }

    /// Whether there is nothing to it but that it is built.
    fn is_build(&self) -> bool {
        false
    }

    /// A change that was reported with this text.
    fn change(&self, id: ChangeId, text: &[String]) -> Change {
        Change::reported(id, text, |_| None)
    }

    /// What keeps a user going until these changes are mended, which break the target where they are enabled.
    fn stop_gap(&self, _ids: &[ChangeId], _changes: &[Change]) -> Option<StopGap> {
        None
    }

    /// What the user should be told, since this was last asked.
    fn take_notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// What all runs together cost beyond their time, for people.
    fn summary(&self) -> Option<String> {
        None
    }

    /// The loop has decided all that it can, and waits for one of this many runs to end. In tests, a target decides here
    /// which one.
    #[cfg(test)]
    fn loop_waits(&self, _in_flight: usize) {}

    /// The loop waits for no single run any more: all that are left may end.
    #[cfg(test)]
    fn loop_left(&self) {}

    /// A command line that a user can paste into a shell to run the target once more with this pattern; of its tests, where
    /// it has any, only these, unless none are named.
    fn reproduce(&self, pattern: &Pattern, tests: &[String]) -> String;
}

/// Kinds of changes, as the JSON names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// The place itself.
    Site,
    /// A place, by who called it.
    Caller,
    /// A place, by its whole call stack.
    Stack,
    /// Decided while compiling.
    Build,
    /// A package, by the options that it is compiled with.
    Crate,
    /// A function that the compiler may optimize.
    Function,
    /// A pass of the compiler.
    Pass,
    /// An expression that means something else in another edition.
    Expression,
}

/// One run to make.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    /// The changes to switch.
    pub(crate) pattern: &'a Pattern,
    /// Of the target's [`tests`](Target::tests), those to run, each in a process of its own, by their numbers; `None`:
    /// everything, in one go.
    pub(crate) tests: Option<&'a [usize]>,
    /// Which run of the search it is, from 1.
    pub(crate) run: usize,
    /// How often the target is executed, and what that means.
    pub(crate) repetition: Repetition,
    /// No other run with this number is going on.
    pub(crate) slot: usize,
    /// What depends on the slot.
    pub(crate) slots: &'a Slots,
    /// For files that nobody needs after the run.
    pub(crate) scratch: &'a ScratchDir,
    /// Where everything that the run prints goes.
    pub(crate) log: &'a Path,
    /// Where its reports go (`BISECT_REPORT`), as an absolute path. The target creates this file.
    pub(crate) report_file: &'a Path,
    /// Set when the user wants to stop.
    pub(crate) interrupt: &'a Interrupt,
}

impl Request<'_> {
    /// Gives a process of the run what it needs to keep out of the way of other runs, at the same time and later: among it,
    /// an empty directory for temporary files, which is to be dropped when the process has ended.
    ///
    /// # Errors
    /// If that cannot be made.
    pub(crate) fn set_apart(&self, command: &mut Command) -> std::io::Result<ScratchDir> {
        self.slots.apply(command, self.slot);
        let temporary = self.scratch.inner()?;
        command.envs(temporary.variables());
        Ok(temporary)
    }
}

/// That what runs print is not kept, for people.
pub(crate) fn lost_log_note(error: &std::io::Error) -> String {
    format!("what runs print cannot be logged: {error}; the search goes on without")
}

/// What a run showed.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// Pass, fail or unresolved.
    pub(crate) outcome: Outcome,
    /// More about the outcome, for people: `timeout`, `signal 11`, `exit status 101`; empty if it passed.
    pub(crate) reason: String,
    /// The changes it reported.
    pub(crate) reports: Reports,
    /// The tests that failed, where they are known.
    pub(crate) failed_tests: Vec<String>,
    /// How it failed, as far as failures are told from one another.
    pub(crate) failures: Vec<Failed>,
    /// How long its executions took together.
    pub(crate) duration: Duration,
    /// How often the target was executed.
    pub(crate) executions: usize,
    /// How the executions ended that count beside the outcome of the run.
    pub(crate) also: Vec<Outcome>,
    /// How long it took before that, once for all of them: the build of this selection.
    pub(crate) started_in: Duration,
}

/// Why a run could not be made at all.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    /// The executable cannot be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The user stopped it; everything it started is gone.
    #[error("interrupted")]
    Interrupted,
    /// The run's files could not be written or read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// It runs, but not as a target does; the words say what to do.
    #[error("{0}")]
    Unusable(String),
}
