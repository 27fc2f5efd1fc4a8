//! The compiler whose messages the files `tests/ui/**/*.stderr` have.

use std::{env, io::Write, process::Command};

const PINNED: &str = "rustc 1.95.";

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
