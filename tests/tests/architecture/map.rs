//! ARCHITECTURE.md against the tree.

use std::collections::BTreeMap;
use std::path::Path;

use crate::exceptions::Violation;
use crate::house::House;
use crate::tree::Tree;

/// The page that lists the rooms.
pub(crate) const MAP: &str = "ARCHITECTURE.md";

/// Returns rooms that the page lacks, and paths on it that are not in the tree.
///
/// The page lists rooms in code blocks, on lines `path/ - purpose`. An indented path continues the last one that is not
/// indented. A room that is a single file may be left out. Elsewhere, `folder/` and `file.rs` are the end of any path.
pub(crate) fn differences(tree: &Tree, houses: &[House]) -> Vec<Violation> {
    let page = tree.text(MAP).unwrap_or_default();
    let listed = listed(page);
    let mut violations = Vec::new();
    for (path, lines) in &listed {
        if !tree.has(path) {
            violations.push(Violation::new("map", MAP, lines[0], format!("lists {path}, which is not in the tree")));
        }
        for line in &lines[1..] {
            violations.push(Violation::new("map", MAP, *line, format!("lists {path} twice")));
        }
    }
    for house in houses.iter().filter(|house| tree.has(house.src)) {
        let rooms = house.rooms.iter().map(|room| format!("{}{room}/", house.src)).filter(|path| tree.has(path));
        for path in rooms.chain([house.src.to_owned()]).filter(|path| !listed.contains_key(path)) {
            violations.push(Violation::new("map", MAP, 1, format!("lacks a line `{path} - purpose`")));
        }
    }
    for (path, line) in mentioned(page) {
        let is_end = |full: &str| {
            full.ends_with(&format!("/{path}")) || path.ends_with('/') && full.contains(&format!("/{path}"))
        };
        if !tree.has(path) && !tree.below("").any(|(full, _)| is_end(full)) {
            violations.push(Violation::new("map", MAP, line, format!("names `{path}`, which is not in the tree")));
        }
    }
    violations
}

/// Returns the folders and Rust files that the page names in its text, with the numbers of their lines.
fn mentioned(page: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut is_code = false;
    let text = page.lines().enumerate().filter(move |(_, line)| {
        is_code ^= line.starts_with("```");
        !is_code
    });
    let quoted = text.flat_map(|(index, line)| line.split('`').skip(1).step_by(2).map(move |code| (code, index + 1)));
    let is_path = |code: &str| code.ends_with('/') || Path::new(code).extension().is_some_and(|kind| kind == "rs");
    quoted.filter(move |(code, _)| is_path(code) && !code.contains(' '))
}

/// Returns the listed paths, with the numbers of their lines.
fn listed(page: &str) -> BTreeMap<String, Vec<usize>> {
    let mut listed: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let (mut is_code, mut folder) = (false, "");
    for (index, line) in page.lines().enumerate() {
        is_code ^= line.starts_with("```");
        let Some((path, _)) = line.trim().split_once(" - ").filter(|_| is_code) else { continue };
        let path = path.trim_end();
        if path.contains(' ') || !(path.ends_with('/') || Path::new(path).extension().is_some()) {
            continue;
        }
        let path = if line.starts_with(' ') {
            format!("{folder}{path}")
        } else {
            folder = path;
            path.to_owned()
        };
        listed.entry(path).or_default().push(index + 1);
    }
    listed
}
