//! The test that fails: papers can be read in an order in which none refers to a later one.

use acyclic::{Feed, read};

#[test]
fn each_paper_is_read_after_those_that_it_cites() {
    let library = read(&Feed::new(1));
    assert!(library.oldest_first().is_some(), "some papers cite each other in a circle");
}
