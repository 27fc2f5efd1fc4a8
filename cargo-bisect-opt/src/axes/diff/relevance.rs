//! Parts of a patch that a failing test is likely to reach, by the names in the source code.
//!
//! A part that the test cannot reach cannot make it fail, but this needs no proof: it only decides which cuts are made
//! first. So each name stands for all items that have it.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    path::{Path, PathBuf},
};

use super::words::{self, PartSet};
use crate::vcs::patch::{Items, Patch, PatchPart, Piece, trees::ChangedFile};

/// Methods that are called without their names: by operators, loops, macros, and at the end of a scope.
const IMPLICIT: [&str; 44] = [
    "add",
    "add_assign",
    "as_ref",
    "bitand",
    "bitand_assign",
    "bitor",
    "bitor_assign",
    "bitxor",
    "bitxor_assign",
    "borrow",
    "clone",
    "cmp",
    "default",
    "deref",
    "deref_mut",
    "div",
    "drop",
    "eq",
    "extend",
    "fmt",
    "from",
    "from_iter",
    "from_str",
    "ge",
    "gt",
    "hash",
    "index",
    "index_mut",
    "into",
    "into_iter",
    "le",
    "lt",
    "mul",
    "ne",
    "neg",
    "next",
    "not",
    "partial_cmp",
    "rem",
    "shl",
    "shr",
    "sub",
    "sub_assign",
    "try_from",
];

/// Returns groups of parts, the likeliest group first. The first group is the nearer half of the parts that the tests
/// reach. The second group is the other parts that they reach, and parts of manifests, lock files and build scripts.
/// Returns no groups if the tests are not found or reach no part. `unchanged` are the source files that the patch does
/// not change.
pub(super) fn likely_parts(patch: &Patch, unchanged: &[(PathBuf, Vec<u8>)], tests: &[String]) -> Vec<PartSet> {
    let composed = patch.compose(|_| true);
    let changed = composed.iter().filter_map(|(path, version)| Some((path.as_path(), version.as_ref()?)));
    let changed = changed.map(|(path, version)| (path, version.content.as_slice()));
    let unchanged = unchanged.iter().map(|(path, content)| (path.as_path(), content.as_slice()));
    let sources: BTreeMap<&Path, &[u8]> =
        changed.chain(unchanged).filter(|(path, _)| path.extension() == Some("rs".as_ref())).collect();
    let names_of_lines: BTreeMap<&Path, Vec<String>> =
        sources.iter().map(|(&path, content)| (path, Items::names_of_lines(content))).collect();
    let mut calls = Calls::default();
    for (path, content) in &sources {
        calls.add(content, &names_of_lines[path]);
    }
    let distances = calls.distances(tests.iter().map(|test| last_name(test)));
    if distances.is_empty() {
        return Vec::new();
    }
    let mut reached: Vec<(usize, usize)> = Vec::new();
    let mut others = PartSet::new();
    for (index, part) in patch.parts().iter().enumerate() {
        let near = if is_only_comments(patch, part) {
            None
        } else {
            names_of_part(patch, part, &names_of_lines).filter_map(|name| distances.get(last_name(name))).min()
        };
        if let Some(&distance) = near {
            reached.push((distance, index));
        } else if is_of_build(patch.file_of(part)) {
            others.insert(index);
        }
    }
    reached.sort_unstable();
    let Some(&(limit, _)) = reached.get(reached.len().saturating_sub(1) / 2) else { return Vec::new() };
    let near: PartSet = reached.iter().filter(|(distance, _)| *distance <= limit).map(|&(_, part)| part).collect();
    others.extend(reached.iter().map(|&(_, part)| part).filter(|part| !near.contains(part)));
    vec![near, others]
}

/// The names in the bodies of items, by the names of the items.
#[derive(Debug, Default)]
struct Calls {
    names: BTreeMap<String, BTreeSet<String>>,
}

impl Calls {
    /// Adds a file, with the name of the item of each line.
    fn add(&mut self, content: &[u8], names_of_lines: &[String]) {
        for (line, name) in content.split(|&byte| byte == b'\n').zip(names_of_lines) {
            if name.is_empty() || line.trim_ascii_start().starts_with(b"//") {
                continue;
            }
            let method = last_name(name);
            self.names.entry(method.to_owned()).or_default().extend(words::words(line));
            // Code that uses the type may call its operators.
            let of_type = name.split_once(' ').and_then(|(_, path)| path.rsplit_once("::"));
            if let Some((of_type, _)) = of_type.filter(|_| IMPLICIT.contains(&method)) {
                self.names.entry(last_name(of_type).to_owned()).or_default().insert(method.to_owned());
            }
        }
    }

    /// Returns the names of the items that these items reach, with the number of steps.
    fn distances<'a>(&'a self, from: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
        let mut distances: BTreeMap<&str, usize> = BTreeMap::new();
        let mut next: VecDeque<(&str, usize)> = from.map(|name| (name, 0)).collect();
        while let Some((name, distance)) = next.pop_front() {
            let Some((name, used)) = self.names.get_key_value(name) else { continue };
            if !distances.contains_key(name.as_str()) {
                distances.insert(name, distance);
                next.extend(used.iter().map(|used| (used.as_str(), distance + 1)));
            }
        }
        distances
    }
}

/// Returns the last name of a path such as `fn Parser::next`.
fn last_name(path: &str) -> &str {
    path.rsplit([' ', ':']).next().unwrap_or_default()
}

/// Returns the names of the items that a part changes in the new version of its file.
fn names_of_part<'a>(
    patch: &'a Patch,
    part: &'a PatchPart,
    names_of_lines: &'a BTreeMap<&Path, Vec<String>>,
) -> impl Iterator<Item = &'a str> {
    let file = patch.file_of(part);
    let names = file.new.as_ref().and_then(|new| names_of_lines.get(new.path.as_path()));
    let names = names.map_or(&[][..], Vec::as_slice);
    let lines = match &part.piece {
        // Lines that are only deleted have a place between two lines.
        Piece::Lines(hunk) if hunk.new.is_empty() => hunk.new.start.saturating_sub(1)..hunk.new.start + 1,
        Piece::Lines(hunk) => hunk.new.clone(),
        Piece::Added => 0..names.len(),
        Piece::Deleted | Piece::Renamed | Piece::Mode | Piece::Content => 0..0,
    };
    let names = names.get(lines.start.min(names.len())..lines.end.min(names.len())).unwrap_or_default();
    names.iter().map(String::as_str).filter(|name| !name.is_empty())
}

/// Returns true if a part only changes comments and blank lines.
fn is_only_comments(patch: &Patch, part: &PatchPart) -> bool {
    let is_comment = |line: &&[u8]| {
        let line = line.trim_ascii();
        line.is_empty() || line.starts_with(b"//")
    };
    matches!(part.piece, Piece::Lines(_)) && patch.removed(part).1.iter().chain(&patch.added(part).1).all(is_comment)
}

/// Returns true for a manifest, a lock file, and a build script.
fn is_of_build(file: &ChangedFile) -> bool {
    let names = ["Cargo.toml", "Cargo.lock", "build.rs"];
    let versions = [&file.old, &file.new].into_iter().flatten();
    versions.into_iter().any(|version| names.iter().any(|name| version.path.file_name() == Some(name.as_ref())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST: &str = "#[test]\nfn sums() {\n    total();\n}\n";

    /// Returns a library; the bodies of functions are these numbers.
    fn library(numbers: [u8; 4]) -> String {
        let [total, price, far, other] = numbers;
        format!(
            "fn total() {{\n    price({total});\n}}\nfn price() {{\n    far({price});\n}}\nfn far() {{\n    {far}\n}}\n\
             fn other() {{\n    {other}\n}}\n// {other}\n"
        )
    }

    #[test]
    fn the_parts_near_a_failing_test_come_first() {
        let patch = Patch::new(vec![
            ChangedFile::of_texts("src/lib.rs", &library([0; 4]), &library([1; 4])),
            ChangedFile::of_texts("Cargo.toml", "a\n", "b\n"),
            ChangedFile::of_texts("README", "a\n", "b\n"),
        ]);
        assert_eq!(patch.parts().len(), 7, "{:?}", patch.parts());
        let unchanged = [(PathBuf::from("tests/a.rs"), TEST.as_bytes().to_vec())];
        let groups = likely_parts(&patch, &unchanged, &["a::sums".to_owned()]);
        assert_eq!(groups, [PartSet::from([0, 1]), PartSet::from([2, 5])]);
        assert!(likely_parts(&patch, &unchanged, &["unknown".to_owned()]).is_empty());
        assert!(likely_parts(&patch, &unchanged, &[]).is_empty());
    }

    #[test]
    fn operators_are_reached_by_their_types() {
        let code = |n: u8| {
            format!(
                "struct Name;\nimpl PartialEq for Name {{\n    fn eq(&self, _: &Name) -> bool {{\n        {n}\n    }}\n}}\n"
            )
        };
        let patch = Patch::new(vec![ChangedFile::of_texts("src/lib.rs", &code(0), &code(1))]);
        let test = (PathBuf::from("tests/a.rs"), b"fn equal() {\n    assert!(Name == Name);\n}\n".to_vec());
        assert_eq!(likely_parts(&patch, &[test], &["equal".to_owned()]), [PartSet::from([0]), PartSet::new()]);
    }
}
