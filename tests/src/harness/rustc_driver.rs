//! `bisect-rustc`, where it has been built.

use std::{env, io::Write, path::PathBuf, process::Command};

/// A compiler that can be told which functions it may optimize, and the one that it can take the place of.
#[derive(Clone, Debug)]
pub struct RustcDriver {
    /// `bisect-rustc`
    pub driver: PathBuf,
    /// The rustc of its toolchain.
    pub rustc: PathBuf,
}

/// What `BISECT_TEST_RUSTC_DRIVER` names. Says loudly that nothing is named; an empty value says that there is none.
///
/// # Panics
/// If the variable is not set where `CI` is, or names something else.
#[must_use]
pub fn rustc_driver() -> Option<RustcDriver> {
    let named = env::var_os("BISECT_TEST_RUSTC_DRIVER");
    if named.is_none() {
        assert!(
            env::var_os("CI").is_none(),
            "CI must say with BISECT_TEST_RUSTC_DRIVER where bisect-rustc is, if it can be"
        );
    }
    let Some(driver) = named.filter(|path| !path.is_empty()).map(PathBuf::from) else {
        // Not `eprintln!`: the harness would keep it to itself.
        writeln!(std::io::stderr(), "*** SKIPPED: no bisect-rustc is named by BISECT_TEST_RUSTC_DRIVER ***")
            .expect("standard error is there");
        return None;
    };
    let output = Command::new(&driver).args(["--print", "sysroot"]).output().expect("bisect-rustc can be started");
    let sysroot = String::from_utf8(output.stdout).expect("a path is UTF-8 here");
    let rustc = PathBuf::from(sysroot.trim_end()).join("bin/rustc");
    assert!(
        output.status.success() && rustc.is_file(),
        "{} has no rustc beside it: {}",
        driver.display(),
        rustc.display()
    );
    Some(RustcDriver { driver, rustc })
}
