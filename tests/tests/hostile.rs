//! Bad targets and wrong command lines: each ends with the documented status and a message that contains advice.
#![cfg(unix)]

use std::{fs, os::unix::fs::PermissionsExt};

use bisect_tests::{
    foreign,
    harness::{Finished, Scratch, run},
};

fn search(options: &[&str], program: &[&str]) -> Finished {
    let scratch = Scratch::new();
    let mut command = scratch.driver(["exec", "--json"]);
    command.args(options).arg("FOREIGN_CHANGES=PATTERN").arg(foreign::executable()).args(program);
    run(&mut command)
}

/// Checks that no change is accused.
#[track_caller]
fn expect_nothing_found(finished: &Finished) {
    assert_eq!(finished.events_of("found").len(), 0, "{finished}");
}

#[test]
fn a_command_line_without_the_word_pattern_is_wrong() {
    let scratch = Scratch::new();
    for words in [&["exec", "true"][..], &["exec", "A=1", "PATTERN=1", "true"], &["exec", "A=PATTERN"]] {
        run(&mut scratch.driver(words)).expect_status(2).expect_message(&["PATTERN"]);
    }
}

#[test]
fn a_command_line_that_is_not_understood_is_wrong() {
    let scratch = Scratch::new();
    for words in [
        &["exec"][..],
        &["nonsense"],
        &["exec", "--count=0", "A=PATTERN", "true"],
        &["exec", "--timeout=soon", "A=PATTERN", "true"],
        &["exec", "--fail-when=(", "A=PATTERN", "true"],
        &["exec", "--nonsense", "A=PATTERN", "true"],
    ] {
        let finished = run(&mut scratch.driver(words)).expect_status(2);
        assert_eq!(finished.stdout, "", "{words:?}");
        assert!(!finished.stderr.is_empty(), "{words:?}");
    }
    assert!(!scratch.dir().join("bisect.out").exists(), "a wrong command line leaves no trace");
}

#[test]
fn a_missing_executable_is_named() {
    let scratch = Scratch::new();
    let finished = run(&mut scratch.driver(["exec", "--json", "A=PATTERN", "./no-such-program", "x"])).expect_status(3);
    finished.expect_message(&["cannot start `./no-such-program`", "check the path"]);
    expect_nothing_found(&finished);
    let finished = run(&mut scratch.driver(["exec", "A=PATTERN", "no-such-program-anywhere"])).expect_status(3);
    finished.expect_message(&["cannot start `no-such-program-anywhere`", "PATH"]);
}

#[test]
fn a_file_that_may_not_be_executed_is_named() {
    let scratch = Scratch::new();
    scratch.write("plain", "#!/bin/sh\n");
    let finished = run(&mut scratch.driver(["exec", "A=PATTERN", "./plain"])).expect_status(3);
    finished.expect_message(&["./plain", "ermission"]);
    fs::set_permissions(scratch.dir().join("plain"), PermissionsExt::from_mode(0o755)).unwrap();
    // Now the file can be executed, and the target passes both ways.
    let _ = run(&mut scratch.driver(["exec", "A=PATTERN", "./plain"])).expect_status(1);
}

#[test]
fn a_target_that_passes_both_ways() {
    let finished = search(&[], &[]).expect_status(1);
    finished.expect_message(&["passes with every change enabled and with every change disabled"]);
    // All changes are enabled in one run, and in two more in case the target is flaky; in one run all are disabled.
    assert_eq!(finished.events_of("end")[0]["runs"], 4, "{finished}");
}

#[test]
fn a_target_that_fails_both_ways() {
    let finished = search(&[], &["--fails-when=1|!1"]).expect_status(1);
    finished.expect_message(&["fails with every change enabled and with every change disabled"]);
    expect_nothing_found(&finished);
}

#[test]
fn a_target_that_reports_nothing() {
    let finished = search(&[], &["--fails-when=12", "--mode=silent"]).expect_status(3);
    finished.expect_message(&["reported no change"]);
    expect_nothing_found(&finished);
}

#[test]
fn a_target_that_ignores_the_pattern() {
    let finished = search(&[], &["--fails-when=12", "--mode=ignores-pattern"]).expect_status(3);
    finished.expect_message(&["ignores the pattern"]);
    expect_nothing_found(&finished);
}

#[test]
fn a_target_that_reports_what_it_was_not_asked_for() {
    let finished = search(&[], &["--fails-when=12", "--mode=unasked"]).expect_status(3);
    // The ID is that of a step that does not exist.
    finished.expect_message(&["0x", "the pattern leaves out"]);
    expect_nothing_found(&finished);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_target_that_text_changes_is_searched_without_text() {
    let finished = search(&[], &["--fails-when=12", "--mode=passes-when-watched"]).expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:13: step 12"]]);
    assert!(finished.events_of("trial").iter().all(|trial| !trial["pattern"].as_str().unwrap().starts_with('v')));
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_target_that_leaves_something_behind_for_its_next_run_accuses_no_change() {
    for options in [&[][..], &["--confidence=0.99"], &["--count=2"], &["--max-set=1"]] {
        let finished = search(options, &["--fails-when=12", "--mode=alternates"]).expect_status(4);
        expect_nothing_found(&finished);
        finished.expect_message(&["a run leaves state for the next one", "every other run fails"]);
    }
    let scratch = Scratch::new();
    let mut command = scratch.driver(["exec", "FOREIGN_CHANGES=PATTERN"]);
    let finished = run(command.arg(foreign::executable()).args(["--fails-when=12", "--mode=alternates"]));
    assert_eq!(finished.expect_status(4).stdout, "", "nothing on standard output");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_target_that_comes_to_fail_always() {
    let scratch = Scratch::new();
    scratch.write("target.sh", "echo >> runs; \"$1\" --fails-when=12 || exit 1; [ $(wc -l < runs) -lt 4 ]");
    let mut command = scratch.driver(["exec", "--json", "FOREIGN_CHANGES=PATTERN", "sh", "target.sh"]);
    let finished = run(command.arg(foreign::executable())).expect_status(4);
    expect_nothing_found(&finished);
    finished.expect_message(&["none of the changes makes a difference"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn markers_in_invalid_utf_8_are_read() {
    let finished = search(&[], &["--fails-when=12", "--mode=garbled"]).expect_status(0);
    let found = &finished.events_of("found")[0]["changes"];
    assert_eq!(found.as_array().unwrap().len(), 1, "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
#[cfg(target_os = "linux")]
fn two_hundred_megabytes_of_output_are_drained_into_little_memory() {
    let scratch = Scratch::new();
    // From the second run on, the script sees the peak memory of its parent, the driver.
    scratch.write(
        "target.sh",
        "grep VmHWM /proc/$PPID/status >> peaks; exec \"$1\" --steps=8 --fails-when=3 --megabytes=200",
    );
    let mut command = scratch.driver(["exec", "--json", "FOREIGN_CHANGES=PATTERN", "sh", "target.sh"]);
    let finished = run(command.arg(foreign::executable())).expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:4: step 3"]]);
    let peaks = scratch.read("peaks");
    let kilobytes = peaks.lines().last().and_then(|line| line.split_whitespace().nth(1)).expect("VmHWM: N kB");
    assert!(kilobytes.parse::<u64>().unwrap() < 100_000, "{peaks}");
    let log = fs::metadata(scratch.dir().join("bisect.out/runs/0001.log")).unwrap().len();
    assert!((1 << 20..5 << 20).contains(&log), "the log keeps the first and the last part only: {log} bytes");
}

#[test]
fn reports_that_were_read_are_deleted_unless_the_answer_quotes_them() {
    let search = |modes: &[&str], status: i32| {
        let scratch = Scratch::new();
        let mut command = scratch.driver(["exec", "FOREIGN_CHANGES=PATTERN"]);
        command.arg(foreign::executable()).args(["--fails-when=12"]).args(modes);
        let finished = run(&mut command).expect_status(status);
        let kept = fs::read_dir(scratch.dir().join("bisect.out/reports")).unwrap().count();
        (kept, finished)
    };
    let (kept, finished) = search(&[], 0);
    assert_eq!(kept, 0, "{finished}");
    let (kept, finished) = search(&["--mode=unasked"], 3);
    assert_eq!(kept, 1, "{finished}");
    finished.expect_message(&["the pattern leaves out", "the line is: "]);
}
