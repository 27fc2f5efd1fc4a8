//! The interface of a searched target: a runner that threads share, and a judge that the loop owns.

use std::{path::Path, sync::Arc, time::Duration};

use bisect_core::search::{Selection, Trial};
use serde::{Serialize, de::DeserializeOwned};

use super::calibration::BothFail;
use crate::{
    axes::Axis,
    cargo::BuildCounts,
    output::terms::Terms,
    record::snippets::Own,
    report::{content::Report, scan::Reports},
    run::{
        error::RunError,
        pasting::{LineResult, Pasting},
        reader::Reader,
        result::RunResult,
        spec::{RunSpec, Surroundings},
        target_kind::TargetKind,
    },
    vcs::blame::LastChange,
};

/// A maker of runs, in any thread. It is immutable.
pub(crate) trait Runner: Send + Sync + 'static {
    /// The knowledge of the judge when the run begins.
    type KnownFailures: Send + Sync + 'static;
    /// The observations of one run, before they are judged.
    type Observations: Serialize + DeserializeOwned + Send + 'static;

    /// Makes a run.
    ///
    /// # Errors
    /// If this run, and with it the whole search, cannot continue: see [`RunError`]. A problem with this selection only
    /// (for example, it does not build) is an unresolved outcome, not an error.
    fn run(
        &self,
        spec: &RunSpec,
        known_failures: &Self::KnownFailures,
        surroundings: &Surroundings<'_>,
    ) -> Result<Self::Observations, RunError>;

    /// Runs a line of [`Target::reproduce`] as it is printed.
    fn paste(&self, line: &Pasting<'_>) -> LineResult;

    /// Returns true if two lines can run at the same time whenever two runs can: they share no directory of this program.
    fn can_paste_at_once(&self) -> bool {
        false
    }

    /// Returns the knowledge that runs have left in the runner and that later runs need, as JSON; `None` if there is
    /// none.
    fn knowledge(&self) -> Option<String> {
        None
    }

    /// Restores the knowledge that an interrupted search had after the same runs.
    ///
    /// # Errors
    /// If the text is not what [`knowledge`](Self::knowledge) returns.
    fn restore(&self, _knowledge: &str) -> serde_json::Result<()> {
        Ok(())
    }

    /// Learns that the loop has decided all that it can, and waits for one of this number of runs to end. In tests, the
    /// runner decides here which one.
    #[cfg(test)]
    fn loop_waits(&self, _in_flight: usize) {}

    /// Learns that the loop waits for no single run any more: all remaining runs may end.
    #[cfg(test)]
    fn loop_left(&self) {}
}

/// The decision of a judge about a run.
#[derive(Debug)]
pub(crate) enum Judgement<S> {
    /// The results: one for each test that the run was made for, or a single one if it was not made for single tests.
    Ready(Vec<RunResult>),
    /// The unjudged observations: other runs must be known first.
    Pending(S),
}

/// A judge of runs: it decides which failures are the searched one, as far as the runs so far have shown that.
pub(crate) trait Judge {
    /// The runner that makes the runs.
    type Runner: Runner;

    /// Returns the runner.
    fn runner(&self) -> Arc<Self::Runner>;

    /// Returns the knowledge for a run that begins now.
    fn known_failures(&self) -> Arc<<Self::Runner as Runner>::KnownFailures>;

    /// Learns from a run. Most is learned from runs at the end states.
    ///
    /// # Errors
    /// If the target cannot be searched.
    fn learn(&mut self, trial: &Trial, shown: &<Self::Runner as Runner>::Observations) -> Result<(), RunError>;

    /// Records a failure of another kind in a run of everything but the culprits. Returns true if it is the first one
    /// for this selection. The loop then repeats the run, and makes one at the end that passes. If the first one shows
    /// the failure and the second one does not, the search goes on for it.
    fn needs_controls(&mut self, _trial: &Trial, _shown: &<Self::Runner as Runner>::Observations) -> bool {
        false
    }

    /// Judges a run.
    fn judge(
        &mut self,
        trial: &Trial,
        shown: <Self::Runner as Runner>::Observations,
    ) -> Judgement<<Self::Runner as Runner>::Observations>;

    /// Assumes that no other run at an end state will come: from now on no judgement is pending.
    fn assume_no_more_ends(&mut self) {}

    /// Returns the reports of a run, whatever its outcome: one entry for each part of the run that was executed
    /// separately.
    fn reports<'a>(&self, shown: &'a <Self::Runner as Runner>::Observations) -> Vec<&'a Reports>;

    /// Returns the failing tests, if the search is to continue for each of them. Called after the first runs.
    fn tests(&mut self) -> Option<Vec<String>> {
        None
    }

    /// Returns how the target fails at both ends of the search, if it does so in different ways and if only one thing is
    /// searched for: the whole target, or one test.
    fn both_fail(&self) -> Option<BothFail> {
        None
    }

    /// Returns true if there may be a further search in which some changes are always disabled.
    fn can_hold(&self) -> bool {
        false
    }

    /// Takes the notes for the user since the last call.
    fn take_notes(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// A searchable target, with the axis that searches it.
pub(crate) trait Target: Judge {
    /// Returns the axis.
    fn axis(&self) -> &dyn Axis;

    /// Returns the name of the axis and the words for its changes, in a search of this target.
    fn terms(&self) -> Terms {
        self.axis().facts().terms
    }

    /// Returns a description of the target on one line, for the trace and for `start` in the JSON.
    fn describe(&self) -> String;

    /// Returns the command line of the search, for next steps.
    fn line(&self) -> String {
        self.describe()
    }

    /// Returns the directory that paths in reports are relative to. Source files below it are the user's own code.
    fn root(&self) -> &Path;

    /// Returns the first line of `rustc -vV`, if cargo calls this compiler.
    fn rustc(&self) -> Option<String> {
        None
    }

    /// Returns the kind of the target.
    fn kind(&self) -> TargetKind {
        TargetKind::Command
    }

    /// Returns the builds that were made for runs.
    fn builds(&self) -> BuildCounts {
        BuildCounts::default()
    }

    /// Returns the last change of the place that decides about a change of a culprit, if git tracks it.
    fn last_change(&self, change: &Report) -> Option<LastChange> {
        Own::new(self.root()).last_change(change)
    }

    /// Returns a shell command line that runs the target once more.
    fn reproduce(&self, again: &Reproduction<'_>) -> String;
}

/// A run of a target once more, by a command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reproduction<'a> {
    /// The changes to enable.
    pub(crate) selection: &'a Selection,
    /// The tests to run, of a target with tests; empty: all that are repeated.
    pub(crate) tests: &'a [String],
    /// The directory for files that the command line needs.
    pub(crate) directory: &'a Path,
    /// The beginning of their names.
    pub(crate) stem: &'a str,
    /// The reader of the command line.
    pub(crate) reader: Reader,
    /// True if the target has hung with these changes.
    pub(crate) hangs: bool,
}

impl Reproduction<'_> {
    /// Returns words before a command that limit its time, if it may hang and runs had a time limit.
    pub(crate) fn limit(&self, timeout: Option<Duration>) -> Vec<String> {
        let limit = timeout.filter(|_| self.hangs && self.reader == Reader::Person);
        limit.map_or_else(Vec::new, |limit| vec!["timeout".to_owned(), format!("{}s", limit.as_secs_f64())])
    }
}
