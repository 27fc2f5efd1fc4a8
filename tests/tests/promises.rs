//! RELIABILITY.md and SECURITY.md name a test for each promise, and these tests exist.

use std::fs;

use bisect_tests::harness::root;

/// Returns the tests that a document names as `path/to/file.rs::test`, in order: the path without its extension, and
/// the test.
fn named(text: &str) -> Vec<(&str, &str)> {
    let words = text.split('`').skip(1).step_by(2);
    words.filter_map(|word| word.split_once(".rs::")).collect()
}

/// Returns true if a source file has a test with this name, by itself or among properties.
fn has_test(source: &str, name: &str) -> bool {
    let lines: Vec<_> = source.lines().map(str::trim).collect();
    let is_it = |line: &str| line.strip_prefix("fn ").is_some_and(|rest| rest.starts_with(&format!("{name}(")));
    let is_test =
        |at: usize| lines[..at].iter().rev().take_while(|line| line.starts_with('#')).any(|&l| l == "#[test]");
    (0..lines.len()).any(|at| is_it(lines[at]) && is_test(at))
}

#[test]
fn the_tests_of_all_promises_exist() {
    for document in ["RELIABILITY.md", "SECURITY.md"] {
        let text = fs::read_to_string(root().join(document)).unwrap();
        for (path, test) in named(&text) {
            let source = fs::read_to_string(root().join(path).with_extension("rs"))
                .unwrap_or_else(|error| panic!("{document}: {path}: {error}"));
            assert!(has_test(&source, test), "{document}: there is no test `{test}` in {path}");
        }
    }
}

#[test]
fn every_promise_has_a_test() {
    for document in ["RELIABILITY.md", "SECURITY.md"] {
        let text = fs::read_to_string(root().join(document)).unwrap();
        let rows = text.lines().filter(|line| line.starts_with("| ") && *line != "| promise | test |");
        let mut promises = 0;
        for row in rows {
            assert!(!named(row).is_empty(), "{document}: no test holds: {row}");
            promises += 1;
        }
        assert!(promises > 5, "{document}: the tables are not read");
    }
}

#[test]
fn a_name_that_is_no_test_is_noticed() {
    let source = "#[test]\n#[ignore]\nfn one() {}\nfn two() {}\nproptest! {\n    #[test]\n    fn three(x: u8) {}\n}\n";
    let found: Vec<_> = ["one", "two", "three", "on"].into_iter().filter(|name| has_test(source, name)).collect();
    assert_eq!(found, ["one", "three"]);
    assert_eq!(named("| a | `x/y.rs::z`, `Type::method` |"), [("x/y", "z")]);
}
