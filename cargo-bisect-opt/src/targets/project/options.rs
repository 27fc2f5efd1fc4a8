//! What the user asks for when what cargo builds is searched.

use std::{ffi::OsString, time::Duration};

use regex::bytes::Regex;

use crate::{cargo::Subcommand, process::launcher::Launcher};

/// What the user asks for.
#[derive(Clone, Debug)]
pub(crate) struct ProjectOptions {
    /// Cargo's subcommand: what is run, if anything is.
    pub(crate) subcommand: Subcommand,
    /// Cargo's arguments.
    pub(crate) cargo: Vec<OsString>,
    /// The words behind `--`: for the tests or the program.
    pub(crate) target: Vec<OsString>,
    /// The toggles to search; empty: all that are decided at run time, else all that are decided while compiling.
    pub(crate) toggles: Vec<String>,
    /// Repeat everything in every run, not only the tests whose outcome depends on the changes.
    pub(crate) all_tests: bool,
    /// Whether the search goes on for each failing test.
    pub(crate) per_test: PerTest,
    /// Flags for the compiler with PATTERN in them; then no toggle is searched.
    pub(crate) rustflags: Option<String>,
    /// A run that takes longer has failed; building does not count, unless it is the target.
    pub(crate) timeout: Option<Duration>,
    /// The exit status of a run that does not tell.
    pub(crate) skip_code: i32,
    /// Only a failure with output that matches counts.
    pub(crate) fail_when: Option<Regex>,
    /// Only failures like those at the end of the search that fails count.
    pub(crate) same_failure: bool,
    /// What starts the executables.
    pub(crate) launcher: Option<Launcher>,
    /// Keep quiet about the build, as long as it goes well.
    pub(crate) quiet: bool,
}

/// Whether the search goes on for each failing test on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PerTest {
    /// If there are several.
    Auto,
    /// Also if there is one.
    Always,
    /// Their failures are one failure.
    Never,
}
