//! The target directory that searches share: one search waits for the other, and an exchange of the executable is
//! noticed.
#![cfg(target_os = "linux")]

use std::{
    fs::{self, File},
    process::{Command, Stdio},
};

use bisect_tests::harness::{Fixture, Running, Scratch, run, wait_until};

/// Returns a search of the clock whose runs are started by this shell code, which finds the program in `$6`.
fn search(fixture: &Fixture, scratch: &Scratch, launcher: &str) -> Command {
    scratch.write("launcher.sh", &format!("{launcher}\nexec \"$@\""));
    let mut command = fixture.driver(["test", "--json", "--out"]);
    command.arg(scratch.dir().join("out"));
    command.arg(format!("--launcher=sh {}", scratch.dir().join("launcher.sh").display())).arg("tells_the_time");
    command.env("PLACE", scratch.dir());
    command
}

#[test]
fn an_executable_that_is_exchanged_during_a_search_is_noticed() {
    // The executable is exchanged by the same bytes in another file, by a later time, and by a copy beside the
    // original.
    for code in
        ["cp \"$6\" \"$6.new\" && mv \"$6.new\" \"$6\"", "touch \"$6\"", "mv \"$6\" \"$6.old\" && cp \"$6.old\" \"$6\""]
    {
        let (fixture, scratch) = (Fixture::new("clock"), Scratch::new());
        let code = format!("echo >> \"$PLACE/runs\"; [ $(wc -l < \"$PLACE/runs\") != 3 ] || {{ {code}; }}");
        let finished = run(&mut search(&fixture, &scratch, &code)).expect_status(3);
        finished.expect_message(&["exchanged", "clock-", "search again"]);
        assert_eq!(scratch.read("runs").lines().count(), 3, "{finished}");
        assert!(finished.culprits().is_empty());
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn another_search_waits_and_says_so_and_so_does_the_list_of_toggles() {
    let (fixture, scratch) = (Fixture::new("clock"), Scratch::new());
    let hold = "echo >> \"$PLACE/runs\"; while ! [ -e \"$PLACE/go\" ]; do sleep 0.01; done";
    let first = Running::start(&mut search(&fixture, &scratch, hold));
    wait_until("the first search runs something", || !scratch.read("runs").is_empty());

    let other = Scratch::new();
    let mut commands = [fixture.driver(["toggles"]), search(&fixture, &other, ":")];
    let waiting = commands.iter_mut().enumerate().map(|(i, command)| {
        let file = |name: &str| File::create(scratch.dir().join(format!("{name}-{i}"))).unwrap();
        command.stdin(Stdio::null()).stdout(file("stdout")).stderr(file("stderr")).spawn().unwrap()
    });
    let mut waiting: Vec<_> = waiting.collect();
    for i in 0..2 {
        let message = || scratch.read(&format!("stderr-{i}"));
        wait_until("it says what it waits for", || message().contains("Blocking waiting for another search"));
        assert!(message().contains("--target-dir"), "{}", message());
    }
    // An interrupt ends the wait.
    let mut interrupted = waiting.remove(0);
    assert!(Command::new("kill").arg("-INT").arg(interrupted.id().to_string()).status().unwrap().success());
    assert_eq!(interrupted.wait().unwrap().code(), Some(130));

    scratch.write("go", "");
    let finished = first.finish().expect_status(0);
    assert_eq!(finished.events_of("found").len(), 1, "{finished}");
    assert_eq!(waiting.remove(0).wait().unwrap().code(), Some(0), "{}", scratch.read("stderr-1"));
    assert!(fs::exists(other.dir().join("out/result.json")).unwrap());
}
