//! The user's options for runs of a victim.

use std::time::Duration;

use regex::bytes::Regex;

use crate::process::launcher::Launcher;

/// The user's options for runs of a victim.
#[derive(Clone, Debug, Default)]
pub(crate) struct VictimOptions {
    /// The time limit of a run, which counts for the test that runs when it is over.
    pub(crate) timeout: Option<Duration>,
    /// The exit status of an inconclusive run.
    pub(crate) skip_code: i32,
    /// A regular expression: only a failure whose output matches counts.
    pub(crate) fail_when: Option<Regex>,
    /// The command that starts the executable.
    pub(crate) launcher: Option<Launcher>,
}
