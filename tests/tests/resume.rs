//! `--resume`: a search that was killed continues, gives the same answer, and repeats only the runs that were in flight.
#![cfg(unix)]

use std::{fs, path::Path, process::Command};

use bisect_tests::harness::{Finished, Running, Scratch, run, wait_until};
use serde_json::Value;

/// Returns the same command with an option after its subcommand.
pub(crate) fn with(command: &Command, option: &str) -> Command {
    let mut copy = Command::new(command.get_program());
    let words: Vec<_> = command.get_args().collect();
    copy.args(&words[..2]).arg(option).args(&words[2..]);
    if let Some(dir) = command.get_current_dir() {
        copy.current_dir(dir);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => copy.env(name, value),
            None => copy.env_remove(name),
        };
    }
    copy
}

/// Returns the number of runs in a journal, and of cancelled ones.
pub(crate) fn runs(out: &Path) -> [usize; 2] {
    let journal = fs::read_to_string(out.join("journal.jsonl")).unwrap_or_default();
    let (ended, cancelled): (Vec<_>, Vec<_>) = journal.lines().partition(|line| line.contains("\"shown\":"));
    [ended.len(), cancelled.len()]
}

/// Returns what a search found, and how it ended, without times.
pub(crate) fn answer(finished: &Finished) -> (Vec<Value>, Value) {
    let mut end = finished.events_of("end").pop().unwrap_or_else(|| panic!("{finished}"));
    end["ms"] = Value::Null;
    let mut found = finished.events_of("found");
    // A next step may be the same command line with another option.
    for event in found.iter_mut().chain([&mut end]) {
        event["next"] = Value::Null;
    }
    (found, end)
}

/// Kills a search when its journal has this number of lines, and returns true if it had not ended by then.
fn kill(command: &mut Command, out: &Path, lines: usize) -> bool {
    let _ = fs::remove_dir_all(out);
    let mut running = Running::start(command);
    let mut is_over = false;
    wait_until("the runs end", || {
        is_over = running.has_ended();
        is_over || runs(out).iter().sum::<usize>() >= lines
    });
    if !is_over {
        running.signal("KILL");
    }
    running.finish().status.is_none()
}

/// Searches, and then kills the same search at each of these moments and continues it. With one run at a time,
/// everything is the same.
pub(crate) fn check(command: &Command, out: &Path, moments: impl IntoIterator<Item = usize>) {
    let seeded = with(command, "--seed=5");
    let whole = run(&mut with(&seeded, "--color=never"));
    let all = runs(out);
    assert_eq!(answer(&whole).1["runs"], all[0] + all[1], "{whole}");
    for lines in moments {
        if lines >= all[0] || !kill(&mut with(&seeded, "--color=never"), out, lines) {
            continue;
        }
        if !out.join("journal.jsonl").exists() {
            continue;
        }
        check_resumed(command, out, &whole, all);
    }
}

/// Continues a killed search, and compares it with one that was not killed.
pub(crate) fn check_resumed(command: &Command, out: &Path, whole: &Finished, all: [usize; 2]) {
    let word_starts = |start: &str| command.get_args().any(|word| word.to_string_lossy().starts_with(start));
    let before = runs(out);
    // The seed is that of the killed search.
    let resumed = run(&mut with(command, "--resume"));
    assert_eq!(resumed.status, whole.status, "after {before:?}:\n{resumed}");
    assert!(word_starts("--quiet") || resumed.stderr.contains("the search continues: "), "{resumed}");
    assert!(!resumed.stderr.contains("do not count"), "after {before:?}:\n{resumed}");
    if word_starts("-j") {
        assert_eq!(changes(&resumed), changes(whole), "after {before:?}:\n{resumed}");
    } else {
        assert_eq!(answer(&resumed), answer(whole), "after {before:?}:\n{resumed}");
        assert_eq!(runs(out), all, "after {before:?}");
    }
}

/// Returns the IDs of each culprit.
fn changes(finished: &Finished) -> Vec<Value> {
    let ids = |found: &Value| found["changes"].as_array().unwrap().iter().map(|change| change["id"].clone()).collect();
    let mut all: Vec<Value> = finished.events_of("found").iter().map(ids).collect();
    all.sort_by_key(ToString::to_string);
    all
}

/// A list of lines of which 21 and 34 break a script together. The script counts its runs.
pub(crate) fn list(scratch: &Scratch) -> Command {
    let lines: Vec<_> = (1..=50).map(|n| n.to_string()).collect();
    scratch.write("items", &(lines.join("\n") + "\n"));
    scratch.write("target.sh", "echo >> count; grep -qx 21 \"$1\" && grep -qx 34 \"$1\" && exit 1; exit 0\n");
    scratch.driver(["list", "--json", "--items", "items", "sh", "target.sh", "LIST"])
}

#[test]
fn only_the_run_in_flight_is_repeated() {
    let scratch = Scratch::new();
    let mut command = list(&scratch);
    scratch.write(
        "target.sh",
        "echo >> count; [ $(wc -l < count) != 9 ] || exec sleep 1000000
         grep -qx 21 \"$1\" && grep -qx 34 \"$1\" && exit 1; exit 0\n",
    );
    let running = Running::start(&mut command);
    wait_until("run 9 starts", || scratch.read("count").lines().count() == 9);
    running.signal("KILL");
    assert_eq!(running.finish().status, None);
    let resumed = run(&mut with(&command, "--resume")).expect_status(0);
    assert_eq!(resumed.culprits(), [["21", "34"]]);
    resumed.expect_message(&["the search continues: 8 runs are not repeated"]);
    let end = resumed.events_of("end").remove(0);
    let made = [&end["runs"], &end["pasted"]].map(|count| count.as_u64().unwrap());
    assert_eq!(scratch.read("count").lines().count() as u64, made[0] + made[1] + 1);
    // All trials are listed, with their logs.
    let trials = scratch.read("bisect.out/trials.jsonl");
    let trials = trials.lines().filter(|line| !line.contains("\"repeat\":true"));
    assert_eq!(trials.count() as u64, end["trials"].as_u64().unwrap());
    assert!(scratch.dir().join("bisect.out/runs/0003.log").exists());
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_list_at_each_moment() {
    let scratch = Scratch::new();
    check(&list(&scratch), &scratch.dir().join("bisect.out"), 0..100);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_list_with_several_runs_at_once() {
    let scratch = Scratch::new();
    check(&with(&list(&scratch), "-j4"), &scratch.dir().join("bisect.out"), 0..100);
}

#[test]
fn a_search_that_has_ended_shows_its_answer_again() {
    let scratch = Scratch::new();
    let command = list(&scratch);
    let whole = run(&mut with(&command, "--quiet"));
    let count = scratch.read("count");
    let again = run(&mut with(&command, "--resume"));
    assert_eq!(answer(&again), answer(&whole));
    assert_eq!(scratch.read("count"), count, "no run is made");
}

#[test]
fn after_ctrl_c_and_after_a_limit_it_continues() {
    let scratch = Scratch::new();
    let command = list(&scratch);
    let _ = run(&mut with(&command, "--max-runs=7")).expect_status(5);
    let resumed = run(&mut with(&with(&command, "--max-runs=12"), "--resume")).expect_status(5);
    resumed.expect_message(&["7 runs are not repeated"]);
    let _ = fs::write(scratch.dir().join("slow"), "");
    let script = "echo >> count; [ $(wc -l < count) != 15 ] || exec sleep 1000000
                  grep -qx 21 \"$1\" && grep -qx 34 \"$1\" && exit 1; exit 0\n";
    scratch.write("target.sh", script);
    fs::remove_file(scratch.dir().join("count")).unwrap();
    let running = Running::start(&mut with(&command, "--quiet"));
    wait_until("run 15 starts", || scratch.read("count").lines().count() == 15);
    running.signal("INT");
    assert_eq!(running.finish().status, Some(130));
    let resumed = run(&mut with(&command, "--resume")).expect_status(0);
    resumed.expect_message(&["14 runs are not repeated"]);
    assert_eq!(resumed.culprits(), [["21", "34"]]);
}

#[test]
fn other_conditions_are_refused_and_named() {
    let scratch = Scratch::new();
    let command = list(&scratch);
    let refused = |command: &Command, expected: &[&str]| {
        let finished = run(&mut with(command, "--resume")).expect_status(2);
        finished.expect_message(expected);
    };
    refused(&command, &["there is no search in `bisect.out` to continue", "stopped before its first run"]);
    // A kill during the build or before the first run leaves this.
    for files in [&[][..], &["lock"], &["bisect-opt.json", "lock"]] {
        fs::create_dir(scratch.dir().join("bisect.out")).unwrap();
        for file in files {
            let text = if *file == "lock" { "" } else { "{\"made_by\":\"cargo-bisect-opt\",\"format\":1}\n" };
            fs::write(scratch.dir().join("bisect.out").join(file), text).unwrap();
        }
        refused(&command, &["stopped before its first run", "to start it again: cargo bisect-opt list"]);
        fs::remove_dir_all(scratch.dir().join("bisect.out")).unwrap();
    }
    // What no search has made is no search that was stopped.
    fs::create_dir(scratch.dir().join("bisect.out")).unwrap();
    fs::write(scratch.dir().join("bisect.out/mine"), "").unwrap();
    refused(&command, &["`bisect.out` is not the directory of a search"]);
    fs::remove_dir_all(scratch.dir().join("bisect.out")).unwrap();
    let _ = run(&mut with(&command, "--max-runs=7")).expect_status(5);
    let kept =
        || ["journal.jsonl", "trials.jsonl", "result.json"].map(|file| scratch.read(&format!("bisect.out/{file}")));
    let before = kept();
    refused(&with(&command, "-j2"), &["its command line was `cargo bisect-opt list", "leave out `--resume`"]);
    refused(with(&command, "-v").env("RUSTFLAGS", "-g"), &["`RUSTFLAGS` has changed: it was not set"]);
    let script = scratch.read("target.sh");
    scratch.write("target.sh", "exit 1");
    refused(&command, &["`target.sh` has changed"]);
    scratch.write("target.sh", &script);
    // A refused search leaves everything as it is.
    assert_eq!(kept(), before);
    let _ = run(&mut with(&command, "--resume")).expect_status(0);
    refused(&with(&command, "--seed=1"), &["its seed was "]);
}

#[test]
fn a_second_search_in_the_directory_is_refused() {
    let scratch = Scratch::new();
    let command = list(&scratch);
    scratch.write("target.sh", "echo >> count; exec sleep 1000000");
    let running = Running::start(&mut with(&command, "--quiet"));
    wait_until("a run starts", || !scratch.read("count").is_empty());
    for option in ["--resume", "--quiet"] {
        let refused = run(&mut with(&command, option)).expect_status(2);
        refused.expect_message(&["another search is running in `"]);
    }
    running.signal("INT");
    assert_eq!(running.finish().status, Some(130));
}
