//! The model of a command's searches: what the run directory keeps, and what every output shows.

pub(crate) mod change;
pub(crate) mod conclusion_kind;
pub(crate) mod exit_status;
pub(crate) mod mode_name;
pub(crate) mod noise;
pub(crate) mod pasted;
pub(crate) mod snippets;
pub(crate) mod source_place;
pub(crate) mod trial;
