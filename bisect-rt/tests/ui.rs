//! The compiler's messages about misused macros, and its silence about correct uses.
//!
//! The texts in `ui/**/*.stderr` are those of one compiler. To write them anew: `TRYBUILD=overwrite cargo test --test ui`.
//! Correct uses are modules of this test: beside one of them, trybuild would build all dependencies instead of checking
//! them, and compile the misuses one by one.

mod pinned;

#[cfg(not(bisect_off))]
#[path = "ui/pass/attributes.rs"]
#[allow(clippy::eq_op, clippy::unused_self)] // Items for attributes, and nothing else.
mod attributes;
#[cfg(not(bisect_off))]
#[path = "ui/pass/constants.rs"]
mod constants;

use std::{env, process::Command};

/// The variable that names the cases of a child.
const CASES: &str = "BISECT_TEST_CASES";

/// Runs the cases of a child; this is no test. It does nothing in a plain run of the tests.
#[test]
fn child() {
    if let Ok(cases) = env::var(CASES) {
        trybuild::TestCases::new().compile_fail(cases);
    }
}

/// Compiles cases with this value of `BISECT_FIX`. They run in a child process, because they depend on variables.
fn compile(cases: &str, fix: Option<&str>) {
    let mut child = Command::new(env::current_exe().expect("tests have an executable"));
    child.args(["child", "--exact", "--nocapture"]);
    child.envs(pinned::variables()).env(CASES, cases).envs(fix.map(|fix| ("BISECT_FIX", fix)));
    let output = child.output().expect("the child starts");
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
}

#[test]
#[cfg_attr(bisect_off, ignore = "the runtime's part of the messages is compiled out")]
fn misuses_have_messages() {
    if pinned::is_compiler("tests/ui") {
        compile("tests/ui/*.rs", None);
    }
}

/// Compiles cases with fixed toggles, one after the other, because they are built in the same folder.
#[test]
#[cfg_attr(bisect_off, ignore = "the runtime's part of the messages is compiled out")]
#[ignore = "slow: CI runs it"]
fn misuses_have_messages_where_toggles_are_fixed() {
    if pinned::is_compiler("tests/ui/fixed") {
        compile("tests/ui/fixed/malformed.rs", Some("gate=off;größe=on"));
        compile("tests/ui/fixed/still_checked.rs", Some("t=off"));
    }
}

#[test]
#[cfg(not(bisect_off))]
fn attributes_are_applied_to_all_kinds_of_items() {
    attributes::main();
}

#[test]
#[cfg(not(bisect_off))]
fn a_build_time_change_stands_wherever_a_constant_may() {
    constants::main();
}
