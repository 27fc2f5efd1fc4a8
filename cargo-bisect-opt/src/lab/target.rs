//! What is run again and again: the interface between the search loop and the things that can be searched.

use std::path::Path;

use bisect_core::{ChangeId, Pattern, search::Trial};

use crate::{
    output::events::{Change, StopGap},
    report::scan::Reports,
    run::{error::RunError, result::Run, spec::Request},
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
