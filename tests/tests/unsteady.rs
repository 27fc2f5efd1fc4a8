//! Several tests, one of which is flaky: it is searched in noisy mode, and the others as usual.

use bisect_tests::harness::{Finished, Fixture, Scratch, line_of, run};
use serde_json::{Value, json};

const FIRST: &str = "tests::first_bets_on_18";
const SECOND: &str = "tests::second_bets_on_21";
const THIRD: &str = "tests::third_bets_on_27_now_and_then";

/// A search of a target with a flaky third test, which fails with a given share of 1,000 runs without its culprit, and
/// another share with it.
struct Searched {
    finished: Finished,
    fixture: Fixture,
    scratch: Scratch,
}

fn search(seed: u32, shares: &str, arguments: &[&str]) -> Searched {
    let (fixture, scratch) = (Fixture::new("unsteady"), Scratch::new());
    let mut command = fixture.driver(["test", "--json", "--seed=1", "--out"]);
    command.arg(scratch.dir().join("out")).args(arguments);
    command.env("UNSTEADY", format!("{seed} {}", scratch.dir().join("count").display())).env("SHARES", shares);
    Searched { finished: run(&mut command), fixture, scratch }
}

impl Searched {
    fn expect_status(mut self, status: i32) -> Self {
        self.finished = self.finished.expect_status(status);
        self
    }

    /// Checks that each of these tests has its own culprit, and that no other test has one.
    #[track_caller]
    fn expect_culprits(&self, tests: &[&str]) {
        let place = |test: &str| match test {
            FIRST => ("steady", 25),
            SECOND => ("steady", 49),
            _ => ("unsteady", 33),
        };
        let expected = |test: &&str| {
            let (mark, column) = place(test);
            let line = line_of(self.fixture.dir(), "src/lib.rs", &format!("// {mark}"));
            json!([line, column, [test]])
        };
        let one = |found: Value| {
            let [change] = &found["changes"].as_array().unwrap()[..] else { panic!("not one change\n{found}") };
            json!([change["line"], change["column"], found["tests"]])
        };
        let mut all: Vec<_> = self.finished.events_of("found").into_iter().map(one).collect();
        all.sort_by_key(ToString::to_string);
        assert_eq!(all, tests.iter().map(expected).collect::<Vec<_>>(), "{}", self.finished);
    }

    /// Returns the noise in the only event of this kind about this test.
    #[track_caller]
    fn noise(&self, kind: &str, test: &str) -> Value {
        let of_test = |event: Value| Some(event["noise"].clone()).filter(|noise| noise["test"] == test);
        let all: Vec<_> = self.finished.events_of(kind).into_iter().filter_map(of_test).collect();
        let [noise] = &all[..] else { panic!("{all:?}\n{}", self.finished) };
        noise.clone()
    }
}

#[test]
fn nothing_has_to_be_said_of_a_test_that_fails_now_and_then() {
    three_culprits_are_found(3);
}

#[test]
#[ignore = "slow: CI runs it"]
fn nothing_has_to_be_said_of_it_with_other_seeds_either() {
    for seed in [5, 6] {
        three_culprits_are_found(seed);
    }
}

#[track_caller]
fn three_culprits_are_found(seed: u32) {
    let searched = search(seed, "0 500", &[]).expect_status(0);
    searched.expect_culprits(&[FIRST, SECOND, THIRD]);
    searched.finished.expect_message(&["3 tests fail", &format!("{THIRD} contradicts itself"), "found 3 culprits"]);
    assert!(!searched.finished.stderr.contains(&format!("{FIRST} contradicts")), "{}", searched.finished);
    // The events contain the confidence, and the final state.
    let (found, end) = (searched.noise("found", THIRD), searched.noise("end", THIRD));
    assert!(found["confidence"].as_f64() > Some(0.99) && end["nothing"].as_f64() > Some(0.9), "{found}\n{end}");
    assert!(found["with"]["mean"].as_f64() > Some(0.25) && end["others"].is_null(), "{found}\n{end}");
    let believed = searched.finished.events_of("found").into_iter().filter(|found| found["noise"].is_null());
    assert_eq!(believed.count(), 2, "{}", searched.finished);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_confidence_is_asked_for_of_every_test() {
    // Parallel searches draw random numbers in any order, so in theirs nothing is left to chance.
    for (shares, jobs) in [("0 500", "-j1"), ("0 1000", "-j3")] {
        let searched = search(3, shares, &["--confidence=0.99", jobs]).expect_status(0);
        searched.expect_culprits(&[FIRST, SECOND, THIRD]);
        for found in searched.finished.events_of("found") {
            assert!(found["noise"]["confidence"].as_f64() > Some(0.99), "{found}");
            assert_eq!(found["noise"]["test"], found["tests"][0], "{found}");
        }
        let end = searched.noise("end", FIRST);
        assert_eq!((&end["others"][0]["test"], &end["others"][1]["test"]), (&json!(SECOND), &json!(THIRD)), "{end}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_test_that_is_only_noise_accuses_nobody_and_keeps_nobody_from_it() {
    for options in [&[][..], &["--confidence=0.99"]] {
        let searched = search(3, "500 500", options).expect_status(4);
        searched.expect_culprits(&[FIRST, SECOND]);
        let words = format!("{THIRD}: it is flaky, and none of the changes makes a difference: it fails about");
        searched.finished.expect_message(&["found 2 culprits for 3 tests", &words, "--repeat 5"]);
        assert_eq!(searched.finished.events_of("end")[0]["conclusion"], "flaky");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_limit_is_one_for_all_tests() {
    let searched = search(3, "0 500", &["--max-runs=77"]).expect_status(5);
    searched.expect_culprits(&[FIRST, SECOND]);
    assert_eq!(searched.finished.events_of("end")[0]["runs"], 77);
    searched.finished.expect_message(&[
        "stopped at --max-runs",
        &format!("{THIRD}: so far it fails"),
        "likeliest next",
    ]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_first_failure_after_both_ends_narrows_what_is_run() {
    let rest = ["--confidence=0.99", "--", "--skip", "first", "--skip", "second"];
    let searched = search(2, "0 400", &rest).expect_status(0);
    searched.expect_culprits(&[THIRD]);
    let last = searched.finished.events_of("end")[0]["runs"].as_u64().unwrap();
    for (run, tests) in [(1, 2), (2, 2), (3, 2), (last - 1, 1), (last, 1)] {
        let log = searched.scratch.read(&format!("out/runs/{run:04}.log"));
        let started = if tests == 1 { "running 1 test\n".to_owned() } else { format!("running {tests} tests\n") };
        assert!(log.contains(&started), "{run}: {log}");
    }
}
