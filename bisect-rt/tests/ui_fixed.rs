//! The compiler's messages where toggles are fixed, which depend on a variable: the cases run in child processes.
//!
//! See `ui.rs`. To write the texts anew: `TRYBUILD=overwrite cargo test --test ui_fixed`.

mod pinned;

use std::{env, process::Command};

/// The variable that names the case of a child.
const CASE: &str = "BISECT_TEST_CASE";

/// Runs the case of a child; this is no test. It does nothing in a plain run of the tests.
#[test]
fn child() {
    if let Ok(case) = env::var(CASE) {
        trybuild::TestCases::new().compile_fail(case);
    }
}

/// Compiles cases with values of the variable, one after the other, because they are built in the same folder.
#[test]
#[cfg_attr(bisect_off, ignore = "the runtime's part of the messages is compiled out")]
#[ignore = "slow: CI runs it"]
fn ui() {
    if !pinned::is_compiler("tests/ui/fixed") {
        return;
    }
    for (case, fix) in [("malformed", "gate=off;größe=on"), ("still_checked", "t=off")] {
        let mut child = Command::new(env::current_exe().expect("tests have an executable"));
        child.args(["child", "--exact", "--nocapture"]);
        child.envs(pinned::variables());
        child.env(CASE, format!("tests/ui/fixed/{case}.rs")).env("BISECT_FIX", fix);
        let output = child.output().expect("the child starts");
        let said = [output.stdout, output.stderr].concat();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
    }
}
