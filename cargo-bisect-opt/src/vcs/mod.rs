//! Git: the lines that changed since a revision.

pub(crate) mod diff;
pub(crate) mod git;
pub(crate) mod since;
