//! The leaderboard of a season of running races, whose sort was exchanged for a faster one.
//!
//! [`sort`] is called from dozens of call stacks. One of them relies on a promise of the old sort.

use std::cmp::Reverse;

use bisect_rt::bisect_toggle;

pub mod page;
mod results;
pub mod stats;

pub use results::{ReadError, Row, read};

/// Puts the most points first. This is the new sort: it is faster, and may exchange rows with equal points.
#[bisect_toggle("newsort", off = stable_sort)]
pub fn sort(rows: &mut [&Row]) {
    rows.sort_unstable_by_key(|row| Reverse(row.points));
}

/// Puts the most points first. This is the old sort: rows with equal points stay in their order.
fn stable_sort(rows: &mut [&Row]) {
    rows.sort_by_key(|row| Reverse(row.points));
}
