//! The behaviour of the macros' expansions at run time: when nothing is bisected, and with the toggles forced on and
//! off. The patterns are read before `main`, so all cases run in child processes of this executable. `.ci/run` also
//! builds them with `BISECT_FIX=t=off` and `t=on`.

// The functions of these tests are chosen for the shapes of their signatures.
#![allow(
    clippy::boxed_local,
    clippy::many_single_char_names,
    clippy::needless_pass_by_value,
    clippy::toplevel_ref_arg,
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_wraps
)]

mod drops;
mod functions;
mod gates;
mod methods;
mod points;

use std::{collections::BTreeMap, env, fmt::Write, process::Command};

/// Some toggled code, and its result in each state of the toggle `t`.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) run: fn() -> String,
    pub(crate) nobody: &'static str,
    pub(crate) on: &'static str,
    pub(crate) off: &'static str,
}

/// Returns a case of a toggle that is on when it is not bisected.
pub(crate) const fn either(name: &'static str, run: fn() -> String, new: &'static str, old: &'static str) -> Case {
    Case { name, run, nobody: new, on: new, off: old }
}

fn cases() -> impl Iterator<Item = &'static Case> {
    [drops::CASES, functions::CASES, gates::CASES, methods::CASES, points::CASES].into_iter().flatten()
}

/// The prefix of the child's lines in the output of the test harness.
const LINE: &str = "case: ";

/// Runs the cases as the child; this is no test. It does nothing in a plain run of the tests.
#[test]
fn child() {
    if env::var_os("BISECT_TEST_CHILD").is_some() {
        for case in cases() {
            println!("\n{LINE}{}\t{}", case.name, (case.run)());
        }
    }
}

/// Runs all cases in a child process and compares the results.
fn check(pattern: Option<&str>, expected: fn(&Case) -> &'static str) {
    let mut child = Command::new(env::current_exe().expect("tests have an executable"));
    child.args(["child", "--exact", "--nocapture"]).env("BISECT_TEST_CHILD", "1");
    child.env_remove("BISECT_PATTERN").env_remove("BISECT_REPORT").env_remove("BISECT_TOGGLES");
    child.envs(pattern.map(|pattern| ("BISECT_PATTERN", pattern)));
    let output = child.output().expect("the child starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{stdout}\n{stderr}", output.status);
    assert!(!stderr.contains("[bisect-match"), "`on` and `off` report nothing: {stderr}");

    let said = stdout.lines().filter_map(|line| line.strip_prefix(LINE)?.split_once('\t'));
    let said: BTreeMap<_, _> = said.collect();
    let mut wrong = String::new();
    for case in cases() {
        // A pattern changes nothing if toggles are fixed in this build, or are compiled out and at their defaults.
        let expected = match option_env!("BISECT_FIX") {
            Some("t=on") => case.on,
            Some("t=off") => case.off,
            _ if cfg!(bisect_off) => case.nobody,
            _ => expected(case),
        };
        if said.get(case.name) != Some(&expected) {
            let _ = writeln!(wrong, "{}: {:?} instead of {expected:?}", case.name, said.get(case.name));
        }
    }
    assert!(wrong.is_empty(), "with {pattern:?}\n{wrong}");
    assert_eq!(said.len(), cases().count(), "the names of cases are different");
}

#[test]
fn nobody_bisects() {
    check(None, |case| case.nobody);
}

#[test]
fn an_empty_pattern_is_nobody() {
    check(Some(""), |case| case.nobody);
}

#[test]
fn on() {
    check(Some("t=on"), |case| case.on);
}

#[test]
fn off() {
    check(Some("t=off"), |case| case.off);
}

#[test]
fn another_toggle() {
    check(Some("another=off"), |case| case.nobody);
}
