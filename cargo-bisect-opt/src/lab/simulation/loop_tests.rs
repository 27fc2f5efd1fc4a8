//! Properties of every simulated search, in whatever order its runs end.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Simulated, simulate};
use crate::record::exit_status::Exit;

const TESTS: &str = "tests: one = amber; two = apricot & peach; three = amber\nothers: 40\n";

fn events(simulated: &Simulated) -> Vec<Value> {
    simulated.events.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn of_kind<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["event"] == kind).collect()
}

/// Returns the found sets of changes, by name.
fn found(simulated: &Simulated) -> BTreeSet<BTreeSet<String>> {
    let names = |found: &Value| {
        let changes = found["changes"].as_array().unwrap();
        changes.iter().map(|change| change["name"].as_str().unwrap().to_owned()).collect()
    };
    of_kind(&events(simulated), "found").into_iter().map(names).collect()
}

fn sets(sets: &[&[&str]]) -> BTreeSet<BTreeSet<String>> {
    sets.iter().map(|set| set.iter().map(|&name| name.to_owned()).collect()).collect()
}

#[test]
fn the_answer_does_not_depend_on_the_order_in_which_runs_end() {
    for (settings, expected) in [
        ("fails: amber | apricot & peach | plum\nothers: 40\n", sets(&[&["amber"], &["plum"], &["apricot", "peach"]])),
        (TESTS, sets(&[&["amber"], &["apricot", "peach"]])),
    ] {
        for (jobs, seed) in (0..12).map(|seed| (1 + seed % 5, seed)) {
            let searched = simulate(&format!("{settings}jobs: {jobs}\nsteps: random\nseed: {seed}\n"));
            assert_eq!((found(&searched), searched.status), (expected.clone(), Exit::Found), "-j {jobs}, seed {seed}");
        }
    }
}

#[test]
fn the_same_settings_are_the_same_search() {
    let settings = format!("{TESTS}rates: two = 0.8\njobs: 3\nsteps: random\nseed: 3\n");
    let first = simulate(&settings);
    for _ in 0..3 {
        let again = simulate(&settings);
        assert_eq!((again.screen, again.events), (first.screen.clone(), first.events.clone()));
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn what_is_said_of_trials_is_what_runs_got() {
    for settings in [
        "fails: amber & plum\nothers: 30",
        "fails: amber\nrates: 0.8\nothers: 30",
        "tests: one = amber; two = plum\nrates: two = 0.7\nothers: 30",
        "fails: amber | plum\ncount: 2\nothers: 30",
    ] {
        for seed in 0..8 {
            let searched = simulate(&format!("{settings}\njobs: {}\nseed: {seed}\n", 1 + seed % 3));
            let all = events(&searched);
            let trials = of_kind(&all, "trial");
            for trial in &trials {
                let pattern = trial["pattern"].as_str().unwrap();
                assert!(searched.sent.iter().any(|sent| sent == pattern), "{settings}, {seed}: no run got {trial}");
            }
            // Each trial that is shown has the next number.
            let numbers: Vec<_> = trials.iter().map(|trial| trial["n"].as_u64().unwrap()).collect();
            let expected: Vec<_> = (1..).take(numbers.len()).collect();
            assert_eq!(numbers, expected, "{settings}, {seed}:\n{}", searched.screen);
            let end = of_kind(&all, "end")[0];
            assert_eq!(end["runs"], searched.sent.len(), "{settings}, {seed}:\n{}", searched.screen);
        }
    }
}

#[test]
fn an_interruption_ends_every_search_in_whatever_run_it_comes() {
    for run in 1..12 {
        for jobs in 1..4 {
            let searched =
                simulate(&format!("fails: amber & plum\nothers: 30\njobs: {jobs}\ninterrupt in run: {run}\n"));
            assert_eq!(searched.status, Exit::Interrupted, "-j {jobs}, run {run}");
            assert!(searched.sent.len() < run + jobs, "-j {jobs}: {} runs, interrupted in {run}", searched.sent.len());
            let all = events(&searched);
            assert_eq!((of_kind(&all, "end").len(), of_kind(&all, "found").len()), (1, 0), "-j {jobs}, run {run}");
        }
    }
}

#[test]
fn under_noise_count_makes_no_difference() {
    for seed in 0..4 {
        let search = |count| {
            let settings = "fails: amber\nrates: 0.9\nothers: 10\nconfidence: 0.99";
            simulate(&format!("{settings}\nseed: {seed}\ncount: {count}\n"))
        };
        assert_eq!(search(2).events, search(1).events, "seed {seed}");
    }
}

#[test]
fn under_noise_count_makes_no_difference_to_tests_either() {
    let search = |count| {
        let settings =
            "tests: one = amber; two = plum; three = amber\nrates: two = 0.7\nothers: 11\nconfidence: 0.99\n";
        simulate(&format!("{settings}jobs: 4\nsteps: random\nseed: 77\nrepeat: 2\ncount: {count}\n"))
    };
    let (twice, once) = (search(2), search(1));
    assert_eq!((twice.events, twice.status), (once.events, Exit::Found));
}
