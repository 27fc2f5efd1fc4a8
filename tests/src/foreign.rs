//! The fixture `foreign`: a target that shares no code with ours. Its source file documents its options.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use tempfile::TempDir;

use crate::harness::{fixtures_target_dir, root};

/// Returns its executable, compiled by rustc alone.
///
/// # Panics
/// If it does not compile.
pub fn executable() -> &'static Path {
    static EXECUTABLE: OnceLock<PathBuf> = OnceLock::new();
    EXECUTABLE.get_or_init(|| {
        let dir = fixtures_target_dir().join("foreign");
        fs::create_dir_all(&dir).expect("a folder can be made");
        // Compiled under another name and then moved, because another process of these tests may be running the
        // executable.
        let fresh = TempDir::new_in(&dir).expect("a folder for temporary files");
        let output = fresh.path().join("foreign");
        let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        rustc.args(["--edition=2024", "-Copt-level=1", "-o"]).arg(&output);
        let status =
            rustc.arg(root().join("tests/fixtures/foreign/foreign.rs")).status().expect("rustc can be started");
        assert!(status.success(), "foreign.rs does not compile");
        let executable = dir.join("foreign");
        fs::rename(output, &executable).expect("a file can be moved beside itself");
        executable
    })
}
