//! Links between the Markdown files of the repository: the file exists, and the heading in it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::{Component, Path, PathBuf},
};

use bisect_tests::harness::root;
use regex::Regex;

/// Checks all links that lead to a file or a heading.
///
/// # Panics
/// If one leads nowhere.
pub(crate) fn check() {
    let mut pages = BTreeMap::new();
    read(root(), &mut pages);
    let link = Regex::new(r"\]\(([^)\s]+)\)").expect("it is a regular expression");
    let mut dead = String::new();
    let mut count = 0;
    for (path, text) in &pages {
        let text = without_code(text);
        for found in link.captures_iter(&text) {
            let target = &found[1];
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            count += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { path.clone() } else { join(path, file) };
            let is_known = match pages.get(&file) {
                Some(text) => anchor.is_empty() || anchors(text).contains(anchor),
                None => anchor.is_empty() && root().join(&file).exists(),
            };
            if !is_known {
                let _ = writeln!(dead, "{}: {target}", path.display());
            }
        }
    }
    assert!(count > 100, "only {count} links were seen");
    assert!(dead.is_empty(), "these links lead nowhere:\n{dead}");
}

/// Reads the Markdown files below a folder, by their paths from the root.
fn read(dir: &Path, pages: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(dir).expect("a folder can be read") {
        let entry = entry.expect("a folder can be read");
        let (path, name) = (entry.path(), entry.file_name());
        if entry.file_type().expect("it has a type").is_dir() {
            if name != "target" && name != ".git" {
                read(&path, pages);
            }
        } else if path.extension().is_some_and(|kind| kind == "md") {
            let text = fs::read_to_string(&path).expect("a page can be read");
            pages.insert(path.strip_prefix(root()).expect("it is below the root").to_owned(), text);
        }
    }
}

/// Returns the path, from the root, of a file that a page names.
fn join(page: &Path, file: &str) -> PathBuf {
    let mut path = page.parent().expect("a page is in a folder").to_owned();
    for part in Path::new(file).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            part => path.push(part),
        }
    }
    path
}

/// Returns the text without blocks of code.
fn without_code(text: &str) -> String {
    let mut inside = false;
    let outside = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        inside ^= is_fence;
        !inside && !is_fence
    });
    // A link may be broken after its text.
    outside.flat_map(|line| [line, "\n"]).collect()
}

/// Returns the anchors of the headings of a page, as hosts of Markdown and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let text = without_code(text);
    let headings = text
        .lines()
        .filter_map(|line| line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')));
    headings
        .map(|heading| {
            let kept = heading.trim().to_lowercase().replace(' ', "-");
            kept.chars().filter(|char| char.is_alphanumeric() || "-_".contains(*char)).collect()
        })
        .collect()
}
