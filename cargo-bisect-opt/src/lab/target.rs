//! What is searched: a runner that threads share, and a judge that the loop owns.

use std::{path::Path, sync::Arc};

use bisect_core::{
    ChangeId,
    search::{Order, Selection, Trial},
};

use crate::{
    output::events::StopGap,
    report::{content::Report, scan::Reports},
    run::{
        error::RunError,
        result::RunResult,
        spec::{RunSpec, Surroundings},
    },
};

/// Makes runs, in any thread. It never changes.
pub(crate) trait Runner: Send + Sync + 'static {
    /// What the judge knew when the run began.
    type Brief: Send + Sync + 'static;
    /// What one run showed, before it is judged.
    type Shown: Send + 'static;

    /// Makes a run.
    ///
    /// # Errors
    /// Where this run, and so the whole search, cannot go on: see [`RunError`]. What concerns this selection only (it does
    /// not build with it) is an unresolved outcome, not an error.
    fn run(
        &self,
        spec: &RunSpec,
        brief: &Self::Brief,
        surroundings: &Surroundings<'_>,
    ) -> Result<Self::Shown, RunError>;

    /// The loop has decided all that it can, and waits for one of this many runs to end. In tests, a target decides here
    /// which one.
    #[cfg(test)]
    fn loop_waits(&self, _in_flight: usize) {}

    /// The loop waits for no single run any more: all that are left may end.
    #[cfg(test)]
    fn loop_left(&self) {}
}

/// What a judge decides about a run.
#[derive(Debug)]
pub(crate) enum Judgement<S> {
    /// The results: one for each test that the run was made for; one for everything, if it was not made for single tests.
    Ready(Vec<RunResult>),
    /// Other runs must be known first.
    Pending(S),
}

/// Decides what counts as the failure that is searched for, as far as the runs so far have taught that.
pub(crate) trait Judge {
    /// What makes the runs.
    type Runner: Runner;

    /// Returns the runner.
    fn runner(&self) -> Arc<Self::Runner>;

    /// Returns what a run that begins now must know.
    fn brief(&self) -> Arc<<Self::Runner as Runner>::Brief>;

    /// Learns from a run. Most is learned from those with every change, or with none.
    ///
    /// # Errors
    /// If the target cannot be searched.
    fn learn(&mut self, trial: &Trial, shown: &<Self::Runner as Runner>::Shown) -> Result<(), RunError>;

    /// Judges a run.
    fn judge(
        &mut self,
        trial: &Trial,
        shown: <Self::Runner as Runner>::Shown,
    ) -> Judgement<<Self::Runner as Runner>::Shown>;

    /// Assumes that no other run at an end state will come: from now on no judgement is pending.
    fn assume_no_more_ends(&mut self) {}

    /// Returns what a run reported, however it ended: of each process that was asked for text.
    fn reports<'a>(&self, shown: &'a <Self::Runner as Runner>::Shown) -> Vec<&'a Reports>;

    /// Returns the tests that fail, if the search is to go on for each of them, now that the first runs were made.
    fn tests(&mut self) -> Option<Vec<String>> {
        None
    }

    /// Takes what the user should know, since this was last asked.
    fn take_notes(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// Something that can be searched, and the words about it.
pub(crate) trait Target: Judge {
    /// Returns what is run, on one line, for the trace and for `start` in the JSON.
    fn describe(&self) -> String;

    /// Returns the directory that paths in reports are relative to. What lies below it is the user's own code.
    fn root(&self) -> &Path;

    /// Returns the name of the axis: `start.axis` in the JSON.
    fn axis(&self) -> &'static str;

    /// Returns the order of the changes.
    fn order(&self) -> Order {
        Order::ByHash
    }

    /// Returns what is searched, for people, where that is not plain.
    fn subject(&self) -> Option<String> {
        None
    }

    /// Returns what a culprit of this many changes says, where that is not that they are enabled or disabled.
    fn headline(&self, _changes: usize) -> Option<String> {
        None
    }

    /// Whether the target is a build: nothing is executed.
    fn is_build(&self) -> bool {
        false
    }

    /// Whether only a run that asks for text says what changes are. Otherwise every run does.
    fn needs_text_run(&self) -> bool {
        true
    }

    /// Completes what was reported about a change of a culprit.
    fn change(&self, report: Report) -> Report;

    /// Returns what keeps a user going until these changes are mended, which break the target where they are enabled.
    fn stop_gap(&self, _ids: &[ChangeId], _changes: &[Report]) -> Option<StopGap> {
        None
    }

    /// Returns what all runs together cost beyond their time, for people.
    fn summary(&self) -> Option<String> {
        None
    }

    /// Returns a line for a shell that runs the target once more with these changes; of its tests, where it has any, only
    /// these, unless none are named.
    /// What it needs beside the command line is written to `directory`, in files whose names begin with `stem`.
    fn reproduce(&self, selection: &Selection, tests: &[String], directory: &Path, stem: &str) -> String;
}
