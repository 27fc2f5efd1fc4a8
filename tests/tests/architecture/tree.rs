//! The files of the repository, as paths and texts.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

/// The texts of all source and Markdown files, by path from the root of the repository, with `/` as separator on every
/// system.
///
/// Fixtures are listed without their text: they are programs to search, and follow other rules.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    texts: BTreeMap<String, String>,
}

/// Folders that hold programs of tests, whose texts no rule reads.
const WITHOUT_TEXT: [&str; 3] = ["tests/fixtures/", "bisect-rt/tests/fixture/", "bisect-rt/tests/ui/"];

impl Tree {
    /// Reads the repository at `root`.
    pub(crate) fn read(root: &Path) -> Self {
        let mut tree = Self::default();
        tree.add(root, "").unwrap_or_else(|error| panic!("{}: {error}", root.display()));
        tree
    }

    fn add(&mut self, dir: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            // Either may be a link or a file instead of a folder.
            if name == "target" || name == ".git" {
                continue;
            }
            let path = format!("{prefix}{name}");
            if entry.file_type()?.is_dir() {
                self.add(&entry.path(), &format!("{path}/"))?;
            } else if is_text(&name) {
                let has_text = !WITHOUT_TEXT.iter().any(|folder| path.starts_with(folder));
                let text = if has_text { fs::read_to_string(entry.path())? } else { String::new() };
                self.texts.insert(path, text);
            }
        }
        Ok(())
    }

    /// Builds a small repository for the tests of a rule.
    #[cfg(test)]
    pub(crate) fn from_texts(texts: &[(&str, &str)]) -> Self {
        Self { texts: texts.iter().map(|&(path, text)| (path.to_owned(), text.to_owned())).collect() }
    }

    /// Returns the text of a file, if it exists.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// Returns true if a path is a file, or, if it ends in `/`, a folder with a file in it.
    pub(crate) fn has(&self, path: &str) -> bool {
        if path.ends_with('/') { self.below(path).next().is_some() } else { self.texts.contains_key(path) }
    }

    /// Returns the files below a folder, whose path ends in `/` or is empty.
    pub(crate) fn below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let files = self.texts.range(folder.to_owned()..).take_while(move |(path, _)| path.starts_with(folder));
        files.map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Returns the Rust files whose texts follow the rules.
    pub(crate) fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.of_kind("rs")
    }

    /// Returns the Markdown files whose texts follow the rules.
    pub(crate) fn markdown(&self) -> impl Iterator<Item = (&str, &str)> {
        self.of_kind("md")
    }

    fn of_kind(&self, kind: &'static str) -> impl Iterator<Item = (&str, &str)> {
        let has_text = |path: &str| !WITHOUT_TEXT.iter().any(|folder| path.starts_with(folder));
        self.below("").filter(move |(path, _)| extension(path) == Some(kind) && has_text(path))
    }
}

fn extension(path: &str) -> Option<&str> {
    Path::new(path).extension()?.to_str()
}

fn is_text(name: &str) -> bool {
    matches!(extension(name), Some("rs" | "md" | "toml" | "go" | "sh" | "txt" | "json" | "py" | "sed"))
        || !name.contains('.')
}
