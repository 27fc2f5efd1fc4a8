//! Exit statuses of a single run, as `git bisect run` understands them.

use std::process::{ExitCode, Termination};

use bisect_core::search::Outcome;

/// An exit status of `--verdict`. The table in this file has their meanings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum VerdictStatus {
    Good = 0,
    Bad = 1,
    Untested = 125,
    Stopped = 128,
    Interrupted = 130,
}

/// Every status and its meaning. A test compares the table in the book with it.
#[cfg(test)]
const TABLE: [(VerdictStatus, &str); 5] = [
    (VerdictStatus::Good, "it passes"),
    (VerdictStatus::Bad, "it fails; for `build` and `check`, the compilation fails"),
    (
        VerdictStatus::Untested,
        "it cannot be tested, so `git bisect` skips it: its manifest or configuration is missing or wrong, it does not build, no test has the name, or the run is unresolved",
    ),
    (
        VerdictStatus::Stopped,
        "`git bisect` stops: the command line is wrong, the target cannot be started, the machine refuses what a run needs, or `cargo bisect-opt` has a defect",
    ),
    (VerdictStatus::Interrupted, "`git bisect` stops: interrupted"),
];

impl VerdictStatus {
    /// Returns the status for the outcome of a run.
    pub(crate) fn of(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Pass => Self::Good,
            Outcome::Fail => Self::Bad,
            Outcome::Unresolved(_) => Self::Untested,
        }
    }
}

impl Termination for VerdictStatus {
    fn report(self) -> ExitCode {
        (self as u8).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_book_has_the_table() {
        let page =
            fs_err::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../book/src/exit-statuses.md")).unwrap();
        let table = page.split("| status of `--verdict` | means |\n|---|---|\n").nth(1).unwrap();
        let rows: Vec<_> = table.lines().take_while(|line| line.starts_with('|')).collect();
        let expected: Vec<_> = TABLE.iter().map(|(status, words)| format!("| {} | {words} |", *status as u8)).collect();
        assert_eq!(rows, expected);
    }
}
