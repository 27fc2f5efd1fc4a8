//! Signals and terminals: a stopped target does not hang the search, an ignored signal stays ignored, and Ctrl-Z stops
//! all processes.
#![cfg(target_os = "linux")]

use std::{
    fs,
    process::{Command, Stdio},
};

use bisect_tests::{
    foreign,
    harness::{Running, Scratch, run, wait_until},
    process_tree::ProcessTree,
};

/// Returns a search that finds step 3, by this script.
fn search(scratch: &Scratch, options: &[&str], script: &str) -> Command {
    scratch.write("target.sh", script);
    let mut command = scratch.driver(["exec", "--json"]);
    command.args(options).args(["FOREIGN_CHANGES=PATTERN", "sh", "target.sh"]).arg(foreign::executable());
    command.args(["--steps=8", "--fails-when=3"]);
    command
}

/// Returns the same command, started by this shell code.
fn started_by(code: &str, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", code, "sh"]).arg(command.get_program()).args(command.get_args());
    shell.current_dir(command.get_current_dir().expect("a search has a folder"));
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}

/// Returns the state of a process: `T` is stopped.
fn state(pid: &str) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(") ").next()?.chars().next()
}

#[test]
fn signals_that_were_ignored_at_the_start_stay_so() {
    let scratch = Scratch::new();
    let script = "echo $$ >> started; while ! [ -e go ]; do sleep 0.01; done; exec \"$@\"";
    let search = search(&scratch, &[], script);
    // `nohup` starts a process like this, and so does a shell without job control in the background.
    let running = Running::start(&mut started_by("trap '' HUP INT; exec \"$@\"", &search));
    wait_until("the target runs", || !scratch.read("started").is_empty());
    running.signal("HUP");
    running.signal("INT");
    scratch.write("go", "");
    let finished = running.finish().expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:4: step 3"]]);
}

#[test]
fn other_signals_still_end_it() {
    let scratch = Scratch::new();
    let search = search(&scratch, &[], "echo >> started; exec sleep 1000000");
    let running = Running::start(&mut started_by("trap '' HUP INT; exec \"$@\"", &search));
    wait_until("the target runs", || !scratch.read("started").is_empty());
    running.signal("TERM");
    let _ = running.finish().expect_status(130);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_target_that_is_stopped_is_said_to_be_and_has_not_failed() {
    for options in [&[][..], &["--timeout=1s"]] {
        let scratch = Scratch::new();
        let mut command = search(&scratch, options, "sleep 1000000 & kill -STOP $$; exec \"$@\"");
        let tree = ProcessTree::mark(&mut command);
        let finished = run(&mut command).expect_status(3);
        let trial = &finished.events_of("trial")[0];
        assert_eq!(trial["outcome"], "unresolved", "{finished}");
        assert_eq!(trial["reason"], "stopped by SIGSTOP and did not go on", "{finished}");
        tree.expect_gone();
    }
}

#[test]
fn a_target_that_is_stopped_only_for_a_moment_goes_on() {
    let scratch = Scratch::new();
    let script = "(kill -STOP $$; kill -CONT $$) & wait; exec \"$@\"";
    let finished = run(&mut search(&scratch, &[], script)).expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:4: step 3"]]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_target_has_no_terminal_to_be_stopped_by() {
    let is_there = Command::new("script").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !is_there.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: no `script`");
        return;
    }
    for script in ["\"$@\"; r=$?; stty sane < /dev/tty; exit $r", "\"$@\"; r=$?; read -r x < /dev/tty; exit $r"] {
        let scratch = Scratch::new();
        scratch.write("target.sh", script);
        let search = search(&scratch, &[], script);
        let words = [search.get_program()].into_iter().chain(search.get_args()).map(|word| word.to_str().unwrap());
        let line = words.map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        // The search has a terminal of its own, like a user's shell.
        let code = "exec script -qec \"$0 2>trace\" /dev/null".replace("$0", &line.replace('"', "\\\""));
        let finished = run(&mut started_by(&code, &search));
        assert_eq!(finished.status, Some(0), "{finished}\n{}", scratch.read("trace"));
        assert!(finished.stdout.contains("mill.txt:4: step 3"), "{finished}");
    }
}

#[test]
fn ctrl_z_pauses_the_target_too() {
    let scratch = Scratch::new();
    // The shell starts no process while it waits: one that is stopped between `vfork` and `exec` would leave the shell in
    // uninterruptible sleep (`D`) instead.
    let script = "echo $$ > pid; while ! [ -e go ]; do :; done; exec \"$@\"";
    let running = Running::start(&mut search(&scratch, &[], script));
    wait_until("the target runs", || scratch.read("pid").ends_with('\n'));
    let (driver, target) = (running.id().to_string(), scratch.read("pid").trim().to_owned());
    running.signal("TSTP");
    wait_until("both are stopped", || [&driver, &target].iter().all(|pid| state(pid) == Some('T')));
    scratch.write("go", "");
    assert_eq!(state(&target), Some('T'));
    running.signal("CONT");
    let finished = running.finish().expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:4: step 3"]]);
}
