//! One run: its specification and repetition, its outcome, and the cause of a failure.

pub(crate) mod cause;
pub(crate) mod error;
pub(crate) mod in_flight;
pub(crate) mod limit;
pub(crate) mod lost_reports;
pub(crate) mod moment;
pub(crate) mod numbering;
pub(crate) mod outcome;
pub(crate) mod pasting;
pub(crate) mod reader;
pub(crate) mod repetition;
pub(crate) mod result;
pub(crate) mod seed;
pub(crate) mod spec;
pub(crate) mod stored_map;
pub(crate) mod stored_outcome;
pub(crate) mod target_kind;
