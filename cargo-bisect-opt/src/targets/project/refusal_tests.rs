//! Tests of projects and options that cannot be searched, and of the messages that say so.

use bisect_core::Pattern;

use super::{
    prepare::toggles,
    test_bench::{Bench, MANIFEST, refused, settings},
};
use crate::{
    cargo::{CargoError, Subcommand, toggle_choice::ToggleError},
    fixture::Fixture,
    process::interrupt::Interrupt,
};

#[test]
fn a_filter_that_matches_no_test_is_an_error() {
    let mut bench = Bench::test("-p gates --lib nonesuch", &[]);
    let error = bench.try_run(&Pattern::all()).unwrap_err().to_string();
    assert!(error.ends_with("nonesuch` runs no test: no test name matches the arguments"), "{error}");
}

#[test]
fn a_filter_that_is_almost_the_name_of_a_test_gets_a_suggestion() {
    for filter in ["test::broken_anyway", "brokne_anyway"] {
        let mut bench = Bench::test(&format!("-p gates --lib {filter}"), &[]);
        let error = bench.try_run(&Pattern::all()).unwrap_err().to_string();
        assert!(error.ends_with("no test name matches the arguments, did you mean `tests::broken_anyway`?"), "{error}");
    }
}

#[test]
fn toggles_are_listed_and_unknown_ones_refused() {
    let _alone = Fixture::alone_with_top();
    let fixture = Fixture::toggles();
    let names = |line: &str| {
        let (toggles, _) = toggles(&fixture.words(line), &[], true, &Interrupt::default()).unwrap();
        toggles.into_iter().map(|toggle| toggle.name).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names("-p gates"), "double program shield way");
    assert_eq!(names("-p top"), "fast fast fast safe");

    let error = refused(settings(Subcommand::Test, fixture, "-p gates", &["weg"]));
    assert_eq!(error.to_string(), "no toggle is called `weg`\nhelp: there is `double`, `program`, `shield`, `way`");
    assert!(error.is_usage());
}

#[test]
fn what_does_not_build_is_told_in_cargos_words() {
    let fixture = Fixture::new(&[("Cargo.toml", MANIFEST), ("src/lib.rs", "fn f() { nonsense }")]);
    let error = refused(settings(Subcommand::Test, &fixture, "", &[]));
    assert!(matches!(error, CargoError::Build { .. }));
    let text = error.to_string();
    assert!(text.starts_with("`cargo test --no-run --offline` failed with exit status 101\n"), "{text}");
    assert!(text.contains("cannot find value `nonsense`"), "{text}");
}

#[test]
fn a_program_without_the_runtime_is_not_started_to_list_toggles() {
    let started = "fn main() { std::fs::write(\"started\", \"\").unwrap(); println!(\"x\\tsite\\ta.rs:1:1\\ton\"); }";
    let fixture = Fixture::new(&[("Cargo.toml", MANIFEST), ("src/main.rs", started)]);
    let error = refused(settings(Subcommand::Run, &fixture, "", &[]));
    assert!(matches!(error, CargoError::Toggles(ToggleError::NoToggles(_))), "{error}");
    assert!(!error.is_usage());
    assert!(!fixture.path().join("started").exists());
}

#[test]
fn a_project_without_tests_and_documentation_tests_are_refused() {
    let manifest = format!("{MANIFEST}[lib]\ntest = false\n");
    let fixture = Fixture::new(&[("Cargo.toml", &manifest), ("src/lib.rs", "")]);
    let error = refused(settings(Subcommand::Test, &fixture, "", &[])).to_string();
    assert!(error.ends_with("has nothing to run: no target has tests"), "{error}");
    assert!(refused(settings(Subcommand::Test, &fixture, "--doc", &[])).is_usage());
    let error = refused(settings(Subcommand::Run, &fixture, "", &[]));
    assert_eq!(
        error.to_string(),
        "a bin target must be available for `cargo run`\nhelp: name another package with -p, or an example with --example"
    );
}
