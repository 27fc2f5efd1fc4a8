//! A cache that walks its map in the map's own order. Before a release, the keys were sorted.
//!
//! The [`Cache`] walks the map in many places. One of them gives another answer if the order changes.

mod cache;
mod table;

pub use cache::{Cache, Entry};
pub use table::Table;
