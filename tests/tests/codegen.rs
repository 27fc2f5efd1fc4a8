//! "It works in debug and fails in release": each case of the fixture `release`, down to the pass, and what is said to
//! reproduce it.
#![cfg(unix)]

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Command,
};

use bisect_tests::{
    harness::{Finished, Fixture, RustcDriver, Scratch, fixtures_target_dir, run, rustc_driver, scrubbed},
    release::{self, Case},
};
use serde_json::Value;

/// Where the cases are compiled. One directory for all, so that what they have in common is compiled once.
fn target_dir() -> PathBuf {
    fixtures_target_dir().with_file_name("release-target")
}

/// All cases searched one after the other, each to its end, so that one that fails hides no other.
fn search_all(driver: Option<&RustcDriver>) {
    let fixture = Fixture::new(release::NAME);
    let mut wrong = Vec::new();
    for case in release::cases() {
        let scratch = Scratch::new();
        let mut command = fixture.driver(case.arguments());
        command.env("CARGO_TARGET_DIR", target_dir()).args(["--json", "--out"]).arg(scratch.dir().join("out"));
        if let Some(RustcDriver { driver, rustc }) = driver {
            command.env("RUSTC", rustc).arg("--driver").arg(driver);
        }
        let finished = run(&mut command);
        let answer = check(&case, &fixture, &finished, driver);
        println!("{}: {}", case.test, answer.as_ref().map_or("WRONG", |answer| answer));
        wrong.extend(answer.err().map(|why| format!("{}: {why}\n{finished}", case.test)));
    }
    assert!(wrong.is_empty(), "{} cases\n{}", wrong.len(), wrong.join("\n\n"));
}

/// Says what is wrong as text.
fn expect(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}

/// The answer in short.
fn check(case: &Case, fixture: &Fixture, finished: &Finished, driver: Option<&RustcDriver>) -> Result<String, String> {
    expect(finished.status == Some(0), || "another status".to_owned())?;
    let events = finished.events();
    let (ends, found) = (finished.events_of("end"), finished.events_of("found"));
    expect(ends.len() == 1 && events.last() == ends.first(), || "one end, and nothing behind it".to_owned())?;
    expect((&ends[0]["status"], &ends[0]["sets"]) == (&0.into(), &1.into()), || format!("{}", ends[0]))?;
    let numbers = |kind: &str, key: &str| finished.events_of(kind).iter().map(|e| e[key].as_u64()).collect::<Vec<_>>();
    // A trial that was run once more is told once more.
    let trials: BTreeSet<_> =
        finished.events_of("trial").iter().map(|e| (e["n"].as_u64(), e["pattern"].to_string())).collect();
    let unique: BTreeSet<_> = numbers("trial", "n").into_iter().collect();
    expect(unique.len() == trials.len(), || "a number of two trials".to_owned())?;
    let in_order: Vec<_> = (1..=found.len() as u64).map(Some).collect();
    expect(numbers("found", "set") == in_order, || format!("sets {:?}", numbers("found", "set")))?;

    let kinds: Vec<_> = found.iter().map(|found| found["changes"][0]["kind"].as_str().unwrap_or_default()).collect();
    let functions = driver.iter().map(|_| "function");
    let passes = case.is_of_one_crate().then_some("pass");
    let expected: Vec<_> = ["crate"].into_iter().chain(functions).chain(passes).collect();
    // Of several crates a pass may be told of each, and may be not.
    expect(kinds.starts_with(&expected), || format!("{kinds:?}, not {expected:?}"))?;
    expect(found.iter().all(|found| found["confirmed"] == true), || "not confirmed".to_owned())?;
    expect(names(&found[0]) == case.crates, || format!("{:?}, not {:?}", names(&found[0]), case.crates))?;
    if driver.is_some() {
        check_functions(case, fixture, &found[1])?;
    }
    for found in &found {
        let line = found["reproduce"].as_str().unwrap_or_default();
        expect(fails(case, line, driver)?, || format!("does not reproduce it: {line}"))?;
    }
    if case.good.is_empty() && case.bad.is_empty() {
        let line = with_good_culprits(case, found[0]["reproduce"].as_str().unwrap_or_default())?;
        expect(!fails(case, &line, driver)?, || format!("fails with good culprits: {line}"))?;
    }
    let last = found.last().map(|found| names(found).join(", ")).unwrap_or_default();
    Ok(format!("{} {last} ({} trials)", case.crates.join(", "), ends[0]["trials"]))
}

fn names(found: &Value) -> Vec<String> {
    let changes = found["changes"].as_array().into_iter().flatten();
    let mut names: Vec<_> = changes.map(|change| change["name"].as_str().unwrap_or_default().to_owned()).collect();
    names.sort();
    names
}

fn check_functions(case: &Case, fixture: &Fixture, found: &Value) -> Result<(), String> {
    let place = |path: &str, file: &str, line: u64| format!("{path} at {file}:{line}");
    let of_change = |change: &Value| {
        let text = |key: &str| change[key].as_str().unwrap_or_default();
        place(text("name"), text("file"), change["line"].as_u64().unwrap_or(0))
    };
    let found: BTreeSet<_> = found["changes"].as_array().into_iter().flatten().map(of_change).collect();
    let expected =
        case.functions.iter().map(|function| place(&function.path, &function.file, function.line(fixture) as u64));
    let expected: BTreeSet<_> = expected.collect();
    expect(found == expected, || format!("functions {found:?}, not {expected:?}"))
}

/// The crate's line, with the culprits compiled like all others.
fn with_good_culprits(case: &Case, line: &str) -> Result<String, String> {
    let setting = |culprit: &str, level: u32| format!("profile.release.package.\"{culprit}@0.1.0\".opt-level={level}");
    let mut line = line.to_owned();
    for culprit in &case.crates {
        expect(line.contains(&setting(culprit, 3)), || format!("{culprit} is not optimized: {line}"))?;
        line = line.replace(&setting(culprit, 3), &setting(culprit, 0));
    }
    expect(!line.contains("opt-level=3"), || format!("more than {:?} are optimized: {line}", case.crates))?;
    Ok(line)
}

/// Whether the test fails with this line, as a user would paste it; that, and nothing else.
fn fails(case: &Case, line: &str, driver: Option<&RustcDriver>) -> Result<bool, String> {
    let mut shell = scrubbed(Path::new("sh"), Path::new("/"));
    shell.args(["-c", line]).env("CARGO_TARGET_DIR", target_dir());
    set_rustc(&mut shell, driver);
    let finished = run(&mut shell);
    let started = finished.stdout.contains(&format!("test {} ...", case.test));
    expect(started, || format!("the test was not run by {line}\n{finished}"))?;
    Ok(finished.status != Some(0))
}

fn set_rustc(command: &mut Command, driver: Option<&RustcDriver>) {
    if let Some(RustcDriver { rustc, .. }) = driver {
        command.env("RUSTC", rustc);
    }
}

#[test]
fn every_case_is_explained_by_a_crate_and_a_pass() {
    search_all(None);
}

#[test]
fn every_case_is_explained_by_functions() {
    if let Some(driver) = rustc_driver() {
        search_all(Some(&driver));
    }
}
