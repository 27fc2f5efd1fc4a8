//! `bisect-rustc`, if it was built.

use std::{env, io::Write, path::PathBuf, process::Command};

use bisect_test_support::search_path::stored;

/// A compiler that optimizes selected functions, and the rustc that it can replace.
#[derive(Clone, Debug)]
pub struct RustcDriver {
    /// The path of `bisect-rustc`, or of the stored-rustc that stands for it.
    pub driver: PathBuf,
    /// The same for the rustc of its toolchain.
    pub rustc: PathBuf,
}

/// Returns the compiler that `BISECT_TEST_RUSTC_DRIVER` names. Prints a notice if the variable is not set; an empty
/// value means that there is none.
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
        // Not `eprintln!`: the harness would capture it.
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
    Some(RustcDriver { driver: stored(&driver), rustc: stored(&rustc) })
}
