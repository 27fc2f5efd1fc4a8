//! Tests of runs that begin with a build: build-time changes, flags for the compiler.

use std::{num::NonZeroUsize, time::Duration};

use bisect_core::{
    ChangeId, Pattern, Suffix,
    search::{Outcome, Reason},
};

use super::{
    prepare::toggles,
    test_bench::{Bench, MANIFEST, settings, strings},
};
use crate::{
    cargo::Subcommand, fixture::Fixture, lab::target::Target, process::interrupt::Interrupt, report::kind::ChangeKind,
    run::repetition::Repetition,
};

#[test]
#[ignore = "slow: CI runs it"]
fn several_executions_are_one_run_of_one_build() {
    // The second of three executions fails, unless no change is enabled.
    let library = "
#[test]
fn counts() {
    use std::{fs, io::Write, path::Path};

    let file = Path::new(env!(\"CARGO_MANIFEST_DIR\")).join(\"count\");
    fs::OpenOptions::new().append(true).create(true).open(&file).unwrap().write_all(b\"x\").unwrap();
    assert!(cfg!(one = \"n\") || fs::read(&file).unwrap().len() % 3 != 2);
}
#[test]
fn broken_anyway() { panic!() }
";
    let fixture = Fixture::new(&[("Cargo.toml", MANIFEST), ("src/lib.rs", library)]);
    let mut settings = settings(Subcommand::Test, &fixture, "", &[]);
    settings.rustflags = Some("--cfg one=\"PATTERN\"".to_owned());
    let mut bench = Bench::new(settings);
    bench.repetition = Repetition::UntilFailure(NonZeroUsize::new(3).unwrap());
    let culprit = strings(&["counts"]);
    for (pattern, outcome, failed, executions) in [
        // A test that was broken anyway ends no run before that is known.
        ("y", Outcome::Fail, &culprit, 3),
        ("01", Outcome::Fail, &culprit, 2),
        ("n", Outcome::Pass, &Vec::new(), 3),
    ] {
        let run = bench.run(pattern);
        assert_eq!((run.outcome, &run.failed_tests, run.executions), (outcome, failed, executions), "{pattern}");
        assert!(run.build_time > Duration::ZERO);
        assert_eq!(bench.log().matches("running 1 test\n").count(), run.executions * usize::from(pattern != "y"));
    }
    // The first run also needed the failures at the end states.
    assert_eq!(bench.builds().0, 5);
}

#[test]
fn build_time_changes_are_searched_by_building() {
    let _alone = Fixture::alone_with_top();
    let mut bench = Bench::test("-p top", &[]);
    // `fast` and `safe`; with `safe` off another test fails, so one of them is left out.
    assert_eq!(bench.outcome("y"), (Outcome::Fail, strings(&["tests::fails_if_the_second_is_fast"]), 4));
    assert_eq!(bench.outcome("n"), (Outcome::Pass, Vec::new(), 4));
    assert_eq!(bench.kind("fast"), ChangeKind::BUILD);

    // Only crates with other decisions are compiled again: `top`, and only its test that is repeated.
    let (listed, _) = toggles(&Fixture::toggles().words("-p top"), &[], true, &Interrupt::default()).unwrap();
    let safe = listed.iter().find(|toggle| toggle.name == "safe").unwrap();
    let safe = safe.build.as_ref().unwrap().id;
    bench.run("y");
    let before = bench.builds();
    let without_safe = Pattern::new([Suffix::ALL], [Suffix::exactly(safe)]).to_string();
    assert_eq!(bench.outcome(&without_safe).2, 3);
    assert_eq!(bench.builds(), (before.0 + 1, before.1 + 1));

    let found: Vec<_> = bench.search();
    assert_eq!(found, [(1, strings(&["tests::fails_if_the_second_is_fast"]))]);
    let summary = bench.program.axis().summary(bench.program.builds()).unwrap();
    assert!(summary.contains(" builds for these runs compiled "));
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_line_that_reproduces_a_build_time_change_builds_it() {
    let _alone = Fixture::alone_with_top();
    let mut bench = Bench::test("-p top", &["fast"]);
    bench.run("y");
    bench.run("n");
    let line = bench.reproduce("n");
    assert!(line.contains(" BISECT_BUILD_low_1_2_3_rc_1=off cargo test "), "{line}");
    assert!(line.ends_with(" -- --exact tests::fails_if_the_second_is_fast"), "{line}");
    assert_eq!(bench.shell("n").status.code(), Some(0));
    assert_eq!(bench.shell("y").status.code(), Some(101));
}

#[test]
fn flags_for_the_compiler_are_searched_through_its_messages() {
    // Two changes, reported by the compiler in its warnings. With both, the test fails.
    let library = "
#[cfg(any(one = \"y\", one = \"n\", one = \"01\", one = \"x0000000000000001\"))]
#[deprecated(note = \"[bisect-match 0x1]\")]
pub(crate) fn one() {}
#[cfg(any(one = \"y\", one = \"01\", one = \"x0000000000000001\"))]
#[test]
fn breaks() { one(); panic!() }
#[cfg(one = \"n\")]
pub(crate) fn reports() { one() }
#[test]
fn works() {}
#[cfg(one = \"x1\")]
compile_error!(\"cannot be built so\");
";
    let fixture = Fixture::new(&[("Cargo.toml", MANIFEST), ("src/lib.rs", library)]);
    let mut settings = settings(Subcommand::Test, &fixture, "", &[]);
    settings.rustflags = Some("--cfg one=\"PATTERN\"".to_owned());
    let mut bench = Bench::new(settings);
    let breaks = strings(&["breaks"]);
    assert_eq!(bench.outcome("y"), (Outcome::Fail, breaks.clone(), 1));
    assert_eq!(bench.outcome("n"), (Outcome::Pass, Vec::new(), 1));
    assert_eq!(bench.outcome("y"), (Outcome::Fail, breaks, 1), "cargo repeats the messages of what is up to date");
    assert_eq!(bench.run("y").reports.ids(), [ChangeId(1)]);
    let run = bench.run("x1");
    assert_eq!(
        (run.outcome, run.reason.as_str()),
        (Outcome::Unresolved(Reason::Build), "does not build: error at src/lib.rs:13:1")
    );
    assert!(bench.log().contains("cannot be built so"), "{}", bench.log());
    assert_eq!(bench.program.terms().axis, "rustflags");
    let line = bench.reproduce("y");
    assert!(line.contains("RUSTFLAGS='--cfg one=\"y\"' cargo test "), "{line}");
}
