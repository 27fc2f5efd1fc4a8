//! The compiler's messages about misused macros, and its silence about correct uses.
//!
//! The texts in `ui/*.stderr` are those of one compiler. To write them anew: `TRYBUILD=overwrite cargo test --test ui`.

use std::{env, io::Write, process::Command};

/// The compiler whose messages are in `ui/*.stderr`.
const PINNED: &str = "rustc 1.95.";

#[test]
#[cfg_attr(bisect_off, ignore = "the runtime's part of the messages is compiled out")]
fn ui() {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().expect("rustc is there, as it built this test");
    let version = String::from_utf8_lossy(&version.stdout);
    // In CI, a skipped test would not be noticed.
    if !version.starts_with(PINNED) && env::var_os("CI").is_none() {
        // Not `eprintln!`: the harness would capture it.
        writeln!(std::io::stderr(), "SKIPPED: tests/ui is pinned to {PINNED}*, and this is {version}")
            .expect("standard error is there");
        return;
    }
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/*.rs");
}
