//! Lost reports.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use bisect_tests::harness::{Fixture, Scratch, run};

#[test]
fn a_run_whose_reports_are_lost_tells_nothing() {
    let (fixture, scratch) = (Fixture::new("clock"), Scratch::new());
    // The runner limits the size of files to 0 for its children, including the file for reports.
    let runner = scratch.script("limited", "#!/bin/sh\nulimit -f 0\nexec \"$@\"\n");
    let mut command = fixture.driver(["test", "--json", "--out"]);
    command.arg(scratch.dir().join("out")).arg("tells_the_time");
    command.env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", &runner);
    let finished = run(&mut command);
    let trials = finished.events_of("trial");
    let failing = trials.iter().find(|trial| trial["outcome"] != "pass").unwrap();
    assert_eq!(failing["outcome"], "unresolved", "{finished}");
    assert!(failing["reason"].as_str().unwrap().ends_with(": reports are lost"), "{finished}");
    assert!(finished.events_of("found").is_empty(), "{finished}");
    finished.expect_status(3).expect_message(&["reports are lost"]);
}
