//! `--launcher`: runs that another command starts. One stands for `ssh`; one is a real scheduler, GNU parallel's `sem`.
#![cfg(unix)]

use std::{env, io::Write, process::Command};

use bisect_tests::{
    foreign,
    harness::{Finished, Fixture, Scratch, line_of, run},
};

/// A script that treats its arguments like `ssh`: it removes the host, joins the others with blanks, and passes the
/// line to a new shell in another directory. It notes each use.
const SSH: &str = r#"#!/bin/sh
echo "$1" >> "${0%/*}/hosts"
shift
cd /
exec env -i PATH="$PATH" sh -c "$*"
"#;

/// Returns the program that stands for `ssh`, as a launcher.
fn ssh(scratch: &Scratch) -> String {
    let path = scratch.script("ssh", SSH);
    format!("'{}' host", path.display())
}

/// Returns GNU parallel's `sem` with two runs at a time. Prints a notice and returns `None` if it is not installed.
fn sem(id: &str) -> Option<String> {
    let version = Command::new("sem").arg("--version").output();
    if !version.is_ok_and(|output| output.stdout.starts_with(b"GNU parallel")) {
        assert!(env::var_os("CI").is_none(), "CI must have GNU parallel");
        // Not `eprintln!`: the harness would capture it.
        writeln!(std::io::stderr(), "*** SKIPPED: no GNU parallel ***").expect("standard error is there");
        return None;
    }
    Some(format!("sem --fg -j2 --id {id}"))
}

/// Runs the driver; GNU parallel keeps its files in the scratch folder.
fn search(command: &mut Command, scratch: &Scratch) -> Finished {
    run(command.env("PARALLEL_HOME", scratch.dir().join("parallel")).env("SHELL", "/bin/sh"))
}

fn exec(scratch: &Scratch, launcher: &str, options: &[&str], program: &[&str]) -> Finished {
    let mut command = scratch.driver(["exec", "--json", "--launcher", launcher]);
    command.args(options).arg("FOREIGN_CHANGES=PATTERN").arg(foreign::executable()).args(program);
    search(&mut command, scratch)
}

#[track_caller]
fn expect_used(scratch: &Scratch, finished: &Finished) {
    // The search may end a run that turns out not to matter before it is launched.
    let trials = finished.events_of("trial").len();
    let launched = scratch.read("hosts").lines().count();
    assert!(launched >= trials && trials > 3, "launched {launched} times\n{finished}");
}

#[track_caller]
fn expect_scheduled(scratch: &Scratch) {
    // The files in this folder are deleted with the runs.
    assert!(scratch.dir().join("parallel/semaphores").is_dir(), "the scheduler was never used");
}

#[test]
#[ignore = "slow: CI runs it"]
fn reports_come_back_with_the_output() {
    let scratch = Scratch::new();
    let finished = exec(&scratch, &ssh(&scratch), &[], &["--fails-when=3&40|12"]).expect_status(0);
    let mut culprits = finished.culprits();
    culprits.sort();
    assert_eq!(culprits, [vec!["mill.txt:13: step 12"], vec!["mill.txt:41: step 40", "mill.txt:4: step 3"]]);
    expect_used(&scratch, &finished);
}

#[test]
#[ignore = "slow: CI runs it"]
fn runs_at_the_same_time_find_the_same() {
    let scratch = Scratch::new();
    let finished = exec(&scratch, &ssh(&scratch), &["-j4"], &["--fails-when=12"]).expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:13: step 12"]]);
    expect_used(&scratch, &finished);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_test_is_launched_with_its_directory_variables_and_arguments() {
    let fixture = Fixture::new("stacks");
    let scratch = Scratch::new();
    let mut command = fixture.driver(["test", "--json", "--toggle", "rounding", "-p", "app"]);
    let finished = search(command.arg("--launcher").arg(ssh(&scratch)), &scratch).expect_status(0);
    let change = &finished.events_of("found")[0]["changes"][0];
    assert_eq!((&change["kind"], &change["file"]), (&"caller".into(), &"pages/src/lib.rs".into()), "{finished}");
    assert_eq!(change["line"], line_of(fixture.dir(), "pages/src/lib.rs", "// the caller"));
    expect_used(&scratch, &finished);
}

#[test]
fn a_run_that_could_not_be_made_there_is_no_failure() {
    let scratch = Scratch::new();
    // On the other machine, the paths of the run do not exist.
    let text = "#!/bin/sh\nscript=$3\nshift 5\nexec sh -c \"$script\" sh /no/such/directory \"$@\"\n";
    let path = scratch.script("elsewhere", text);
    let finished = exec(&scratch, &format!("'{}'", path.display()), &[], &["--fails-when=12"]).expect_status(3);
    assert!(finished.events_of("trial").iter().all(|trial| trial["outcome"] == "unresolved"), "{finished}");
    let log = scratch.read("bisect.out/runs/0001.log");
    assert!(log.contains("the directory /no/such/directory cannot be entered"), "{log}");
}

#[test]
fn a_launcher_that_is_not_there_or_no_words_is_an_error() {
    let scratch = Scratch::new();
    let finished = exec(&scratch, "no-such-launcher -n1", &[], &["--fails-when=12"]).expect_status(3);
    finished.expect_message(&["no-such-launcher", "PATH"]);
    for launcher in ["", "'open"] {
        let finished = exec(&scratch, launcher, &[], &["--fails-when=12"]).expect_status(2);
        finished.expect_message(&["--launcher"]);
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_real_scheduler_runs_any_command() {
    let Some(launcher) = sem("exec") else { return };
    let scratch = Scratch::new();
    let finished = exec(&scratch, &launcher, &["-j4"], &["--fails-when=3&40"]).expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:41: step 40", "mill.txt:4: step 3"]]);
    expect_scheduled(&scratch);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_real_scheduler_runs_tests() {
    let Some(launcher) = sem("test") else { return };
    let fixture = Fixture::new("stacks");
    let scratch = Scratch::new();
    let words = ["test", "--json", "--toggle", "ranking", "-p", "app", "--test", "pages", "--launcher", &launcher];
    let finished = search(&mut fixture.driver(words), &scratch).expect_status(0);
    let found = finished.events_of("found");
    assert_eq!((found.len(), &found[0]["changes"][0]["kind"]), (1, &"stack".into()), "{finished}");
    assert_eq!(found[0]["tests"], serde_json::json!(["the_south_is_as_it_was"]));
    expect_scheduled(&scratch);
}
