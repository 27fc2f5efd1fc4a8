//! A test that the tutorial shows the code as it is.

#[test]
fn the_code_of_the_tutorial_is_in_the_sources() {
    let readme = include_str!("../../README.md");
    let sources = [
        include_str!("../../src/rustc/mod.rs"),
        include_str!("../../src/rustc/halve.rs"),
        include_str!("../../src/rustc/edition/survey.rs"),
        include_str!("../../src/rustc/edition/syntax.rs"),
    ];
    let blocks: Vec<_> = readme.split("```rust\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(blocks.len(), 5);
    for block in blocks {
        assert!(sources.iter().any(|source| source.contains(block)), "{block}");
    }
}
