//! Build-time changes: found across ten crates, few of which are compiled again for each trial.
#![cfg(unix)]

use std::{fs, os::unix::fs::PermissionsExt};

use bisect_tests::harness::{Fixture, Scratch, line_of, run};

#[test]
#[ignore = "slow: CI runs it"]
fn a_choice_in_one_of_ten_crates_is_found_and_few_crates_are_compiled_again() {
    let fixture = Fixture::new("tenfold");
    let scratch = Scratch::new();
    // The script notes every start of rustc for a crate of the workspace. (It is plain `sh`, which passes on only
    // variables whose names it could write.)
    fixture.write(
        "rustc.sh",
        "#!/bin/sh\ncase \"$*\" in *'--crate-name ___'*) ;; *--crate-name*) echo >> \"$NOTES\";; esac\nexec \"$@\"\n",
    );
    let wrapper = fixture.dir().join("rustc.sh");
    fs::set_permissions(&wrapper, PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = fixture.driver(["run", "--json", "--seed", "1", "-p", "app"]);
    command.env("RUSTC_WORKSPACE_WRAPPER", &wrapper).env("NOTES", scratch.dir().join("notes"));
    let finished = run(&mut command).expect_status(0);

    let found = finished.events_of("found");
    assert_eq!(found.len(), 1, "{finished}");
    let change = &found[0]["changes"][0];
    assert_eq!(found[0]["changes"].as_array().map(Vec::len), Some(1), "{finished}");
    assert_eq!((&change["kind"], &change["name"]), (&"build".into(), &"doubles".into()));
    assert!(change["file"].as_str().unwrap().ends_with("part6/src/lib.rs"), "{change}");
    assert_eq!(change["line"], line_of(fixture.dir(), "part6/src/lib.rs", "// the culprit"));

    let runs = finished.events_of("end")[0]["runs"].as_u64().map_or(0, |runs| usize::try_from(runs).unwrap());
    let compiled = scratch.read("notes").lines().count();
    finished.expect_message(&["for these runs compiled"]);
    println!("{compiled} starts of rustc in {runs} runs over ten crates and 36 changes");
    assert!(compiled >= 20, "with every change, and with none: {compiled}");
    // The program itself is linked anew for each run. Of the nine others, fewer and fewer change, except in repeated
    // runs. The order of trials, and so this number, depends on the folder of the workspace. The lines for pasting
    // compile everything.
    let of_lines = 2 * 10;
    assert!(4 * (compiled - of_lines) <= 3 * 10 * runs, "{compiled} starts of rustc in {runs} runs");
}

#[test]
#[ignore = "slow: CI runs it"]
fn several_builds_at_once_find_the_same() {
    let fixture = Fixture::new("tenfold");
    let scratch = Scratch::new();
    let search = |jobs: &str| {
        let mut command = fixture.driver(["run", "--json", "-p", "app", jobs, "--out"]);
        run(command.arg(scratch.dir().join("out"))).expect_status(0)
    };
    let (alone, together) = (search("-j1"), search("-j3"));
    assert_eq!(together.events_of("found"), alone.events_of("found"), "{together}");
    assert_eq!(together.events_of("start")[0]["jobs"], 3);
    // Each has a target directory, which began as a copy of the first one: the first run in it does not build
    // everything.
    let first = &together.events_of("trial")[0];
    let built = fs::read_to_string(scratch.dir().join("out/runs/0002.log")).unwrap_or_default();
    assert!(!built.contains("Compiling bisect-rt "), "{first}\n{built}");
}
