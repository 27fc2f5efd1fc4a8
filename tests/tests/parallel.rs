//! Parallel runs: the same answer, a place of its own for each run, and no leftovers of runs that did not matter.
#![cfg(target_os = "linux")]

use std::{collections::BTreeSet, fs, process::Command};

use bisect_tests::{
    foreign,
    harness::{Finished, Running, Scratch, run, wait_until},
    process_tree::ProcessTree,
};
use serde_json::Value;

const RULES: [&str; 2] = ["--steps=300", "--fails-when=3&77|112"];

fn search(scratch: &Scratch, jobs: &str, script: &str) -> Command {
    scratch.write("target.sh", script);
    let mut command = scratch.driver(["exec", "--json", jobs, "FOREIGN_CHANGES=PATTERN", "sh", "target.sh"]);
    command.arg(foreign::executable()).args(RULES);
    command
}

/// Returns the culprits.
fn answer(finished: &Finished) -> Vec<Value> {
    finished.events_of("found")
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_jobs() {
    let scratch = Scratch::new();
    let alone = run(&mut search(&scratch, "-j1", "exec \"$@\"")).expect_status(0);
    assert_eq!(answer(&alone).len(), 2, "{alone}");
    for jobs in [2, 4, 16] {
        let together = run(&mut search(&scratch, &format!("-j{jobs}"), "exec \"$@\"")).expect_status(0);
        assert_eq!(answer(&together), answer(&alone), "{together}");
        assert_eq!(together.events_of("start")[0]["jobs"], jobs);
        assert!(together.stderr.contains(&format!("{jobs} runs at once")), "{together}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn runs_that_turn_out_not_to_matter_are_ended_without_a_trace() {
    let scratch = Scratch::new();
    let alone = run(&mut search(&scratch, "-j1", "exec \"$@\"")).expect_status(0);
    // The run of a group hangs, together with its children. Prefixes prove the answer without groups.
    let hang = "
        \"$@\" --mode=tell-group || exec \"$@\"
        echo $TMPDIR >> hanging
        touch $TMPDIR/full; mkdir $TMPDIR/closed; touch $TMPDIR/closed/file; chmod 0 $TMPDIR/closed
        sleep 1000000 & setsid sleep 1000000 &
        echo '[bisect-match 0x1]' | tee -a \"$BISECT_REPORT\"
        while :; do sleep 1000000; done
    ";
    let mut command = search(&scratch, "-j16", hang);
    let tree = ProcessTree::mark(&mut command);
    let finished = run(&mut command).expect_status(0);
    assert_eq!(answer(&finished), answer(&alone), "{finished}");
    let hanging = scratch.read("hanging");
    assert!(hanging.lines().count() > 3, "some runs did not matter: {finished}");
    for directory in hanging.lines() {
        assert!(!fs::exists(directory).unwrap(), "{directory} was left behind");
    }
    tree.expect_gone();

    // There are logs of the trials that were shown, of repeated runs, and of runs for the text of a culprit. A
    // suspect gets its text beside its proof, and may prove to be none.
    let names = |folder: &str| -> BTreeSet<_> {
        let entries = fs::read_dir(scratch.dir().join("bisect.out").join(folder)).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap().replace(".log", "")).collect()
    };
    let runs_of = |trial: &Value| usize::try_from(trial["runs"].as_u64().unwrap()).unwrap();
    let shown = finished.events_of("trial").iter().map(runs_of).sum::<usize>();
    let again = finished.stderr.matches("again with").count();
    let texts = scratch.read("bisect.out/journal.jsonl").matches("\"asked\":{\"choice\":\"v").count();
    assert!(texts >= finished.events_of("found").len(), "{finished}");
    assert_eq!(names("runs").len(), shown + again + texts, "{finished}");
    // Reports are deleted once they are read, except what the answer quotes.
    assert!(names("reports").is_subset(&names("runs")), "{finished}");
    let runs = usize::try_from(finished.events_of("end")[0]["runs"].as_u64().unwrap()).unwrap();
    assert!(runs > names("runs").len(), "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn each_run_has_a_slot_and_a_temporary_directory_of_its_own() {
    let scratch = Scratch::new();
    // A run fails if another run has its slot or its directory at the same time. The processes hold the lock.
    let script = "
        exec 9> slot-$BISECT_SLOT && flock -n 9 || exit 1
        test \"$PORT/$INHERITED\" = 70$BISECT_SLOT/db_$BISECT_SLOT || exit 1
        mkdir $TMPDIR/taken && test $(ls $TMPDIR | wc -l) = 1 || exit 1
        echo \"$BISECT_SLOT $TMPDIR\" >> seen
        exec \"$@\"
    ";
    scratch.write("target.sh", script);
    let words = ["exec", "--json", "-j4", "PORT=70{slot}", "FOREIGN_CHANGES=PATTERN", "sh", "target.sh"];
    let mut command = scratch.driver(words);
    command.arg(foreign::executable()).args(["--steps=64", "--fails-when=9"]).env("INHERITED", "db_{slot}");
    let finished = run(&mut command).expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:10: step 9"]]);
    let seen = scratch.read("seen");
    let slots: BTreeSet<_> = seen.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert!(slots.is_subset(&["0", "1", "2", "3"].into()) && slots.len() > 1, "{seen}");
    let directories: BTreeSet<_> = seen.lines().map(|line| line.split(' ').nth(1).unwrap()).collect();
    assert_eq!(directories.len(), seen.lines().count(), "each run has a fresh one: {seen}");
    assert!(directories.iter().all(|directory| !fs::exists(directory).unwrap()), "{seen}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn an_interrupt_ends_sixteen_runs_that_do_not_want_to() {
    let scratch = Scratch::new();
    let stubborn = "
        trap '' TERM INT HUP
        echo started >> started
        sleep 1000000 & setsid sleep 1000000 &
        while :; do sleep 1000000; done
    ";
    let mut command = search(&scratch, "-j16", stubborn);
    let tree = ProcessTree::mark(&mut command);
    let running = Running::start(&mut command);
    // This many trials can be guessed before anything is known.
    wait_until("runs start", || scratch.read("started").lines().count() >= 2);
    running.signal("INT");
    let finished = running.finish().expect_status(130);
    tree.expect_gone();
    assert!(finished.events_of("trial").is_empty(), "{finished}");
    assert_eq!(finished.events_of("end")[0]["status"], 130);
}
