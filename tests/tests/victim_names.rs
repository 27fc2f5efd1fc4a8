//! `test --victim`: names of tests, and a harness that takes only one of them.
#![cfg(unix)]

use bisect_tests::harness::{Finished, Fixture, run};

fn search(words: &str) -> (Fixture, Finished) {
    let mime = Fixture::new("mime");
    let finished = run(&mut mime.driver(["test", "--json"].into_iter().chain(words.split_whitespace())));
    (mime, finished)
}

#[test]
fn a_harness_that_takes_one_name_is_searched() {
    for words in ["--victim", "--victim lamp --test mime"] {
        let (mime, finished) = search(words);
        let found = &finished.clone().expect_status(0).events_of("found")[0];
        assert_eq!(found["changes"][0]["name"], "a file.txt", "{finished}");
        let line = found["reproduce"].as_str().unwrap();
        let _ = run(&mut mime.shell(line, mime.dir())).expect_status(101);
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn names_that_several_tests_have_are_refused() {
    let (_, finished) = search("--victim button");
    finished.expect_status(2).expect_message(&["`tests::button`", "`tests::deep::button`", "give the whole name"]);
    let (_, finished) = search("--victim tests::button --budget 2s");
    finished.expect_status(1).expect_message(&["`tests::button` never failed"]);
}

#[test]
fn a_full_name_precedes_the_end_of_another_one() {
    // The other one is `tests::deep::lamp`.
    let (_, finished) = search("--victim lamp");
    assert_eq!(finished.expect_status(0).events_of("found")[0]["tests"][0], "lamp");
}

#[test]
fn an_ignored_test_is_named() {
    let (_, finished) = search("--victim asleep");
    finished.expect_status(2).expect_message(&["`tests::deep::asleep` is ignored", "--include-ignored"]);
}

#[test]
fn it_belongs_to_test() {
    let mime = Fixture::new("mime");
    for command in ["run", "exec"] {
        let finished = run(&mut mime.driver([command, "--victim", "lamp"])).expect_status(2);
        finished.expect_message(&["`--victim` is an option of `cargo bisect-opt test`"]);
    }
}
