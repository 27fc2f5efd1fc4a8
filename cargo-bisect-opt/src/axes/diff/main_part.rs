//! The part of a change by which it is named, and which is shown first.
//!
//! Where many hunks only compile together, most of them have the same edit: they follow a new name. The fault is more
//! likely in one that has another edit, too.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::LazyLock,
};

use regex::bytes::Regex;

use super::{
    part_name::{location, name},
    words::PartSet,
};
use crate::vcs::patch::{Patch, PatchPart};

/// Returns the part by which a change is named: among those in functions outside of tests, benches and examples, the
/// first one whose edit is the least common; without any, the first part.
pub(super) fn main_part(patch: &Patch, parts: &PartSet) -> Option<usize> {
    let differences: BTreeMap<usize, _> =
        parts.iter().map(|&part| (part, difference(patch, &patch.parts()[part]))).collect();
    // The number of parts in which a token differs.
    let mut counts: BTreeMap<Differing<'_>, usize> = BTreeMap::new();
    for &token in differences.values().flatten().flatten() {
        *counts.entry(token).or_default() += 1;
    }
    let commonness = |part: &&usize| match &differences[*part] {
        Some(tokens) => tokens.iter().map(|token| counts[token]).min().unwrap_or(1),
        None => usize::MAX,
    };
    let code = parts.iter().filter(|&&part| is_code(patch, &patch.parts()[part]));
    code.min_by_key(commonness).or(parts.first()).copied()
}

fn is_code(patch: &Patch, part: &PatchPart) -> bool {
    let file = location(patch, part).file;
    let is_aside =
        ["tests", "benches", "examples"].iter().any(|&aside| Path::new(&file).iter().any(|name| name == aside));
    let lines = patch.removed(part).1.into_iter().chain(patch.added(part).1);
    let has_text = lines.into_iter().any(|line| !line.trim_ascii().is_empty());
    name(patch, part).starts_with("fn ") && has_text && !is_aside && !adds_test(patch, part)
}

/// Returns true if a part adds tests.
pub(super) fn adds_test(patch: &Patch, part: &PatchPart) -> bool {
    static TEST: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\s*#\[(?:\w+::)*test\b").expect("it is valid"));
    let count = |lines: Vec<&[u8]>| lines.into_iter().filter(|line| TEST.is_match(line)).count();
    count(patch.added(part).1) > count(patch.removed(part).1)
}

/// A token that only the old lines of a part have (`false`), or only the new ones.
type Differing<'a> = (bool, &'a [u8]);

/// Returns the tokens in which the old and the new lines of a part differ; none if only their order or number differs.
/// `None`: only spaces, line breaks and comments differ.
fn difference<'a>(patch: &'a Patch, part: &PatchPart) -> Option<BTreeSet<Differing<'a>>> {
    let [old, new] = [patch.removed(part).1, patch.added(part).1].map(|lines| tokens(&lines));
    if old == new {
        return None;
    }
    let [old, new] = [old, new].map(BTreeSet::from_iter);
    let removed = old.difference(&new).map(|&token| (false, token));
    Some(removed.chain(new.difference(&old).map(|&token| (true, token))).collect())
}

/// Returns the words, numbers and other characters of lines, without comments that have a line of their own and without
/// commas, which rustfmt adds and removes.
fn tokens<'a>(lines: &[&'a [u8]]) -> Vec<&'a [u8]> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let code = lines.iter().map(|line| line.trim_ascii()).filter(|line| !line.starts_with(b"//"));
    let tokens = code.flat_map(|line| line.chunk_by(move |one, next| is_word(one) && is_word(next)));
    tokens.filter(|token| !token.trim_ascii().is_empty() && *token != b",").collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vcs::patch::trees::ChangedFile;

    fn named(patch: &Patch, parts: &[usize]) -> String {
        let part = main_part(patch, &parts.iter().copied().collect()).expect("there are parts");
        name(patch, &patch.parts()[part])
    }

    #[test]
    fn a_change_is_named_by_code_rather_than_by_tests() {
        let patch = Patch::new(vec![
            ChangedFile::of_texts("Cargo.toml", "a\n", "b\n"),
            ChangedFile::of_texts("benches/x.rs", "fn a() {\n    1;\n}\n", "fn a() {\n    2;\n}\n"),
            ChangedFile::of_texts(
                "src/lib.rs",
                "fn one() {\n    1;\n}\n",
                "fn one() {\n    2;\n}\n\n#[test]\nfn two() {\n    three();\n}\n",
            ),
        ]);
        assert_eq!(named(&patch, &[0, 1, 2, 4]), "fn one");
        assert_eq!((named(&patch, &[1, 3, 4]), named(&patch, &[0, 4])), ("fn a".to_owned(), String::new()));
    }

    #[test]
    fn a_change_is_named_by_its_least_common_edit() {
        let function = |name: &str, line: &str| format!("fn {name}() {{\n    {line}\n}}\n");
        for (old, new, expected) in [
            ("read(8, LE);", "copy(8, BE);", "fn two"),
            ("read(8, LE);", "copy(9, LE);", "fn two"),
            ("read(8, LE);", "copy(LE, 8);", "fn one"),
            ("swap(8, LE);", "swap(LE, 8);", "fn two"),
            ("read(8, LE); x();", "// Nine.\n    copy(8,  LE);  x();", "fn one"),
            ("swap(8, LE);", "swap(8,  LE);", "fn one"),
            ("read(8, LE);", "copy(\n        8,\n        LE,\n    );", "fn one"),
        ] {
            let code = |line: &str, of_two: &str| {
                ["one", "two", "three"].map(|name| function(name, if name == "two" { of_two } else { line })).concat()
            };
            let patch = Patch::new(vec![ChangedFile::of_texts(
                "src/lib.rs",
                &code("read(4, LE);", old),
                &code("copy(4, LE);", new),
            )]);
            let all: Vec<_> = (0..patch.parts().len()).collect();
            assert_eq!(named(&patch, &all), expected, "{old} {new}");
        }
    }
}
