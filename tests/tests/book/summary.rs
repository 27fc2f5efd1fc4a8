//! The table of contents against the pages and their tests.

use std::{collections::BTreeSet, fs, path::PathBuf};

use bisect_tests::harness::root;

use crate::page;

/// Checks that the book defines its words as README.md does.
///
/// # Panics
/// If they differ.
pub(crate) fn check_words() {
    let [readme, page] = [root().join("README.md"), page::folder().join("answer.md")].map(|path| {
        let text = fs::read_to_string(path).expect("the page can be read");
        let words = text.split("\n## Words\n").nth(1).expect("a section").split("\n## ").next().expect("a section");
        words.trim().to_owned()
    });
    assert_eq!(page, readme);
}

/// Checks that `SUMMARY.md` lists all pages, that each has a test, and in the same order.
///
/// # Panics
/// If they differ.
pub(crate) fn check(executed: &[&str]) {
    let summary = fs::read_to_string(page::folder().join("SUMMARY.md")).expect("the book has a table of contents");
    let listed: Vec<_> = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert_eq!(listed, executed, "a page has no test in `pages!` of tests/tests/book/main.rs, or the order differs");
    let entries = fs::read_dir(page::folder()).expect("the book has pages");
    let paths = entries.map(|entry| entry.expect("a folder can be read").path());
    let pages = paths.filter(|path| path.extension().is_some_and(|kind| kind == "md") && !path.ends_with("SUMMARY.md"));
    let name = |path: PathBuf| path.file_name().expect("a file has a name").to_string_lossy().into_owned();
    let files: BTreeSet<_> = pages.map(name).collect();
    let listed: BTreeSet<_> = listed.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(files, listed, "SUMMARY.md and the files beside it differ");
}
