//! A library of papers that cite each other, which is read citation by citation.
//!
//! The sizes are those of Table 1 in "Semi-Automated Debugging via Binary Search through a Process Lifetime" (PLOS
//! 2013).

mod feed;
mod graph;

pub use feed::{CITATIONS, Feed, PAPERS};
pub use graph::Library;

/// Reads a whole feed.
#[must_use]
pub fn read(feed: &Feed) -> Library {
    let mut library = Library::new(feed.papers());
    for (citing, cited) in feed.citations() {
        library.cite(citing, cited);
    }
    library
}
