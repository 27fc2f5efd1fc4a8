//! Compiles programs with `bisect-rustc` and reads what it reports.
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

/// The compiler under test, in an environment where nobody bisects and cargo does not build.
pub(crate) fn bisect_rustc() -> Command {
    clean(env::var_os("CARGO_BIN_EXE_bisect-rustc").expect("cargo tells where it built the compiler"))
}

/// The compiler that it was built from.
pub(crate) fn rustc() -> Command {
    clean(rustc_path())
}

/// Where that one is.
pub(crate) fn rustc_path() -> PathBuf {
    let name = format!("rustc{}", env::consts::EXE_SUFFIX);
    [env!("BISECT_RUSTC_SYSROOT"), "bin", &name].iter().collect()
}

/// A command without the variables that are set around these tests.
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
    // Tests of the compiler use what is unstable where that shows more.
    command.env("RUSTC_BOOTSTRAP", "1");
    command
}

/// What became of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Ran {
    /// What a command printed; it has to succeed.
    pub(crate) fn of(command: &mut Command) -> Self {
        Self::any(command).successful()
    }

    /// What a command printed, however it ended.
    pub(crate) fn any(command: &mut Command) -> Self {
        command.output().unwrap().into()
    }

    /// The same with something on its standard input.
    pub(crate) fn with_input(command: &mut Command, input: &str) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        thread::scope(|scope| {
            // One that refuses its arguments does not read.
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

/// Compiles a library in memory, optimized: what `emit` says on standard output, reports on standard error.
pub(crate) fn compile(source: &str, emit: &str, pattern: &str, args: &[&str]) -> Ran {
    let mut command = bisect_rustc();
    command.args(["-", "--crate-name=ledger", "--crate-type=lib", "--edition=2024", "-O", "-Awarnings", "-o-"]);
    command.arg(format!("--emit={emit}")).args(args).env("BISECT_PATTERN", pattern);
    Ran::with_input(&mut command, source).successful()
}

/// What was reported under `v`, by the path of the function.
pub(crate) fn changes(reports: &str) -> BTreeMap<String, ChangeId> {
    let frame = |line: &str| {
        let (id, before, after) = marker::cut(line.as_bytes())?;
        assert!(after.is_empty(), "{line}");
        let (function, _) = str::from_utf8(before).unwrap().strip_prefix("  ")?.rsplit_once(" at ").unwrap();
        Some((function.to_owned(), id))
    };
    reports.lines().filter_map(frame).collect()
}

/// All that is reported under `vy`, by function.
pub(crate) fn all_changes(source: &str, gate: &str, args: &[&str]) -> BTreeMap<String, ChangeId> {
    changes(&compile(source, "obj", &format!("{gate}=vy"), args).stderr)
}

/// The pattern that selects all but this change.
pub(crate) fn without(id: ChangeId) -> String {
    format!("-x{:016x}", id.0)
}

/// The pattern that selects this change alone.
pub(crate) fn only(id: ChangeId) -> String {
    format!("x{:016x}", id.0)
}
