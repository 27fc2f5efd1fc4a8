//! Exit statuses: what a script learns from a search.

use std::process::{ExitCode, Termination};

use serde::{Serialize, Serializer};

/// How `cargo bisect-opt` ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Culprits were found and confirmed.
    Found = 0,
    /// There is nothing to find: the target passes both ways, or fails both ways.
    Nothing = 1,
    /// The command line is wrong.
    Usage = 2,
    /// The target cannot be used: it does not build or start, reports nothing, ignores the pattern, or reports changes
    /// that it was not asked for.
    Unusable = 3,
    /// The target contradicts itself beyond the confidence asked for.
    Inconsistent = 4,
    /// Stopped at a limit, with what was found by then.
    Limit = 5,
    /// Interrupted; what was found by then is saved.
    Interrupted = 130,
}

impl Exit {
    /// The status as a number.
    pub fn code(self) -> u8 {
        self as u8
    }
}

impl Serialize for Exit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.code())
    }
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        self.code().into()
    }
}
