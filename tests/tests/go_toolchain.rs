//! The real Go toolchain: a target that Go's own tool searches, ours searches too. Skipped if Go is not installed.
#![cfg(unix)]

use std::{path::Path, process::Command};

use bisect_tests::harness::{Fixture, add_internal_bisect, go, line_of, run, with_go};

/// Returns a search of this target.
fn search(fixture: &Fixture, go: &Path, target: &[&str]) -> Command {
    let mut command = fixture.driver(["exec", "--json"]);
    with_go(&mut command, go);
    command.args(target);
    command
}

#[test]
fn the_loop_that_relies_on_one_variable_for_all_iterations_is_found() {
    let Some(go) = go() else { return };
    let fixture = Fixture::new("go-loopvar");
    // The variable `GOCOMPILEDEBUG` would have the standard library compiled again for each pattern.
    let target = ["go", "test", "-gcflags=-d=loopvarhash=PATTERN"];
    let finished = run(&mut search(&fixture, &go, &target)).expect_status(0);
    let culprits = finished.culprits();
    assert_eq!(culprits.len(), 1, "{finished}");
    let line = line_of(fixture.dir(), "menu.go", "// the culprit");
    assert!(culprits[0][0].starts_with(&format!("./menu.go:{line}:9: loop variable label")), "{culprits:?}");
    let change = &finished.events_of("found")[0]["changes"][0];
    assert_eq!((&change["file"], &change["line"], &change["column"]), (&"./menu.go".into(), &line.into(), &9.into()));
}

#[test]
fn the_stack_on_which_a_setting_of_the_standard_library_matters_is_found() {
    let Some(go) = go() else { return };
    let fixture = Fixture::new("go-setting");
    let finished =
        run(&mut search(&fixture, &go, &["GODEBUG=zipinsecurepath=0#PATTERN", "go", "test"])).expect_status(0);
    let found = finished.events_of("found");
    assert_eq!(found.len(), 1, "{finished}");
    assert_eq!(found[0]["changes"].as_array().map(Vec::len), Some(1), "{finished}");
    let change = &found[0]["changes"][0];
    assert_eq!(change["kind"], "stack");
    let frames = change["frames"].as_array().unwrap();
    let culprit = frames.iter().find(|frame| frame["function"] == "example.com/setting.Restore");
    let culprit = culprit.unwrap_or_else(|| panic!("no such frame: {finished}"));
    assert!(culprit["file"].as_str().unwrap().ends_with("backup.go"), "{culprit}");
    assert_eq!(culprit["line"], line_of(fixture.dir(), "backup.go", "// the culprit"));
}

#[test]
fn recursive_stacks_keep_all_their_frames() {
    let Some(go) = go() else { return };
    let fixture = Fixture::new("go-recursion");
    add_internal_bisect(&fixture, &go);
    let mut build = Command::new(&go);
    with_go(build.current_dir(fixture.dir()).args(["build", "-o", "walk", "."]), &go);
    let _ = run(&mut build).expect_status(0);
    let search = |json: &[&str]| run(fixture.driver(["exec"]).args(json).args(["./walk", "PATTERN"])).expect_status(0);
    let finished = search(&["--json"]);
    let (file, line) = ("main.go", line_of(fixture.dir(), "main.go", "// the recursion"));
    let found = finished.events_of("found");
    assert_eq!(found.len(), 1, "{finished}");
    let mut depths: Vec<_> = found[0]["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| {
            assert!(change["file"].as_str().unwrap().ends_with(file), "{change}");
            let frames = change["frames"].as_array().unwrap();
            let text = change["text"].as_array().unwrap();
            let walks = frames.iter().filter(|frame| frame["function"] == "main.walk");
            let recursions = walks.filter(|frame| frame["line"] == line).count();
            assert_eq!(text.iter().filter(|line| **line == "main.walk()").count(), recursions + 1, "{change}");
            recursions
        })
        .collect();
    depths.sort_unstable();
    assert_eq!(depths, [3, 7], "{finished}");
    // All frames are in the user's own code, so none is left out of either stack.
    let people = search(&[]);
    let shown = people.stdout.lines().filter(|line| line.trim() == "➜ main.walk").count();
    assert_eq!(shown, (3 + 1) + (7 + 1), "{people}");
}
