//! Units of a patch: parts that are only enabled together.
//!
//! Half of a rewritten function often compiles and fails, although the whole one is right. So the parts of a function are
//! one unit, and a search within a culprit divides a large one: into lines, with the lines that replace them.

use std::path::Path;

use crate::vcs::patch::{Items, Patch, PatchPart, Piece, finer, trees::FileVersion};

/// Returns the first part of the unit of each part: the parts of a function are one unit.
pub(super) fn of(patch: &Patch) -> Vec<usize> {
    let parts = patch.parts();
    let mut units: Vec<usize> = (0..parts.len()).collect();
    let mut known: Option<(*const FileVersion, Vec<String>)> = None;
    let mut name_of = |part: &PatchPart| -> Option<String> {
        let Piece::Lines(hunk) = &part.piece else { return None };
        let version = patch.file_of(part).new.as_ref()?;
        let line = hunk.new.start;
        if known.as_ref().is_none_or(|(file, _)| !std::ptr::eq(*file, version)) {
            known = Some((version, names_of_lines(&version.path, &version.content)));
        }
        let names = &known.as_ref()?.1;
        let name = names.get(line)?;
        // Lines that are only deleted are in a function if it is on both sides of them.
        let is_inside = !hunk.new.is_empty() || line.checked_sub(1).and_then(|before| names.get(before)) == Some(name);
        (is_inside && name.starts_with("fn ")).then(|| name.clone())
    };
    let names: Vec<_> = parts.iter().map(&mut name_of).collect();
    let is_same = |one: usize, other: usize| {
        let is_same_file = Patch::is_of_same_file(&parts[one], &parts[other]);
        is_same_file && names[one].is_some() && names[one] == names[other]
    };
    let all: Vec<_> = (0..parts.len()).collect();
    for function in all.chunk_by(|&one, &other| is_same(one, other)) {
        for &part in function {
            units[part] = function[0];
        }
    }
    units
}

/// Returns the first part of the unit of each part, within a culprit: lines that are only removed are one unit with the
/// nearest new lines, and with everything between.
///
/// Otherwise the answer could be the removal of a `return`: the old function fails without it, although the new one does
/// not need it.
pub(super) fn of_replaced_lines(patch: &Patch) -> Vec<usize> {
    let parts = patch.parts();
    let mut units: Vec<usize> = (0..parts.len()).collect();
    let all = units.clone();
    for block in all.chunk_by(|&one, &other| are_beside(patch, &parts[one], &parts[other])) {
        let new_parts: Vec<_> = block.iter().copied().filter(|&part| has_new_lines(patch, &parts[part])).collect();
        for &removed in block.iter().filter(|&&part| patch.added(&parts[part]).1.is_empty()) {
            let nearest = new_parts.iter().copied().min_by_key(|&new| (new.abs_diff(removed), new < removed));
            let Some(nearest) = nearest else { continue };
            let (first, last) = (removed.min(nearest), removed.max(nearest));
            // It may be joined already.
            let unit = units[first];
            units[first..=last].fill(unit);
        }
    }
    units
}

/// Returns true if a part adds lines that resemble none that it removes.
fn has_new_lines(patch: &Patch, part: &PatchPart) -> bool {
    let (removed, added) = (patch.removed(part).1, patch.added(part).1);
    match (removed.as_slice(), added.as_slice()) {
        (_, []) => false,
        ([old], [new]) => !finer::resemble(old, new),
        _ => true,
    }
}

/// Returns true if there are no letters and digits between two parts of a file, but only brackets, for example.
fn are_beside(patch: &Patch, one: &PatchPart, other: &PatchPart) -> bool {
    let (Piece::Lines(before), Piece::Lines(after)) = (&one.piece, &other.piece) else { return false };
    if !Patch::is_of_same_file(one, other) {
        return false;
    }
    let Some(old) = &patch.file_of(one).old else { return false };
    let between = old.content.split(|&byte| byte == b'\n').skip(before.old.end).take(after.old.start - before.old.end);
    between.flatten().all(|byte| !byte.is_ascii_alphanumeric())
}

/// Returns the name of the innermost item of each line of a file, if it is Rust.
fn names_of_lines(path: &Path, content: &[u8]) -> Vec<String> {
    if path.extension() != Some("rs".as_ref()) {
        return Vec::new();
    }
    Items::names_of_lines(content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vcs::patch::trees::{ChangedFile, FileMode};

    /// Returns a version of a file with two functions and a constant: lines of all differ, in two places of a function.
    fn version(path: &str, value: u8) -> FileVersion {
        let function = |name: &str| format!("fn {name}() {{\n    a({value});\n    b();\n    c({value});\n}}\n\n");
        let constant = format!("const N: [u8; 3] = [\n    {value},\n    0,\n    {value},\n];\n\n");
        let content = (function("first") + &function("second") + &constant).into_bytes();
        FileVersion { path: path.into(), mode: FileMode::Plain, content }
    }

    #[test]
    fn the_parts_of_a_function_are_one_unit() {
        let file = |path| ChangedFile { old: Some(version(path, 0)), new: Some(version(path, 1)) };
        let patch = Patch::new(vec![file("a.rs"), file("b.txt"), file("c.rs")]);
        assert_eq!(of(&patch), [0, 0, 2, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12, 14, 14, 16, 17]);
    }

    #[test]
    fn a_removed_function_is_no_part_of_the_one_before_it() {
        let version = |content: &str| {
            Some(FileVersion { path: "a.rs".into(), mode: FileMode::Plain, content: content.as_bytes().to_vec() })
        };
        let first = |body: &str| format!("fn first() {{\n    {body}\n}}\n");
        let old = first("a();\n    b();\n    c();\n    d();\n    e();") + "\nfn second() {\n    f();\n}\n";
        let new = first("x();\n    b();\n    d();");
        let patch = Patch::new(vec![ChangedFile { old: version(&old), new: version(&new) }]);
        let units = of(&patch);
        // Of the first function: a changed line, and two removed ones.
        assert_eq!(units[..3], [0, 0, 0], "{:?}", patch.parts());
        assert!(units.len() > 3 && units[3..].iter().all(|&unit| unit >= 3), "{units:?}");
    }

    #[test]
    fn a_removed_line_belongs_to_the_one_that_replaces_it() {
        let file = |old: &str, new: &str| {
            let version = |content: &str| FileVersion {
                path: "a.rs".into(),
                mode: FileMode::Plain,
                content: format!("{content} ").replace(' ', "\n").into_bytes(),
            };
            ChangedFile { old: Some(version(old)), new: Some(version(new)) }
        };
        let finer = |file| {
            let patch = Patch::new(vec![file]);
            Patch::finer(&patch.compose(|_| false), &patch.compose(|_| true))
        };
        // Each of these words is a line, and `f` and `g` resemble each other.
        for (old, new, expected) in [
            ("a b c", "a c", &[0][..]),
            ("a b c d e", "a c e", &[0, 1]),
            ("f(1) b", "f(2)", &[0, 1]),
            ("a b", "x y z", &[0]),
            ("a f(1) b", "f(2) y", &[0, 0, 0]),
            ("f(1) a f(3) b", "f(2) x f(4)", &[0, 1, 1, 1]),
            ("a f(1) b f(3)", "f(2) f(4) y", &[0, 0, 0, 0, 0]),
            ("a } b", "x }", &[0, 0]),
            ("a } b", "} y", &[0, 0]),
            ("a k b", "k y", &[0, 1]),
            ("a } b", "x } y", &[0, 1]),
        ] {
            assert_eq!(of_replaced_lines(&finer(file(old, new))), expected, "{old} -> {new}");
        }
    }
}
