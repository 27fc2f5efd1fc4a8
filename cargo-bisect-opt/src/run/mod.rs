//! One run: how often the target is executed, how it ended, and why it failed.

pub(crate) mod cause;
pub(crate) mod error;
pub(crate) mod lost_reports;
pub(crate) mod outcome;
pub(crate) mod repetition;
pub(crate) mod result;
pub(crate) mod seed;
pub(crate) mod spec;
