//! A driver that is killed cannot delete its files: its runs are ended for it, and the next search deletes the files.
#![cfg(target_os = "linux")]

use std::{fs, process::Command};

use bisect_tests::{
    foreign,
    harness::{Running, Scratch, run, wait_until},
    process_tree::ProcessTree,
};

fn search(scratch: &Scratch, options: &[&str], script: &str) -> Command {
    scratch.write("target.sh", script);
    fs::create_dir_all(scratch.dir().join("tmp")).unwrap();
    let mut command = scratch.driver(["exec", "--json"]);
    command.args(options).args(["FOREIGN_CHANGES=PATTERN", "sh", "target.sh"]).arg(foreign::executable());
    command.args(["--steps=20", "--fails-when=3"]).env("TMPDIR", scratch.dir().join("tmp"));
    command
}

fn leftovers(scratch: &Scratch) -> usize {
    fs::read_dir(scratch.dir().join("tmp")).unwrap().count()
}

#[test]
#[ignore = "slow: CI runs it"]
fn its_runs_end_and_the_next_search_sweeps() {
    let scratch = Scratch::new();
    // The target has a child in its group, one in a session of its own, and one that ignores SIGTERM.
    let hangs = "
        sleep 1000000 & setsid sleep 1000000 &
        sh -c 'trap \"\" TERM; while :; do sleep 1000000; done' &
        : > \"$TMPDIR/file\"; echo >> started; while :; do sleep 1000000; done
    ";
    let mut command = search(&scratch, &["-j2"], hangs);
    let tree = ProcessTree::mark(&mut command);
    let running = Running::start(&mut command);
    wait_until("runs start", || scratch.read("started").lines().count() == 2);
    running.signal("KILL");
    assert_eq!(running.finish().status, None);
    tree.expect_gone();
    assert_eq!(leftovers(&scratch), 1, "nobody is there to delete it");

    let _ = run(&mut search(&scratch, &[], "exec \"$@\"")).expect_status(0);
    assert_eq!(leftovers(&scratch), 0);
}

#[test]
fn daemons_of_runs_that_have_ended_are_left_alone() {
    let scratch = Scratch::new();
    let daemon = "
        if ! [ -e daemon ]; then
            setsid sh -c 'echo $$ > daemon; while [ -e target.sh ]; do sleep 0.05; done' > /dev/null 2>&1 &
            while ! [ -s daemon ]; do sleep 0.01; done
            exec \"$@\"
        fi
        echo >> started; exec sleep 1000000
    ";
    let mut command = search(&scratch, &[], daemon);
    let tree = ProcessTree::mark(&mut command);
    let running = Running::start(&mut command);
    wait_until("the second run starts", || !scratch.read("started").is_empty());
    running.signal("KILL");
    assert_eq!(running.finish().status, None);
    let daemon: u32 = scratch.read("daemon").trim().parse().unwrap();
    // The `sleep` of the daemon is replaced again and again.
    let parent = |pid: u32| fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    wait_until("the second run is ended", || {
        tree.alive().iter().all(|&pid| pid == daemon || parent(pid).contains(&format!(" S {daemon} ")))
    });
    assert!(tree.alive().contains(&daemon));
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_smallest_failing_set_so_far_is_kept() {
    let scratch = Scratch::new();
    let hangs_in_run_7 = "
        echo >> started
        [ $(wc -l < started) -lt 7 ] || exec sleep 1000000
        exec \"$@\"
    ";
    let running = Running::start(&mut search(&scratch, &[], hangs_in_run_7));
    wait_until("run 7 starts", || scratch.read("started").lines().count() == 7);
    running.signal("KILL");
    assert_eq!(running.finish().status, None);

    let result: serde_json::Value = serde_json::from_str(&scratch.read("bisect.out/result.json")).unwrap();
    let smallest = &result["smallest"];
    assert!(smallest["changes"].as_u64() < smallest["of"].as_u64(), "{smallest}");
    assert_eq!(smallest["mode"], "enable");
    scratch.write("target.sh", "exec \"$@\"");
    let line = smallest["reproduce"].as_str().unwrap();
    let again = Command::new("sh").args(["-c", line]).current_dir(scratch.dir()).output().unwrap();
    assert!(!again.status.success(), "{line}");
    let replay = run(&mut scratch.driver(["replay"]));
    replay.expect_status(2).expect_message(&["has no answer"]);
}
