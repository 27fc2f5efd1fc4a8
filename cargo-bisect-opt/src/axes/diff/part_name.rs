//! The name of a part for people, and its place.

use crate::{
    report::content::Location,
    vcs::patch::{Items, Patch, PatchPart, Piece, trees::FileVersion},
};

/// Returns the place of a part: in the new version of its file, or, if it is deleted, in the old one.
pub(super) fn location(patch: &Patch, part: &PatchPart) -> Location {
    let file = patch.file_of(part);
    let version = file.new.as_ref().or(file.old.as_ref());
    let file = version.map(|version| version.path.display().to_string()).unwrap_or_default();
    let line = match &part.piece {
        Piece::Lines(hunk) => u32::try_from(hunk.new.start + 1).ok(),
        _ => None,
    };
    Location { line, ..Location::of_file(file) }
}

/// Returns the name of a part with its place.
pub(super) fn label(patch: &Patch, part: &PatchPart) -> String {
    let Location { file, line, .. } = location(patch, part);
    match (line, name(patch, part)) {
        (Some(line), name) if name.is_empty() => format!("{file}:{line}"),
        (Some(line), name) => format!("{name} at {file}:{line}"),
        (None, name) => name,
    }
}

/// Returns the name of a part for people: the item that it changes, or what happens to the file.
pub(super) fn name(patch: &Patch, part: &PatchPart) -> String {
    let file = patch.file_of(part);
    let named = |version: &Option<FileVersion>| {
        version.as_ref().map(|version| version.path.display().to_string()).unwrap_or_default()
    };
    let hunk = match &part.piece {
        Piece::Added => return format!("new file {}", named(&file.new)),
        Piece::Deleted => return format!("deleted file {}", named(&file.old)),
        Piece::Renamed => return format!("{}, renamed from {}", named(&file.new), named(&file.old)),
        Piece::Mode => return format!("mode of {}", named(&file.new)),
        Piece::Content => return format!("content of {}", named(&file.new)),
        Piece::Lines(hunk) => hunk,
    };
    let (version, line) = if hunk.new.is_empty() { (&file.old, hunk.old.start) } else { (&file.new, hunk.new.start) };
    let rust = version.as_ref().filter(|version| version.path.extension() == Some("rs".as_ref()));
    let content = rust.map_or(&[][..], |version| &version.content);
    Items::of(content).name_at(first_with_text(content, line)).map(str::to_owned).unwrap_or_default()
}

/// Returns the first line from this one on that is not blank.
fn first_with_text(content: &[u8], line: usize) -> usize {
    let rest = content.split(|&byte| byte == b'\n').skip(line);
    line + rest.take_while(|line| line.trim_ascii().is_empty()).count()
}
