//! Units of a patch: adjacent parts of one function.
//!
//! Half of a rewritten function often compiles and fails, although the whole one is right. So the parts of a function are
//! only enabled together, and a search within a culprit divides a large one.

use std::path::Path;

use crate::vcs::patch::{Items, Patch, PatchPart, Piece, trees::FileVersion};

/// Returns the first part of the unit of each part.
pub(super) fn of(patch: &Patch) -> Vec<usize> {
    let parts = patch.parts();
    let mut units: Vec<usize> = (0..parts.len()).collect();
    let mut known: Option<(*const FileVersion, Vec<String>)> = None;
    let mut name_of = |part: &PatchPart| -> Option<String> {
        let Piece::Lines(hunk) = &part.piece else { return None };
        // Lines that are only deleted are in the function that is around them.
        let version = patch.file_of(part).new.as_ref()?;
        let line = if hunk.new.is_empty() { hunk.new.start.checked_sub(1)? } else { hunk.new.start };
        if known.as_ref().is_none_or(|(file, _)| !std::ptr::eq(*file, version)) {
            known = Some((version, names_of_lines(&version.path, &version.content)));
        }
        let name = known.as_ref()?.1.get(line)?;
        name.starts_with("fn ").then(|| name.clone())
    };
    let names: Vec<_> = parts.iter().map(&mut name_of).collect();
    let is_same = |one: usize, other: usize| {
        let is_same_file = std::ptr::eq(patch.file_of(&parts[one]), patch.file_of(&parts[other]));
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
}
