//! The compiler whose messages the files `tests/ui/**/*.stderr` have.

use std::{env, ffi::OsString, io::Write, process::Command};

use bisect_test_support::search_path::search_path;

const PINNED: &str = "rustc 1.95.";

/// The flags with which trybuild compiles cases.
const FLAGS: &str = "--cfg trybuild --verbose -A dead_code --diagnostic-width=140";

/// Returns true if this compiler has the messages of the files in `folder`, or if the tests run in CI, where a skipped
/// test would not be noticed.
pub(crate) fn is_compiler(folder: &str) -> bool {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().expect("rustc is there, as it built this test");
    let version = String::from_utf8_lossy(&version.stdout);
    let is_compared = version.starts_with(PINNED) || env::var_os("CI").is_some();
    if !is_compared {
        // Not `eprintln!`: the harness would capture it.
        writeln!(std::io::stderr(), "SKIPPED: {folder} is pinned to {PINNED}*, and this is {version}")
            .expect("standard error is there");
    }
    is_compared
}

/// Returns the variables with which trybuild compiles the dependencies once. By itself, it has one set of flags for a
/// first build and another one for the cases, so it compiles each dependency twice, with its debug information.
pub(crate) fn variables() -> Vec<(&'static str, OsString)> {
    let flags = FLAGS.replace(' ', "\u{1f}");
    let mut variables = vec![("CARGO_ENCODED_RUSTFLAGS", flags.into()), ("CARGO_PROFILE_DEV_DEBUG", "0".into())];
    variables.extend(search_path().map(|path| ("PATH", path.to_owned())));
    variables
}
