//! Places for copies of a directory: relative paths lead from a copy to the same files as from the original.
//!
//! A copy is at the place that corresponds to its original below a common directory, the base. Everything beside the
//! original is a link there.

use std::{
    collections::BTreeSet,
    io,
    path::{Component, Path, PathBuf},
};

use super::shell;

/// A directory, and the base below which copies have the same place.
#[derive(Clone, Debug)]
pub(crate) struct Mirror {
    original: PathBuf,
    base: PathBuf,
    outside: Vec<PathBuf>,
}

impl Mirror {
    /// Creates a mirror of the directory `original`, whose real path this is. `outside` are directories to which
    /// relative paths lead. The base contains all of these, and `least`.
    pub(crate) fn new(original: &Path, least: &Path, outside: &[PathBuf]) -> Self {
        let outside: Vec<_> = outside.iter().map(|path| normalized(path)).collect();
        let base = outside.iter().fold(least.to_owned(), |base, path| common(&base, path));
        Self { original: original.to_owned(), base, outside }
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

    /// Makes the directories above a copy, with links to everything beside the original and its parents below the base
    /// that is not omitted; `top` corresponds to the base.
    ///
    /// # Errors
    /// If a directory cannot be read, or a directory or a link cannot be made.
    pub(crate) fn make(&self, top: &Path, is_omitted: &dyn Fn(&Path) -> bool) -> io::Result<()> {
        let (mut from, mut to) = (self.base.clone(), top.to_owned());
        for name in self.below() {
            fs_err::create_dir_all(&to)?;
            for entry in fs_err::read_dir(&from)? {
                let entry = entry?;
                let other = entry.file_name();
                if other != name && !is_omitted(&entry.path()) {
                    link(&entry.path(), &to.join(other))?;
                }
            }
            from.push(name);
            to.push(name);
        }
        Ok(())
    }

    /// Returns shell commands, each after ` && `, that make these links below the directory `$around`, which corresponds
    /// to the base.
    pub(crate) fn link_commands(links: &BTreeSet<(PathBuf, PathBuf)>) -> String {
        let command = |(link, target): &(PathBuf, PathBuf)| {
            format!(" && ln -s {} \"$around\"/{}", shell::quote(target), shell::quote(link))
        };
        links.iter().map(command).collect()
    }

    /// Returns the links that lead from a copy to the directories outside: the paths below the base, and their targets.
    pub(crate) fn needed_links(&self) -> BTreeSet<(PathBuf, PathBuf)> {
        let link = |path: &PathBuf| {
            let shared = common(&self.original, path);
            let name = path.strip_prefix(&shared).ok()?.components().next()?;
            let target = shared.join(name);
            // The copy has all directories of the original, so these need no link.
            let is_beside = !target.starts_with(&self.original);
            is_beside.then_some((target.strip_prefix(&self.base).ok()?.to_owned(), target))
        };
        self.outside.iter().filter_map(link).collect()
    }
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

    #[test]
    fn links_lead_beside_the_original() {
        let links = |outside: &[&str]| {
            let links = mirror(outside).needed_links();
            links.iter().map(|(link, to)| format!("{} {}", link.display(), to.display())).collect::<Vec<_>>()
        };
        assert_eq!(links(&["/a/b/d/e", "/a/b/d/f", "/a/g"]), ["b/d /a/b/d", "g /a/g"]);
        assert_eq!(links(&["/a/b/c/d", "/a/b"]), [""; 0]);
    }
}
