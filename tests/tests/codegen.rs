//! "It works in debug and fails in release": each case of the fixture `release`, down to the pass, and what is said to
//! reproduce it.
#![cfg(unix)]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use bisect_tests::{
    harness::{Finished, Fixture, RustcDriver, Scratch, expect, fixtures_target_dir, run, rustc_driver, scrubbed},
    release_cases::{Case, cases},
};
use serde_json::Value;

/// Where the cases are compiled. One directory for all, so that what they have in common is compiled once.
fn target_dir(driver: Option<&RustcDriver>) -> PathBuf {
    // Of each toolchain one, so that the two tests need not wait for each other.
    fixtures_target_dir().with_file_name(if driver.is_some() { "release-driver-target" } else { "release-target" })
}

/// All cases searched one after the other, each to its end, so that one that fails hides no other.
fn search_all(driver: Option<&RustcDriver>) {
    let fixture = Fixture::new("release");
    let mut wrong = Vec::new();
    for case in cases(fixture.dir()).iter().filter(|case| can_run(case)) {
        let scratch = Scratch::new();
        let mut command = fixture.driver(case.arguments());
        command
            .env("CARGO_TARGET_DIR", target_dir(driver))
            .args(["--json", "-v", "--out"])
            .arg(scratch.dir().join("out"));
        if let Some(RustcDriver { driver, rustc }) = driver {
            // Passes are searched on the other toolchain.
            command.env("RUSTC", rustc).args(["--level", "functions", "--bisect-rustc"]).arg(driver);
        }
        let finished = run(&mut command);
        let answer = check(case, &finished, driver).and_then(|answer| {
            check_logs(&finished, &scratch.dir().join("out/runs"))?;
            Ok(answer)
        });
        println!("{}: {answer:?}", case.test);
        wrong.extend(answer.err().map(|why| format!("{}: {why}\n{finished}", case.test)));
    }
    assert!(wrong.is_empty(), "{} cases\n{}", wrong.len(), wrong.join("\n\n"));
}

/// Returns whether the processor has what the case needs.
fn can_run(case: &Case) -> bool {
    let Some(feature) = &case.needs else { return true };
    let features = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let has_it = features.split_whitespace().any(|word| word == feature);
    if !has_it {
        println!("{}: SKIPPED, the processor has no {feature}", case.test);
    }
    has_it
}

/// The answer in short.
fn check(case: &Case, finished: &Finished, driver: Option<&RustcDriver>) -> Result<String, String> {
    expect(finished.status == Some(0), || "another status".to_owned())?;
    let found = check_events(finished)?;
    let of_kind = |kind| found.iter().filter(|found| found["changes"][0]["kind"] == kind).collect::<Vec<_>>();
    let (crates, functions, passes) = (of_kind("crate"), of_kind("function"), of_kind("pass"));
    let in_order: Vec<_> = crates.iter().chain(&functions).chain(&passes).copied().collect();
    expect(found.iter().collect::<Vec<_>>() == in_order, || "not crates, functions, passes".to_owned())?;

    expect(crates.len() == 1 && names(crates[0]) == case.crates, || format!("not {:?}", case.crates))?;
    if driver.is_some() {
        check_functions(case, &functions)?;
    }
    if let Some(pass) = case.pass.as_ref().filter(|_| driver.is_none()) {
        let beginning = format!("{} pass {} on ", pass.counter.to_uppercase(), pass.name);
        // Of several crates, each has such a pass.
        let names: Vec<_> = passes.iter().map(|found| names(found).concat()).collect();
        let are_right = names.len() == case.crates.len() && names.iter().all(|name| name.starts_with(&beginning));
        expect(are_right, || format!("{names:?}, not {beginning}…"))?;
    }
    for found in &found {
        let line = found["reproduce"].as_str().unwrap_or_default();
        expect(fails(line, driver)?, || format!("does not reproduce it: {line}"))?;
    }
    if case.is_default() {
        let line = with_good_culprits(case, crates[0]["reproduce"].as_str().unwrap_or_default())?;
        expect(!fails(&line, driver)?, || format!("fails with good culprits: {line}"))?;
    }
    let answers: Vec<_> = found.iter().map(|found| names(found).join(" + ")).collect();
    Ok(format!("{} ({} trials)", answers.join(", "), finished.events_of("end")[0]["trials"]))
}

/// Checks that the events are those of one answer, and returns the culprits of all levels.
fn check_events(finished: &Finished) -> Result<Vec<Value>, String> {
    let (ends, found) = (finished.events_of("end"), finished.events_of("found"));
    expect(ends.len() == 1 && finished.events().last() == ends.first(), || {
        "one end, and nothing behind it".to_owned()
    })?;
    expect((&ends[0]["status"], &ends[0]["sets"]) == (&0.into(), &1.into()), || format!("{}", ends[0]))?;
    // A trial that was run once more has an event once more.
    let trials = finished.events_of("trial");
    let trials: BTreeSet<_> = trials.iter().map(|trial| (trial["n"].as_u64(), trial["pattern"].to_string())).collect();
    let numbers: BTreeSet<_> = trials.iter().map(|(number, _)| number).collect();
    expect(numbers.len() == trials.len(), || "a number of two trials".to_owned())?;
    expect(ends[0]["trials"] == trials.len(), || format!("{} trials were told", trials.len()))?;
    let sets: Vec<_> = found.iter().map(|found| found["set"].as_u64()).collect();
    expect(sets == (1..=found.len() as u64).map(Some).collect::<Vec<_>>(), || format!("sets {sets:?}"))?;
    expect(found.iter().all(|found| found["confirmed"] == true), || "not confirmed".to_owned())?;
    Ok(found)
}

/// Checks that the trace names the log of each run once, those beside a search among them.
fn check_logs(finished: &Finished, runs: &Path) -> Result<(), String> {
    let named = finished.stderr.lines().filter_map(|line| Some(line.trim().split_once(" → ")?.1.to_owned()));
    let mut named: Vec<_> = named.collect();
    named.sort();
    let logs = fs::read_dir(runs).map_err(|error| error.to_string())?;
    let mut logs: Vec<_> = logs.flatten().map(|log| log.path().display().to_string()).collect();
    logs.sort();
    expect(named == logs, || format!("the trace names {named:?}, and there are {logs:?}"))
}

fn names(found: &Value) -> Vec<String> {
    let changes = found["changes"].as_array().into_iter().flatten();
    let mut names: Vec<_> = changes.map(|change| change["name"].as_str().unwrap_or_default().to_owned()).collect();
    names.sort();
    names
}

/// Functions of the standard library may be needed as well, for what the culprit sees once they are inlined.
fn check_functions(case: &Case, found: &[&Value]) -> Result<(), String> {
    let is_own = |change: &&Value| change["file"].as_str().is_none_or(|file| Path::new(file).is_relative());
    let of_change = |change: &Value| {
        let text = |key: &str| change[key].as_str().unwrap_or_default();
        format!("{} at {}:{}", text("name"), text("file"), change["line"])
    };
    let changes = found.iter().filter_map(|found| found["changes"].as_array()).flatten();
    let named: BTreeSet<_> = changes.filter(is_own).map(of_change).collect();
    let functions = case.functions.iter();
    let expected: BTreeSet<_> =
        functions.map(|function| format!("{} at {}:{}", function.path, function.file, function.line)).collect();
    expect(named == expected && found.len() <= 1, || format!("functions {named:?}, not {expected:?}"))
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

/// Returns whether the only test that is run fails with this line, as a user would paste it.
fn fails(line: &str, driver: Option<&RustcDriver>) -> Result<bool, String> {
    let mut shell = scrubbed(Path::new("sh"), Path::new("/"));
    shell.args(["-c", line]).env("CARGO_TARGET_DIR", target_dir(driver));
    set_rustc(&mut shell, driver);
    let finished = run(&mut shell);
    let started = finished.stdout.contains("running 1 test\n");
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
