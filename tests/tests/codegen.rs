//! "It works in debug and fails in release": each case of the fixture `release`, down to the pass, and the lines that
//! reproduce it.
#![cfg(unix)]

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use bisect_tests::{
    harness::{Finished, Fixture, RustcDriver, Scratch, expect, root, run, rustc_driver},
    release_cases::{Case, cases},
};
use serde_json::Value;

/// The cases whose lines the test pastes itself: one of passes, and one of functions.
const STORIES: [&str; 2] = ["a_station_is_kept_where_it_always_was", "a_page_without_a_limit_has_all_its_room"];

/// Searches a case to its end.
fn search(test: &str, driver: Option<&RustcDriver>) {
    let fixture = Fixture::new("release");
    let case = cases(fixture.dir()).into_iter().find(|case| case.test == test).expect("the table has the case");
    if !can_run(&case) {
        return;
    }
    let scratch = Scratch::new();
    let mut command = fixture.driver(case.arguments());
    command.args(["--json", "-v", "--out"]).arg(scratch.dir().join("out"));
    if let Some(RustcDriver { driver, .. }) = driver {
        // Passes are searched with the other toolchain.
        command.args(["--level", "functions", "--bisect-rustc"]).arg(driver);
    }
    let finished = run(compile_with(&mut command, &fixture, driver));
    let answer = check(&case, &fixture, &finished, driver).and_then(|answer| {
        check_logs(&finished, &scratch.dir().join("out/runs"))?;
        Ok(answer)
    });
    println!("{}", answer.unwrap_or_else(|why| panic!("{why}\n{finished}")));
}

/// Lets each toolchain compile into a directory of its own.
fn compile_with<'a>(command: &'a mut Command, fixture: &Fixture, driver: Option<&RustcDriver>) -> &'a mut Command {
    if let Some(RustcDriver { rustc, .. }) = driver {
        command.env("CARGO_TARGET_DIR", fixture.target_dir_for("driver")).env("RUSTC", rustc);
    }
    command
}

/// Returns true if the processor has the feature that the case needs.
fn can_run(case: &Case) -> bool {
    let Some(feature) = &case.needs else { return true };
    let features = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let has_it = features.split_whitespace().any(|word| word == feature);
    if !has_it {
        println!("{}: SKIPPED, the processor has no {feature}", case.test);
    }
    has_it
}

/// Checks the answer, and returns a summary.
fn check(case: &Case, fixture: &Fixture, finished: &Finished, driver: Option<&RustcDriver>) -> Result<String, String> {
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
        // If there are several crates, each has a pass with this name.
        let names: Vec<_> = passes.iter().map(|found| names(found).concat()).collect();
        let are_right = names.len() == case.crates.len() && names.iter().all(|name| name.starts_with(&beginning));
        expect(are_right, || format!("{names:?}, not {beginning}…"))?;
    }
    let is_story = STORIES.contains(&case.test.as_str());
    for found in &found {
        let ends = [&found["pasted"]["reproduce"], &found["pasted"]["passes"]];
        let are_right = ends[0] == "fail" && (found["passes"].is_null() || ends[1] == "pass");
        expect(are_right, || format!("the driver ran its lines, which end with {ends:?}"))?;
        if !is_story {
            continue;
        }
        let line = found["reproduce"].as_str().unwrap_or_default();
        expect(fails(fixture, line, driver)?, || format!("does not reproduce it: {line}"))?;
        // Pasted after the lines of other levels, it uses none of their artifacts.
        if let Some(line) = found["passes"].as_str() {
            expect(!fails(fixture, line, driver)?, || format!("does not pass: {line}"))?;
        }
    }
    if case.is_default() {
        let line = with_good_culprits(case, crates[0]["reproduce"].as_str().unwrap_or_default())?;
        expect(!fails(fixture, &line, driver)?, || format!("fails with good culprits: {line}"))?;
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
    // A repeated trial has a second event.
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

/// Checks that the trace names the log of each run once, including runs beside a search.
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

/// Checks the functions. The culprit may include functions of the standard library, because they matter to it once they
/// are inlined.
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

/// Returns the crates' line with the culprits compiled like all other crates.
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

/// Returns true if the only test that runs fails with this line, as a user would paste it.
fn fails(fixture: &Fixture, line: &str, driver: Option<&RustcDriver>) -> Result<bool, String> {
    let mut shell = fixture.shell(line, Path::new("/"));
    let finished = run(compile_with(&mut shell, fixture, driver));
    let started = finished.stdout.contains("running 1 test\n");
    expect(started, || format!("the test was not run by {line}\n{finished}"))?;
    Ok(finished.status != Some(0))
}

/// Defines a test for each case of two lists, so that a failing one hides no other.
macro_rules! tests_of_cases {
    (passes: $($(#[$pass_attribute:meta])* $pass:ident)*; functions: $($function:ident)*;) => {
        mod is_explained_by_a_crate_and_a_pass {
            $(#[test]
            $(#[$pass_attribute])*
            fn $pass() {
                super::search(stringify!($pass), None);
            })*
        }

        mod is_explained_by_functions {
            $(#[test]
            #[ignore = "slow: CI runs it"]
            fn $function() {
                if let Some(driver) = super::rustc_driver() {
                    super::search(stringify!($function), Some(&driver));
                }
            })*
        }

        #[test]
        fn every_case_of_the_table_is_searched() {
            let table = cases(&root().join("tests/fixtures/release"));
            let table: BTreeSet<_> = table.iter().map(|case| &*case.test).collect();
            let searched = [$(stringify!($pass),)* $(stringify!($function)),*];
            assert_eq!(table, BTreeSet::from(searched));
        }
    };
}

// Both lists begin with the same search for crates, so a case is in both only where it differs from all others in both.
tests_of_cases! {
    // One for each unit that a pass works on (a loop, a function, a module, a function of the machine, MIR), one of two
    // crates, and the keys of profiles.
    passes:
    #[ignore = "slow: CI runs it"]
    a_slot_that_is_postponed_onto_itself_stays_as_it_was
    #[ignore = "slow: CI runs it"]
    the_name_of_a_gauge_has_its_digits
    #[ignore = "slow: CI runs it"]
    hours_without_a_reading_are_first_in_the_ranking
    #[ignore = "slow: CI runs it"]
    two_marks_differ
    #[ignore = "slow: CI runs it"]
    what_the_sensor_wrote_is_read
    #[ignore = "slow: CI runs it"]
    a_part_that_is_too_long_is_refused_by_one_or_the_other
    #[ignore = "slow: CI runs it"]
    a_message_that_was_counted_is_not_left
    a_station_is_kept_where_it_always_was;
    // Methods and closures, two functions of one crate and of two, flags, and a cause that is in no function.
    functions:
    a_page_without_a_limit_has_all_its_room
    a_height_that_no_gauge_has_is_no_alarm
    polling_stops_when_it_is_told_to
    a_wait_that_does_not_end_is_cut_short
    an_urgent_frame_of_an_old_gauge_counts_once
    hours_without_a_reading_are_first_in_the_ranking
    an_offset_is_read_again_after_waiting
    a_part_that_is_too_long_is_refused_by_one_or_the_other
    an_alarm_from_a_broken_gauge_is_stopped_by_one_sentry_or_the_other
    a_curve_has_the_values_that_were_published
    samples_are_amplified_wherever_they_are;
}
