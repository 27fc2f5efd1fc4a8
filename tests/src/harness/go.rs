//! The Go toolchain, if one is installed.

use std::{
    env,
    ffi::OsString,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use super::{Fixture, fixtures_target_dir, run};

/// Returns the Go command: the value of `BISECT_TEST_GO`, else the one in the path. Prints a notice if there is none.
///
/// # Panics
/// If there is none and `CI` is set.
#[must_use]
pub fn go() -> Option<PathBuf> {
    let named = env::var_os("BISECT_TEST_GO").map(PathBuf::from);
    let in_path = || env::split_paths(&env::var_os("PATH")?).map(|dir| dir.join("go")).find(|go| go.is_file());
    let found = named.or_else(in_path);
    if found.is_none() {
        assert!(env::var_os("CI").is_none(), "CI must have a Go toolchain: name one with BISECT_TEST_GO");
        // Not `eprintln!`: the harness would capture it.
        writeln!(std::io::stderr(), "*** SKIPPED: no Go toolchain in PATH, and none named by BISECT_TEST_GO ***")
            .expect("standard error is there");
    }
    found
}

/// Lets a command find this Go, which may use only what is installed.
pub fn with_go(command: &mut Command, go: &Path) {
    let path = env::var_os("PATH").unwrap_or_default();
    let dirs = go.parent().map(Path::to_owned).into_iter().chain(env::split_paths(&path));
    command.env("PATH", env::join_paths(dirs).unwrap_or(OsString::new()));
    command.env("GOCACHE", fixtures_target_dir().join("go-cache"));
    command.envs([("GOTOOLCHAIN", "local"), ("GOPROXY", "off"), ("GOFLAGS", "-vet=off"), ("GO111MODULE", "on")]);
}

/// Adds a copy of the standard library's `internal/bisect` to a fixture, as its package `bisect`. In its own place,
/// only the standard library may import it.
///
/// # Panics
/// If it is not installed, or cannot be copied.
pub fn add_internal_bisect(fixture: &Fixture, go: &Path) {
    let mut command = Command::new(go);
    with_go(command.current_dir(fixture.dir()).args(["env", "GOROOT"]), go);
    let root = run(&mut command).expect_status(0).stdout;
    let original = Path::new(root.trim()).join("src/internal/bisect/bisect.go");
    let text = fs::read_to_string(&original).unwrap_or_else(|error| panic!("{}: {error}", original.display()));
    fixture.write("bisect/bisect.go", &text);
}
