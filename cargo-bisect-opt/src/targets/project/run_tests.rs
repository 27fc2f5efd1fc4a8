//! Tests of runs: which tests are repeated, which failures count, interrupts, lines to paste.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bisect_core::{
    Pattern, Suffix,
    search::{Outcome, Reason},
};
use regex::bytes::Regex;

use super::{
    prepare::prepare,
    test_bench::{Bench, settings, spec, strings},
};
use crate::{
    cargo::{CargoError, Subcommand},
    fixture::Fixture,
    lab::target::{Judge, Runner, Target},
    process::{interrupt::Interrupt, scratch_dir::ScratchDir, slots::Slots},
    report::kind::ChangeKind,
    run::{error::RunError, in_flight::InFlight, repetition::Repetition, spec::Surroundings},
};

#[test]
fn only_the_tests_that_fail_one_way_are_repeated_and_count() {
    let mut bench = Bench::test("-p gates --lib", &["way"]);
    let culprit = strings(&["tests::fails_if_way_is_on"]);
    assert_eq!(bench.outcome("y"), (Outcome::Fail, culprit.clone(), 1));
    assert!(bench.log().contains("running 6 tests"), "the first two runs run everything: {}", bench.log());
    let notes = bench.program.take_notes();
    let both = "left out, because they fail both ways: tests::broken_anyway, tests::fails_if_both_calls_are_doubled";
    assert_eq!(notes, [both]);

    let id = bench.run("y").reports.ids()[0];
    let run = bench.run(&format!("v{}", Pattern::new([Suffix::exactly(id)], [])));
    assert_eq!((run.outcome, &run.failed_tests), (Outcome::Fail, &culprit));
    assert_eq!(run.reports.get(id).text.len(), 1);
    assert!(run.reports.get(id).text[0].ends_with(" way"), "{:?}", run.reports.get(id).text);
    assert!(bench.log().contains("running 1 test\n"), "{}", bench.log());
    assert_eq!(bench.outcome("n").0, Outcome::Pass);
    assert_eq!((bench.program.terms().axis, bench.kind("way")), ("toggles", ChangeKind::SITE));
    assert_eq!(bench.kind("double"), ChangeKind::STACK);

    assert_eq!(bench.shell("y").status.code(), Some(101), "{}", bench.reproduce("y"));
    assert_eq!(bench.shell("n").status.code(), Some(0));
}

#[test]
fn what_fails_only_with_everything_disabled_is_found_among_what_fails_both_ways() {
    let mut bench = Bench::test("-p gates --lib", &["shield"]);
    assert_eq!(bench.outcome("y"), (Outcome::Pass, Vec::new(), 1));
    assert_eq!(bench.outcome("n"), (Outcome::Fail, strings(&["tests::fails_if_shield_is_off"]), 1));
}

#[test]
fn a_pair_of_call_stacks_is_found() {
    let mut bench = Bench::test("-p gates fails_if_both", &["double"]);
    assert_eq!(bench.search(), [(2, strings(&["tests::fails_if_both_calls_are_doubled"]))]);
    assert!(bench.runs <= 12, "{} runs", bench.runs);
}

#[test]
fn toggles_in_a_child_process_are_found() {
    let mut bench = Bench::test("-p gates --test child", &["program"]);
    assert_eq!(bench.search(), [(1, strings(&["a_child_fails"]))]);
    // The test asks for one of cargo's variables, and only that one is needed.
    let line = bench.reproduce("y");
    assert!(line.contains(" CARGO_BIN_EXE_gates=") && !line.contains("CARGO_PKG_"), "{line}");
    // The executable is searched for the names of variables once, not for each culprit.
    let needed = || bench.program.needed_variables.borrow_mut();
    let keys: Vec<_> = needed().keys().cloned().collect();
    assert_eq!(keys.len(), 1);
    needed().insert(keys[0].clone(), Arc::new([("KEPT".to_owned(), "yes".into())].into()));
    let line = bench.reproduce("y");
    assert!(line.contains(" KEPT=yes ") && !line.contains(" CARGO_BIN_EXE_gates="), "{line}");
    needed().clear();
    assert_eq!((bench.shell("y").status.code(), bench.shell("n").status.code()), (Some(101), Some(0)));
}

#[test]
fn a_run_that_hangs_has_failed() {
    let mut settings = settings(Subcommand::Test, Fixture::toggles(), "-p gates --lib --- --ignored", &["way"]);
    settings.timeout = Some(Duration::from_millis(300));
    let run = Bench::new(settings).run("y");
    assert_eq!((run.outcome, run.reason.as_str()), (Outcome::Fail, "timeout"));
    assert_eq!(run.failed_tests, ["tests::takes_for_ever"]);
}

#[test]
fn an_interrupt_stops_builds_and_runs() {
    let interrupt = Interrupt::default();
    interrupt.raise();
    let wanted = settings(Subcommand::Test, Fixture::toggles(), "-p gates --lib --- --ignored", &["way"]);
    assert!(matches!(prepare(wanted.clone(), &interrupt), Err(CargoError::Interrupted)));

    let bench = Bench::new(wanted);
    // The test that hangs is interrupted as soon as it runs.
    let interrupt = Interrupt::default();
    let (log, over) = (bench.dir.path().join("log"), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let is_running = || fs_err::read_to_string(&log).is_ok_and(|text| text.contains("running 1 test"));
            while !is_running() && !over.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            interrupt.raise();
        });
        let (slots, scratch) = (&Slots::inherited(), &ScratchDir::new().unwrap());
        let surroundings =
            Surroundings { slots, scratch, interrupt: &interrupt, seat: &InFlight::default().begin(0, 1) };
        let spec = spec(bench.dir.path(), &Pattern::all(), Repetition::Once);
        let result = bench.program.runner().run(&spec, &bench.program.known_failures(), &surroundings);
        over.store(true, Ordering::Relaxed);
        assert!(matches!(result, Err(RunError::Interrupted)));
    });
}

#[test]
fn only_failures_that_match_count() {
    let mut settings = settings(Subcommand::Test, Fixture::toggles(), "-p gates fails_if", &["double"]);
    settings.fail_when = Some(Regex::new("another message").unwrap());
    let run = Bench::new(settings).run("y");
    assert_eq!(run.outcome, Outcome::Unresolved(Reason::Skip));
    assert_eq!(run.reason, "another failure: exit status 101");
}

#[test]
fn a_program_is_run_where_the_user_is() {
    let fixture = Fixture::toggles();
    let mut bench = Bench::new(settings(Subcommand::Run, fixture, "-p gates", &["program"]));
    assert_eq!(bench.search(), [(1, Vec::new())]);
    bench.run("n");
    assert_eq!(bench.log(), format!("in {} with []\n", fixture.path().display()));
    assert_eq!((bench.shell("y").status.code(), bench.shell("n").status.code()), (Some(1), Some(0)));

    let mut bench = Bench::new(settings(Subcommand::Run, fixture, "-p gates a -x --- b", &["program"]));
    assert_eq!(bench.run("n").outcome, Outcome::Fail);
    assert!(bench.log().ends_with("with [\"a\", \"-x\", \"--\", \"b\"]\n"), "{}", bench.log());
}
