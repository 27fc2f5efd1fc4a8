//! Flaky targets: their culprit is named with the requested confidence, or none is named.
#![cfg(unix)]

use std::path::Path;

use bisect_tests::{
    foreign,
    harness::{Finished, Scratch, line_of, root, run},
};
use serde_json::{Value, json};

/// Searches a program of 64 steps with step 12 as its culprit. The shares are failing runs in 1,000, without the
/// culprit and with it.
fn search(without: u32, with: u32, options: &[&str]) -> Finished {
    let scratch = Scratch::new();
    let mut command = scratch.driver(["exec", "--json"]);
    command.args(options).args(["FOREIGN_CHANGES=PATTERN", "sh"]);
    command.arg(root().join("tests/fixtures/chance/chance.sh")).args([without, with].map(|share| share.to_string()));
    run(command.arg("RANDOM").arg(foreign::executable()).arg("--fails-when=12"))
}

#[test]
fn the_cause_is_found_though_runs_mislead() {
    for seed in ["--seed=1", "--seed=2", "--seed=3"] {
        let finished = search(100, 900, &["--confidence=0.999", seed]).expect_status(0);
        assert_eq!(finished.culprits(), [["mill.txt:13: step 12"]], "{seed}");
        assert_eq!(finished.events_of("found")[0]["confirmed"], true, "{finished}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_cause_is_found_though_it_seldom_shows() {
    let finished = search(0, 300, &["--confidence=0.999", "--seed=1"]).expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:13: step 12"]]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn who_fails_as_often_either_way_accuses_nobody() {
    for (share, max_runs) in [(500, "10000"), (900, "10000"), (500, "30")] {
        let options = ["--confidence=0.999", "--seed=1", "--max-runs", max_runs];
        let finished = search(share, share, &options).expect_status(4);
        assert_eq!(finished.culprits().len(), 0, "{share}, {max_runs}\n{finished}");
        // The message names the option that would help.
        finished.expect_message(&["none of the changes makes a difference", "--repeat 5"]);
        assert_eq!(finished.events_of("end")[0]["conclusion"], "flaky", "{finished}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_seed_repeats_a_search() {
    let trials = |seed| {
        let trial = |trial: &Value| (trial["pattern"].to_string(), trial["outcome"].to_string());
        search(100, 900, &["--confidence=0.99", seed]).events_of("trial").iter().map(trial).collect::<Vec<_>>()
    };
    let first = trials("--seed=5");
    assert!(first.len() > 8, "{first:?}");
    assert_eq!(trials("--seed=5"), first);
    assert_ne!(trials("--seed=6"), first);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_race_of_two_threads_is_found() {
    let scratch = Scratch::new();
    let mut command = scratch.driver(["test", "--json", "--confidence=0.999", "--manifest-path"]);
    command.arg(root().join("Cargo.toml")).args(["-p", "floodwatch", "--features", "story", "--test", "warnings"]);
    let finished = run(&mut command).expect_status(0);
    let [found] = &finished.events_of("found")[..] else { panic!("not one culprit\n{finished}") };
    let [change] = &found["changes"].as_array().unwrap()[..] else { panic!("not one change\n{finished}") };
    assert_eq!((&change["kind"], &found["confirmed"]), (&"caller".into(), &true.into()), "{finished}");
    let file = "examples/floodwatch/src/warnings.rs";
    assert!(Path::new(change["file"].as_str().unwrap()).ends_with(file), "{finished}");
    assert_eq!(change["line"], line_of(root(), file, "self.list.update(|list| {"), "{finished}");
    assert_eq!(found["tests"], json!(["every_warning_is_on_the_list"]), "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn several_runs_at_once_find_the_same() {
    let finished = search(100, 900, &["--confidence=0.999", "--seed=1", "-j4"]).expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:13: step 12"]]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_events_say_how_sure_it_is() {
    let finished = search(100, 900, &["--confidence=0.99", "--seed=4"]).expect_status(0);
    let noise = &finished.events_of("found")[0]["noise"];
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value}\n{finished}"));
    assert!(number(&noise["confidence"]) > 0.99, "{finished}");
    for (rate, expected) in [("with", 0.9), ("without", 0.1)] {
        let [low, mean, high] = ["low", "mean", "high"].map(|field| number(&noise[rate][field]));
        assert!(low <= mean && mean <= high && low - 0.1 < expected && expected < high + 0.1, "{finished}");
    }
    // The end reports the final state: nothing else is left.
    assert!(number(&finished.events_of("end")[0]["noise"]["nothing"]) > 0.99, "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_search_that_is_stopped_says_what_is_likeliest() {
    let stopped =
        (1..=6).map(|seed| search(100, 900, &["--confidence=0.95", "--seed", &seed.to_string(), "--max-runs=12"]));
    // Chance decides if the search knows by then that there is something to find.
    let stopped: Vec<_> = stopped.filter(|finished| finished.status == Some(5)).collect();
    assert!(!stopped.is_empty());
    for finished in stopped {
        assert_eq!(finished.culprits().len(), 0, "{finished}");
        finished.expect_message(&["likeliest next: 0x", "mill.txt:"]);
        let suspects = finished.events_of("end")[0]["noise"]["suspects"].as_array().unwrap().clone();
        assert!(suspects[0]["probability"].as_f64() > Some(0.02), "{finished}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn nothing_has_to_be_said_of_a_target_that_contradicts_itself() {
    let found = (1..=6).map(|seed| {
        let finished = search(50, 950, &["--seed", &seed.to_string()]).expect_status(0);
        assert_eq!(finished.culprits(), [["mill.txt:13: step 12"]], "{seed}\n{finished}");
        finished.stderr.contains("contradicts itself")
    });
    assert!(found.filter(|&contradicted| contradicted).count() > 1, "some of six do");
}
