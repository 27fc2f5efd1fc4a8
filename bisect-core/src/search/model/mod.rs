//! The vocabulary of the search: what is asked, what is answered, and how it ends. All engines import it.

pub(super) mod noise;
pub(super) mod options;
pub(super) mod rank;
pub(super) mod ranked;
pub(super) mod rng;
pub(super) mod selection;
pub(super) mod trial;
pub(super) mod verdict;

pub(super) use options::{Options, Step};
