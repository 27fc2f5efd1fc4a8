//! The code that the end-to-end tests share. The tests are in `tests/tests/`, the programs that they search in
//! `tests/fixtures/`.
//!
//! *To add a fixture*, make a folder there: a workspace of its own (`[workspace]` in its manifest) whose first lines
//! describe its purpose. Its root manifest names our crates by `path = "../../../…"`, and everything else by versions
//! that the root's `Cargo.lock` has. Mark the lines that a search must name with a comment at their end, and look them
//! up with [`harness::line_of`]. A fixture is never built in place: [`harness::Fixture::new`] makes a copy.

pub mod browser;
pub mod cdd_peer;
pub mod counting;
pub mod details;
pub mod edition_cases;
pub mod flaky;
pub mod foreign;
pub mod go_peer;
pub mod harness;
pub mod process_tree;
pub mod release_cases;
pub mod repository;
pub mod rounds;
#[cfg(unix)]
pub mod screen;
pub mod seeds;
pub mod simulator;
pub mod small_disk;
pub mod trust;
