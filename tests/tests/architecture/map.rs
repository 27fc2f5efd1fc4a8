//! ARCHITECTURE.md against the tree.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use crate::exceptions::Violation;
use crate::facts::Facts;
use crate::house::House;
use crate::modules::Crate;
use crate::tree::Tree;

/// The page that lists the rooms.
pub(crate) const MAP: &str = "ARCHITECTURE.md";

/// Returns rooms that the page lacks, and paths on it that are not in the tree.
///
/// The page lists rooms in code blocks, on lines `path/ - purpose`. An indented path continues the last one that is not
/// indented. A room that is a single file may be left out. Elsewhere, a code span with a slash or an extension is the end
/// of any path.
pub(crate) fn differences(tree: &Tree, houses: &[House]) -> Vec<Violation> {
    let page = tree.text(MAP).unwrap_or_default();
    let listed = listed(page);
    let mut violations = Vec::new();
    for (path, lines) in &listed {
        if !tree.has(path) {
            violations.push(Violation::new("map", MAP, lines[0], format!("lists {path}, which is not in the tree")));
        }
        for line in &lines[1..] {
            violations.push(Violation::new("map", MAP, *line, format!("lists {path} twice")));
        }
    }
    for house in houses.iter().filter(|house| tree.has(house.src)) {
        let rooms = house.rooms.iter().map(|room| format!("{}{room}/", house.src)).filter(|path| tree.has(path));
        for path in rooms.chain([house.src.to_owned()]).filter(|path| !listed.contains_key(path)) {
            violations.push(Violation::new("map", MAP, 1, format!("lacks a line `{path} - purpose`")));
        }
    }
    for (path, line) in mentioned(page) {
        let is_end = |full: &str| {
            full.ends_with(&format!("/{path}")) || path.ends_with('/') && full.contains(&format!("/{path}"))
        };
        if !tree.has(path) && !tree.below("").any(|(full, _)| is_end(full)) {
            violations.push(Violation::new("map", MAP, line, format!("names `{path}`, which is not in the tree")));
        }
    }
    violations
}

/// Returns types that the page names and no crate defines, and members of types that their files do not name.
///
/// A type is a word in CamelCase in a code span: `Axis`, or `Axis::place` with a member.
pub(crate) fn unknown_types(tree: &Tree, crates: &[Crate]) -> Vec<Violation> {
    let page = tree.text(MAP).unwrap_or_default();
    let mut violations = Vec::new();
    for (code, line) in spans(page).filter(|(code, _)| !is_path(code)) {
        for path in code.split(|c: char| c != ':' && !is_word_char(c)) {
            let mut names = path.split("::");
            let Some(name) = names.next().filter(|name| is_camel_case(name)) else { continue };
            let files: Vec<_> = crates.iter().flat_map(|krate| files_of(krate, name)).collect();
            let is_named = |member: &str| {
                let texts = files.iter().filter_map(|file| tree.text(file));
                texts.into_iter().any(|text| text.split(|c| !is_word_char(c)).any(|word| word == member))
            };
            if files.is_empty() {
                violations.push(Violation::new(
                    "map",
                    MAP,
                    line,
                    format!("names the type `{name}`, which no crate has"),
                ));
            } else if let Some(member) = names.find(|member| !is_named(member)) {
                violations.push(Violation::new("map", MAP, line, format!("names `{member}`, which `{name}` has not")));
            }
        }
    }
    violations
}

/// Returns the files that define a type, or its methods.
fn files_of<'a>(krate: &'a Crate, name: &str) -> Vec<&'a str> {
    let is_there = |facts: &Facts| {
        facts.types.iter().any(|definition| definition.name == name) || facts.impls.iter().any(|block| block.of == name)
    };
    let modules = krate.modules.iter().filter(|module| is_there(&module.facts));
    modules.map(|module| krate.files[module.file].as_str()).collect()
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_camel_case(word: &str) -> bool {
    word.starts_with(char::is_uppercase) && word.contains(char::is_lowercase) && !word.contains('_')
}

/// Returns the folders and files that the page names in its text, with the numbers of their lines.
fn mentioned(page: &str) -> impl Iterator<Item = (&str, usize)> {
    spans(page).filter(|(code, _)| is_path(code))
}

/// Returns true for a path: a word with a slash or with the extension of a file.
fn is_path(code: &str) -> bool {
    let kind = Path::new(code).extension().and_then(OsStr::to_str);
    let is_file = kind.is_some_and(|kind| ["rs", "md", "toml", "json", "txt", "sed"].contains(&kind));
    (is_file || code.contains('/')) && !code.contains(' ') && !code.starts_with("//")
}

/// Returns the code spans of the page, with the numbers of their lines.
fn spans(page: &str) -> impl Iterator<Item = (&str, usize)> {
    let text = page.lines().enumerate().filter(|(_, line)| !line.starts_with("```"));
    text.flat_map(|(index, line)| line.split('`').skip(1).step_by(2).map(move |code| (code, index + 1)))
}

/// Returns the listed paths, with the numbers of their lines.
fn listed(page: &str) -> BTreeMap<String, Vec<usize>> {
    let mut listed: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let (mut is_code, mut folder) = (false, "");
    for (index, line) in page.lines().enumerate() {
        is_code ^= line.starts_with("```");
        let Some((path, _)) = line.trim().split_once(" - ").filter(|_| is_code) else { continue };
        let path = path.trim_end();
        if path.contains(' ') || !(path.ends_with('/') || Path::new(path).extension().is_some()) {
            continue;
        }
        let path = if line.starts_with(' ') {
            format!("{folder}{path}")
        } else {
            folder = path;
            path.to_owned()
        };
        listed.entry(path).or_default().push(index + 1);
    }
    listed
}
