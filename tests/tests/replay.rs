//! `cargo bisect-opt replay`: the target of an earlier search once more, also in a debugger.
#![cfg(unix)]

use std::{env, io::Write as _, path::Path, process::Command};

use bisect_tests::harness::{Finished, Fixture, Scratch, driver, line_of, run, scrubbed};

/// Replays from another directory, in which no relative path is right.
fn replay(fixture: &Fixture, words: &[&str]) -> Finished {
    let out = fixture.dir().join("bisect.out");
    replay_of(&out, words)
}

fn replay_of(out: &Path, words: &[&str]) -> Finished {
    run(scrubbed(driver(), "/".as_ref()).arg("replay").arg(out).args(words))
}

/// Returns true if this debugger can be used. In CI it must be there.
fn has(debugger: &str, check: &[&str]) -> bool {
    let output = Command::new(debugger).args(check).output();
    let is_there = output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("1414"));
    assert!(is_there || env::var_os("CI").is_none() || debugger == "lldb", "CI has {debugger}");
    if !is_there {
        writeln!(std::io::stderr(), "*** SKIPPED: no {debugger} with Python ***").expect("standard error is there");
    }
    is_there
}

const GDB: [&str; 3] = ["-batch", "-ex", "python print(1413 + 1)"];
const LLDB: [&str; 3] = ["-b", "-o", "script print(1413 + 1)"];

#[test]
#[ignore = "slow: CI runs it"]
fn a_test_fails_with_the_culprit_and_passes_without_it() {
    let fixture = Fixture::new("stacks");
    let _ = run(&mut fixture.driver(["test", "--toggle", "ranking", "-p", "app"])).expect_status(0);
    let finished = replay(&fixture, &[]).expect_status(101);
    assert!(finished.stdout.contains("the_south_is_as_it_was ... FAILED"), "{finished}");
    finished.expect_message(&["exactly culprit 1", "BISECT_PATTERN="]);
    let finished = replay(&fixture, &["--off", "--set=1"]).expect_status(0);
    assert!(finished.stdout.contains("the_south_is_as_it_was ... ok"), "{finished}");
    for (words, facts) in [
        (&["--set=2"][..], &["no culprit 2", "1 culprit"][..]),
        (&["--debugger=valgrind"], &["`valgrind` is not known", "gdb"]),
    ] {
        replay(&fixture, words).expect_status(2).expect_message(facts);
    }
    if !has("gdb", &GDB) {
        return;
    }
    let here = line_of(fixture.dir(), "ranking/src/lib.rs", "off = first_come_first)]");
    for words in [&["--debugger=gdb -batch -ex 'info frame'"][..], &["--off", "--debugger=gdb -batch -ex 'info frame'"]]
    {
        let finished = replay(&fixture, words);
        let (frame, _) = finished.stdout.split_once("Stack level").unwrap_or_else(|| panic!("{finished}"));
        let selected = frame.trim_end().rsplit("\n#").next().unwrap();
        assert!(selected.contains("ranking::") && selected.contains(&format!("lib.rs:{here}")), "{finished}");
        assert!(finished.stdout.contains("SIGTRAP") && !finished.stdout.contains("FAILED"), "{finished}");
    }
    if has("lldb", &LLDB) {
        let finished = replay(&fixture, &["--debugger=lldb -b -o 'frame info'"]);
        let selected = finished.stdout.rsplit("(lldb) frame info").next().unwrap();
        assert!(selected.contains("ranking::") && selected.contains(&format!("lib.rs:{here}")), "{finished}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn sites_and_callers_stop_in_the_users_frame() {
    if !has("gdb", &GDB) {
        return;
    }
    let fixture = Fixture::new("stacks");
    for (toggle, function) in [("rounding", "ranking::"), ("separator", "pages::")] {
        let _ = run(&mut fixture.driver(["test", "--toggle", toggle, "-p", "app"])).expect_status(0);
        let finished = replay(&fixture, &["--debugger=gdb -batch"]);
        let selected = finished.stdout.trim_end().rsplit("\n#").next().unwrap();
        assert!(selected.contains(function) && finished.stdout.contains("SIGTRAP"), "{finished}");
    }
}

#[test]
fn a_command_gets_the_files_that_it_needs() {
    let scratch = Scratch::new();
    scratch.write("items.txt", "a\nb\nc\n");
    let words = ["list", "--items=items.txt", "X=LIST", "sh", "-c", "cat $X; pwd; ! grep -q b $X"];
    let _ = run(&mut scratch.driver(words)).expect_status(0);
    let out = scratch.dir().join("bisect.out");
    let replay = |words: &[&str]| replay_of(&out, words);
    let directory = scratch.dir().canonicalize().unwrap();
    assert_eq!(replay(&[]).expect_status(1).stdout, format!("b\n{}\n", directory.display()));
    assert_eq!(replay(&["--off"]).expect_status(0).stdout, format!("a\nc\n{}\n", directory.display()));
    replay(&["--debugger=gdb"]).expect_status(2).expect_message(&["`item` is not decided while the target runs"]);
}

#[test]
fn what_is_no_answer_is_said() {
    let scratch = Scratch::new();
    let replay = || run(&mut scratch.driver(["replay"]));
    replay().expect_status(2).expect_message(&["`bisect.out` is not the directory of a search", "--out"]);
    scratch.write("items.txt", "a\n");
    let _ = run(&mut scratch.driver(["list", "--items=items.txt", "--", "test", "-e", "LIST"])).expect_status(1);
    replay().expect_status(2).expect_message(&["found no culprit"]);
    std::fs::write(scratch.dir().join("bisect.out/result.json"), "{}").unwrap();
    replay().expect_status(2).expect_message(&["damaged", "search again"]);
    std::fs::remove_file(scratch.dir().join("bisect.out/result.json")).unwrap();
    replay().expect_status(2).expect_message(&["has no answer"]);
}
