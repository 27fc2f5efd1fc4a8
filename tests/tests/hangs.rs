//! Tests that do not end: the answer names them, and nothing else is repeated.
#![cfg(unix)]

use bisect_tests::harness::{Finished, Fixture, Scratch, line_of, run};

/// A time limit far above the duration of any test that ends.
const TIMEOUT: &str = "--timeout=2s";

fn search(fixture: &Fixture, scratch: &Scratch, arguments: &[&str]) -> Finished {
    let mut command = fixture.driver(["test", "--json", TIMEOUT, "--out"]);
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

/// Returns the tests that each run started, in the order of its processes.
fn started(scratch: &Scratch, runs: usize) -> Vec<Vec<String>> {
    let log = |run: usize| scratch.read(&format!("out/runs/{run:04}.log"));
    let counts = |log: String| log.lines().filter_map(|line| Some(line.strip_prefix("running ")?.to_owned())).collect();
    (1..=runs).map(|run| counts(log(run))).collect()
}

#[test]
fn a_run_that_hangs_ends_with_the_time_for_the_search() {
    let scratch = Scratch::new();
    let out = scratch.dir().join("out").display().to_string();
    let words = ["exec", "--json", "--out", &out, "--budget", "100ms", "sh", "-c", "exec sleep 1000000; : PATTERN"];
    let finished = run(&mut scratch.driver(words)).expect_status(5);
    let end = &finished.events_of("end")[0];
    let expected = "stopped at --budget with 0 culprits found: allow more time for the rest of the search";
    assert_eq!(end["message"], expected, "{finished}");
    assert!(finished.events_of("trial").is_empty(), "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_test_that_hangs_is_named_and_only_it_is_repeated() {
    let (fixture, scratch) = (Fixture::new("crossing"), Scratch::new());
    // One of the tests may wait for another, and ends when run alone.
    let finished = search(&fixture, &scratch, &["--", "--test-threads=4", "car_drives", "walk"]).expect_status(0);
    assert_eq!(answers(&finished), [answer("lamps", &["car_drives"])], "{finished}");
    let found = &finished.events_of("found")[0];
    assert_eq!(found["changes"][0]["line"], line_of(fixture.dir(), "src/lib.rs", "// the culprit"), "{finished}");
    let line = found["reproduce"].as_str().unwrap();
    assert!(line.ends_with(" --exact tests::car_drives"), "{line}");

    let trials = finished.events_of("trial");
    assert!(trials.iter().all(|trial| (trial["outcome"] == "fail") == (trial["reason"] == "timeout")), "{finished}");
    let started = started(&scratch, trials.len());
    let (first, others) = started[0].split_first().unwrap();
    assert!(
        first == "3 tests" && !others.is_empty(),
        "what had not ended is run again, each test by itself: {started:?}"
    );
    assert!(others.iter().all(|run| run == "1 test") && started[1] == ["3 tests"], "{started:?}");
    assert!(started.len() > 4 && started[2..].iter().all(|run| *run == ["1 test"]), "{started:?}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_test_that_fails_beside_one_that_hangs_is_named_too() {
    let (fixture, scratch) = (Fixture::new("crossing"), Scratch::new());
    let words = ["--", "--test-threads=4", "--skip", "train"];
    let finished = search(&fixture, &scratch, &words).expect_status(0);
    let both = answer("lamps", &["car_drives", "cyclist_cycles"]);
    assert_eq!(answers(&finished), [answer("bell", &["bell_rings"]), both], "{finished}");
    finished.expect_message(&["3 tests fail"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn as_one_failure_and_among_all_tests_it_is_named_as_well() {
    let (fixture, scratch) = (Fixture::new("crossing"), Scratch::new());
    for option in ["--per-test=never", "--all-tests"] {
        let words = [option, "--", "--test-threads=4", "--nocapture", "c", "--skip=train"];
        let finished = search(&fixture, &scratch, &words).expect_status(0);
        assert_eq!(answers(&finished), [answer("lamps", &["car_drives", "cyclist_cycles"])], "{option} {finished}");
        let started = started(&scratch, finished.events_of("trial").len());
        assert_eq!(started[0].len(), 1 + 2 + 2, "each alone, and also without the changes: {started:?}");
        // Once it is known that these tests hang, a run in which they have not ended counts as the failure.
        assert!(started[2..].iter().all(|run| run.len() == 1), "{started:?}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn tests_that_never_got_their_turn_are_not_taken_for_hanging() {
    let (fixture, scratch) = (Fixture::new("crossing"), Scratch::new());
    let words = ["--", "--test-threads=1", "c", "walk", "--skip=train"];
    let finished = search(&fixture, &scratch, &words).expect_status(0);
    assert_eq!(answers(&finished), [answer("lamps", &["car_drives"])], "{finished}");
    finished.expect_message(&["before it was their turn: tests::car_turns, tests::cyclist_cycles, "]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn where_a_test_hangs_only_in_company_the_executable_is_what_fails() {
    let (fixture, scratch) = (Fixture::new("crossing"), Scratch::new());
    let words = ["--", "--test-threads=1", "train", "--skip=guard"];
    let finished = search(&fixture, &scratch, &words).expect_status(0);
    assert_eq!(answers(&finished), [answer("barrier", &[])], "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_test_that_needs_another_one_is_not_run_without_it() {
    let (fixture, scratch) = (Fixture::new("crossing"), Scratch::new());
    let finished = search(&fixture, &scratch, &["--", "--test-threads=1", "guard"]).expect_status(0);
    assert_eq!(answers(&finished), [answer("whistle", &[])], "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn what_hangs_both_ways_has_no_culprit() {
    let (fixture, scratch) = (Fixture::new("crossing"), Scratch::new());
    let words = ["--", "--include-ignored", "turns", "walks"];
    let finished = search(&fixture, &scratch, &words).expect_status(1);
    finished.expect_message(&["fails with every change enabled and with every change disabled", "narrow the target"]);
}
