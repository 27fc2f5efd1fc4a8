//! `test --victim`: a test that needs another one and is disturbed by a third one fails alone and with all others.
#![cfg(unix)]

use bisect_tests::harness::{Finished, Fixture, Scratch, paste, run};

use super::victim::{command, facts_of, found};

fn search(plot: &str, words: &str) -> Finished {
    run(&mut command(&Fixture::new("cast"), plot, words))
}

/// Returns the modes of the culprits, in the order in which they were found.
fn modes(finished: &Finished) -> Vec<String> {
    finished.events_of("found").iter().map(|found| found["mode"].as_str().unwrap().to_owned()).collect()
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_test_that_it_needs_and_the_one_that_disturbs_it_are_found() {
    for (plot, culprits) in [
        ("victim=100 need=20 pollute=60", [["t020"], ["t060"]]),
        ("victim=100 need=99 pollute=0", [["t099"], ["t000"]]),
        ("victim=2 need=1 pollute=0", [["t001"], ["t000"]]),
    ] {
        let victim = plot.split([' ', '=']).nth(1).unwrap();
        let cast = Fixture::new("cast");
        let words = format!("--victim tests::t{victim:0>3}");
        let finished = run(&mut command(&cast, plot, &words)).expect_status(0);
        assert_eq!(found(&finished), culprits, "{finished}");
        assert_eq!(modes(&finished), ["disable", "enable"]);
        let end = &finished.events_of("end")[0];
        assert_eq!(end["sets"], 2);
        assert!(end["runs"].as_u64().unwrap() <= 60, "{finished}");
        for answer in [0, 1] {
            let facts = facts_of(&finished, answer);
            assert!(facts.contains("failures: in ") && facts.contains("shared: state in the process"), "{facts}");
        }
        // The line of each culprit fails, and fails no more without the test that disturbs.
        for (at, is_failing) in [(0, true), (1, true)] {
            let line = finished.events_of("found")[at]["reproduce"].as_str().unwrap().to_owned();
            let reproduced = run(cast.shell(&line, cast.dir()).env("PLOT", plot));
            assert_eq!(reproduced.stdout.contains("the victim fails"), is_failing, "{line}\n{reproduced}");
        }
        let disturbed = finished.events_of("found")[1]["reproduce"].as_str().unwrap().to_owned();
        let needed = disturbed.replace(&format!("tests::{}", culprits[1][0]), "");
        let _ = run(cast.shell(&needed, cast.dir()).env("PLOT", plot)).expect_status(0);
        let out = cast.dir().join("out").display().to_string();
        for (option, status) in [(None, 101), (Some("--off"), 0)] {
            let mut replay = cast.driver(["replay", "--set", "2", &out]);
            let _ = run(replay.args(option).env("PLOT", plot)).expect_status(status);
        }
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn several_tests_that_it_needs_or_that_disturb_it_are_found() {
    let finished = search("victim=100 need=20 need=21 pollute=60 pollute=7+8", "--victim t100").expect_status(0);
    let mut culprits = found(&finished);
    culprits.sort();
    assert_eq!(culprits, [vec!["t007", "t008"], vec!["t020"], vec!["t021"], vec!["t060"]], "{finished}");
}

#[test]
fn a_disturbance_outside_of_the_process_is_recognized() {
    // The test that it needs sets a static variable, the other one writes a file.
    let finished = search("victim=100 need=20 file=60", "--victim t100").expect_status(0);
    assert_eq!(found(&finished), [["t020"], ["t060"]], "{finished}");
    assert!(facts_of(&finished, 0).contains("state in the process"), "{finished}");
    assert!(facts_of(&finished, 1).contains("with its own TMPDIR, `tests::t100` passes after"), "{finished}");
}

#[test]
fn a_test_that_always_fails_costs_few_more_runs() {
    let finished = search("victim=100 always", "--victim t100").expect_status(1);
    finished.expect_message(&["9 selections", "no other test is needed to make it fail"]);
    // Four runs of both ends, two with a new HOME or current directory, and nine after selections.
    assert!(finished.events_of("end")[0]["runs"].as_u64().unwrap() <= 4 + 2 + 9, "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_limit_of_runs_counts_for_all_searches() {
    for max in [5, 12, 20] {
        let words = format!("--victim t100 --max-runs {max}");
        let finished = search("victim=100 need=20 pollute=60", &words).expect_status(5);
        assert!(finished.events_of("end")[0]["runs"].as_u64().unwrap() <= max, "{finished}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_victim_that_has_not_failed_within_the_limit_may_still_fail() {
    // Two runs of each end, and some of those in which it may fail by chance.
    for max in [1, 4, 9] {
        let finished = search("victim=100", &format!("--victim t100 --max-runs {max}")).expect_status(5);
        assert_eq!(finished.events_of("end")[0]["runs"], max, "{finished}");
        finished.expect_message(&["stopped at --max-runs"]);
        if max == 9 {
            finished.expect_message(&["so far. Allow more runs, in which it may fail by chance"]);
        }
        assert!(!finished.stderr.contains("never failed"), "{finished}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_limit_of_runs_after_the_first_culprit_keeps_it() {
    let finished = search("victim=100 need=20 pollute=60", "--victim t100 --max-runs 30").expect_status(5);
    assert_eq!(found(&finished), [["t020"]], "{finished}");
    finished.expect_message(&[
        "found 1 culprit (tests that `tests::t100` needs). The search for tests that disturb it: stopped at --max-runs",
    ]);
}

#[test]
fn a_victim_that_passes_once_at_random_is_not_searched() {
    let cast = Fixture::new("cast");
    let scratch = Scratch::new();
    // The victim passes in the eighth run only, the second one after some of the tests.
    scratch.write("dice", "38");
    let mut command = command(&cast, "victim=100 always rate=0.95", "--victim t100");
    let finished = run(command.env("DICE", scratch.dir().join("dice"))).expect_status(4);
    finished
        .expect_message(&["`tests::t100` passed once after 35 tests, and failed in the next run after the same ones"]);
}

#[test]
fn one_of_several_tests_that_it_needs_is_enough_in_the_line_that_passes() {
    let cast = Fixture::new("cast");
    let mut command = command(&cast, "victim=8 need=3+5", "--victim t008");
    let finished = run(&mut command).expect_status(0);
    assert_eq!(paste(&command, &finished), 2, "{finished}");
}
