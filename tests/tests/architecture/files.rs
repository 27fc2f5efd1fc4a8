//! Sizes and first lines of files, and fixtures that are used.

use std::collections::BTreeSet;

use crate::exceptions::Violation;
use crate::house::MOST_LINES;
use crate::tree::Tree;

/// Returns the Rust files that are too long.
pub(crate) fn too_long(tree: &Tree) -> Vec<Violation> {
    let lengths = tree.rust().map(|(path, text)| (path, text.lines().count()));
    let long = lengths.filter(|(_, length)| *length > MOST_LINES);
    let message = |length| format!("{length} lines, {MOST_LINES} are allowed: split the file by ideas");
    long.map(|(path, length)| Violation::new("lines", path, length, message(length))).collect()
}

/// Returns the Rust files that do not begin with a `//!` line.
pub(crate) fn without_header(tree: &Tree) -> Vec<Violation> {
    let without = tree.rust().filter(|(_, text)| !text.starts_with("//! ") && !text.starts_with("#!"));
    let message = || "begins without `//! …`: say on the first line what the file is for".to_owned();
    without.map(|(path, _)| Violation::new("headers", path, 1, message())).collect()
}

/// Returns the folders of `tests/fixtures/` that no test names, as `"name"` or as `fixtures/name`.
pub(crate) fn unused_fixtures(tree: &Tree) -> Vec<Violation> {
    let names = tree.below("tests/fixtures/").filter_map(|(path, _)| path.split('/').nth(2));
    let users = tree.rust().filter(|(path, _)| is_test(path) && !path.starts_with("tests/tests/architecture/"));
    let users: Vec<_> = users.map(|(_, text)| text).collect();
    let is_used = |name: &str| {
        let forms = [format!("\"{name}\""), format!("fixtures/{name}\""), format!("fixtures/{name}/")];
        users.iter().any(|text| forms.iter().any(|form| text.contains(form)))
    };
    let unused: BTreeSet<_> = names.filter(|name| !is_used(name)).collect();
    let message = || "no test uses this fixture: delete it, or name it in a test".to_owned();
    unused.iter().map(|name| Violation::new("fixtures", &format!("tests/fixtures/{name}/"), 1, message())).collect()
}

fn is_test(path: &str) -> bool {
    path.starts_with("tests/") || path.contains("/tests/")
}
