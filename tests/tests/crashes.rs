//! Tests that end their process by a signal: the answer names them, and nothing else is repeated.
#![cfg(unix)]

use std::fs;

use bisect_tests::harness::{Finished, Fixture, Scratch, line_of, run};

fn search(fixture: &Fixture, scratch: &Scratch, arguments: &[&str]) -> Finished {
    let mut command = fixture.driver(["test", "--json", "--out"]);
    run(command.arg(scratch.dir().join("out")).args(arguments))
}

/// Returns the names of the changes of each culprit, and the tests that it breaks.
fn answers(finished: &Finished) -> Vec<(Vec<String>, Vec<String>)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let answer = |found: &serde_json::Value| {
        let names = found["changes"].as_array().unwrap().iter().map(|change| text(&change["name"]));
        (names.collect(), found["tests"].as_array().unwrap().iter().map(text).collect())
    };
    let mut answers: Vec<_> = finished.events_of("found").iter().map(answer).collect();
    answers.sort();
    answers
}

fn answer(change: &str, tests: &[&str]) -> (Vec<String>, Vec<String>) {
    (vec![change.to_owned()], tests.iter().map(|test| format!("tests::{test}")).collect())
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_test_that_crashes_is_named_and_only_it_is_repeated() {
    let (fixture, scratch) = (Fixture::new("ruin"), Scratch::new());
    let words = ["--", "--test-threads=2", "--skip=digger", "--skip=wall", "--skip=tower"];
    let finished = search(&fixture, &scratch, &words).expect_status(0);
    assert_eq!(answers(&finished), [answer("beams", &["house_stands"])], "{finished}");
    let change = &finished.events_of("found")[0]["changes"][0];
    assert_eq!(change["line"], line_of(fixture.dir(), "src/lib.rs", "// the culprit"), "{finished}");

    let started = |run: usize| scratch.read(&format!("out/runs/{run:04}.log")).matches("running 1 test\n").count();
    let runs = usize::try_from(finished.events_of("end")[0]["runs"].as_u64().unwrap()).unwrap();
    assert!(runs > 4 && (3..=runs).all(|run| started(run) == 1), "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn tests_that_fail_before_or_after_a_crash_are_named_too() {
    let (fixture, scratch) = (Fixture::new("ruin"), Scratch::new());
    for threads in ["--test-threads=1", "--test-threads=2", "--test-threads=8"] {
        let finished = search(&fixture, &scratch, &["--", threads, "--skip=digger"]).expect_status(0);
        let both = answer("beams", &["house_stands", "tower_stands"]);
        assert_eq!(answers(&finished), [both, answer("wall", &["wall_is_straight"])], "{threads} {finished}");
        assert!(!finished.stderr.contains("contradicts itself"), "{threads} {finished}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn as_one_failure_and_among_all_tests_it_is_one_failure_as_well() {
    let (fixture, scratch) = (Fixture::new("ruin"), Scratch::new());
    for option in ["--per-test=never", "--all-tests"] {
        let words = [option, "--", "--test-threads=2", "--skip=digger", "--skip=wall", "--skip=tower"];
        let finished = search(&fixture, &scratch, &words).expect_status(0);
        assert_eq!(answers(&finished), [answer("beams", &["house_stands"])], "{option} {finished}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn where_a_test_crashes_only_after_another_the_executable_is_what_fails() {
    let (fixture, scratch) = (Fixture::new("ruin"), Scratch::new());
    let finished = search(&fixture, &scratch, &["--", "--test-threads=1", "digger"]).expect_status(0);
    assert_eq!(answers(&finished), [answer("floor", &[])], "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn tests_that_crash_only_together_are_left_out_after_one_that_crashes_alone() {
    let (fixture, scratch) = (Fixture::new("ruin"), Scratch::new());
    let source = fs::read_to_string(fixture.dir().join("src/lib.rs")).unwrap();
    let early = "#[cfg(test)]\nmod early {\n#[test]\nfn house_stands() { super::stand() }\n}\n";
    fixture.write("src/lib.rs", &(source + early));
    let finished = search(&fixture, &scratch, &["--", "--test-threads=1", "early", "digger"]).expect_status(0);
    assert_eq!(answers(&finished), [(vec!["beams".to_owned()], vec!["early::house_stands".to_owned()])], "{finished}");
    finished.expect_message(&[
        "left out, because they crash the process, but none of them alone does: tests::digger_digs, tests::digger_steps",
    ]);
}
