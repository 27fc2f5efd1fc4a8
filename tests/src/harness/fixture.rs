//! Folders to search in: copies of fixtures, and empty ones.

use std::{
    ffi::OsStr,
    fs::{self, File, TryLockError},
    num::NonZero,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

use tempfile::TempDir;

use super::driver::{cargo, driver_in, fixtures_dir, root, scrubbed, temp_dir};

/// A copy of a fixture, and a target directory, both reserved for this value.
#[derive(Debug)]
pub struct Fixture {
    dir: PathBuf,
    target_dir: PathBuf,
    _lock: File,
}

impl Fixture {
    /// Makes a fresh copy of `tests/fixtures/<name>`, in the first place that no other test has locked.
    ///
    /// # Panics
    /// If it cannot be made.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let (place, lock) = free_place(name);
        let (from, dir) = (root().join("tests/fixtures").join(name), place.join(name));
        synchronize(&from, &dir);
        if from.join("Cargo.toml").exists() {
            // Everything resolves to the versions of the workspace, so nothing need be downloaded.
            copy(&root().join("Cargo.lock"), &dir.join("Cargo.lock"));
        }
        let target_dir = place.join(format!("{name}-target"));
        Self { dir, target_dir, _lock: lock }
    }

    /// Returns the target directory of the copy. It is kept for the next test, so that unchanged sources are not
    /// compiled again.
    #[must_use]
    pub fn target_dir(&self) -> &Path {
        &self.target_dir
    }

    /// Returns a further target directory of the copy, for builds of another kind.
    #[must_use]
    pub fn target_dir_for(&self, kind: &str) -> PathBuf {
        let mut path = self.target_dir.clone().into_os_string();
        path.push(format!("-{kind}"));
        path.into()
    }

    /// Returns the path of the copy.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes a file of the copy, and creates the folders that contain it.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.dir.join(path);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("the folder can be made");
        fs::write(path, text).expect("the file can be written");
    }

    /// Returns the command `cargo bisect-opt` with these arguments, in the copy.
    pub fn driver<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = driver_in(&self.dir, args);
        command.env("CARGO_TARGET_DIR", &self.target_dir);
        command
    }

    /// Returns a command of cargo itself, in the copy.
    pub fn cargo<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.command(&cargo(), &self.dir);
        command.args(args);
        command
    }

    /// Returns the command that runs a line in a directory as a user would paste it into a shell.
    #[must_use]
    pub fn shell(&self, line: &str, dir: &Path) -> Command {
        let mut command = self.command("sh".as_ref(), dir);
        command.args(["-c", line]);
        command
    }

    fn command(&self, program: &Path, dir: &Path) -> Command {
        let mut command = scrubbed(program, dir);
        command.env("CARGO_TARGET_DIR", &self.target_dir);
        command
    }
}

/// An empty folder, deleted when this value is dropped.
#[derive(Debug)]
pub struct Scratch(TempDir);

impl Scratch {
    /// Makes an empty folder.
    ///
    /// # Panics
    /// If it cannot be made.
    #[must_use]
    pub fn new() -> Self {
        Self(TempDir::new_in(temp_dir()).expect("a folder for temporary files"))
    }

    /// Returns the path of the folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file in the folder.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.dir().join(name), text).expect("the file can be written");
    }

    /// Writes a script in the folder that can be executed. Returns its path.
    ///
    /// # Panics
    /// If it cannot be written.
    #[cfg(unix)]
    #[must_use]
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        self.write(name, text);
        let path = self.dir().join(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("the script can be made executable");
        path
    }

    /// Returns the text of a file in the folder; empty if there is none.
    #[must_use]
    pub fn read(&self, name: &str) -> String {
        fs::read(self.dir().join(name)).map_or(String::new(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns the command `cargo bisect-opt` with these arguments, in this folder.
    pub fn driver<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        driver_in(self.dir(), args)
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the number, from 1, of the line that ends in this text. Fixtures mark the place that a search must find by
/// it.
///
/// # Panics
/// If there is not exactly one.
#[must_use]
#[track_caller]
pub fn line_of(dir: &Path, file: &str, mark: &str) -> usize {
    let text = fs::read_to_string(dir.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let lines: Vec<_> = text.lines().enumerate().filter(|(_, line)| line.ends_with(mark)).collect();
    let [(index, _)] = lines[..] else { panic!("{mark:?} marks {} lines of {file}", lines.len()) };
    index + 1
}

/// Returns the first free place for this fixture, and the lock on it. There are as many places as
/// processors. Places are kept, so most tests find the fixture compiled.
fn free_place(name: &str) -> (PathBuf, File) {
    let places = thread::available_parallelism().map_or(1, NonZero::get);
    let open = |place: usize| {
        let place = fixtures_dir().join(place.to_string());
        fs::create_dir_all(&place).expect("the fixtures' folder can be made");
        let lock = File::create(place.join(format!("{name}.lock"))).expect("the lock file can be made");
        (place, lock)
    };
    let free = (0..places).map(open).find(|(_, lock)| match lock.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(error)) => panic!("the fixture cannot be locked: {error}"),
    });
    free.unwrap_or_else(|| {
        let (place, lock) = open(0);
        lock.lock().expect("the fixture can be locked");
        (place, lock)
    })
}

/// Makes `to` equal to `from`, without touching files that need not change.
fn synchronize(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder can be made");
    let names = |dir: &Path| -> Vec<_> {
        let entries = fs::read_dir(dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
        entries.map(|entry| entry.expect("a folder can be read").file_name()).collect()
    };
    let wanted = names(from);
    for name in names(to).iter().filter(|name| !wanted.contains(name)) {
        let path = to.join(name);
        let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        removed.expect("what an earlier test left can be removed");
    }
    for name in wanted.iter().filter(|name| *name != "target" && *name != "Cargo.lock") {
        let (from, to) = (from.join(name), to.join(name));
        if from.is_dir() { synchronize(&from, &to) } else { copy(&from, &to) }
    }
}

/// Copies a file; in a manifest, paths that lead out of a fixture are made absolute.
fn copy(from: &Path, to: &Path) {
    let mut bytes = fs::read(from).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    if from.file_name() == Some("Cargo.toml".as_ref()) {
        let text = String::from_utf8(bytes).expect("a manifest is UTF-8");
        bytes = text.replace("\"../../../", &format!("\"{}/", root().display())).into_bytes();
    }
    if fs::read(to).ok().as_deref() != Some(&bytes) {
        fs::write(to, bytes).unwrap_or_else(|error| panic!("{}: {error}", to.display()));
    }
}
