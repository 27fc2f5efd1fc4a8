//! `--when`: the first of a culprit's decisions that matters.

use bisect_tests::{
    foreign,
    harness::{Finished, Fixture, Scratch, run},
};

/// Returns the names of the decisions that were found.
fn decisions(finished: &Finished) -> Vec<String> {
    let found = finished.events_of("found").into_iter().filter(|found| found["within"].is_number());
    let name = |found: serde_json::Value| {
        assert_eq!(found["changes"][0]["kind"], "count", "{finished}");
        found["changes"][0]["name"].as_str().unwrap().to_owned()
    };
    found.map(name).collect()
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_call_is_found_among_sixty_thousand() {
    let fixture = Fixture::new("calls");
    let words = ["test", "--json", "--when", "--toggle=line", "--", "a_long_day"];
    let finished = run(&mut fixture.driver(words)).expect_status(0);
    assert_eq!(decisions(&finished), ["the 48,213th call, in thread tests::a_long_day"]);
    // The numbers 1, 2, 4, …; then log2 N + 1 + 4, and the four checks.
    let end = &finished.events_of("end")[0];
    let (runs, of_when) = (end["runs"].as_u64().unwrap(), 17 + (16 + 1 + 4) + 4);
    assert!(runs <= of_when + 4 + 4 + 2, "{finished}");
    assert_eq!(end["sets"], 1, "{finished}");
    let found = &finished.events_of("found")[1];
    let line = found["reproduce"].as_str().unwrap();
    assert!(line.contains("BISECT_UNTIL=x") && line.contains(":48213 "), "{line}");
}

#[test]
fn each_thread_counts_its_own_calls() {
    let fixture = Fixture::new("calls");
    let words = ["test", "--json", "--when", "--toggle=line", "-j2", "--", "four_operators"];
    let finished = run(&mut fixture.driver(words)).expect_status(0);
    assert_eq!(decisions(&finished), ["the 6th call, in thread operator-3"]);
}

#[cfg(unix)]
#[test]
#[ignore = "slow: CI runs it"]
fn a_debugger_stops_at_the_call() {
    let gdb = std::process::Command::new("gdb").arg("--version").output();
    if gdb.is_err() {
        assert!(std::env::var_os("CI").is_none(), "CI has gdb");
        eprintln!("*** SKIPPED: no gdb ***");
        return;
    }
    let fixture = Fixture::new("calls");
    let _ = run(&mut fixture.driver(["test", "--when", "--toggle=line", "--", "a_long_day"])).expect_status(0);
    let finished = run(&mut fixture.driver(["replay", "--set=2", "--debugger=gdb -batch -ex 'info args'"]));
    assert!(finished.stdout.ends_with("call = 48212\nlost = 48212\n"), "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn another_runtime_is_said() {
    let scratch = Scratch::new();
    let mut command = scratch.driver(["exec", "--when", "FOREIGN_CHANGES=PATTERN"]);
    let finished = run(command.arg(foreign::executable()).args(["--steps=9", "--fails-when=3"])).expect_status(0);
    finished.expect_message(&["no decision was found: the target does not count its decisions", "BISECT_UNTIL"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_limit_of_runs_counts_for_decisions_too() {
    let scratch = Scratch::new();
    let runs = |options: &[&str], status| {
        let mut command = scratch.driver(["exec", "--json"]);
        command.args(options).arg("FOREIGN_CHANGES=PATTERN").arg(foreign::executable());
        let finished = run(command.args(["--steps=9", "--fails-when=3"])).expect_status(status);
        (finished.events_of("end")[0]["runs"].as_u64().unwrap(), finished)
    };
    let (most, _) = runs(&[], 0);
    let (made, finished) = runs(&["--when", "--max-runs", &most.to_string()], 5);
    assert_eq!(made, most, "{finished}");
    finished.expect_message(&["found 1 culprit", "stopped at --max-runs: allow more runs for the rest of the answer"]);
}

#[test]
fn what_is_not_decided_at_run_time_is_said() {
    let scratch = Scratch::new();
    for words in [&["build", "--when"][..], &["test", "--when", "--codegen"], &["count", "--when", "true", "COUNT"]] {
        let finished = run(&mut scratch.driver(words.iter().copied())).expect_status(2);
        finished.expect_message(&["--when", "`test`, `run` and `exec`"]);
    }
}
