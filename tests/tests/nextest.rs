//! `nextest run`: the tests that nextest selects, each in a process of its own, with the variables that nextest sets.
#![cfg(unix)]

use std::{fs, io, io::Write as _, process::Command};

use bisect_tests::harness::{Finished, Fixture, Scratch, cargo, run, scrubbed};

/// Returns true if cargo-nextest is installed. Where it is not, the tests of this file say so.
fn is_there(fixture: &Fixture) -> bool {
    let found = run(scrubbed(&cargo(), fixture.dir()).args(["nextest", "--version"])).status == Some(0);
    if !found {
        // The harness captures only what macros print.
        let _ = writeln!(io::stderr(), "SKIPPED: cargo-nextest is not installed, so `nextest run` is not tested");
    }
    found
}

/// A package of three toggles at sites. Tests share a file of their process and need the variables of nextest.
const LIBRARY: &str = r#"
use bisect_rt::bisect_point;
use std::sync::atomic::{AtomicBool, Ordering};

pub fn sum(a: u32, b: u32) -> u32 { if bisect_point!("wrong-sum") { a + b + 1 } else { a + b } } // sum
pub fn product(a: u32, b: u32) -> u32 { if bisect_point!("wrong-product") { a * b + 1 } else { a * b } } // product

static IS_USED: AtomicBool = AtomicBool::new(false);

#[cfg(test)]
mod tests {
    use super::*;

    fn alone() {
        assert!(!IS_USED.swap(true, Ordering::Relaxed), "another test runs in this process");
        for (name, value) in [("NEXTEST", "1"), ("NEXTEST_EXECUTION_MODE", "process-per-test")] {
            assert_eq!(std::env::var(name).as_deref(), Ok(value));
        }
        let id = std::env::var("NEXTEST_RUN_ID").unwrap();
        assert_eq!(id.split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12], "{id}");
    }

    #[test]
    fn sums() { alone(); assert_eq!(sum(1, 2), 3); }
    #[test]
    fn products() { alone(); assert_eq!(product(1, 2), 2); }
    #[test]
    fn both() { alone(); assert_eq!(sum(product(1, 2), 1), 3); }
    #[test]
    #[ignore]
    fn slowly() { alone(); assert_eq!(product(2, 2), 4); }
}
"#;

fn package() -> Fixture {
    let fixture = Fixture::new("calls");
    fixture.write("src/lib.rs", LIBRARY);
    fixture.write("tests/program.rs", "#[test]\nfn sums() { assert_eq!(calls::sum(0, 0), 0); }\n");
    fixture
}

fn nextest(fixture: &Fixture, words: &[&str]) -> Command {
    let mut command = fixture.driver(["nextest", "run", "--json"]);
    command.args(words);
    command
}

/// Returns the tests of each culprit.
fn tests(finished: &Finished) -> Vec<String> {
    let found = finished.events_of("found");
    let tests = |found: &serde_json::Value| {
        found["tests"].as_array().unwrap().iter().map(|test| test.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let mut all: Vec<_> = found.iter().flat_map(tests).collect();
    all.sort();
    all.dedup();
    all
}

#[test]
fn each_test_has_a_process() {
    let fixture = package();
    if !is_there(&fixture) {
        return;
    }
    let finished = run(&mut nextest(&fixture, &[])).expect_status(0);
    assert_eq!(tests(&finished), ["sums", "tests::both", "tests::products", "tests::sums"], "{finished}");
    finished.expect_message(&["of cargo nextest run"]);
    // The lines that reproduce a culprit need no driver.
    for found in finished.events_of("found") {
        let line = found["reproduce"].as_str().unwrap();
        assert!(line.contains("--exact"), "{line}");
        let again = run(&mut fixture.shell(line, fixture.dir()));
        assert_eq!(again.status, Some(101), "{line}\n{again}");
        assert!(!again.stdout.contains("another test runs"), "{line}\n{again}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn nextest_selects_the_tests() {
    let fixture = package();
    if !is_there(&fixture) {
        return;
    }
    for (words, expected) in [
        (&["products"][..], &["tests::products"][..]),
        (&["-E", "binary(program)"], &["sums"]),
        (&["-E", "test(=tests::products)", "--no-fail-fast", "--test-threads=1"], &["tests::products"]),
        (&["--run-ignored", "only"], &["tests::slowly"]),
        (&["--lib", "--", "--exact", "tests::products"], &["tests::products"]),
        (&["-p", "calls", "--test=program"], &["sums"]),
    ] {
        let finished = run(&mut nextest(&fixture, words)).expect_status(0);
        assert_eq!(tests(&finished), expected, "{words:?}\n{finished}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn choices_at_build_time_and_a_single_run() {
    let fixture = package();
    if !is_there(&fixture) {
        return;
    }
    let source = fs::read_to_string(fixture.dir().join("src/lib.rs")).unwrap();
    let source = source.replace(
        "pub fn product(",
        "const EXTRA: u32 = if bisect_rt::bisect_build!(\"extra\") { 1 } else { 0 };\n\
         pub fn extra() -> u32 { EXTRA }\n#[test]\nfn has_no_extra() { assert_eq!(extra(), 0); }\npub fn product(",
    );
    fixture.write("src/lib.rs", &source);
    let finished = run(&mut nextest(&fixture, &["--toggle", "extra"])).expect_status(0);
    assert_eq!(tests(&finished), ["has_no_extra"], "{finished}");
    let line = finished.events_of("found")[0]["reproduce"].as_str().unwrap().to_owned();
    assert!(line.contains(" cargo nextest run ") && line.contains("test(=has_no_extra)"), "{line}");
    assert_eq!(run(&mut fixture.shell(&line, fixture.dir())).status, Some(100), "{line}");
    let verdict = |words: &[&str]| {
        let mut command = fixture.driver(["nextest", "run", "--verdict"]);
        run(command.args(words)).status
    };
    for (body, status) in [("", 0), ("panic!()", 1)] {
        fixture.write("tests/program.rs", &format!("#[test]\nfn is_there() {{ {body} }}\n"));
        assert_eq!(verdict(&["-E", "binary(program)"]), Some(status));
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_machine_without_nextest_is_helped() {
    let fixture = package();
    // This cargo does not find nextest, even if it is installed.
    let lines = format!(
        "#!/bin/sh\nif [ \"$1\" = nextest ]; then shift; set -- absent-runner \"$@\"; fi\nexec '{}' \"$@\"\n",
        cargo().display()
    );
    let scratch = Scratch::new();
    let without = scratch.script("cargo", &lines);
    let finished = run(nextest(&fixture, &[]).env("CARGO", &without)).expect_status(3);
    finished.expect_message(&[
        "`cargo nextest list` failed: no such command: `absent-runner`",
        "\nhelp: install it with `cargo install --locked cargo-nextest`",
    ]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn what_nextest_has_and_a_search_has_not_is_refused() {
    let fixture = package();
    let refused = |words: &[&str]| run(fixture.driver(["nextest"]).args(words)).expect_status(2);
    refused(&["run", "--retries", "2"]).expect_message(&["cannot use the option `--retries`"]);
    refused(&["run", "--filterste", "x"]).expect_message(&["did you mean `--filterset`?"]);
    refused(&["list"]).expect_message(&["only `run` can be searched"]);
    if is_there(&fixture) {
        let wrong = run(&mut nextest(&fixture, &["-E", "test("])).expect_status(3);
        wrong.expect_message(&["`cargo nextest list` failed: "]);
        let none = run(&mut nextest(&fixture, &["no_such_test"]));
        none.expect_message(&["test"]);
        assert!(matches!(none.status, Some(2 | 3)), "{none}");
    }
}
