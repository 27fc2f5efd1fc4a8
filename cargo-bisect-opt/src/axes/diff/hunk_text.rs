//! Texts of hunks: their names, their lines, and patches that git applies.

use std::{io, path::Path, process::Command, sync::LazyLock};

use regex::bytes::Regex;

use super::{
    hunk_lines::{HunkText, shown, shown_main_first},
    moved::{self, Unmoved},
    words::PartSet,
};
use crate::{
    process::{self, scratch_dir::ScratchDir},
    report::content::{Location, Report},
    units::plural,
    vcs::patch::{Composition, Items, Patch, PatchPart, Piece, overlay, trees::FileVersion},
};

/// The approximate number of lines for the hunks of a change in an answer.
const SHOWN: usize = 60;
/// The number of these lines that the needed hunks have in any case.
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
    let Some(first) = main_part(patch, parts) else { return report };
    let main = &all[first];
    let hunk = |&part: &usize| HunkText { label: label(patch, &all[part]), lines: lines_of(patch, &all[part]) };
    let in_order = [&first].into_iter().chain(parts.iter().filter(|&&part| part != first));
    let mut hunks: Vec<_> = in_order.map(hunk).collect();
    if let [hunk] = hunks.as_mut_slice() {
        // The headline names it.
        hunk.label.clear();
    }
    let mut details = Vec::new();
    if parts.len() > 1 {
        let name_of_all = name(patch, main);
        let is_one_item = parts.iter().all(|&part| !name_of_all.is_empty() && name(patch, &all[part]) == name_of_all);
        let why = if is_one_item { format!("of `{name_of_all}`") } else { "that only compile together".to_owned() };
        let share = format!(
            "{} of {}",
            lines(patch, parts),
            plural(all.iter().map(|part| line_count(patch, part)).sum(), "line")
        );
        details.push(format!("{} {why} ({share}):", plural(parts.len(), "hunk")));
    }
    // Without these it does not compile, so they may be as much to blame.
    let mut needed: Vec<_> = needed.iter().map(hunk).collect();
    for hunk in &mut needed {
        hunk.label.insert_str(0, "needed to compile: ");
    }
    if !needed.is_empty() && parts.iter().any(|&part| adds_test(patch, &all[part])) {
        details.push("this change adds a test: the fault may be in what it needs to compile".to_owned());
    }
    let both = [hunks.as_slice(), &needed].concat();
    if let Some(Unmoved { hunks, moved }) = moved::without_moved(&both) {
        details.push(format!("without {} that are only moved:", plural(moved, "line")));
        details.extend(shown_main_first(&hunks, SHOWN));
    } else {
        let of_change = shown_main_first(&hunks, SHOWN);
        let rest = SHOWN.saturating_sub(of_change.len()).max(SHOWN_OF_NEEDED);
        details.extend(of_change);
        details.extend(shown(&needed, rest));
    }
    let text = shown(&both, usize::MAX);
    Report { name: name(patch, main), location: Some(location(patch, main)), text, details, ..report }
}

/// Returns the part by which a change is named: the first one in a function outside of tests, benches and examples;
/// otherwise the first one.
fn main_part(patch: &Patch, parts: &PartSet) -> Option<usize> {
    let is_code = |part: &&usize| {
        let part = &patch.parts()[**part];
        let file = location(patch, part).file;
        let is_aside =
            ["tests", "benches", "examples"].iter().any(|&aside| Path::new(&file).iter().any(|name| name == aside));
        let has_text = lines_of(patch, part).iter().any(|line| !line[1..].trim().is_empty());
        name(patch, part).starts_with("fn ") && has_text && !is_aside && !adds_test(patch, part)
    };
    parts.iter().find(is_code).or(parts.first()).copied()
}

/// Returns true if a part adds tests.
fn adds_test(patch: &Patch, part: &PatchPart) -> bool {
    static TEST: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\s*#\[(?:\w+::)*test\b").expect("it is valid"));
    let count = |lines: Vec<&[u8]>| lines.into_iter().filter(|line| TEST.is_match(line)).count();
    count(patch.added(part).1) > count(patch.removed(part).1)
}

/// Returns the number of lines that parts remove and add.
pub(super) fn lines<'a>(patch: &Patch, parts: impl IntoIterator<Item = &'a usize>) -> usize {
    parts.into_iter().map(|&part| line_count(patch, &patch.parts()[part])).sum()
}

fn line_count(patch: &Patch, part: &PatchPart) -> usize {
    patch.removed(part).1.len() + patch.added(part).1.len()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vcs::patch::trees::{ChangedFile, FileMode};
    use bisect_core::ChangeId;

    #[test]
    fn lines_that_are_only_moved_are_left_out() {
        let version = |path: &str, content: &str| FileVersion {
            path: path.into(),
            mode: FileMode::Plain,
            content: content.as_bytes().to_vec(),
        };
        let function = |start: &str, last: u8| {
            let lines = (0..9).fold(String::new(), |all, line| format!("{all}    a({line});\n"));
            format!("{start} one() {{\n{lines}    b({last});\n}}\n")
        };
        let from = ChangedFile {
            old: Some(version("a.rs", &(function("fn", 1) + "mod x;\n"))),
            new: Some(version("a.rs", "mod x;\n")),
        };
        let to = ChangedFile { old: None, new: Some(version("b.rs", &function("pub fn", 2))) };
        let patch = Patch::new(vec![from, to]);
        assert_eq!(patch.parts().len(), 2);
        let report = describe(&patch, &PartSet::from([0]), &PartSet::from([1]), Report::new(ChangeId(0)));
        let expected = [
            "without 9 lines that are only moved:",
            "-fn one() {",
            "-    b(1);",
            "needed to compile: new file b.rs",
            "+pub fn one() {",
            "+    b(2);",
        ];
        assert_eq!(report.details, expected);
    }

    #[test]
    fn a_change_is_named_by_code_rather_than_by_tests() {
        let file = |path: &str, old: &str, new: &str| {
            let version = |text: &str| FileVersion {
                path: path.into(),
                mode: FileMode::Plain,
                content: text.as_bytes().to_vec(),
            };
            ChangedFile { old: Some(version(old)), new: Some(version(new)) }
        };
        let patch = Patch::new(vec![
            file("Cargo.toml", "a\n", "b\n"),
            file("benches/x.rs", "fn a() {\n    1;\n}\n", "fn a() {\n    2;\n}\n"),
            file(
                "src/lib.rs",
                "fn one() {\n    1;\n}\n",
                "fn one() {\n    2;\n}\n\n#[test]\nfn two() {\n    three();\n}\n",
            ),
        ]);
        let report = |parts: &[usize]| {
            describe(&patch, &parts.iter().copied().collect(), &PartSet::new(), Report::new(ChangeId(0)))
        };
        let name = |parts: &[usize]| report(parts).name;
        assert_eq!(name(&[0, 1, 2, 4]), "fn one");
        assert_eq!((name(&[1, 3, 4]), name(&[0, 4])), ("fn a".to_owned(), String::new()));
        assert_eq!(report(&[0, 2]).details[0], "2 hunks that only compile together (4 of 11 lines):");
        let of_test = describe(&patch, &PartSet::from([4]), &PartSet::from([2]), Report::new(ChangeId(0)));
        assert_eq!(of_test.details[0], "this change adds a test: the fault may be in what it needs to compile");
    }
}
