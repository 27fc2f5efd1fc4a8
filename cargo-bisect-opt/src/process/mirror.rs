//! Places for copies of a directory: relative paths lead from a copy to the same files as from the original.
//!
//! A copy is at the place that corresponds to its original below a common directory, the base. Everything beside the
//! original is a link there.

use std::{
    ffi::OsStr,
    io,
    path::{Component, Path, PathBuf},
};

use super::{cargo_home::cargo_home, shell};

/// A directory, and the base below which copies have the same place.
#[derive(Clone, Debug)]
pub(crate) struct Mirror {
    original: PathBuf,
    base: PathBuf,
}

impl Mirror {
    /// Creates a mirror of the directory `original`, whose real path this is. `outside` are directories to which
    /// relative paths lead. The base contains all of these, and `least`.
    pub(crate) fn new(original: &Path, least: &Path, outside: &[PathBuf]) -> Self {
        let base = outside.iter().fold(least.to_owned(), |base, path| common(&base, &normalized(path)));
        Self { original: original.to_owned(), base }
    }

    /// Returns the base.
    pub(crate) fn base(&self) -> &Path {
        &self.base
    }

    /// Returns the directory that is copied.
    pub(crate) fn original(&self) -> &Path {
        &self.original
    }

    /// Returns the path of the directory below the base.
    pub(crate) fn below(&self) -> &Path {
        self.original.strip_prefix(&self.base).unwrap_or(Path::new(""))
    }

    /// Returns the place of a copy; `top` corresponds to the base.
    pub(crate) fn place_in(&self, top: &Path) -> PathBuf {
        // Joining an empty path would add a slash.
        top.components().chain(self.below().components()).collect()
    }

    /// Makes the directories above a copy, with links to everything beside the original and its parents below the base,
    /// except for git's own directories, configuration that cargo reads anyway, and the directory of the copies. The real
    /// path `top` is below that, and corresponds to the base.
    ///
    /// # Errors
    /// If a directory cannot be read, or a directory or a link cannot be made.
    pub(crate) fn make(&self, top: &Path) -> io::Result<()> {
        let (mut from, mut to) = (self.base.clone(), top.to_owned());
        for name in self.below() {
            fs_err::create_dir_all(&to)?;
            for entry in fs_err::read_dir(&from)? {
                let entry = entry?;
                let (other, path) = (entry.file_name(), entry.path());
                let is_omitted = other == name || other == GIT || is_read_anyway(&path, top);
                if !is_omitted && Some(&*path) != top.parent() {
                    link(&path, &to.join(other))?;
                }
            }
            from.push(name);
            to.push(name);
        }
        Ok(())
    }

    /// Returns shell commands, each after ` && `, that make the same links as [`make`](Self::make) below the directory
    /// `$around`, which corresponds to the base, has the directories above the copy, and is not below the base.
    pub(crate) fn link_commands(&self) -> String {
        let mut from = self.base.clone();
        let mut to = PathBuf::from(".");
        let mut commands = Vec::new();
        for name in self.below() {
            let elsewhere = Path::new("");
            let cargo = Some(OsStr::new(CARGO)).filter(|cargo| is_read_anyway(&from.join(cargo), elsewhere));
            let omitted = [name, OsStr::new(GIT)].into_iter().chain(cargo);
            let others: Vec<_> = omitted.map(|name| format!(" ! -name {}", pattern(name))).collect();
            let others = others.concat();
            let (of, at) = (shell::quote(&from), shell::quote(&to));
            commands
                .push(format!(" && find {of} -mindepth 1 -maxdepth 1{others} -exec sh -c 'ln -s \"$@\" \"$0\"' \"$around\"/{at} {{}} +"));
            from.push(name);
            to.push(name);
        }
        commands.concat()
    }
}

/// The name of git's own directory.
const GIT: &str = ".git";
/// The name of the directories with cargo's configuration.
const CARGO: &str = ".cargo";

/// Returns true for configuration that cargo also reads without a link: that in a directory which contains the copies, and
/// that of `CARGO_HOME`. With a link, it would read it twice.
pub(crate) fn is_read_anyway(path: &Path, copies: &Path) -> bool {
    let contains_copies = || path.parent().is_some_and(|directory| copies.starts_with(directory));
    let is_home = || cargo_home().is_some_and(|home| is_same(&home, path));
    path.file_name().is_some_and(|name| name == CARGO) && (contains_copies() || is_home())
}

/// Returns true if both paths lead to one existing file.
fn is_same(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// Returns a name as a pattern of `find`, quoted for a shell.
fn pattern(name: &OsStr) -> String {
    let escaped = |c: char| if "\\*?[".contains(c) { vec!['\\', c] } else { vec![c] };
    shell::quote(name.to_string_lossy().chars().flat_map(escaped).collect::<String>())
}

/// Returns the longest directory that contains both.
fn common(one: &Path, other: &Path) -> PathBuf {
    one.components().zip(other.components()).take_while(|(one, other)| one == other).map(|(one, _)| one).collect()
}

/// Returns a path without `..`, as cargo does.
fn normalized(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(normalized.pop()),
            Component::CurDir => {}
            other => normalized.push(other),
        }
    }
    normalized
}

/// Makes a symbolic link.
///
/// # Errors
/// If it cannot be made.
#[cfg(unix)]
pub(crate) fn link(target: &Path, link: &Path) -> io::Result<()> {
    fs_err::os::unix::fs::symlink(target, link)
}

/// Makes a symbolic link.
///
/// # Errors
/// If it cannot be made.
#[cfg(windows)]
pub(crate) fn link(target: &Path, link: &Path) -> io::Result<()> {
    if target.is_dir() {
        fs_err::os::windows::fs::symlink_dir(target, link)
    } else {
        fs_err::os::windows::fs::symlink_file(target, link)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mirror(outside: &[&str]) -> Mirror {
        let outside: Vec<_> = outside.iter().map(PathBuf::from).collect();
        Mirror::new("/a/b/c".as_ref(), "/a/b/c".as_ref(), &outside)
    }

    #[test]
    fn the_base_contains_all_directories() {
        for (outside, base, place) in [
            (&[][..], "/a/b/c", "/t"),
            (&["/a/b/c/d", "/a/b/c/d/../e"], "/a/b/c", "/t"),
            (&["/a/b/c/../d"], "/a/b", "/t/c"),
            (&["/a/b/d", "/a/e/f"], "/a", "/t/b/c"),
            (&["/a/b"], "/a/b", "/t/c"),
        ] {
            let mirror = mirror(outside);
            assert_eq!((mirror.base(), mirror.place_in("/t".as_ref())), (base.as_ref(), place.into()), "{outside:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_makes_the_same_links() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().join("ba se");
        for path in ["a [*]/b/c", "a [*]/b/.hidden", "a [*]/d e", ".git", "f", "a b"] {
            fs_err::create_dir_all(base.join(path)).unwrap();
        }
        let original = base.join("a [*]/b/c");
        let mirror = Mirror::new(&original, &original, std::slice::from_ref(&base));
        let (ours, of_shell) = (dir.path().join("ours"), dir.path().join("shell"));
        mirror.make(&ours).unwrap();
        fs_err::create_dir_all(mirror.place_in(&of_shell)).unwrap();
        let line = format!("around={}{}", shell::quote(&of_shell), mirror.link_commands());
        assert!(std::process::Command::new("sh").args(["-c", &line]).status().unwrap().success(), "{line}");
        for (directory, expected) in [("", &["a b", "f"][..]), ("a [*]", &["d e"]), ("a [*]/b", &[".hidden"])] {
            for copy in [&ours, &of_shell] {
                let entries = fs_err::read_dir(copy.join(directory)).unwrap().map(|entry| entry.unwrap().path());
                let mut links: Vec<_> = entries.filter(|path| path.is_symlink()).collect();
                links.sort();
                let expected: Vec<_> = expected.iter().map(|name| copy.join(directory).join(name)).collect();
                assert_eq!(links, expected, "{line}");
                assert!(
                    links.iter().all(|link| link.canonicalize().unwrap().starts_with(base.canonicalize().unwrap()))
                );
            }
        }
    }
}
