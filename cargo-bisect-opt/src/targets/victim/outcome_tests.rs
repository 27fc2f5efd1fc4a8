//! Tests of the outcome of a victim.
#![cfg(unix)]

use std::{os::unix::process::ExitStatusExt, process::ExitStatus, time::Duration};

use bisect_core::search::{Outcome, Reason};
use regex::bytes::Regex;

use super::outcome::VictimRule;
use crate::process::{Ending, Finished};

const SKIP: Outcome = Outcome::Unresolved(Reason::Skip);

/// The rule for `victim` among three tests that run one after the other.
const RULE: VictimRule<'_> =
    VictimRule { victim: "m::victim", tests: 3, before: 1, threads: 1, skip_code: 125, fail_when: None };

fn outcome(ending: Ending, output: &str) -> (Outcome, String) {
    RULE.outcome(&finished(ending, output))
}

fn finished(ending: Ending, output: &str) -> Finished {
    Finished { ending, output: output.as_bytes().to_vec(), duration: Duration::ZERO, lost_log: None }
}

fn exit(code: i32) -> Ending {
    Ending::Exited(ExitStatus::from_raw(code << 8))
}

/// Returns the output of a harness that ends as it should.
fn output(failed: &[&str]) -> String {
    let list: Vec<_> = failed.iter().map(|name| format!("    {name}\n")).collect();
    let (word, count) = if failed.is_empty() { ("ok", 0) } else { ("FAILED", failed.len()) };
    let list = if failed.is_empty() { String::new() } else { format!("\nfailures:\n{}", list.concat()) };
    format!("\nrunning 3 tests\n{list}\ntest result: {word}. {} passed; {count} failed; 0 ignored\n", 3 - count)
}

#[test]
fn only_failures_of_the_victim_count() {
    assert_eq!(outcome(exit(0), &output(&[])).0, Outcome::Pass);
    assert_eq!(outcome(exit(101), &output(&["a"])).0, Outcome::Pass);
    assert_eq!(outcome(exit(101), &output(&["victim"])).0, Outcome::Pass);
    assert_eq!(outcome(exit(101), &output(&["a", "m::victim"])), (Outcome::Fail, "exit status 101".to_owned()));
}

#[test]
fn the_cause_is_that_of_the_victim() {
    let panicked = |name: &str, line: u8| {
        format!("---- {name} stdout ----\nthread '{name}' panicked at src/lib.rs:{line}:5:\nbad\n\n")
    };
    let printed = format!("failures:\n\n{}{}", panicked("a", 1), panicked("m::victim", 2));
    let text = output(&["a", "m::victim"]).replacen("\nfailures:", &format!("\n{printed}\nfailures:"), 1);
    let cause = |ending, text: &str| RULE.cause(&finished(ending, text)).to_string();
    assert_eq!(cause(exit(101), &text), "panic at src/lib.rs:2:5");
    assert_eq!(cause(Ending::Exited(ExitStatus::from_raw(11)), "\nrunning 3 tests\n"), "signal 11");
    assert!(RULE.cause(&finished(exit(101), &output(&["m::victim"]))).is_unknown());
}

#[test]
fn tests_that_did_not_run_tell_nothing() {
    let fewer = output(&[]).replace("running 3", "running 2");
    assert_eq!(outcome(exit(0), &fewer), (SKIP, "2 of 3 tests were run".to_owned()));
    // A test that ends the process makes no test pass.
    assert_eq!(outcome(exit(0), "\nrunning 3 tests\ntest a ... ok\ntest b ... ").0, SKIP);
    assert_eq!(outcome(exit(125), "").0, SKIP);
}

#[test]
fn the_test_that_ran_last_ended_the_process() {
    let killed = Ending::Exited(ExitStatus::from_raw(6));
    for ending in [killed, Ending::TimedOut] {
        let (victim, description) = outcome(ending, "\nrunning 3 tests\ntest a ... ok\ntest m::victim ... ");
        assert_eq!(victim, Outcome::Fail);
        assert_eq!(description, if ending == killed { "signal 6" } else { "timeout" });
        let (other, description) = outcome(ending, "\nrunning 3 tests\ntest a ... ok\ntest b ... ");
        assert_eq!(other, SKIP);
        assert!(description.starts_with("`b` ended the process: "), "{description}");
        let ended = "\nrunning 3 tests\ntest m::victim ... ok\ntest n ... ";
        assert_eq!(outcome(ending, ended).0, Outcome::Pass);
        let failed = "\nrunning 3 tests\ntest m::victim ... FAILED\ntest n ... ";
        assert_eq!(outcome(ending, failed).0, Outcome::Fail);
    }
}

#[test]
fn in_parallel_a_crash_is_a_failure_if_the_victim_was_running() {
    let output = "\nrunning 9 tests\ntest a ... ok\ntest c ... ok\n";
    let killed = finished(Ending::Exited(ExitStatus::from_raw(6)), output);
    let rule =
        |before| VictimRule { victim: "m::victim", tests: 9, before, threads: 2, skip_code: 125, fail_when: None };
    // Two tests have ended, so two more of the first four were running.
    assert_eq!(rule(3).outcome(&killed), (Outcome::Fail, "signal 6".to_owned()));
    assert_eq!(rule(4).outcome(&killed).0, SKIP);
    assert_eq!(VictimRule { tests: 1, ..rule(4) }.outcome(&killed).0, Outcome::Fail);
    let ended = finished(Ending::TimedOut, "\nrunning 9 tests\ntest a ... ok\ntest m::victim ... ok\n");
    assert_eq!(rule(1).outcome(&ended).0, Outcome::Pass);
}

#[test]
fn another_failure_is_unresolved() {
    let other = Regex::new("other").unwrap();
    let rule =
        VictimRule { victim: "m::victim", tests: 3, before: 1, threads: 1, skip_code: 125, fail_when: Some(&other) };
    assert_eq!(rule.outcome(&finished(exit(101), &output(&["m::victim"]))).0, SKIP);
    assert_eq!(rule.outcome(&finished(exit(101), &(output(&["m::victim"]) + "other"))).0, Outcome::Fail);
}
