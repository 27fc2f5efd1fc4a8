//! The vocabulary of the search: questions, answers and verdicts. All engines import it.

pub(super) mod likely_groups;
pub(super) mod mode;
pub(super) mod noise;
pub(super) mod options;
pub(super) mod rank;
pub(super) mod ranked;
pub(super) mod rng;
pub(super) mod selection;
pub(super) mod trial;
pub(super) mod verdict;

pub(super) use options::{Options, Step};
