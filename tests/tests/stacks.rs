//! `cargo bisect-opt test` and `run` on a workspace with runtime toggles of all three keys.

use bisect_tests::harness::{Finished, Fixture, Scratch, line_of, run};
use serde_json::Value;

fn search(fixture: &Fixture, words: &[&str]) -> Finished {
    let (command, options) = words.split_first().expect("a command");
    run(&mut fixture.driver([&[command, "--json"], options].concat()))
}

/// Returns the only change of the only culprit.
#[track_caller]
fn culprit(finished: &Finished) -> Value {
    let found = finished.events_of("found");
    assert_eq!(found.len(), 1, "{finished}");
    let changes = found[0]["changes"].as_array().expect("changes");
    assert_eq!(changes.len(), 1, "{finished}");
    changes[0].clone()
}

#[track_caller]
fn expect_frame(change: &Value, function: &str, file: &str, line: usize) {
    let frames = change["frames"].as_array().expect("frames");
    let frame = frames.iter().find(|frame| frame["function"] == function);
    let frame = frame.unwrap_or_else(|| panic!("{function} is not in {change:#}"));
    assert!(frame["file"].as_str().is_some_and(|path| path.ends_with(file)), "{frame}");
    assert_eq!(frame["line"], line, "{frame}");
}

#[track_caller]
fn expect_the_week_of_the_south(fixture: &Fixture, change: &Value) {
    assert_eq!((&change["kind"], &change["name"]), (&"stack".into(), &"ranking".into()));
    let pages = "pages/src/lib.rs";
    expect_frame(change, "pages::week", pages, line_of(fixture.dir(), pages, "// the span"));
    expect_frame(change, "pages::south", pages, line_of(fixture.dir(), pages, "// the region"));
    let functions = change["frames"].to_string();
    assert!(!functions.contains("bisect_rt::") && !functions.contains("std::rt"), "trimmed: {change:#}");
}

#[test]
fn the_stack_across_crates_is_found_with_few_runs_and_no_rebuild() {
    let fixture = Fixture::new("stacks");
    let scratch = Scratch::new();
    let words = ["test", "--json", "--toggle", "ranking", "-p", "app", "--test", "pages"];
    let finished = run(fixture.driver(words).env("NOTE_RUNS_IN", scratch.dir().join("runs"))).expect_status(0);
    expect_the_week_of_the_south(&fixture, &culprit(&finished));
    assert_eq!(finished.events_of("found")[0]["tests"], serde_json::json!(["the_south_is_as_it_was"]));
    assert_eq!(finished.events_of("found")[0]["mode"], "enable");
    // There are thirty stacks, and those of the tests that do not fail.
    let end = &finished.events_of("end")[0];
    let stacks = finished.events_of("trial")[0]["matches"].as_f64().unwrap();
    assert!(stacks >= 30.0, "{finished}");
    assert!(end["runs"].as_f64().unwrap() <= stacks.log2().ceil() + 4.0 + 4.0 + 1.0, "{finished}");
    // A test that does not fail runs with every change, and with none, to prove it.
    assert!((1..=2).contains(&scratch.read("runs").lines().count()), "{}", scratch.read("runs"));
    assert_eq!(finished.stderr.matches("Compiling app ").count().max(1), 1, "{finished}");
}

#[test]
fn a_caller_is_found() {
    let fixture = Fixture::new("stacks");
    let finished = search(&fixture, &["test", "--toggle", "rounding", "-p", "app"]).expect_status(0);
    let change = culprit(&finished);
    assert_eq!((&change["kind"], &change["name"]), (&"caller".into(), &"rounding".into()));
    assert_eq!(change["file"], "pages/src/lib.rs");
    assert_eq!(change["line"], line_of(fixture.dir(), "pages/src/lib.rs", "// the caller"));
}

#[test]
#[ignore = "slow: CI runs it"]
fn everything_that_is_wrong_is_found_over_all_executables() {
    let fixture = Fixture::new("stacks");
    let finished = search(&fixture, &["test", "--workspace"]).expect_status(0);
    let found = finished.events_of("found");
    let mut kinds: Vec<_> = found.iter().map(|found| found["changes"][0]["kind"].as_str().unwrap()).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["caller", "site", "stack"], "{finished}");
    let site = found.iter().find(|found| found["changes"][0]["kind"] == "site").unwrap();
    assert_eq!(site["changes"][0]["line"], line_of(fixture.dir(), "pages/src/lib.rs", "// the site"));
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_test_name_narrows_the_search() {
    let fixture = Fixture::new("stacks");
    let finished = search(&fixture, &["test", "-p", "app", "lists"]).expect_status(0);
    let change = culprit(&finished);
    assert_eq!((&change["kind"], &change["name"]), (&"site".into(), &"separator".into()));
    let finished =
        search(&fixture, &["test", "-p", "app", "--test", "pages", "--", "--exact", "lists_are_as_they_were"]);
    assert_eq!(culprit(&finished.expect_status(0)), change, "the same change, however the test was named");
    let finished = search(&fixture, &["test", "-p", "app", "--", "--skip", "south", "--skip", "means"]);
    assert_eq!(culprit(&finished.expect_status(0)), change);
}

#[test]
fn a_test_name_that_matches_nothing_is_an_error() {
    let fixture = Fixture::new("stacks");
    let finished = search(&fixture, &["test", "-p", "app", "no_such_test"]);
    assert!(matches!(finished.status, Some(2 | 3)), "{finished}");
    finished.expect_message(&["no_such_test"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_test_that_fails_anyway_is_left_aside_and_named() {
    let fixture = Fixture::new("stacks");
    let words = ["test", "-p", "app", "--toggle=ranking", "--features=broken", "--test=pages"];
    let finished = search(&fixture, &words).expect_status(0);
    expect_the_week_of_the_south(&fixture, &culprit(&finished));
    assert_eq!(finished.events_of("found")[0]["tests"], serde_json::json!(["the_south_is_as_it_was"]));
    finished.expect_message(&["broken_anyway"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_program_is_searched_with_its_arguments() {
    let fixture = Fixture::new("stacks");
    let finished = search(&fixture, &["run", "-p", "app"]).expect_status(0);
    expect_the_week_of_the_south(&fixture, &culprit(&finished));
    let finished = search(&fixture, &["run", "-p", "app", "--", "strict"]).expect_status(0);
    expect_the_week_of_the_south(&fixture, &culprit(&finished));
    let _ = search(&fixture, &["run", "-p", "app", "--", "tolerant"]).expect_status(1);
}

#[test]
fn an_unknown_toggle_is_refused_with_those_that_there_are() {
    let fixture = Fixture::new("stacks");
    let finished = search(&fixture, &["test", "-p", "app", "--toggle", "rankin"]).expect_status(2);
    finished.expect_message(&["rankin", "ranking"]);
    assert_eq!(finished.events_of("found").len(), 0);
}

#[test]
fn toggles_lists_what_there_is() {
    let fixture = Fixture::new("stacks");
    let listed = run(&mut fixture.driver(["toggles", "-p", "app"])).expect_status(0);
    for (name, key) in [("ranking", "stack"), ("rounding", "caller"), ("separator", "site")] {
        let line = listed.stdout.lines().find(|line| line.contains(name));
        assert!(line.is_some_and(|line| line.contains(key)), "{name}: {listed}");
    }
    assert_eq!(listed.stdout.matches("separator").count(), 2, "two places, each once: {listed}");
    let lines = run(&mut fixture.driver(["toggles", "--json", "-p", "app"])).expect_status(0).stdout;
    let toggles: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(toggles.len(), 4, "{lines}");
}

#[test]
fn what_reproduces_a_stack_can_be_pasted_into_a_shell() {
    let fixture = Fixture::new("stacks");
    let finished = search(&fixture, &["test", "-p", "app", "--toggle=ranking"]).expect_status(0);
    let line = finished.events_of("found")[0]["reproduce"].as_str().unwrap().to_owned();
    let again = run(&mut fixture.shell(&line, &std::env::temp_dir()));
    assert!(!again.status.is_some_and(|status| status == 0 || status > 125), "{line}\n{again}");
    assert!(
        again.stdout.contains("the_south_is_as_it_was") && again.stderr.contains("[bisect-match "),
        "{line}\n{again}"
    );
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_answer_begins_with_the_decisive_call() {
    let fixture = Fixture::new("stacks");
    let words = ["test", "--toggle", "ranking", "-p", "app", "--test", "pages"];
    let finished = run(&mut fixture.driver(words)).expect_status(0);
    let file = "pages/src/lib.rs";
    let line = line_of(fixture.dir(), file, "rank(&mut players);");
    let headline = format!(
        "culprit 1: enabling `ranking` where pages::top calls it ({file}:{line}) makes the_south_is_as_it_was fail\n"
    );
    let (first, rest) = finished.stdout.split_once("\n\n").unwrap();
    assert_eq!(format!("{first}\n"), headline, "{finished}");
    // The source of that call, the stack, and both command lines follow.
    assert!(rest.trim_start().starts_with(&format!("--> {file}:{line}:")), "{finished}");
    assert_eq!(rest.matches("called here").count(), 1, "{finished}");
    assert!(rest.contains("\nfails:\n  ") && rest.contains("\npasses:\n  "), "{finished}");
    let whole = run(&mut fixture.driver([&words[..], &["-v"]].concat())).expect_status(0);
    assert!(whole.stdout.matches("called here").count() > 1, "{whole}");
    let is_folded = |finished: &Finished| finished.stdout.lines().any(|line| line.starts_with("    … "));
    assert_eq!((is_folded(&finished), is_folded(&whole)), (true, false), "{finished}\n{whole}");
}
