//! Texts of hunks: their names, their lines, and patches that git applies.

use std::{io, process::Command};

use super::words::PartSet;
use crate::{
    process::{self, scratch_dir::ScratchDir},
    report::content::{Location, Report},
    units::plural,
    vcs::patch::{Composition, Items, Patch, PatchPart, Piece, overlay, trees::FileVersion},
};

/// The maximum number of lines of a hunk in an answer.
const SHOWN: usize = 60;
/// The maximum number of lines of all hunks together that it needs to compile; of more, only the names are shown.
const SHOWN_OF_NEEDED: usize = 20;

/// Returns the patch from some files to others, as git writes it.
///
/// # Errors
/// If files cannot be written, or git cannot be started.
pub(super) fn between(before: &Composition<'_>, after: &Composition<'_>) -> io::Result<Vec<u8>> {
    let scratch = ScratchDir::new()?;
    let write = |name: &str, composition: &Composition<'_>| {
        let directory = scratch.path().join(name);
        fs_err::create_dir(&directory)?;
        overlay::write(&directory, composition)
    };
    write("a", before)?;
    write("b", after)?;
    let mut git = Command::new("git");
    git.args(["diff", "--no-index", "--no-prefix", "--no-color", "--no-ext-diff", "--no-textconv", "--binary", "-M"]);
    git.args(["a", "b"]).current_dir(scratch.path()).env_remove("GIT_DIFF_OPTS");
    Ok(process::output_of(git).map_err(io::Error::other)?.stdout)
}

/// Completes the report about a change with these parts. `needed` are those that it needs to compile.
pub(super) fn describe(patch: &Patch, parts: &PartSet, needed: &PartSet, report: Report) -> Report {
    let all = patch.parts();
    let Some(first) = parts.first().map(|&part| &all[part]) else { return report };
    let mut lines = Vec::new();
    for part in parts.iter().map(|&part| &all[part]) {
        if parts.len() > 1 {
            lines.push(label(patch, part));
        }
        lines.extend(lines_of(patch, part));
    }
    // Without these it does not compile, so they may be as much to blame.
    let of_needed = |&part: &usize| (label(patch, &all[part]), lines_of(patch, &all[part]));
    let needed: Vec<_> = needed.iter().map(of_needed).collect();
    let are_shown = needed.iter().map(|(_, lines)| lines.len()).sum::<usize>() <= SHOWN_OF_NEEDED;
    for (label, of_part) in needed {
        lines.push(format!("needed to compile: {label}"));
        lines.extend(of_part.into_iter().filter(|_| are_shown));
    }
    let mut details: Vec<_> = lines.iter().take(SHOWN).cloned().collect();
    if lines.len() > SHOWN {
        details.push(format!("… {} more", plural(lines.len() - SHOWN, "line")));
    }
    if parts.len() > 1 {
        let first = name(patch, first);
        let is_one_item = parts.iter().all(|&part| !first.is_empty() && name(patch, &all[part]) == first);
        let why = if is_one_item { format!("of `{first}`") } else { "that only compile together".to_owned() };
        details.insert(0, format!("{} {why}:", plural(parts.len(), "hunk")));
    }
    let location = location(patch, first);
    Report { name: name(patch, first), location: Some(location), text: lines, details, ..report }
}

/// Returns the place of a part: in the new version of its file, or, if it is deleted, in the old one.
fn location(patch: &Patch, part: &PatchPart) -> Location {
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
fn label(patch: &Patch, part: &PatchPart) -> String {
    let Location { file, line, .. } = location(patch, part);
    match (line, name(patch, part)) {
        (Some(line), name) if name.is_empty() => format!("{file}:{line}"),
        (Some(line), name) => format!("{name} at {file}:{line}"),
        (None, name) => name,
    }
}

/// Returns the name of a part for people: the item that it changes, or what happens to the file.
fn name(patch: &Patch, part: &PatchPart) -> String {
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

/// Returns the lines of a part, as in a patch.
fn lines_of(patch: &Patch, part: &PatchPart) -> Vec<String> {
    let text = |sign: char, line: &[u8]| {
        let line = String::from_utf8_lossy(line);
        format!("{sign}{}", line.trim_end_matches(['\n', '\r']))
    };
    let removed = patch.removed(part).1.into_iter().map(|line| text('-', line));
    let added = patch.added(part).1.into_iter().map(|line| text('+', line));
    removed.chain(added).collect()
}
