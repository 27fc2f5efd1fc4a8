//! Units of a large patch: adjacent parts of one function, if they are few lines.

use std::path::Path;

use crate::vcs::patch::{Items, Patch, PatchPart, Piece, trees::FileVersion};

/// Parts: in a larger patch, the parts of a function are one unit.
const MAX_SINGLE_PARTS: usize = 40;
/// Lines, removed and added: a unit of several parts has no more, so that it needs no search of its own.
pub(super) const MAX_LINES: usize = 16;

/// Returns the first part of the unit of each part.
pub(super) fn of(patch: &Patch) -> Vec<usize> {
    let parts = patch.parts();
    let mut units: Vec<usize> = (0..parts.len()).collect();
    if parts.len() <= MAX_SINGLE_PARTS {
        return units;
    }
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
        if lines(patch, function) <= MAX_LINES {
            for &part in function {
                units[part] = function[0];
            }
        }
    }
    units
}

/// Returns the number of lines that parts remove and add.
pub(super) fn lines<'a>(patch: &Patch, parts: impl IntoIterator<Item = &'a usize>) -> usize {
    let parts = parts.into_iter().map(|&part| &patch.parts()[part]);
    parts.map(|part| patch.removed(part).1.len() + patch.added(part).1.len()).sum()
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

    /// Returns a patch of a file with this number of functions, in each of which lines differ in two places.
    fn patch(functions: usize, lines: usize) -> Patch {
        let version = |value: u8| {
            let changed = format!("    a({value});\n").repeat(lines);
            let function = |n: usize| format!("fn f{n}() {{\n{changed}    b();\n    c({value});\n}}\n\n");
            let content = (0..functions).map(function).collect::<String>().into_bytes();
            Some(FileVersion { path: "a.rs".into(), mode: FileMode::Plain, content })
        };
        Patch::new(vec![ChangedFile { old: version(0), new: version(1) }])
    }

    #[test]
    fn the_parts_of_a_function_are_one_unit_of_a_large_patch() {
        assert_eq!(of(&patch(20, 1)), (0..40).collect::<Vec<_>>());
        assert_eq!(of(&patch(21, 7)), (0..42).map(|part| part / 2 * 2).collect::<Vec<_>>());
        assert_eq!(of(&patch(21, 8)), (0..42).collect::<Vec<_>>());
    }
}
