//! What the end-to-end tests share. The tests themselves are in `tests/tests/`, the programs they search in
//! `tests/fixtures/`.

pub mod foreign;
pub mod go_peer;
pub mod harness;
pub mod process_tree;
pub mod simulator;
