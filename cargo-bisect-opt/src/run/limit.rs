//! The limits at which runs stop: their number, or their time.

use std::fmt;

/// A limit at which runs stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// The number of runs.
    Runs,
    /// The time.
    Time,
}

impl Limit {
    /// Returns the thing to allow more of.
    pub(crate) fn more(self) -> &'static str {
        match self {
            Self::Runs => "more runs",
            Self::Time => "more time",
        }
    }
}

impl fmt::Display for Limit {
    /// Writes the option.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Runs => "--max-runs",
            Self::Time => "--budget",
        })
    }
}
