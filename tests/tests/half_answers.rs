//! Failures that remain without the culprits, and failures that depend on other tests or on the environment.
#![cfg(unix)]

use bisect_tests::{
    foreign,
    harness::{Finished, Fixture, Running, Scratch, run},
};

/// Searches the courier.
fn search(arguments: &[&str]) -> Finished {
    search_in(&Fixture::new("courier"), arguments)
}

fn search_in(fixture: &Fixture, arguments: &[&str]) -> Finished {
    let scratch = Scratch::new();
    let mut command = fixture.driver(["test", "--json", "--out"]);
    run(command.arg(scratch.dir().join("out")).args(arguments))
}

/// Returns the names of each culprit's changes, and its failure.
fn answers(finished: &Finished) -> Vec<(Vec<String>, String)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let answer = |found: &serde_json::Value| {
        let names = found["changes"].as_array().unwrap().iter().map(|change| text(&change["name"]));
        (names.collect(), text(&found["failures"][0]["how"]))
    };
    let mut answers: Vec<_> = finished.events_of("found").iter().map(answer).collect();
    answers.sort();
    answers
}

fn names(finished: &Finished) -> Vec<Vec<String>> {
    answers(finished).into_iter().map(|(names, _)| names).collect()
}

#[test]
#[ignore = "slow: CI runs it"]
fn both_failures_of_one_test_have_their_culprits() {
    for words in [&[][..], &["-j3"], &["--per-test"], &["-j2", "--per-test"]] {
        let finished = search(&[words, &["--", "--exact", "tests::delivers"]].concat()).expect_status(0);
        assert_eq!(names(&finished), [["parcels"], ["time"]], "{words:?} {finished}");
        let [(_, first), (_, second)] = answers(&finished).try_into().expect("two answers");
        assert!(first.starts_with("panic at src/lib.rs:") && second.starts_with("panic at src/lib.rs:"), "{finished}");
        assert_ne!(first, second, "each has a failure of its own: {finished}");
        finished.expect_message(&["fails in another way", "the search goes on for that failure"]);
        assert_eq!(finished.events_of("end")[0]["sets"], 2, "{finished}");
    }
}

#[test]
fn where_the_search_ends_before_all_is_told_the_status_says_so() {
    let finished = search(&["--max=1", "--", "--exact", "tests::delivers"]).expect_status(5);
    assert_eq!(names(&finished), [["parcels"]], "{finished}");
    finished.expect_message(&["as many as --max allows"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn what_fails_in_another_way_without_the_culprit_is_searched_for_of_any_command() {
    let scratch = Scratch::new();
    let mut command = scratch.driver(["exec", "--json", "--same-failure", "FOREIGN_CHANGES=PATTERN"]);
    command.arg(foreign::executable()).args(["--stumbles-when=40", "--fails-when=20", "--failing=7"]);
    let finished = run(&mut command).expect_status(0);
    let how: Vec<_> = answers(&finished).into_iter().map(|(_, how)| how).collect();
    assert_eq!(finished.culprits().concat(), ["mill.txt:41: step 40", "mill.txt:21: step 20"], "{finished}");
    assert_eq!(how, ["exit status 1", "exit status 7"], "{finished}");
}

/// Searches a target that exits with 7 by step 12, and otherwise with 8 in the executions for which `test` is true of
/// their number `$n`.
fn with_a_second_check(test: &str) -> Finished {
    let scratch = Scratch::new();
    let script = format!(
        "echo x >> count; n=$(wc -l < count); \"$1\" --fails-when=12 --failing=7 || exit 7; test ! {test} || exit 8"
    );
    scratch.write("target.sh", &script);
    let words = ["exec", "--json", "--same-failure", "FOREIGN_CHANGES=PATTERN", "sh", "target.sh"];
    Running::start(scratch.driver(words).arg(foreign::executable())).finish_with_any_line()
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_second_check_that_fails_without_any_change_is_how_the_target_passes() {
    let finished = with_a_second_check("$n -gt 0").expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:13: step 12"]], "{finished}");
    finished.expect_message(&["the search is for the changes that replace exit status 8 by exit status 7"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_second_check_that_fails_now_and_then_accuses_nobody() {
    let mut found = 0;
    for every in 2..=5 {
        for first in 0..every {
            let finished = with_a_second_check(&format!("$((n % {every})) -eq {first}"));
            // At both ends, only the second check may have failed: then there is nothing to find.
            let culprits = finished.culprits();
            assert!(culprits.is_empty() || culprits == [["mill.txt:13: step 12"]], "{every} {first} {finished}");
            found += culprits.len();
        }
    }
    assert!(found >= 10, "found in {found} of 14 searches");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_test_that_fails_after_another_one_is_searched_for_beside_it() {
    let fixture = Fixture::new("courier");
    let serial = ["--", "--test-threads=1", "--skip=delivers", "--skip=listens", "--skip=carries"];
    for words in [&[][..], &["-j2"], &["--per-test=always"], &["--per-test=never"]] {
        let finished = search_in(&fixture, &[words, &serial].concat()).expect_status(0);
        assert_eq!(names(&finished), [["gate"]], "{words:?} {finished}");
        finished.expect_message(&["run without the other tests it passes", "tests::the_dog_stays_in"]);
        let found = &finished.events_of("found")[0];
        assert_eq!(found["tests"].as_array().unwrap().as_slice(), ["tests::the_dog_stays_in"], "{finished}");
        // The line must run the other test as well.
        let line = found["reproduce"].as_str().unwrap().to_owned();
        let again = run(&mut fixture.shell(&line, "/".as_ref()));
        assert_ne!(again.status, Some(0), "{line} {again}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn an_address_in_use_or_a_kill_that_changes_make_is_their_failure() {
    for (test, culprit, how) in
        [("listens", "address", "address in use"), ("carries", "load", "killed by SIGKILL (out of memory?)")]
    {
        for words in [&[][..], &["--per-test=always"]] {
            let finished = search(&[words, &["--", "--exact", &format!("tests::{test}")]].concat()).expect_status(0);
            assert_eq!(answers(&finished), [(vec![culprit.to_owned()], how.to_owned())], "{finished}");
            finished.expect_message(&[how, "that is the failure that is searched for"]);
        }
    }
}

/// Searches a target that fails with step 12. Its shell first runs `also`, with `$n` as the number of the execution.
fn disturbed(also: &str) -> Finished {
    let scratch = Scratch::new();
    let count = "echo x >> count; n=$(wc -l < count)";
    scratch.write("target.sh", &format!("{count}; {also}\nexec \"$1\" --fails-when=12"));
    let mut command = scratch.driver(["exec", "--json", "FOREIGN_CHANGES=PATTERN", "sh", "target.sh"]);
    run(command.arg(foreign::executable()))
}

/// Returns the reasons of unresolved trials.
fn unresolved(finished: &Finished) -> Vec<String> {
    let trials = finished.events_of("trial").into_iter().filter(|trial| trial["outcome"] == "unresolved");
    trials.map(|trial| trial["reason"].as_str().unwrap().to_owned()).collect()
}

#[test]
#[ignore = "slow: CI runs it"]
fn surroundings_that_fail_once_cost_one_execution() {
    for also in ["kill -KILL $$", "kill -TERM $$", "echo No space left on device '(os error 28)'; exit 1"] {
        for n in [1, 2, 4, 7] {
            let finished = disturbed(&format!("test $n -ne {n} || {{ {also}; }}")).expect_status(0);
            assert_eq!(finished.culprits(), [["mill.txt:13: step 12"]], "{also} {n} {finished}");
            assert_eq!(unresolved(&finished), [""; 0], "{also} {n} {finished}");
            finished.expect_message(&["is made again at once"]);
        }
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn surroundings_that_go_on_failing_tell_nothing() {
    let also = "echo Address already in use '(os error 98)'; exit 1";
    let finished = disturbed(&format!("test $n -lt 4 || test $n -gt 5 || {{ {also}; }}")).expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:13: step 12"]], "{finished}");
    assert_eq!(unresolved(&finished), ["address in use"], "{finished}");

    let finished = disturbed(also).expect_status(3);
    finished.expect_message(&["failed because of the environment"]);
    let finished = disturbed("kill -KILL $$").expect_status(3);
    finished.expect_message(&["killed by SIGKILL"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn what_changes_do_to_the_target_is_not_its_surroundings() {
    let scratch = Scratch::new();
    scratch.write("target.sh", "\"$1\" --fails-when=12 || kill -KILL $$");
    let mut command = scratch.driver(["exec", "--json", "FOREIGN_CHANGES=PATTERN", "sh", "target.sh"]);
    let finished = run(command.arg(foreign::executable())).expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:13: step 12"]], "{finished}");
    finished.expect_message(&["killed by SIGKILL (out of memory?), twice in a row"]);
}
