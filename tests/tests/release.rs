//! The fixture `release` agrees with its table: otherwise no search in it would prove anything.
// Undefined behaviour: its effects were only observed here.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::collections::BTreeMap;

use bisect_tests::{
    harness::{Fixture, run},
    release_cases::{Case, cases},
};

/// Runs the tests of an executable with these options of cargo, and returns true for those that pass.
fn results(fixture: &Fixture, target: &str, options: &[String]) -> BTreeMap<String, bool> {
    let mut command = fixture.cargo(["test", "--release", "--no-fail-fast", "--package=checks", "--test", target]);
    let finished = run(command.args(options));
    let results = finished.test_results();
    assert!(!results.is_empty(), "{finished}");
    assert!(!finished.stderr.contains("warning:"), "{finished}");
    results
}

fn config(key: &str, value: &str) -> Vec<String> {
    vec!["--config".to_owned(), format!("profile.release.{key}={value}")]
}

fn of_package(package: &str, key: &str, value: &str) -> Vec<String> {
    config(&format!("package.\"{package}@0.1.0\".{key}"), value)
}

/// Checks that exactly the expected tests fail.
#[track_caller]
fn expect(results: &BTreeMap<String, bool>, cases: &[Case], what: &str, fails: impl Fn(&Case) -> bool) {
    assert_eq!(results.len(), cases.len(), "{what}: {results:?}");
    for case in cases {
        assert_eq!(results.get(&case.test), Some(&!fails(case)), "{what}: {} passes", case.test);
    }
}

fn by_level(fixture: &Fixture) -> Vec<Case> {
    cases(fixture.dir()).into_iter().filter(Case::is_default).collect()
}

#[test]
#[ignore = "slow: CI runs it"]
fn every_case_passes_unoptimized_and_fails_in_release() {
    let fixture = Fixture::new("release");
    let cases = by_level(&fixture);
    assert!(cases.len() >= 6 && cases.iter().all(|case| case.target == "cases"));
    expect(&results(&fixture, "cases", &config("opt-level", "0")), &cases, "unoptimized", |_| false);
    for units in ["1", "16"] {
        expect(&results(&fixture, "cases", &config("codegen-units", units)), &cases, "in release", |_| true);
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn every_case_depends_on_its_crates_and_on_no_other_member() {
    let fixture = Fixture::new("release");
    let cases = by_level(&fixture);
    let members = members(&fixture);
    assert!(members.len() >= 8, "{members:?}");
    // For each bit of their numbers, half of the members are optimized, and then the other half: any two members differ
    // in one of these builds.
    for bit in 0..members.len().next_power_of_two().ilog2() {
        for half in [0, 1] {
            let optimized: Vec<_> = members
                .iter()
                .enumerate()
                .filter(|(number, _)| number >> bit & 1 == half)
                .map(|(_, name)| name)
                .collect();
            let mut options = config("opt-level", "0");
            options.extend(optimized.iter().flat_map(|name| of_package(name, "opt-level", "3")));
            let results = results(&fixture, "cases", &options);
            expect(&results, &cases, &format!("{optimized:?} optimized"), |case| {
                case.crates.iter().all(|name| optimized.contains(&name))
            });
        }
    }
}

/// Returns the packages of the fixture's workspace.
fn members(fixture: &Fixture) -> Vec<String> {
    let finished = run(&mut fixture.cargo(["metadata", "--format-version=1", "--no-deps"])).expect_status(0);
    let metadata: cargo_metadata::Metadata =
        serde_json::from_str(&finished.stdout).expect("cargo's metadata can be read");
    metadata.packages.iter().map(|package| package.name.to_string()).collect()
}

#[test]
fn other_profile_keys_break_their_cases() {
    let fixture = Fixture::new("release");
    let cases = cases(fixture.dir());
    let results_with = |case: &Case, options: &[String]| results(&fixture, "options", options)[&case.test];
    let mut checked = 0;
    for case in cases.iter().filter(|case| case.target == "options") {
        let [package] = &case.crates[..] else { panic!("{case:?}") };
        // Good and bad options differ in one key, which only one of them has.
        let Some((key, value)) = case.good.iter().chain(&case.bad).find_map(|option| {
            let (key, value) = option.split_once('=')?;
            (!key.starts_with('-')).then_some((key, value))
        }) else {
            assert!(results_with(case, &[]), "{}: it takes a flag to break it", case.test);
            continue;
        };
        let breaks = !case.bad.is_empty();
        assert_eq!(results_with(case, &[]), breaks, "{}: as it is", case.test);
        assert_eq!(results_with(case, &of_package(package, key, value)), !breaks, "{}: {key}={value}", case.test);
        checked += 1;
    }
    assert_eq!(checked, 2);
}
