//! The user's options for the search of a project of cargo.

use std::{ffi::OsString, time::Duration};

use bisect_core::search::Mode;
use regex::bytes::Regex;

use crate::{cargo::Subcommand, process::launcher::Launcher};

/// The user's options for a project of cargo.
#[derive(Clone, Debug)]
pub(crate) struct ProjectOptions {
    /// Cargo's subcommand, which determines what is run, if anything.
    pub(crate) subcommand: Subcommand,
    /// The arguments for cargo.
    pub(crate) cargo: Vec<OsString>,
    /// The words after `--`, for the tests or the program.
    pub(crate) target: Vec<OsString>,
    /// The toggles to search. If empty, these are all that are decided at run time, or, if there are none, all that are
    /// decided while compiling.
    pub(crate) toggles: Vec<String>,
    /// True if every run repeats everything, not only the tests whose outcomes depend on the changes.
    pub(crate) all_tests: bool,
    /// The cases in which the search continues for each failing test.
    pub(crate) per_test: PerTest,
    /// Flags for the compiler that contain PATTERN. If there are any, no toggle is searched.
    pub(crate) rustflags: Option<String>,
    /// The time limit of an execution, which fails if it takes longer. Building does not count, unless it is the
    /// target.
    pub(crate) timeout: Option<Duration>,
    /// The exit status of an inconclusive run.
    pub(crate) skip_code: i32,
    /// A regular expression: only a failure whose output matches counts.
    pub(crate) fail_when: Option<Regex>,
    /// True if only failures like those at the failing end state count.
    pub(crate) same_failure: bool,
    /// The direction that the user asks for: the failure at its failing end is searched for, even if others occur at the
    /// other end.
    pub(crate) direction: Option<Mode>,
    /// The command that starts the executables.
    pub(crate) launcher: Option<Launcher>,
    /// True if the build prints nothing unless it fails.
    pub(crate) quiet: bool,
}

/// The cases in which the search continues for each failing test on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PerTest {
    /// Several failing tests.
    Auto,
    /// One failing test or several.
    Always,
    /// No case: all failures are one failure.
    Never,
}
