//! Texts of hunks: their lines, and patches that git applies.

use std::{io, process::Command};

use super::{
    hunk_lines::{HunkText, shown, shown_main_first},
    main_part::{adds_test, main_part},
    moved::{self, Unmoved},
    part_name::{label, location, name},
    words::PartSet,
};
use crate::{
    process::{self, scratch_dir::ScratchDir},
    report::content::{ONLY_COMPILE_TOGETHER, Report},
    units::plural,
    vcs::patch::{Composition, Patch, PatchPart, overlay},
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
    // These settings of the user would change the patch, or make git fail.
    let settings =
        ["core.abbrev=auto", "core.autocrlf=false", "core.attributesFile=/dev/null", "diff.suppressBlankEmpty=false"];
    git.args(settings.iter().flat_map(|setting| ["-c", setting])).args(["diff", "--no-index", "-O/dev/null"]);
    git.args(["--no-prefix", "--no-color", "--no-ext-diff", "--no-textconv", "--binary", "-M", "-U3"]);
    git.args(["--inter-hunk-context=0", "--diff-algorithm=default", "--indent-heuristic", "--no-relative", "a", "b"]);
    git.current_dir(scratch.path())
        .env("GIT_ATTR_NOSYSTEM", "1")
        .env_remove("GIT_DIFF_OPTS")
        .env_remove("GIT_ATTR_SOURCE");
    let reply = process::output_of(git).map_err(io::Error::other)?;
    // The status 1 says that there is a difference.
    if !matches!(reply.status.code(), Some(0 | 1)) {
        let message = String::from_utf8_lossy(&reply.stderr).trim_end().to_owned();
        return Err(io::Error::other(format!("`git diff --no-index` failed: {message}")));
    }
    Ok(renamed(&reply.stdout))
}

/// Removes the names of the two directories from the lines about renamed files, where git leaves them.
fn renamed(patch: &[u8]) -> Vec<u8> {
    let names = [("rename from ", "a/"), ("rename to ", "b/")];
    let line = |line: &[u8]| {
        let rest_of = |(start, directory): (&str, &str)| {
            let rest = line.strip_prefix(start.as_bytes())?;
            // Git quotes some names.
            let (quote, rest) = rest.strip_prefix(b"\"").map_or((&b""[..], rest), |rest| (b"\"", rest));
            Some([start.as_bytes(), quote, rest.strip_prefix(directory.as_bytes())?].concat())
        };
        names.into_iter().find_map(rest_of).unwrap_or_else(|| line.to_vec())
    };
    patch.split_inclusive(|&byte| byte == b'\n').flat_map(line).collect()
}

/// Returns a patch with a title for people; an empty one stays empty.
pub(super) fn titled(title: &str, patch: Vec<u8>) -> Vec<u8> {
    if patch.is_empty() { patch } else { [title.as_bytes(), b"\n\n", &patch].concat() }
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
        let why = if is_one_item { format!("of `{name_of_all}`") } else { ONLY_COMPILE_TOGETHER.to_owned() };
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

/// Returns the number of lines that parts remove and add.
pub(super) fn lines<'a>(patch: &Patch, parts: impl IntoIterator<Item = &'a usize>) -> usize {
    parts.into_iter().map(|&part| line_count(patch, &patch.parts()[part])).sum()
}

fn line_count(patch: &Patch, part: &PatchPart) -> usize {
    patch.removed(part).1.len() + patch.added(part).1.len()
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
    use crate::vcs::patch::trees::{ChangedFile, FileMode, FileVersion};
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
    fn a_note_leads_to_the_hunks_behind_a_new_test() {
        let patch = Patch::new(vec![
            ChangedFile::of_texts("Cargo.toml", "a\n", "b\n"),
            ChangedFile::of_texts("benches/x.rs", "fn a() {\n    1;\n}\n", "fn a() {\n    2;\n}\n"),
            ChangedFile::of_texts(
                "src/lib.rs",
                "fn one() {\n    1;\n}\n",
                "fn one() {\n    2;\n}\n\n#[test]\nfn two() {\n    three();\n}\n",
            ),
        ]);
        let report = |parts: &[usize]| {
            describe(&patch, &parts.iter().copied().collect(), &PartSet::new(), Report::new(ChangeId(0)))
        };
        assert_eq!(report(&[0, 2]).details[0], "2 hunks that only compile together (4 of 11 lines):");
        assert_eq!(report(&[0, 2]).tied_parts(), Some("2 hunks that only compile together"));
        assert_eq!(report(&[2]).tied_parts(), None);
        let of_test = describe(&patch, &PartSet::from([4]), &PartSet::from([2]), Report::new(ChangeId(0)));
        assert_eq!(of_test.details[0], "this change adds a test: the fault may be in what it needs to compile");
    }
}
