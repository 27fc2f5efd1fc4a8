//! Helpers that compile programs with `bisect-rustc` and read its reports.
use std::{
    collections::BTreeMap,
    env,
    ffi::OsStr,
    io::Write as _,
    path::PathBuf,
    process::{Command, Output, Stdio},
    thread,
};

use bisect_core::{ChangeId, marker};

/// Returns a command for the compiler under test, without the variables of cargo and of searches.
pub(crate) fn bisect_rustc() -> Command {
    clean(env::var_os("CARGO_BIN_EXE_bisect-rustc").expect("cargo sets the path of the compiler that it built"))
}

/// Returns a command for the compiler that it was built with.
pub(crate) fn rustc() -> Command {
    clean(rustc_path())
}

/// Returns the path of the compiler that `bisect-rustc` was built with.
pub(crate) fn rustc_path() -> PathBuf {
    let name = format!("rustc{}", env::consts::EXE_SUFFIX);
    [env!("BISECT_RUSTC_SYSROOT"), "bin", &name].iter().collect()
}

/// Returns a command without the variables that are set around these tests.
pub(crate) fn clean(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        if ["BISECT_", "CARGO", "RUSTC", "RUSTFLAGS", "RUSTUP_TOOLCHAIN"].iter().any(|start| name.starts_with(start))
            && !["CARGO_HOME", "CARGO"].contains(&&*name)
        {
            command.env_remove(&*name);
        }
    }
    // Unstable options and features let the tests check more.
    command.env("RUSTC_BOOTSTRAP", "1");
    command
}

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Ran {
    /// Runs a command, which has to succeed.
    pub(crate) fn of(command: &mut Command) -> Self {
        Self::any(command).successful()
    }

    /// Runs a command, which may fail.
    pub(crate) fn any(command: &mut Command) -> Self {
        command.output().unwrap().into()
    }

    /// Runs a command, which may fail, with text on its standard input.
    pub(crate) fn with_input(command: &mut Command, input: &str) -> Self {
        // rustc writes intermediate files to the working directory. Their names depend on the crate alone, so two tests
        // that compile the same crate at once would delete each other's.
        let folder = tempfile::tempdir().unwrap();
        if command.get_current_dir().is_none() {
            command.current_dir(&folder);
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        thread::scope(|scope| {
            // A compiler that refuses its arguments does not read its input, and this write may fail.
            scope.spawn(move || stdin.write_all(input.as_bytes()));
            child.wait_with_output().unwrap().into()
        })
    }

    pub(crate) fn successful(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }

    pub(crate) fn text(&self) -> &str {
        str::from_utf8(&self.stdout).unwrap()
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Compiles a library in memory, optimized. Standard output has what `emit` names, and standard error has the reports.
pub(crate) fn compile(source: &str, emit: &str, pattern: &str, args: &[&str]) -> Ran {
    let mut command = bisect_rustc();
    command.args(["-", "--crate-name=ledger", "--crate-type=lib", "--edition=2024", "-O", "-Awarnings", "-o-"]);
    command.arg(format!("--emit={emit}")).args(args).env("BISECT_PATTERN", pattern);
    Ran::with_input(&mut command, source).successful()
}

/// Compiles a program and runs it. Returns the output of the program, and the reports of the compiler.
pub(crate) fn run(source: &str, pattern: &str, args: &[&str]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    let mut command = bisect_rustc();
    command.args(["-", "--crate-name=ledger", "--edition=2024", "-o"]).arg(&program).args(args);
    let compiled = Ran::with_input(command.env("BISECT_PATTERN", pattern), source).successful();
    (Ran::of(&mut clean(&program)).text().to_owned(), compiled.stderr)
}

/// Returns the changes in verbose reports, by the path of the function.
pub(crate) fn changes(reports: &str) -> BTreeMap<String, ChangeId> {
    let frame = |line: &str| {
        let (id, before, after) = marker::cut(line.as_bytes())?;
        assert!(after.is_empty(), "{line}");
        let (function, _) = str::from_utf8(before).unwrap().strip_prefix("  ")?.rsplit_once(" at ").unwrap();
        Some((function.to_owned(), id))
    };
    reports.lines().filter_map(frame).collect()
}

/// Returns all changes that are reported under `vy`, by function.
pub(crate) fn all_changes(source: &str, gate: &str, args: &[&str]) -> BTreeMap<String, ChangeId> {
    changes(&compile(source, "obj", &format!("{gate}=vy"), args).stderr)
}

/// Returns the pattern that selects all changes except this one.
pub(crate) fn without(id: ChangeId) -> String {
    format!("-x{:016x}", id.0)
}

/// Returns the pattern that selects this change alone.
pub(crate) fn only(id: ChangeId) -> String {
    format!("x{:016x}", id.0)
}
