//! Failures that count in a search, runs of several executions, and seeds.
#![cfg(unix)]

use std::collections::BTreeSet;

use bisect_tests::{
    foreign,
    harness::{Finished, Fixture, Scratch, line_of, run},
};

/// Searches the clock. Returns the search, and the names of the changes of each culprit.
fn repair(fixture: &Fixture, arguments: &[&str]) -> (Finished, Vec<Vec<String>>) {
    let scratch = Scratch::new();
    let mut command = fixture.driver(["test", "--json", "--out"]);
    let status = if arguments.contains(&"--max=1") { 5 } else { 0 };
    let finished = run(command.arg(scratch.dir().join("out")).args(arguments)).expect_status(status);
    let names = |found: &serde_json::Value| {
        let changes = found["changes"].as_array().unwrap();
        changes.iter().map(|change| change["name"].as_str().unwrap().to_owned()).collect()
    };
    let mut found: Vec<_> = finished.events_of("found").iter().map(names).collect();
    found.sort();
    (finished, found)
}

#[test]
#[ignore = "slow: CI runs it"]
fn another_failure_does_not_mislead_a_search_for_a_test() {
    let fixture = Fixture::new("clock");
    for words in [&["tells_the_time"][..], &["--per-test", "tells_the_time"], &["-j3", "tells_the_time"]] {
        let (finished, found) = repair(&fixture, words);
        assert_eq!(found, [["hand"]], "{finished}");
        let change = &finished.events_of("found")[0]["changes"][0];
        assert_eq!(change["line"], line_of(fixture.dir(), "src/lib.rs", "// the culprit"), "{finished}");
        finished.expect_message(&["a run failed in another way", "panic at src/lib.rs:", "--same-failure=no"]);
        let unresolved = finished.events_of("trial").into_iter().find(|trial| trial["outcome"] == "unresolved");
        let reason = unresolved.unwrap()["reason"].as_str().unwrap().to_owned();
        assert!(words[0] == "--per-test" || reason.contains("another failure: tests::tells_the_time"), "{reason}");
    }

    // Wheels break the test as well, if every failure counts.
    let (finished, found) = repair(&fixture, &["--same-failure=no", "--max=1", "tells_the_time"]);
    assert_eq!(found, [["wheels"]], "{finished}");
}

#[test]
fn a_crash_is_another_failure_than_a_panic() {
    let fixture = Fixture::new("clock");
    let (finished, found) = repair(&fixture, &["is_quiet"]);
    assert_eq!(found, [["bell"]], "{finished}");
    finished.expect_message(&["a run failed in another way", "signal 6"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn each_of_several_tests_has_a_failure_of_its_own() {
    let fixture = Fixture::new("clock");
    let (finished, found) = repair(&fixture, &[]);
    assert_eq!(found, [["bell"], ["hand"]], "{finished}");
    let tests: BTreeSet<_> = finished.events_of("found").iter().map(|found| found["tests"].to_string()).collect();
    assert_eq!(tests, [r#"["tests::is_quiet"]"#, r#"["tests::tells_the_time"]"#].map(str::to_owned).into());
}

#[test]
#[ignore = "slow: CI runs it"]
fn any_command_may_be_searched_for_one_failure() {
    // These two steps must go the same way.
    let pair = "--stumbles-when=1&!60|60&!1";
    let search = |option: &str| {
        let scratch = Scratch::new();
        let mut command = scratch.driver(["exec", "--json", option, "FOREIGN_CHANGES=PATTERN"]);
        run(command.arg(foreign::executable()).args(["--fails-when=20", "--failing=7", pair])).expect_status(0)
    };
    let finished = search("--same-failure");
    assert_eq!(finished.culprits(), [["mill.txt:21: step 20"]]);
    finished.expect_message(&["(exit status 1)", "--same-failure=no"]);
    assert_eq!(search("--same-failure=no").culprits().len(), 3, "any failure counts");
}

/// The script of a target that fails with step 12 in each second execution.
const SECOND: &str =
    "echo x >> count; case $(($(wc -l < count) % 2)) in 0) set -- \"$1\" --fails-when=12;; esac; exec \"$@\"";

#[test]
#[ignore = "slow: CI runs it"]
fn repeated_executions_make_a_flaky_target_reliable() {
    let scratch = Scratch::new();
    scratch.write("target.sh", SECOND);
    let search = |options: &[&str]| {
        let mut command = scratch.driver(["exec", "--json"]);
        command.args(options).args(["FOREIGN_CHANGES=PATTERN", "sh", "target.sh"]);
        run(command.arg(foreign::executable()))
    };
    let finished = search(&["--repeat=2"]).expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:13: step 12"]]);
    let runs = finished.events_of("end")[0]["runs"].as_u64().unwrap();
    // One run gets the text of the culprit, and its result does not matter.
    // Both lines were run, too.
    let executions = 2 * (runs - 1) + 1 + 2 + 1;
    assert_eq!(scratch.read("count").lines().count() as u64, executions, "each takes two to fail or to pass");

    // The line that reproduces the culprit also makes two executions.
    let line = finished.events_of("found")[0]["reproduce"].as_str().unwrap().to_owned();
    let mut shell = bisect_tests::harness::scrubbed("sh".as_ref(), scratch.dir());
    let again = run(shell.args(["-c", &line])).expect_status(1);
    assert_eq!(again.stdout, "the failure\n", "{line}");

    // One of two executions always passes.
    let _ = search(&["--any-pass=2"]).expect_status(1);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_seed_repeats_what_random_stands_for() {
    let numbers = |seed: &[&str]| {
        let scratch = Scratch::new();
        scratch.write("target.sh", "echo \"$SEED\" >> seeds; exec \"$1\" --fails-when=12");
        let mut command = scratch.driver(["exec", "--json"]);
        command.args(seed).args(["SEED=RANDOM", "FOREIGN_CHANGES=PATTERN", "sh", "target.sh"]);
        let finished = run(command.arg(foreign::executable())).expect_status(0);
        let seed = finished.events_of("start")[0]["seed"].as_u64().unwrap();
        finished.expect_message(&[&format!("--seed {seed} ")]);
        (scratch.read("seeds"), seed)
    };
    let (drawn, seed) = numbers(&[]);
    assert!(seed < 1 << 53);
    assert_eq!(numbers(&["--seed", &seed.to_string()]), (drawn.clone(), seed));
    let (others, another) = numbers(&[]);
    assert!(others != drawn && another != seed, "{seed} {another}");
}
