//! Directories for temporary files: a fresh one for each process of a run, and notes about those that cannot be
//! deleted.
#![cfg(target_os = "linux")]

use std::{collections::BTreeSet, fs, process::Command};

use bisect_tests::{
    foreign,
    harness::{Scratch, run},
    process_tree::ProcessTree,
    small_disk::on_small_disk,
};

/// Returns a search that finds step 3, by a target that runs this script first; temporary directories are below `tmp`.
fn search(scratch: &Scratch, options: &[&str], script: &str) -> Command {
    scratch.write("target.sh", &format!("{script}\nexec \"$@\""));
    fs::create_dir_all(scratch.dir().join("tmp")).unwrap();
    let mut command = scratch.driver(["exec", "--json"]);
    command.args(options).args(["FOREIGN_CHANGES=PATTERN", "sh", "target.sh"]).arg(foreign::executable());
    command.args(["--steps=20", "--fails-when=3"]).env("TMPDIR", scratch.dir().join("tmp"));
    command
}

fn is_empty(scratch: &Scratch) -> bool {
    fs::read_dir(scratch.dir().join("tmp")).unwrap().next().is_none()
}

#[test]
#[ignore = "slow: CI runs it"]
fn each_execution_begins_with_an_empty_directory() {
    for options in [&[][..], &["--repeat=3"], &["-j2"]] {
        let scratch = Scratch::new();
        let script = "mkdir \"$TMPDIR/leftover\" || exit 7\necho \"$TMPDIR\" >> seen";
        let finished = run(&mut search(&scratch, options, script)).expect_status(0);
        assert_eq!(finished.culprits(), [["mill.txt:4: step 3"]]);
        // A line whose directory is not empty would fail without the culprit, too.
        let passes = finished.events_of("found")[0]["passes"].as_str().unwrap().to_owned();
        let own = "export TMPDIR=\"$(mktemp -d)\" BISECT_SLOT=0 && trap 'rm -rf \"$TMPDIR\"' EXIT && ";
        assert!(passes.contains(own), "{passes}");
        let seen = scratch.read("seen");
        let distinct: BTreeSet<_> = seen.lines().collect();
        assert_eq!(distinct.len(), seen.lines().count(), "{options:?}: {seen}");
        let parent = scratch.dir().join("tmp");
        for directory in distinct {
            assert!(directory.starts_with(parent.to_str().unwrap()) && !fs::exists(directory).unwrap(), "{directory}");
            let is_of_line = directory.contains("/tmp.");
            let is_short = directory.len() < parent.as_os_str().len() + 20;
            assert!(is_short || is_of_line, "short enough for sockets: {directory}");
        }
        assert!(is_empty(&scratch));
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_directory_that_cannot_be_deleted_is_a_note() {
    let scratch = Scratch::new();
    // A container or sudo can leave a directory that cannot be deleted, like this mount.
    let script = "mkdir \"$TMPDIR/mounted\" && mount -t tmpfs none \"$TMPDIR/mounted\" || exit 7";
    let command = search(&scratch, &["-j2"], script);
    let Some(mut command) = on_small_disk(&command, &scratch.dir().join("tmp"), "1m") else { return };
    let finished = run(&mut command).expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:4: step 3"]]);
    finished.expect_message(&["busy", "tried again", "the next search tries"]);
    assert_eq!(finished.stderr.matches("cannot be deleted").count(), 1, "{finished}");
}

#[test]
fn a_daemon_that_goes_on_writing_does_not_end_the_search() {
    let scratch = Scratch::new();
    // A daemon ends when the script is deleted. The folder cannot be: a daemon may create a file in it meanwhile.
    let script = "
        setsid sh -c 'while [ -e target.sh ]; do mkdir -p \"$TMPDIR/cache\" && : > \"$TMPDIR/cache/$((i=i+1))\"; done' &
        while ! [ -e \"$TMPDIR/cache\" ]; do :; done
    ";
    let mut command = search(&scratch, &["-j2", "--max-runs=6"], &script.replace("' &", "' >/dev/null 2>&1 &"));
    let tree = ProcessTree::mark(&mut command);
    let finished = run(&mut command);
    fs::remove_file(scratch.dir().join("target.sh")).unwrap();
    tree.expect_gone();
    assert!(!finished.events_of("end").is_empty() && finished.status != Some(3), "{finished}");
}
