//! A full disk, a closed pipe: an output that can no longer be written stops alone, and the answer is never lost.
#![cfg(target_os = "linux")]

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Read},
    process::{Command, Stdio},
};

use bisect_tests::{
    foreign,
    harness::{Scratch, driver, run},
    small_disk::on_small_disk,
};
use serde_json::Value;

/// Returns a search that finds step 3, with these options.
fn search(scratch: &Scratch, options: &[&str]) -> Command {
    let mut command = scratch.driver(["exec"]);
    command.args(options).arg("FOREIGN_CHANGES=PATTERN").arg(foreign::executable());
    command.args(["--steps=20", "--fails-when=3"]);
    command
}

fn result(scratch: &Scratch) -> Value {
    serde_json::from_str(&scratch.read("bisect.out/result.json")).unwrap()
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_disk_that_fills_up_at_any_moment_does_not_cost_the_answer() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.dir().join("small")).unwrap();
    for size in ["8k", "16k", "24k", "32k", "40k", "48k"] {
        let command = search(&scratch, &["--out=small/out", "--json"]);
        let Some(mut command) = on_small_disk(&command, &scratch.dir().join("small"), size) else { return };
        let finished = run(&mut command);
        if finished.status == Some(2) {
            // There is not even room for the run directory.
            finished.expect_message(&["No space left", "--out"]);
            continue;
        }
        let finished = finished.expect_status(0);
        assert_eq!(finished.culprits(), [["mill.txt:4: step 3"]], "{size}");
        finished.expect_message(&["No space left", "culprit 1"]);
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn what_is_too_large_for_a_limit_of_file_sizes_is_left_out() {
    let scratch = Scratch::new();
    // The logs need more than one block.
    scratch
        .write("target.sh", "i=0; while [ $i -lt 100 ]; do echo a line that takes room; i=$((i+1)); done; exec \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 1; exec \"$@\"", "sh"]).arg(driver()).current_dir(scratch.dir());
    command.args(["bisect-opt", "exec", "--json", "FOREIGN_CHANGES=PATTERN", "sh", "target.sh"]);
    command.arg(foreign::executable()).args(["--steps=20", "--fails-when=3"]);
    let finished = run(&mut command).expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:4: step 3"]]);
    let lost = "the ends of runs cannot be recorded, so --resume cannot continue this search: File too large";
    finished.expect_message(&["cannot be logged", "File too large", lost]);
}

#[test]
fn the_answer_is_shown_on_standard_error_where_standard_output_is_full() {
    let scratch = Scratch::new();
    let mut command = search(&scratch, &[]);
    let full = File::options().write(true).open("/dev/full").unwrap();
    let child = command.stdin(Stdio::null()).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    let output = child.wait_with_output().unwrap();
    let trace = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{trace}");
    for part in ["the answer on standard output can no longer be written: No space left", "step 3", "fails:"] {
        assert!(trace.contains(part), "{part:?} is not in {trace}");
    }
    assert_eq!(result(&scratch)["found"][0]["changes"][0]["text"][0], "mill.txt:4: step 3");
    assert!(result(&scratch)["lost"][0].to_string().contains("standard output"));
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_trace_that_cannot_be_written_does_not_cost_the_answer() {
    for options in [&["--json"][..], &["--json", "-q"], &["--json", "-v"]] {
        let scratch = Scratch::new();
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = search(&scratch, options).stdin(Stdio::null()).stderr(full).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{options:?}");
        assert!(String::from_utf8(output.stdout).unwrap().contains("mill.txt:4: step 3"));
    }
    // An error that cannot be printed must not cause a panic.
    let full = File::options().write(true).open("/dev/full").unwrap();
    let scratch = Scratch::new();
    let status = scratch.driver(["exec", "A=PATTERN"]).stderr(full).status().unwrap();
    assert_eq!(status.code(), Some(2));
}

#[test]
#[ignore = "slow: CI runs it"]
fn who_reads_only_the_beginning_finds_the_rest_in_the_run_directory() {
    let scratch = Scratch::new();
    // The target waits until the reader has closed the pipe, so that writing the trace fails.
    scratch.write("target.sh", "while ! [ -e gone ]; do sleep 0.01; done; exec \"$@\"");
    let mut command = scratch.driver(["exec", "FOREIGN_CHANGES=PATTERN", "sh", "target.sh"]);
    command.arg(foreign::executable()).args(["--steps=20", "--fails-when=3"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    // This is `2> >(head -1)`.
    let mut trace = BufReader::new(child.stderr.take().unwrap());
    trace.read_line(&mut line).unwrap();
    assert!(line.starts_with("bisecting"), "{line}");
    drop(trace);
    scratch.write("gone", "");
    let mut answer = String::new();
    child.stdout.take().unwrap().read_to_string(&mut answer).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{answer}");
    assert!(answer.contains("note: the trace on standard error can no longer be written: Broken pipe"), "{answer}");
    assert!(answer.contains("step 3"), "{answer}");
    assert_eq!(result(&scratch)["end"]["status"], 0);
}
