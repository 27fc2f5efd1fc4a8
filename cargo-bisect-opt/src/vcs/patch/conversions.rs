//! Conversions that git makes when it writes files into a work tree: line endings, encodings, filters.
//!
//! A patch has the content that git stores. A run needs the content that a checkout would have.
//!
//! Files that settings and attributes leave as they are do not go through git: they are written directly.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs::File,
    io,
    path::{Path, PathBuf},
};

use super::{
    parts::{Composition, Patch},
    trees::{FileMode, FileVersion},
};
use crate::{process::scratch_dir::ScratchDir, vcs::query};

/// The files of a patch that git converts.
#[derive(Debug)]
pub(super) struct Conversions {
    paths: BTreeSet<PathBuf>,
}

impl Conversions {
    /// Finds the files of a patch that git converts, by the settings and attributes of a work tree.
    ///
    /// # Errors
    /// If git fails, for instance because a filter does.
    pub(super) fn of(patch: &Patch, tree: &Path) -> io::Result<Self> {
        let mut paths = BTreeSet::new();
        for is_new in [false, true] {
            let stored = patch.compose(|_| is_new);
            let files: Vec<_> = files(&stored).collect();
            if stored.keys().any(|path| has_attributes(path)) {
                // Any of the files may be converted in one selection, and not in another one.
                paths.extend(files.iter().map(|file| file.path.clone()));
                continue;
            }
            let written = checked_out(tree, &files)?;
            let differing = files.iter().zip(written).filter(|(file, written)| file.content != *written);
            paths.extend(differing.map(|(file, _)| file.path.clone()));
        }
        Ok(Self { paths })
    }

    /// Converts the files of a composition as git would when it writes them into a work tree, by the attributes there.
    ///
    /// # Errors
    /// If git fails, for instance because a filter does.
    pub(super) fn apply(&self, tree: &Path, composition: &mut Composition<'_>) -> io::Result<()> {
        let converted = files(composition).filter(|file| self.paths.contains(&file.path));
        let converted: Vec<_> = converted.cloned().collect();
        let written = checked_out(tree, &converted.iter().collect::<Vec<_>>())?;
        for (file, content) in converted.into_iter().zip(written) {
            if let Some(Some(version)) = composition.get_mut(&file.path) {
                version.content = content;
            }
        }
        Ok(())
    }
}

/// Returns true for a file with attributes, which decide about the conversion of other files.
pub(crate) fn has_attributes(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == ".gitattributes")
}

/// Returns the files of a composition, without links.
fn files<'a>(composition: &'a Composition<'_>) -> impl Iterator<Item = &'a FileVersion> {
    composition.values().flatten().filter(|version| version.mode != FileMode::Link)
}

/// Returns the content that git would write for each file, in a work tree with its settings and attributes. The
/// repository is only read: git gets an index and objects of its own.
fn checked_out(tree: &Path, files: &[&FileVersion]) -> io::Result<Vec<Vec<u8>>> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let scratch = ScratchDir::new()?;
    let path = |name: &str| scratch.path().join(name);
    let (stored, written) = (path("stored"), path("written"));
    for directory in [&stored, &written, &path("objects")] {
        fs_err::create_dir(directory)?;
    }
    let mut names = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let name = stored.join(number.to_string());
        fs_err::write(&name, &file.content)?;
        names.extend_from_slice(name.as_os_str().as_encoded_bytes());
        names.push(b'\n');
    }
    let variables = [("GIT_INDEX_FILE", path("index").into()), ("GIT_OBJECT_DIRECTORY", path("objects").into())];
    let hashes =
        ask(tree, &["hash-object", "-w", "--no-filters", "--stdin-paths"], &variables, &path("names"), &names)?;
    let mut entries = Vec::new();
    for (hash, file) in hashes.split(|&byte| byte == b'\n').zip(files) {
        entries.extend([&b"100644 "[..], hash, b"\t", file.path.as_os_str().as_encoded_bytes(), b"\0"].concat());
    }
    ask(tree, &["update-index", "-z", "--index-info"], &variables, &path("entries"), &entries)?;
    let mut prefix = OsString::from("--prefix=");
    prefix.push(&written);
    prefix.push("/");
    let checkout = ["checkout-index".as_ref(), "--quiet".as_ref(), "--all".as_ref(), prefix.as_os_str()];
    ask(tree, &checkout, &variables, &path("none"), &[])?;
    files.iter().map(|file| fs_err::read(written.join(&file.path))).collect()
}

/// Asks git, with a text as its input, which is written to a file.
fn ask<S: AsRef<std::ffi::OsStr>>(
    tree: &Path,
    arguments: &[S],
    variables: &[(&str, OsString)],
    file: &Path,
    input: &[u8],
) -> io::Result<Vec<u8>> {
    fs_err::write(file, input)?;
    let reply = query::call_with(tree, arguments, variables, Some(File::open(file)?)).map_err(io::Error::other)?;
    if reply.failure.is_some() {
        let name = arguments.first().map(|name| name.as_ref().to_string_lossy()).unwrap_or_default();
        return Err(io::Error::other(format!("`git {name}` failed: {}", reply.message)));
    }
    Ok(reply.output)
}
