//! The home of a page: a folder in which its commands run, where the repository is `~/bisect-opt`.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsStr,
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::Command,
};

use bisect_test_support::search_path::search_path;
use bisect_tests::harness::{RustcDriver, cargo, driver, fixtures_target_dir, root, run, rustc_driver, scrubbed};

/// A folder that a page has for itself.
#[derive(Debug)]
pub(crate) struct Home {
    dir: PathBuf,
    /// The directory in which the next command runs.
    current: PathBuf,
    variables: BTreeMap<&'static str, PathBuf>,
    /// Keeps other processes out.
    _lock: fs::File,
}

impl Home {
    /// Makes an empty one for a page. What cargo compiled for it earlier is kept beside it.
    pub(crate) fn new(page: &str) -> Self {
        let place = fixtures_target_dir().with_file_name("book").join(page);
        fs::create_dir_all(&place).expect("the folder can be made");
        let lock = fs::File::create(place.join("lock")).expect("the lock file can be made");
        lock.lock().expect("the home can be locked");
        let dir = place.join("home");
        if dir.exists() {
            fs::remove_dir_all(&dir).expect("what an earlier test left can be removed");
        }
        fs::create_dir(&dir).expect("the home can be made");
        symlink(root(), dir.join("bisect-opt")).expect("a link can be made");
        install(&place.join("bin"));
        let variables = BTreeMap::from([("CARGO_TARGET_DIR", place.join("target"))]);
        Self { current: dir.clone(), dir, variables, _lock: lock }
    }

    /// Returns the path of a file in the current directory.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.current.join(path)
    }

    /// Goes to a folder of the home, and makes it if need be.
    pub(crate) fn enter(&mut self, folder: &str) {
        self.current = self.dir.join(folder.trim_start_matches("~/"));
        fs::create_dir_all(&self.current).expect("a folder can be made");
    }

    /// Copies a folder of `tests/fixtures/book/` into the home, and goes there.
    pub(crate) fn copy_fixture(&mut self, name: &str) {
        self.enter(name);
        copy(&root().join("tests/fixtures/book/").join(name), &self.current);
        self.add_lock_file();
    }

    /// Writes a file of the current directory.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let file = self.path(path);
        fs::create_dir_all(file.parent().expect("a file is in a folder")).expect("a folder can be made");
        fs::write(&file, text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.add_lock_file();
    }

    /// Lets a package that needs ours resolve to the versions of this repository, so that nothing need be downloaded,
    /// and what they need is compiled.
    fn add_lock_file(&self) {
        let lock = self.path("Cargo.lock");
        let manifest = fs::read_to_string(self.path("Cargo.toml")).unwrap_or_default();
        let knows_ours = fs::read_to_string(&lock).is_ok_and(|text| text.contains("name = \"bisect-core\""));
        if manifest.contains("/bisect-opt/") && !knows_ours {
            fs::copy(root().join("Cargo.lock"), lock).expect("a file can be copied");
        }
    }

    /// Gets a tool that is not everywhere, and returns true if it is there.
    pub(crate) fn obtain(&mut self, tool: &str) -> bool {
        assert_eq!(tool, "bisect-rustc", "unknown tool");
        let Some(RustcDriver { driver, rustc }) = rustc_driver() else { return false };
        self.variables.extend([("RUSTC", rustc), ("BISECT_RUSTC", driver)]);
        true
    }

    /// Runs a script that readers do not see.
    pub(crate) fn prepare(&self, script: &str, place: &str) {
        let finished = run(&mut self.shell(script));
        assert_eq!(finished.status, Some(0), "{place}: {finished}");
    }

    /// Runs a command as a reader would, and returns all that it prints.
    ///
    /// # Panics
    /// If its status is not as expected.
    pub(crate) fn run(&mut self, command: &str, expected: i32, place: &str) -> String {
        if let Some(folder) = command.strip_prefix("cd ") {
            self.current = self.current.join(folder);
            return String::new();
        }
        let finished = run(&mut self.shell(&format!("exec 2>&1\n{command}")));
        assert_eq!(finished.status, Some(expected), "{place}: {command}\n{finished}");
        self.add_lock_file();
        self.shortened(&finished.stdout)
    }

    /// Returns a text with the paths that a reader would have, who has chosen no target directory.
    pub(crate) fn shortened(&self, text: &str) -> String {
        let target = self.variables["CARGO_TARGET_DIR"].display().to_string();
        let own = self.current.strip_prefix(&self.dir).expect("the current directory is in the home");
        let own = own.components().next().map_or("~".to_owned(), |first| format!("~/{}", first.as_os_str().display()));
        let executable = driver().display().to_string();
        let mut text = text.to_owned();
        for (variable, shown) in [
            ("RUSTC", "~/rust/bin/rustc"),
            ("BISECT_RUSTC", "~/bisect-opt/rustc-driver-example/target/debug/bisect-rustc"),
        ] {
            if let Some(path) = self.variables.get(variable) {
                text = text.replace(&path.display().to_string(), shown);
            }
        }
        text.replace(&target, &format!("{own}/target"))
            .replace(&executable, "~/.cargo/bin/cargo-bisect-opt")
            .replace(&self.dir.display().to_string(), "~")
            .replace(&root().display().to_string(), "~/bisect-opt")
            .replace("export CARGO_TARGET_DIR=\"$tree\"/target CARGO_BUILD_BUILD_DIR=\"$tree\"/target && ", "")
            .replace("CARGO_TARGET_DIR=\"$tree\"/target ", "")
    }

    fn shell(&self, script: &str) -> Command {
        let mut command = scrubbed("bash".as_ref(), &self.current);
        command.args(["-c", script]).envs(&self.variables);
        let path = search_path().map_or_else(|| env::var_os("PATH").unwrap_or_default(), OsStr::to_owned);
        let dirs = [self.dir.with_file_name("bin")].into_iter().chain(env::split_paths(&path));
        command.env("PATH", env::join_paths(dirs).expect("no path has a colon"));
        // Git knows only what a reader would see, so commits have the same hashes everywhere.
        let names = ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"];
        command.envs(names.map(|name| (name, "ada")));
        command.envs(["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"].map(|name| (name, "2026-01-02T03:04:05Z")));
        command.envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")]);
        command.envs([("CARGO_TERM_COLOR", "never"), ("CARGO_TERM_PROGRESS_WHEN", "never")]);
        command
    }
}

/// Makes a folder with a `cargo` that has the subcommand. (The home is below this repository, whose configuration of
/// cargo has an alias of this name.)
fn install(bin: &Path) {
    let (cargo, driver) = (cargo(), driver());
    let (cargo, driver) = (cargo.display(), driver.display());
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = bisect-opt ]; then CARGO='{cargo}' exec '{driver}' \"$@\"; fi\nexec '{cargo}' \"$@\"\n"
    );
    fs::create_dir_all(bin).expect("a folder can be made");
    fs::write(bin.join("cargo"), script).expect("a script can be written");
    fs::set_permissions(bin.join("cargo"), Permissions::from_mode(0o755)).expect("a script can be made executable");
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder can be made");
    for entry in fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display())) {
        let path = entry.expect("a folder can be read").path();
        let copied = to.join(path.file_name().expect("a file has a name"));
        if path.is_dir() {
            copy(&path, &copied);
        } else {
            fs::copy(&path, &copied).unwrap_or_else(|error| panic!("{}: {error}", copied.display()));
        }
    }
}
