//! Advice on the next steps, after the search has found the code whose compilation breaks the target.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::cargo::graph::Package;

/// The facts about a culprit that the advice depends on.
#[derive(Debug)]
pub(crate) struct Known<'a> {
    /// The packages of the culprit.
    pub(crate) packages: Vec<&'a Package>,
    /// The source files of the functions, if known.
    pub(crate) files: Vec<&'a Path>,
    /// The tests that fail.
    pub(crate) tests: &'a [String],
    /// The target triple.
    pub(crate) triple: &'a str,
    /// Set if the build fails. Otherwise the compiled program fails.
    pub(crate) is_build: bool,
}

impl Known<'_> {
    /// Returns the advice, one piece per item.
    pub(crate) fn advice(&self) -> Vec<String> {
        if self.is_build {
            return self.of_build();
        }
        let unsafe_code: Vec<_> = self.packages.iter().filter(|package| has_unsafe(&package.directory)).collect();
        let names = |packages: &[&&Package]| packages.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(" and ");
        let in_functions = self.files.iter().any(|file| says_unsafe(file));
        let tests = if let [test] = self.tests { format!(" -- --exact {test}") } else { String::new() };
        let mut advice = Vec::new();
        if unsafe_code.is_empty() {
            advice.push(
                "there is no unsafe code in it: what depends on how it is compiled is then floating point, the \
                 order or address of things, a race, unsafe code of others that is inlined here, or the compiler's mistake"
                    .to_owned(),
            );
        } else {
            let also = if in_functions { ", and in the file of the function" } else { "" };
            advice.push(format!(
                "there is unsafe code in {}{also}: undefined behaviour is the likely cause. Miri detects most cases: \
                 cargo +nightly miri test{tests}",
                names(&unsafe_code)
            ));
            advice.push(format!(
                "if Miri cannot run it, a sanitizer may: RUSTFLAGS=-Zsanitizer=address cargo +nightly test -Zbuild-std \
                 --target {}{tests}",
                self.triple
            ));
        }
        advice.push(
            "if the code is right, report it with the flags above: https://github.com/rust-lang/rust/issues/new"
                .to_owned(),
        );
        advice
    }

    fn of_build(&self) -> Vec<String> {
        let names = self.packages.iter().map(|package| package.name.as_str()).collect::<Vec<_>>().join(" and ");
        vec![
            format!(
                "the command above shows what the compiler says. An error, or a panic of a build script, is about what {names} \
                 does where it is compiled so: by constants, assertions, or the build script's environment"
            ),
            "an internal compiler error, a crash or a hang of the compiler is its own mistake, whatever the code is: \
             report it with the flags above: https://github.com/rust-lang/rust/issues/new"
                .to_owned(),
        ]
    }
}

/// Returns true if any source file below a directory has the keyword `unsafe`.
fn has_unsafe(directory: &Path) -> bool {
    source_files(directory).any(|file| says_unsafe(&file))
}

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

/// Returns true if a source file has the keyword `unsafe` outside comments.
fn says_unsafe(path: &Path) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text.lines().any(line_says_unsafe))
}

fn line_says_unsafe(line: &str) -> bool {
    code_words(line).any(|word| word == "unsafe")
}

/// Returns the words of a line of code, without those in a comment.
pub(super) fn code_words(line: &str) -> impl Iterator<Item = &str> {
    let code = line.split("//").next().unwrap_or_default();
    code.split(|c: char| !c.is_alphanumeric() && c != '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_code_is_found_by_its_keyword() {
        for (line, expected) in [
            ("let x = unsafe { *p };", true),
            ("unsafe impl Send for X {}", true),
            ("#[unsafe(no_mangle)]", true),
            ("#![forbid(unsafe_code)]", false),
            ("// unsafe", false),
            ("let x = 1; // not unsafe", false),
        ] {
            assert_eq!(line_says_unsafe(line), expected, "{line}");
        }
    }
}
