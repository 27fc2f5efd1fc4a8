//! Runners of cargo's configuration, with which programs for another machine are started: `cross`, containers, emulators.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use std::{fs, path::PathBuf, process::Command};

use bisect_tests::harness::{Finished, Fixture, Scratch, run};

const HOST: &str = "x86_64-unknown-linux-gnu";
const VARIABLE: &str = "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER";
const LIBRARY: &str = "
use bisect_rt::bisect_point;

pub fn sum(a: u32, b: u32) -> u32 { if bisect_point!(\"wrong-sum\") { a + b + 1 } else { a + b } }
pub fn product(a: u32, b: u32) -> u32 { if bisect_point!(\"product\") { a * b } else { b * a } }

#[test]
fn computes() { assert_eq!(sum(product(1, 2), 1), 3); }
";

fn package() -> Fixture {
    let fixture = Fixture::new("calls");
    fixture.write("src/lib.rs", LIBRARY);
    fixture
}

/// Writes a script that runs the rest of its command line.
fn runner(scratch: &Scratch, lines: &str) -> PathBuf {
    scratch.script("runner", &format!("#!/bin/sh\necho >> '{}/starts'\n{lines}\n", scratch.dir().display()))
}

/// Checks that the search found the wrong sum, with every run started by the runner.
fn check(scratch: &Scratch, command: &mut Command) -> Finished {
    let finished = run(command).expect_status(0);
    let names: Vec<_> = finished.events_of("found").iter().map(|found| found["changes"][0]["name"].clone()).collect();
    assert_eq!(names, ["wrong-sum"], "{finished}");
    let runs = finished.events_of("end")[0]["runs"].as_u64().unwrap();
    assert!(scratch.read("starts").lines().count() as u64 >= runs, "{finished}");
    finished
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_variable_of_a_target() {
    let (fixture, scratch) = (package(), Scratch::new());
    let runner = runner(&scratch, "exec \"$@\"");
    for words in [&["test", "--json"][..], &["test", "--json", "--target", HOST]] {
        let mut command = fixture.driver(words);
        let finished = check(&scratch, command.env(VARIABLE, &runner));
        let line = finished.events_of("found")[0]["reproduce"].as_str().unwrap().to_owned();
        assert!(line.contains(runner.to_str().unwrap()), "{line}");
        assert_eq!(run(&mut fixture.shell(&line, fixture.dir())).status, Some(101), "{line}");
        fs::remove_file(scratch.dir().join("starts")).unwrap();
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_key_of_a_target_in_the_configuration() {
    let (fixture, scratch) = (package(), Scratch::new());
    let runner = runner(&scratch, "[ \"$1\" = --image ] || exit 9; shift 2; exec \"$@\"");
    let setting = format!("target.{HOST}.runner = ['{}', '--image', 'x']", runner.display());
    check(&scratch, &mut fixture.driver(["test", "--json", "--config", &setting]));
    fixture.write(".cargo/config.toml", &setting);
    check(&scratch, &mut fixture.driver(["test", "--json", "--target", HOST]));
}

#[test]
fn a_runner_that_passes_only_some_variables() {
    let (fixture, scratch) = (package(), Scratch::new());
    // The file for reports is not there, as in a container. Reports come with the output.
    let passed = "env -i BISECT_TOGGLES=$BISECT_TOGGLES BISECT_REPORT=/nowhere/else";
    let script =
        |more: &str| format!("[ -n \"$BISECT_TOGGLES\" ] || unset BISECT_TOGGLES\nexec {passed} {more} \"$@\"");
    let path = runner(&scratch, &script("BISECT_PATTERN=\"$BISECT_PATTERN\""));
    check(&scratch, fixture.driver(["test", "--json"]).env(VARIABLE, &path));
    runner(&scratch, &script(""));
    let lost = run(fixture.driver(["test"]).env(VARIABLE, &path)).expect_status(1);
    lost.expect_message(&[
        "does the runner of cargo's configuration pass the environment on? It has to pass BISECT_PATTERN",
    ]);
}

#[test]
fn a_runner_that_drops_the_environment() {
    let (fixture, scratch) = (package(), Scratch::new());
    let path = runner(&scratch, "exec env -i \"$@\"");
    for words in [&["test"][..], &["toggles"]] {
        let finished = run(fixture.driver(words).env(VARIABLE, &path)).expect_status(3);
        finished.expect_message(&[
            "lists no toggles, and the runner `",
            "does it pass the environment on? Have it pass BISECT_PATTERN, BISECT_REPORT, BISECT_TOGGLES",
        ]);
    }
}

#[test]
fn a_runner_that_does_not_end_is_given_up() {
    let (fixture, scratch) = (package(), Scratch::new());
    let runner = runner(&scratch, "exec sleep 600");
    let mut command = fixture.driver(["test", "--timeout", "1s"]);
    let finished = run(command.env(VARIABLE, &runner)).expect_status(3);
    let expected = "did not list its toggles within 1s; they are listed before `main` starts, so look for what waits";
    finished.expect_message(&[expected, "before it, or in the runner"]);
}
