//! `test --victim`: the tests that make another one fail, or that it needs, and what they share.
#![cfg(unix)]

use std::process::Command;

use bisect_tests::harness::{Finished, Fixture, Running, run, wait_until};

/// Returns the command that searches the fixture with this plot.
pub(crate) fn command(cast: &Fixture, plot: &str, words: &str) -> Command {
    let out = cast.dir().join("out").display().to_string();
    let words = ["test", "--json", "--quiet", "--out", &out].into_iter().chain(words.split_whitespace());
    let mut command = cast.driver(words);
    command.env("PLOT", plot).env("RUST_TEST_THREADS", "2");
    command
}

fn search(plot: &str, words: &str) -> Finished {
    run(&mut command(&Fixture::new("cast"), plot, words))
}

/// Returns the tests of each culprit.
pub(crate) fn found(finished: &Finished) -> Vec<Vec<String>> {
    let names = |found: &serde_json::Value| {
        let changes = found["changes"].as_array().unwrap().iter();
        let name = |change: &serde_json::Value| {
            assert_eq!(change["kind"], "test", "{finished}");
            change["name"].as_str().unwrap().strip_prefix("tests::").unwrap().to_owned()
        };
        let mut names: Vec<_> = changes.map(name).collect();
        names.sort();
        names
    };
    finished.events_of("found").iter().map(names).collect()
}

/// Returns the facts about the first culprit.
fn facts(finished: &Finished) -> String {
    facts_of(finished, 0)
}

/// Returns the facts about the culprit with this position among the answers.
pub(crate) fn facts_of(finished: &Finished, answer: usize) -> String {
    let end = &finished.events_of("end")[0];
    let facts = end["answers"][answer]["facts"].as_array().unwrap_or_else(|| panic!("{finished}")).iter();
    let lines = facts.map(|fact| format!("{}: {}", fact["of"].as_str().unwrap(), fact["text"].as_str().unwrap()));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_test_that_must_not_run_before_it() {
    let cast = Fixture::new("cast");
    let finished = run(&mut command(&cast, "victim=100 pollute=17", "--victim tests::t100")).expect_status(0);
    assert_eq!(found(&finished), [["t017"]]);
    let facts = facts(&finished);
    assert!(facts.contains("failures: in ") && facts.contains(" with it, in 0 of "), "{facts}");
    assert!(facts.contains("shared: state in the process") && facts.contains("cargo-nextest"), "{facts}");
    let line = finished.events_of("found")[0]["reproduce"].as_str().unwrap().to_owned();
    let reproduced = run(cast.shell(&line, cast.dir()).env("PLOT", "victim=100 pollute=17"));
    assert!(reproduced.stdout.contains("the victim fails"), "{line}\n{reproduced}");
    let short = finished.events_of("found")[0]["short"].as_str().unwrap().to_owned();
    assert_eq!(short, "cargo test -p cast --lib -- --test-threads 1 --exact tests::t017 tests::t100");
    let quoted = run(cast.shell(&short, cast.dir()).env("PLOT", "victim=100 pollute=17"));
    assert!(quoted.stdout.contains("the victim fails"), "{quoted}");
    let out = cast.dir().join("out").display().to_string();
    for (option, status) in [(None, 101), (Some("--off"), 0)] {
        let mut replay = cast.driver(["replay", &out]);
        let _ = run(replay.args(option).env("PLOT", "victim=100 pollute=17")).expect_status(status);
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_answer_of_several_runs_at_once_is_the_same() {
    let finished = search("victim=100 pollute=17+30 pollute=60", "--victim t100 -j 4").expect_status(0);
    let mut culprits = found(&finished);
    culprits.sort();
    assert_eq!(culprits, [vec!["t017", "t030"], vec!["t060"]]);
}

#[test]
fn without_a_name_the_test_that_passes_alone_is_the_victim() {
    let finished = search("victim=100 pollute=17", "--victim -- --test-threads 1").expect_status(0);
    assert_eq!(found(&finished), [["t017"]]);
    let finished = search("", "--victim").expect_status(1);
    finished.expect_message(&["all tests pass. If a test fails only sometimes, or only if it runs alone, name it"]);
    let finished = search("victim=100 always", "--victim").expect_status(1);
    finished.expect_message(&["1 test fails with all others and alone: tests::t100", "then give its name"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn without_a_name_a_test_that_fails_only_with_one_thread_is_the_victim() {
    // It fails beside a test that fails alone, too.
    for plot in ["victim=100 serial=17", "victim=100 serial=17 broken=50"] {
        let finished = search(plot, "--victim").expect_status(0);
        assert_eq!(found(&finished), [["t017"]]);
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn without_a_name_a_test_that_ends_the_process_is_the_victim() {
    let finished = search("victim=100 pollute=17 aborts", "--victim").expect_status(0);
    assert_eq!(found(&finished), [["t017"]]);
}

#[test]
fn without_a_name_a_test_that_ends_the_process_alone_is_named() {
    let finished = search("crash=50", "--victim").expect_status(1);
    finished.expect_message(&["1 test fails with all others and alone: tests::t050"]);
    let finished = search("victim=100 pollute=17 crash=50", "--victim").expect_status(0);
    assert_eq!(found(&finished), [["t017"]]);
}

#[test]
fn a_test_that_must_run_before_it() {
    let finished = search("victim=100 need=20", "--victim t100").expect_status(0);
    assert_eq!(found(&finished), [["t020"]]);
    assert_eq!(finished.events_of("found")[0]["mode"], "disable");
    assert!(facts(&finished).contains("in a process of its own"), "{finished}");
}

#[test]
fn files_that_tests_share_are_found() {
    let finished = search("victim=100 file=17", "--victim t100").expect_status(0);
    assert_eq!(found(&finished), [["t017"]]);
    assert!(facts(&finished).contains("with its own TMPDIR, `tests::t100` passes"), "{finished}");
}

/// Searches with this home directory.
fn search_at_home(plot: &str, words: &str) -> Finished {
    let cast = Fixture::new("cast");
    let home = cast.dir().join("home");
    std::fs::create_dir(&home).unwrap();
    let mut command = command(&cast, plot, words);
    // What cargo and rustup have in the user's home directory stays there.
    for (variable, name) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        let usual = std::env::home_dir().unwrap().join(name);
        command.env(variable, std::env::var_os(variable).unwrap_or(usual.into()));
    }
    let finished = run(command.env("HOME", &home)).expect_status(0);
    let line = finished.events_of("found")[0]["reproduce"].as_str().unwrap().to_owned();
    let reproduced = run(cast.shell(&line, cast.dir()).env("PLOT", plot).env("HOME", &home));
    assert!(reproduced.stdout.contains("the victim fails"), "{line}\n{reproduced}");
    finished
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_test_that_leaves_a_file_at_home_is_found() {
    // The first run leaves it for all others.
    let finished = search_at_home("victim=100 home=17", "--victim t100");
    assert_eq!(found(&finished), [["t017"]]);
    assert!(facts(&finished).contains("with its own HOME, `tests::t100` passes after that test"), "{finished}");
    let finished = search_at_home("victim=100 setup=17", "--victim t100");
    assert_eq!(found(&finished), [["t017"]]);
    assert!(facts(&finished).contains("with its own HOME, `tests::t100` fails after that test"), "{finished}");
}

#[test]
fn the_variable_that_names_what_tests_share_is_found() {
    let cast = Fixture::new("cast");
    cast.write("plot.txt", "victim=100 state=17");
    let mut command = command(&cast, "", "--victim t100");
    let finished = run(command.env_remove("PLOT").env("STATE_DIR", cast.dir()));
    assert_eq!(found(&finished), [["t017"]], "{finished}");
    assert!(facts(&finished).contains("without the variable STATE_DIR, `tests::t100` passes after"), "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_port_that_tests_share_is_found() {
    let cast = Fixture::new("cast");
    let mut command = command(&cast, "victim=100 port=99", "--victim t100 --seed 1");
    let finished = run(command.env("PORT", "4173{slot}")).expect_status(0);
    assert_eq!(found(&finished), [["t099"]]);
    assert!(facts(&finished).contains("with its own BISECT_SLOT, `tests::t100` passes beside"), "{finished}");
}

#[test]
fn each_of_several_culprits_has_its_own_rates_and_cause() {
    let finished = search("victim=100 pollute=17+30 pollute=60", "--victim t100").expect_status(0);
    let answers = &finished.events_of("end")[0]["answers"];
    for answer in answers.as_array().unwrap() {
        let text = answer["facts"].to_string();
        assert!(text.contains("in 0 of ") && text.contains("state in the process"), "{finished}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_test_that_must_not_run_beside_it() {
    // The plot does nothing to tests that run one after the other.
    let finished = search("victim=100 beside=99", "--victim t100 --seed 1").expect_status(0);
    assert_eq!(found(&finished), [["t099"]]);
    assert_eq!(finished.events_of("start").len(), 2, "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_test_that_never_fails_or_always() {
    let finished = search("victim=100", "--victim t100 --budget 10s").expect_status(1);
    let bound = "(a rate above ";
    finished.expect_message(&["`tests::t100` never failed: in 0 of ", "beside all others, 2 at once", " alone", bound]);
    let finished = search("victim=100 always", "--victim t100").expect_status(1);
    finished.expect_message(&["`tests::t100` fails alone, too: no other test is needed to make it fail"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_test_that_ends_the_process_does_not_fail_for_the_victim() {
    let finished = search("victim=100 pollute=17 crash=150", "--victim t100").expect_status(0);
    assert_eq!(found(&finished), [["t017"]]);
    let finished = search("victim=100 pollute=17 crash=50 crash=60", "--victim t100").expect_status(0);
    assert_eq!(found(&finished), [["t017"]]);
    let unresolved = finished.events_of("trial").into_iter().filter(|trial| trial["outcome"] == "unresolved");
    let reasons: Vec<_> = unresolved.map(|trial| trial["reason"].as_str().unwrap().to_owned()).collect();
    assert_eq!(reasons, ["t050", "t060"].map(|test| format!("`tests::{test}` ended the process: signal 6")));
}

#[test]
fn a_victim_that_hangs_fails() {
    let finished = search("victim=100 pollute=17 hang=150", "--victim t100 --timeout 60s").expect_status(0);
    assert_eq!(found(&finished), [["t017"]]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn what_cannot_be_searched_is_refused() {
    let finished = search("", "--victim t1000").expect_status(2);
    finished.expect_message(&["no test is called `t1000`, did you mean"]);
    let finished = search("", "--victim t100 --toggle x").expect_status(2);
    finished.expect_message(&["cannot be used with"]);
    let finished = search("", "--victim tests::t000 --budget 2s").expect_status(1);
    finished.expect_message(&["`tests::t000` never failed: in 0 of ", "or only on another machine"]);
    assert!(
        !finished.stderr.contains("runs alone") && !finished.stderr.contains("run alone"),
        "it never ran alone: {finished}"
    );
}

#[test]
fn an_interrupt_ends_it() {
    let cast = Fixture::new("cast");
    let mut command = command(&cast, "victim=100 hang=50", "--victim t100");
    let running = Running::start(&mut command);
    let logs = cast.dir().join("out/runs");
    wait_until("a run starts", || std::fs::read_dir(&logs).is_ok_and(|mut runs| runs.next().is_some()));
    running.signal("INT");
    assert_eq!(running.finish().status, Some(130));
}
