//! Source files of packages, and words of their lines.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::cargo::graph::Package;

/// The maximum number of places that are listed.
const MAX_PLACES: usize = 3;

/// Returns the source files below the directory of a package, in their order.
pub(super) fn source_files(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let mut open = vec![directory.to_owned()];
    std::iter::from_fn(move || {
        loop {
            let path = open.pop()?;
            if !path.is_dir() {
                return Some(path);
            }
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            let mut inside: Vec<_> = entries.filter_map(|entry| is_searched(&entry).then(|| entry.path())).collect();
            inside.sort_by(|a, b| b.cmp(a));
            open.extend(inside);
        }
    })
}

/// Returns true for source files, and for directories that belong to the same package.
fn is_searched(entry: &fs::DirEntry) -> bool {
    let path = entry.path();
    match entry.file_type() {
        // Other packages of the workspace may be below a root package.
        Ok(kind) if kind.is_dir() => !path.join("Cargo.toml").exists() && entry.file_name() != "target",
        Ok(kind) => kind.is_file() && path.extension().is_some_and(|extension| extension == "rs"),
        Err(_) => false,
    }
}

/// Returns the words of a line of code, without those in a comment.
pub(super) fn code_words(line: &str) -> impl Iterator<Item = &str> {
    let code = line.split("//").next().unwrap_or_default();
    code.split(|c: char| !c.is_alphanumeric() && c != '_')
}

/// Returns the first places in the sources of packages whose lines have one of these words outside comments, as paths
/// from `root`. The last item is the number of other places, if there are any.
pub(super) fn places(packages: &[&Package], root: &Path, words: &[&str]) -> Vec<String> {
    let mut places = Vec::new();
    for package in packages {
        for file in source_files(&package.directory) {
            let Ok(text) = fs_err::read_to_string(&file) else { continue };
            let shown = file.strip_prefix(root).unwrap_or(&file).display();
            let lines = (1..).zip(text.lines()).filter(|(_, line)| names_any(line, words));
            places.extend(lines.map(|(number, _)| format!("{shown}:{number}")));
        }
    }
    let left = places.len().saturating_sub(MAX_PLACES);
    places.truncate(MAX_PLACES);
    places.extend((left > 0).then(|| format!("{left} more")));
    places
}

/// Returns true if a line has one of these words outside comments.
pub(super) fn names_any(line: &str, words: &[&str]) -> bool {
    code_words(line).any(|word| words.contains(&word))
}
