//! Several failing tests: one search names the culprit of each test.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use bisect_tests::harness::{Finished, Fixture, Scratch, run};

fn search(fixture: &Fixture, scratch: &Scratch, arguments: &[&str]) -> Finished {
    let mut command = fixture.driver(["test", "--json", "--out"]);
    command.arg(scratch.dir().join("out")).args(arguments);
    run(&mut command)
}

/// Returns the stack of each culprit, and the tests that it breaks.
fn groups(finished: &Finished) -> BTreeMap<String, Vec<String>> {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let group = |found: serde_json::Value| {
        assert_eq!(found["changes"].as_array().unwrap().len(), 1, "{found}");
        (text(&found["changes"][0]["id"]), found["tests"].as_array().unwrap().iter().map(text).collect())
    };
    finished.events_of("found").into_iter().map(group).collect()
}

#[test]
#[ignore = "slow: CI runs it"]
fn forty_tests_take_hardly_more_runs_than_the_hardest() {
    let (fixture, scratch) = (Fixture::new("crowd"), Scratch::new());
    let single = search(&fixture, &scratch, &["--", "--exact", "tests::player_17"]).expect_status(0);
    let finished = search(&fixture, &scratch, &[]).expect_status(0);
    let runs = |finished: &Finished| finished.events_of("end")[0]["runs"].as_u64().unwrap();
    // These include, for each of three culprits, checks before it is named, and the run that gets its text.
    assert!(runs(&finished) <= 2 * runs(&single), "{} runs for one\n{finished}", runs(&single));
    assert_eq!(finished.events_of("trial")[0]["matches"], 1000, "{finished}");

    let groups = groups(&finished);
    let mut tests: Vec<_> = groups.values().cloned().collect();
    tests.sort();
    let expected = |first: usize| (first..40).step_by(3).map(|i| format!("tests::player_{i:02}")).collect::<Vec<_>>();
    assert_eq!(tests, [expected(0), expected(1), expected(2)]);
    let of_one = self::groups(&single);
    let same = groups.iter().find(|(_, tests)| tests.contains(&"tests::player_17".to_owned()));
    assert_eq!(same.map(|(id, _)| id), of_one.keys().next(), "the answer of a search for it alone");
    finished.expect_message(&["40 tests fail", "found 3 culprits for 40 tests"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn several_runs_at_once_find_the_same() {
    let (fixture, scratch) = (Fixture::new("crowd"), Scratch::new());
    let few = ["--", "player_0"];
    let alone = search(&fixture, &scratch, &few).expect_status(0);
    let together = search(&fixture, &scratch, &[&["-j4"], &few[..]].concat()).expect_status(0);
    assert_eq!(groups(&together), groups(&alone), "{together}");
    assert_eq!(groups(&alone).len(), 3, "{alone}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn stacks_that_differ_only_in_the_test_are_shown_together() {
    let (fixture, scratch) = (Fixture::new("crowd"), Scratch::new());
    let library = fs::read_to_string(fixture.dir().join("src/lib.rs")).unwrap();
    fixture.write("src/lib.rs", &library.replace("depth = 5", "depth = 16"));
    let mut command = fixture.driver(["test", "--out"]);
    command.arg(scratch.dir().join("out"));
    // Two of them have bet on the same die.
    let tests = ["00", "01", "03"].map(|number| format!("tests::player_{number}"));
    let finished = run(command.args(["--", "--exact"]).args(&tests)).expect_status(0);
    let (answer, trace) = (&finished.stdout, &finished.stderr);
    assert_eq!(answer.matches("crowd::roll\n").count(), 2, "a stack of two tests is shown once: {finished}");
    assert_eq!(answer.matches("fails:\n").count(), 3, "{finished}");
    assert_eq!(
        answer.matches(", each on its own: enabling `dice` where crowd::once calls it (src/lib.rs:").count(),
        1,
        "{finished}"
    );
    let list: Vec<_> =
        answer.split("\nculprits:\n").nth(1).unwrap().lines().take_while(|line| !line.is_empty()).collect();
    assert_eq!(list.len(), 3, "{finished}");
    for test in &tests {
        let line = list.iter().find(|line| line.ends_with(&format!("fails {test}"))).unwrap();
        assert!(line.contains("dice in crowd::once src/lib.rs:"), "{line}");
        // The trace printed the line when the culprit was found.
        let found = trace.find(&format!(", fails {test}, confirmed\n")).unwrap_or_else(|| panic!("{finished}"));
        assert!(trace[found..].contains("\nfound 3 culprits for 3 tests"), "{finished}");
    }
    assert!(trace.contains("bisecting 1 run-time toggle (dice), of cargo test"), "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn as_one_failure_they_are_run_in_one_process() {
    let (fixture, scratch) = (Fixture::new("crowd"), Scratch::new());
    let finished = search(&fixture, &scratch, &["--per-test=never", "--", "player_0"]).expect_status(0);
    assert_eq!(groups(&finished).len(), 3, "{finished}");
    assert!(!finished.stderr.contains("a process of its own"), "{finished}");
    let log = scratch.read("out/runs/0003.log");
    assert_eq!(log.matches("running 10 tests").count(), 1, "{log}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_single_test_too_if_asked_for() {
    let (fixture, scratch) = (Fixture::new("crowd"), Scratch::new());
    let finished = search(&fixture, &scratch, &["--per-test", "--", "player_05"]).expect_status(0);
    assert_eq!(groups(&finished).into_values().collect::<Vec<_>>(), [["tests::player_05"]]);
}

#[test]
fn a_test_that_fails_only_in_company_is_told_and_does_not_keep_the_others_from_it() {
    let (fixture, scratch) = (Fixture::new("company"), Scratch::new());
    let words = ["--", "--test-threads=1"];
    let finished = search(&fixture, &scratch, &words).expect_status(5);
    let found: Vec<_> = groups(&finished).into_values().collect();
    assert_eq!(found.len(), 2, "{finished}");
    assert!(found.contains(&vec!["tests::a_visitor_shuts_the_door".to_owned()]), "{finished}");
    assert!(found.contains(&vec!["tests::nobody_climbs".to_owned()]), "{finished}");
    finished.expect_message(&["tests::the_next_one_finds_it_shut: it passes when run alone", "--all-tests"]);

    // The option in the message helps.
    let one = ["--all-tests", "--", "--test-threads=1", "--skip", "climbs"];
    let finished = search(&fixture, &scratch, &one).expect_status(0);
    let tests: Vec<_> = groups(&finished).into_values().collect();
    assert_eq!(tests, [["tests::a_visitor_shuts_the_door", "tests::the_next_one_finds_it_shut"]]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_test_that_ends_the_process_is_named_and_hides_no_other() {
    let (fixture, scratch) = (Fixture::new("company"), Scratch::new());
    let words = ["--per-test", "--features=crash", "--", "--test-threads=1"];
    let finished = search(&fixture, &scratch, &words).expect_status(0);
    let tests: BTreeSet<_> = groups(&finished).into_values().collect();
    let expected = ["tests::a_visitor_shuts_the_door", "tests::nobody_climbs"].map(|test| vec![test.to_owned()]);
    assert_eq!(tests, expected.into(), "{finished}");
}

#[test]
fn a_limit_of_one_run_is_a_limit() {
    let (fixture, scratch) = (Fixture::new("company"), Scratch::new());
    let finished = search(&fixture, &scratch, &["--max-runs=1"]).expect_status(5);
    assert_eq!(finished.events_of("trial").len(), 1, "{finished}");
    finished.expect_message(&["--max-runs"]);
}
