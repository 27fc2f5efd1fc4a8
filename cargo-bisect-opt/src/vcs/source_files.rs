//! The source files below a directory: those that git tracks, and those of Rust.

use std::path::{Path, PathBuf};

use super::query;

/// The names and endings of files that cargo and rustc read.
const RUST: [&str; 4] = ["*.rs", "Cargo.toml", "Cargo.lock", "rust-toolchain*"];

/// The file that marks a directory that can be made again, such as a target directory.
pub(crate) const CACHE_TAG: &str = "CACHEDIR.TAG";

/// Returns the source files below a directory, relative to it: in a git work tree, the tracked files and Rust's that are
/// not ignored; elsewhere, Rust's. Caches and hidden directories have none.
pub(crate) fn source_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = tracked(directory).unwrap_or_else(|| {
        let mut files = Vec::new();
        walk(directory, Path::new(""), &mut files);
        files
    });
    // Libraries often ignore theirs.
    files.push("Cargo.lock".into());
    files.sort();
    files.dedup();
    files.retain(|file| directory.join(file).is_file());
    files
}

/// Returns the revision that is checked out; `None` if there is none.
pub(crate) fn revision(directory: &Path) -> Option<String> {
    let reply = query::query(directory, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).ok()?;
    reply.failure.is_none().then(|| reply.text())
}

fn tracked(directory: &Path) -> Option<Vec<PathBuf>> {
    let others = [&["ls-files", "-z", "--others", "--exclude-standard", "--"][..], &RUST].concat();
    let mut files = Vec::new();
    for arguments in [&["ls-files", "-z"][..], &others] {
        let reply = query::query(directory, arguments).ok().filter(|reply| reply.failure.is_none())?;
        let names = reply.output.split(|&byte| byte == 0).filter(|name| !name.is_empty());
        files.extend(names.map(|name| PathBuf::from(String::from_utf8_lossy(name).into_owned())));
    }
    Some(files)
}

fn walk(root: &Path, below: &Path, files: &mut Vec<PathBuf>) {
    // Unreadable directories are skipped.
    let Ok(entries) = fs_err::read_dir(root.join(below)) else { return };
    for entry in entries.flatten() {
        let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
        let (name, path) = (name.to_string_lossy().into_owned(), below.join(&name));
        if kind.is_dir() {
            if !name.starts_with('.') && !root.join(&path).join(CACHE_TAG).exists() {
                walk(root, &path, files);
            }
        } else if kind.is_file() && is_of_rust(&name) {
            files.push(path);
        }
    }
}

fn is_of_rust(name: &str) -> bool {
    RUST.iter().any(|pattern| match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(ending), _) => name.ends_with(ending),
        (_, Some(beginning)) => name.starts_with(beginning),
        _ => name == *pattern,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_git_the_files_of_rust_outside_of_caches_are_the_sources() {
        let dir = tempfile::tempdir().unwrap();
        for file in
            ["src/lib.rs", "Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "a/notes.txt", ".x/a.rs", "t/b.rs"]
        {
            let path = dir.path().join(file);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, "").unwrap();
        }
        fs_err::write(dir.path().join("t/CACHEDIR.TAG"), "").unwrap();
        let expected = ["Cargo.lock", "Cargo.toml", "rust-toolchain.toml", "src/lib.rs"].map(PathBuf::from);
        let mut files = Vec::new();
        walk(dir.path(), Path::new(""), &mut files);
        files.sort();
        assert_eq!(files, expected);
    }
}
