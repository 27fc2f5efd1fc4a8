//! Copies of a workspace: one a slot, without git's files and target directories, deleted when the search ends.
//!
//! A copy is at the place that corresponds to its original below a common directory: the top of the git work tree, or
//! the directory that also contains path dependencies outside of the workspace. Everything beside the workspace is a
//! link. Before each run, files that the run before has changed are restored.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs::FileTimes,
    io,
    path::{Component, Path, PathBuf},
};

use crate::process::{owned_dir::OwnedDir, remove_tree::remove_tree};

/// The file that marks a directory that can be made again, such as a target directory.
const CACHE_TAG: &str = "CACHEDIR.TAG";
/// The directory of cargo's configuration.
const CONFIG: &str = ".cargo";
/// The name of the copy from which the others are made.
const PRISTINE: &str = "pristine";

/// The copies of one search.
#[derive(Debug)]
pub(super) struct WorkspaceCopies {
    root: PathBuf,
    base: PathBuf,
    home: OwnedDir,
    /// Set if cargo finds the user's configuration in directories that contain the copies.
    is_inside: bool,
}

impl WorkspaceCopies {
    /// Copies the workspace in `root` to `home`. `outside` are directories that it refers to, and `target` is its target
    /// directory.
    ///
    /// # Errors
    /// If a file cannot be copied.
    pub(super) fn new(root: &Path, outside: &[PathBuf], target: &Path, home: OwnedDir) -> io::Result<Self> {
        let root = fs_err::canonicalize(root)?;
        let git = root.ancestors().find(|directory| directory.join(".git").exists()).unwrap_or(&root);
        let outside = outside.iter().map(|path| normalized(path));
        let base = outside.fold(git.to_owned(), |base, path| common(&base, &path));
        let is_inside = fs_err::canonicalize(home.path())?.starts_with(&root);
        let copies = Self { root, base, home, is_inside };
        let pristine = copies.home.path().join(PRISTINE);
        let omitted = |path: &Path| {
            path == target
                || path.file_name().is_some_and(|name| name == ".git")
                || copies.is_inside && path == copies.root.join(CONFIG)
                || path.join(CACHE_TAG).exists() && path != copies.root
        };
        synchronize(&copies.root, &pristine, &omitted)?;
        Ok(copies)
    }

    /// Returns the directory in the copy of a slot that corresponds to a directory of the user. Makes the copy, or
    /// restores it. No other run has the slot at the same time.
    ///
    /// # Errors
    /// If a file cannot be copied.
    pub(super) fn prepare(&self, slot: usize, directory: &Path) -> io::Result<PathBuf> {
        let root = self.root(slot);
        if !root.exists() {
            self.mirror(&self.home.path().join(slot.to_string()))?;
        }
        synchronize(&self.home.path().join(PRISTINE), &root, &|_| false)?;
        let directory = fs_err::canonicalize(directory)?;
        let below = directory.strip_prefix(&self.base).unwrap_or(Path::new(""));
        Ok(self.home.path().join(slot.to_string()).join(below))
    }

    /// Returns the directory of the workspace in a slot.
    pub(super) fn root(&self, slot: usize) -> PathBuf {
        let below = self.root.strip_prefix(&self.base).unwrap_or(Path::new(""));
        self.home.path().join(slot.to_string()).join(below)
    }

    /// Returns the directory that is copied.
    pub(super) fn original(&self) -> &Path {
        &self.root
    }

    /// Returns the directory that contains the copies.
    pub(super) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Makes the directories between the common one and that of the workspace, with links to all that is beside it.
    fn mirror(&self, top: &Path) -> io::Result<()> {
        let (mut from, mut to) = (self.base.clone(), top.to_owned());
        for name in self.root.strip_prefix(&self.base).unwrap_or(Path::new("")) {
            fs_err::create_dir_all(&to)?;
            for entry in fs_err::read_dir(&from)? {
                let entry = entry?;
                let other = entry.file_name();
                let is_omitted = other == name || other == ".git" || self.is_inside && other == CONFIG;
                if !is_omitted && entry.path() != self.home.path() {
                    link(&entry.path(), &to.join(other))?;
                }
            }
            from.push(name);
            to.push(name);
        }
        fs_err::create_dir_all(&to)
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

/// Makes `to` equal to `from`, except for paths that are omitted. Only files that differ are written.
fn synchronize(from: &Path, to: &Path, is_omitted: &dyn Fn(&Path) -> bool) -> io::Result<()> {
    let mut wanted: BTreeMap<OsString, fs_err::DirEntry> = BTreeMap::new();
    for entry in fs_err::read_dir(from)? {
        let entry = entry?;
        if !is_omitted(&entry.path()) {
            wanted.insert(entry.file_name(), entry);
        }
    }
    if fs_err::symlink_metadata(to).is_ok_and(|metadata| !metadata.is_dir()) {
        fs_err::remove_file(to)?;
    }
    fs_err::create_dir_all(to)?;
    for entry in fs_err::read_dir(to)? {
        let entry = entry?;
        if !wanted.contains_key(&entry.file_name()) {
            remove(&entry.path())?;
        }
    }
    for (name, entry) in wanted {
        let (source, copy) = (entry.path(), to.join(name));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            synchronize(&source, &copy, is_omitted)?;
        } else if kind.is_symlink() {
            let target = fs_err::read_link(&source)?;
            if std::fs::read_link(&copy).ok().as_ref() != Some(&target) {
                remove(&copy)?;
                link(&target, &copy)?;
            }
        } else if kind.is_file() {
            copy_file(&source, &copy)?;
        }
        // Other files (sockets, pipes) belong to processes.
    }
    Ok(())
}

fn copy_file(source: &Path, copy: &Path) -> io::Result<()> {
    let metadata = fs_err::metadata(source)?;
    let modified = metadata.modified()?;
    let is_equal = std::fs::symlink_metadata(copy).is_ok_and(|other| {
        other.is_file()
            && other.len() == metadata.len()
            && other.permissions() == metadata.permissions()
            && other.modified().is_ok_and(|time| time == modified)
    });
    if is_equal {
        return Ok(());
    }
    remove(copy)?;
    fs_err::copy(source, copy)?;
    // Cargo compares the times of files. The owner may set them, even of a read-only file.
    let file = fs_err::OpenOptions::new().read(true).write(cfg!(windows)).open(copy)?;
    file.file().set_times(FileTimes::new().set_modified(modified))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs_err::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => remove_tree(path),
        Ok(_) => fs_err::remove_file(path),
        Err(_) => Ok(()),
    }
}

#[cfg(unix)]
fn link(target: &Path, link: &Path) -> io::Result<()> {
    fs_err::os::unix::fs::symlink(target, link)
}

#[cfg(windows)]
fn link(target: &Path, link: &Path) -> io::Result<()> {
    if target.is_dir() {
        fs_err::os::windows::fs::symlink_dir(target, link)
    } else {
        fs_err::os::windows::fs::symlink_file(target, link)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    fn read(path: &Path) -> String {
        fs_err::read_to_string(path).unwrap()
    }

    #[test]
    fn a_copy_is_restored_and_the_original_stays() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("top/ws");
        for (name, text) in [("Cargo.toml", "m"), ("src/lib.rs", "l"), ("target/CACHEDIR.TAG", ""), (".git/HEAD", "h")]
        {
            write(&root.join(name), text);
        }
        write(&dir.path().join("top/beside/src/lib.rs"), "b");
        fs_err::create_dir(dir.path().join("home")).unwrap();
        let home = OwnedDir::new_in(&dir.path().join("home"), "x-").unwrap();
        let outside = [root.join("../beside")];
        let outside = outside.map(|path| normalized(&dir.path().canonicalize().unwrap().join(path)));
        let copies = WorkspaceCopies::new(&root, &outside, &root.join("target"), home).unwrap();
        let place = copies.prepare(1, &root.join("src")).unwrap();
        let copy = copies.root(1);
        assert_eq!(place, copy.join("src"));
        assert_eq!(read(&copy.join("../beside/src/lib.rs")), "b");
        assert!(!copy.join("target").exists() && !copy.join(".git").exists());
        // A run changes, deletes and adds files.
        write(&copy.join("src/lib.rs"), "changed");
        fs_err::remove_file(copy.join("Cargo.toml")).unwrap();
        write(&copy.join("left/over"), "");
        copies.prepare(1, &root).unwrap();
        assert_eq!((read(&copy.join("src/lib.rs")).as_str(), read(&copy.join("Cargo.toml")).as_str()), ("l", "m"));
        assert!(!copy.join("left").exists());
        assert_eq!(read(&root.join("src/lib.rs")), "l");
        let home = copies.home().to_owned();
        drop(copies);
        assert!(!home.exists() && dir.path().join("top/beside/src/lib.rs").exists());
    }
}
