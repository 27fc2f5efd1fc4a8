//! A cache that walks its map in the map's own order since a release that no longer keeps the keys sorted.
//!
//! Many places walk the [`Cache`]; one of them gives another answer when the order is another one.

mod cache;
mod table;

pub use cache::{Cache, Entry};
pub use table::Table;
