//! Building and running the programs of the fixture.

use std::{
    collections::BTreeSet,
    env, fs, io,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
    sync::OnceLock,
};

use bisect_core::marker;
use bisect_test_support::search_path::search_path;

/// A way to build the fixture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavour {
    /// Cargo's way: stacks are captured by the unwinder.
    Plain,
    /// The driver's way: optimized, with frame pointers.
    FramePointers,
    /// Linked to the dynamic standard library.
    Dynamic,
    /// Built with toggles compiled out.
    Off,
}

impl Flavour {
    /// Returns the flavour's flags plus `BISECT_TEST_RUSTFLAGS`, which `.ci/run` uses to select a sanitizer.
    fn rustflags(self) -> String {
        let flags = match self {
            Self::Plain => "",
            Self::FramePointers => "-Cforce-frame-pointers=yes --cfg bisect_frame_pointers",
            Self::Dynamic => "-Cprefer-dynamic",
            Self::Off => "--cfg bisect_off",
        };
        format!("{flags} {}", env::var("BISECT_TEST_RUSTFLAGS").unwrap_or_default())
    }

    fn target(self) -> PathBuf {
        temporary().join(format!("{self:?}"))
    }

    /// Returns the folder of a profile's programs.
    fn folder(self, profile: &str) -> PathBuf {
        let mut folder = self.target();
        folder.extend(env::var_os("CARGO_BUILD_TARGET"));
        folder.join(profile)
    }

    /// Returns a command of cargo, in the fixture, for this flavour.
    pub(crate) fn cargo(self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO"));
        command
            .args(arguments)
            .arg("--offline")
            .current_dir(copy())
            .env("CARGO_TARGET_DIR", self.target())
            .env("RUSTFLAGS", self.rustflags())
            .env_remove("CARGO_ENCODED_RUSTFLAGS");
        command.envs(search_path().map(|path| ("PATH", path)));
        scrub(&mut command);
        command
    }

    /// Returns the path of a program, which is built if it is not up to date.
    pub(crate) fn program(self, package: &str, name: &str) -> PathBuf {
        let is_fast = self == Self::FramePointers;
        let mut arguments = vec!["build", "--quiet", "--package", package, "--bins"];
        arguments.extend(is_fast.then_some("--release"));
        let output = self.cargo(&arguments).output().expect("cargo runs");
        assert!(output.status.success(), "{self:?}: {}", String::from_utf8_lossy(&output.stderr));
        let folder = self.folder(if is_fast { "release" } else { "debug" });
        folder.join(name).with_extension(env::consts::EXE_EXTENSION)
    }

    /// Returns the path of the program that decides on command.
    pub(crate) fn probe(self) -> &'static Path {
        static PLAIN: OnceLock<PathBuf> = OnceLock::new();
        static FRAME_POINTERS: OnceLock<PathBuf> = OnceLock::new();
        static OFF: OnceLock<PathBuf> = OnceLock::new();
        let cell = match self {
            Self::Plain => &PLAIN,
            Self::FramePointers => &FRAME_POINTERS,
            Self::Off => &OFF,
            Self::Dynamic => panic!("the probe is not built in this flavour"),
        };
        cell.get_or_init(|| self.program("probe", "probe"))
    }
}

/// Returns the value of `LD_LIBRARY_PATH` for a program of the flavour with the dynamic standard library.
#[cfg(target_os = "linux")]
pub(crate) fn libraries(program: &Path) -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "target-libdir"]).output().expect("rustc runs");
    let of_rustc = String::from_utf8(output.stdout).expect("a path in UTF-8");
    let folders = [Path::new(of_rustc.trim()), program.parent().expect("the folder of the program")];
    env::join_paths(folders).expect("no colons").into_string().expect("UTF-8")
}

pub(crate) fn temporary() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// Returns a copy of the fixture that finds this crate, with the dependencies' versions of this workspace.
pub(crate) fn copy() -> &'static Path {
    static COPY: OnceLock<PathBuf> = OnceLock::new();
    COPY.get_or_init(|| {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let copy = temporary().join("fixture");
        copy_folder(&here.join("tests/fixture"), &copy).expect("the fixture can be copied");
        let manifest = fs::read_to_string(here.join("tests/fixture/Cargo.toml")).expect("the fixture has a manifest");
        let here = here.to_str().expect("the path of this crate is UTF-8").replace('\\', "/");
        write_if_changed(&copy.join("Cargo.toml"), manifest.replace("../..", &here).as_bytes()).expect("written");
        let lock = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock")).expect("a lock file");
        // Cargo removes all entries that the fixture does not need from its own copy; this copy shows if that one is up
        // to date.
        let seen = copy.join("Cargo.lock.workspace");
        if fs::read(&seen).is_ok_and(|seen| seen == lock) {
            return copy;
        }
        fs::write(copy.join("Cargo.lock"), &lock).expect("written");
        fs::write(seen, &lock).expect("written");
        copy
    })
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &to)?;
        } else if entry.path() != Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixture/Cargo.toml") {
            write_if_changed(&to, &fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

/// Writes a file only if it changes, because cargo compares modification times.
fn write_if_changed(path: &Path, contents: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == contents) { Ok(()) } else { fs::write(path, contents) }
}

/// Removes the variables of a bisection that these tests may be part of.
fn scrub(command: &mut Command) {
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("BISECT_")) {
            command.env_remove(name);
        }
    }
}

/// The output and the reports of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The contents of the file for reports.
    pub(crate) reports: String,
}

/// A program to be run.
pub(crate) struct Program {
    command: Command,
    takes_reports: bool,
}

impl Program {
    pub(crate) fn new(path: &Path) -> Self {
        let mut command = Command::new(path);
        scrub(&mut command);
        Self { command, takes_reports: true }
    }

    pub(crate) fn args(mut self, arguments: &[&str]) -> Self {
        self.command.args(arguments);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn pattern(self, pattern: &str) -> Self {
        self.env("BISECT_PATTERN", pattern)
    }

    /// Sends reports to standard error.
    pub(crate) fn report_to_stderr(mut self) -> Self {
        self.takes_reports = false;
        self
    }

    /// Runs the program to its end, with any result.
    pub(crate) fn end(mut self) -> Run {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        if self.takes_reports {
            self.command.env("BISECT_REPORT", file.path());
        }
        let output = self.command.output().expect("the program starts");
        Run {
            status: output.status,
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            reports: fs::read_to_string(file.path()).expect("the reports are UTF-8"),
        }
    }

    /// Runs the program, and checks that it succeeds.
    pub(crate) fn run(self) -> Run {
        let run = self.end();
        assert!(run.status.success(), "{run:#?}");
        run
    }
}

/// Returns the probe with these commands.
pub(crate) fn probe(flavour: Flavour, commands: &[&str]) -> Program {
    Program::new(flavour.probe()).args(commands)
}

impl Run {
    /// Returns the decisions of the probe, as it prints them.
    pub(crate) fn decisions(&self) -> Vec<&str> {
        self.stdout.lines().collect()
    }
}

/// Returns the IDs of reports without text, in order.
pub(crate) fn ids(reports: &str) -> Vec<u64> {
    reports
        .lines()
        .map(|line| {
            let (id, range) = marker::find(line.as_bytes()).unwrap_or_else(|| panic!("no marker: {line}"));
            assert_eq!(range, 0..line.len(), "a report without text is its marker: {line}");
            id.0
        })
        .collect()
}

/// Returns the lines of reports with text: ID and text.
pub(crate) fn texts(reports: &str) -> Vec<(u64, String)> {
    reports
        .lines()
        .map(|line| {
            let (id, text, rest) = marker::cut(line.as_bytes()).unwrap_or_else(|| panic!("no marker: {line}"));
            assert!(rest.is_empty(), "the marker ends the line: {line}");
            (id.0, String::from_utf8(text.into()).expect("UTF-8"))
        })
        .collect()
}

/// Returns `items` as a set, and checks that there are no repetitions.
pub(crate) fn all_different<T: Ord + std::fmt::Debug>(items: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    for item in items {
        if let Some(twice) = set.replace(item) {
            panic!("twice: {twice:?}");
        }
    }
    set
}
