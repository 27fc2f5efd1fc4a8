//! Names in lines of source code: those that a part of a patch defines, and those that it no longer defines.
//!
//! This needs no parser: a wrong guess only costs a build, or a worse order.

use std::{collections::BTreeSet, path::Path, sync::LazyLock};

use regex::bytes::Regex;

use crate::vcs::patch::{Patch, PatchPart, Piece};

/// Words at the beginning of a line that define nothing themselves.
const KEYWORDS: [&str; 18] = [
    "async", "const", "else", "fn", "for", "if", "impl", "let", "loop", "match", "mod", "pub", "return", "self",
    "static", "unsafe", "use", "while",
];

/// A set of parts of a patch, by their indices.
pub(super) type PartSet = BTreeSet<usize>;

/// The names in which a part of a patch differs from the old tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PartWords {
    /// Names that only its new lines define.
    pub(super) defined: BTreeSet<String>,
    /// Names that only its old lines define.
    pub(super) undefined: BTreeSet<String>,
    /// Names that both define: their signature or type differs.
    pub(super) redefined: BTreeSet<String>,
    /// Names that only its new lines bring into scope: imports, parameters and variables. Others need them only in the
    /// same file.
    pub(super) bound: BTreeSet<String>,
    /// Names that only its old lines bring into scope.
    pub(super) unbound: BTreeSet<String>,
    /// Names that only its new lines have.
    pub(super) used: BTreeSet<String>,
    /// Names that only its old lines have.
    pub(super) unused: BTreeSet<String>,
}

impl PartWords {
    /// Returns the words of a part.
    pub(super) fn of(patch: &Patch, part: &PatchPart) -> Self {
        let (old, new) = (patch.removed(part).1.concat(), patch.added(part).1.concat());
        let file = patch.file_of(part);
        let (mut before, mut after) = (definitions(&old), definitions(&new));
        // A file is a module.
        let module = |path: &Path| {
            let name = if path.file_stem().is_some_and(|stem| stem == "mod") {
                path.parent()?.file_name()
            } else {
                path.file_stem()
            };
            Some(name?.to_string_lossy().into_owned())
        };
        let module_of = |path: Option<&std::path::PathBuf>| path.and_then(|path| module(path));
        if matches!(part.piece, Piece::Added | Piece::Renamed) {
            after.extend(module_of(file.new.as_ref().map(|new| &new.path)));
        }
        if matches!(part.piece, Piece::Deleted | Piece::Renamed) {
            before.extend(module_of(file.old.as_ref().map(|old| &old.path)));
        }
        let (all_before, all_after) = (words(&old), words(&new));
        let only = |one: &BTreeSet<String>, other: &BTreeSet<String>| one.difference(other).cloned().collect();
        Self {
            defined: only(&after, &before),
            undefined: only(&before, &after),
            redefined: before.intersection(&after).cloned().collect(),
            bound: only(&bindings(&new), &bindings(&old)),
            unbound: only(&bindings(&old), &bindings(&new)),
            used: only(&all_after, &all_before),
            unused: only(&all_before, &all_after),
        }
    }
}

/// Returns the names that lines define: of items, fields, variants and dependencies.
fn definitions(text: &[u8]) -> BTreeSet<String> {
    static ITEM: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\b(?:(?:const\s+(?:unsafe\s+)?)?fn|struct|enum|union|trait|type|const|static|mod|macro_rules!|use .*\bas)\s+(?:mut\s+)?([A-Za-z_]\w*)")
            .expect("it is valid")
    });
    static FIELD: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?m)^\s*(?:pub(?:\([^)]*\))?\s+)?([A-Za-z_][\w-]*)\s*(?::[^:]|,?\s*$|[({=]|,$)")
            .expect("it is valid")
    });
    let names = [&*ITEM, &*FIELD].into_iter().flat_map(|pattern| pattern.captures_iter(text));
    let names = names.map(|name| String::from_utf8_lossy(&name[1]).replace('-', "_"));
    names.filter(|name| !KEYWORDS.contains(&name.as_str())).collect()
}

/// Returns the names in imports, in parameters and before the `=` of variables. Some are those of types.
fn bindings(text: &[u8]) -> BTreeSet<String> {
    static BINDING: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?m)^\s*(?:pub(?:\([^)]*\))?\s+)?use\s([^;]*)|\blet\s([^=;]*)|\bfn\s+\w+[^(]*\(([^)]*)\)|\bfor\s(.*?)\sin\b",
        )
        .expect("it is valid")
    });
    let bindings = BINDING.captures_iter(text).filter_map(|binding| binding.iter().skip(1).flatten().next());
    bindings.flat_map(|binding| words(binding.as_bytes())).collect()
}

/// Returns all names in a text.
pub(super) fn words(text: &[u8]) -> BTreeSet<String> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let words = text.split(|byte| !is_part(byte)).filter(|word| word.first().is_some_and(|c| !c.is_ascii_digit()));
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bindings_are_found() {
        for (text, expected) in [
            ("    use alloc::{vec, vec::Vec};\n", "Vec alloc vec"),
            ("pub(crate) use a::b as c;\nuse d::{\n    e,\n    f,\n};\n", "a as b c d e f"),
            ("    let mut one = two;\n    let (three, four): Five = six();\n", "Five four mut one three"),
            ("fn one<T>(two: T, three: &Four) -> Five {\n", "Four T three two"),
            ("    for (one, two) in three {\n", "one two"),
            ("    one.two(three);\n", ""),
        ] {
            let found: Vec<_> = bindings(text.as_bytes()).into_iter().collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn definitions_are_found() {
        for (text, expected) in [
            ("pub(crate) fn one<T>(a: T) {", "one"),
            ("pub const unsafe fn one() {", "one"),
            ("    pub const fn one() {\n", "one"),
            ("struct Two;\n", "Two"),
            ("    pub three: u8,\n", "three"),
            ("    Four(u8),\n    Five,\n", "Five Four"),
            ("macro_rules! six {", "six"),
            ("use a::b as seven;", "seven"),
            ("serde-json = \"1\"", "serde_json"),
            ("let x = eight(nine);", ""),
        ] {
            let found: Vec<_> = definitions(text.as_bytes()).into_iter().collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }
}
