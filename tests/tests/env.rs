//! `--env`: the variables of another environment that make a test, a command or a build fail.
#![cfg(unix)]

use std::{collections::BTreeMap, fs, process::Command};

use bisect_tests::harness::{Finished, Scratch, run, scrubbed};
use serde_json::Value;

use crate::features::Workspace;

/// Returns the names of each culprit's changes.
fn names(finished: &Finished) -> Vec<Vec<String>> {
    let name = |change: &Value| change["name"].as_str().unwrap().to_owned();
    let set = |found: Value| found["changes"].as_array().unwrap().iter().map(name).collect();
    finished.events_of("found").into_iter().map(set).collect()
}

/// Writes the variables that a command of the driver gets, with some set and others unset, as `env -0` does.
fn dump(command: &Command, set: &[(&str, &str)], unset: &[&str]) -> Vec<u8> {
    let mut env = Command::new("env");
    env.arg("-0").env_clear();
    let mut variables: BTreeMap<_, _> = std::env::vars_os().collect();
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => variables.insert(name.to_owned(), value.to_owned()),
            None => variables.remove(name),
        };
    }
    env.envs(variables).envs(set.iter().copied());
    for name in unset {
        env.env_remove(name);
    }
    env.output().unwrap().stdout
}

/// Searches for a command that is a script.
fn search(scratch: &Scratch, options: &[&str], script: &str) -> Finished {
    let mut command = scratch.driver([&["exec", "--json"], options, &["sh", "-c", script]].concat());
    command.env("HERE", "yes");
    run(&mut command)
}

/// Runs a printed line of the first culprit.
fn pasted(scratch: &Scratch, finished: &Finished, line: &str) -> Finished {
    let line = finished.events_of("found")[0][line].as_str().unwrap().to_owned();
    run(scrubbed("sh".as_ref(), scratch.dir()).env("HERE", "yes").args(["-c", &line]))
}

#[test]
fn a_variable_is_set_changed_or_unset() {
    let scratch = Scratch::new();
    for (script, change) in [
        ("test \"$TZ\" != UTC", "TZ: unset -> UTC"),
        ("test \"$HERE\" != no", "HERE: yes -> no"),
        ("test -n \"$GONE\"", "GONE: 1 -> unset"),
    ] {
        let mut command = scratch.driver(["exec", "--json", "--env", "ci.env", "sh", "-c", script]);
        command.env("HERE", "yes").env("GONE", "1");
        let text = dump(&command, &[("TZ", "UTC"), ("HERE", "no"), ("OTHER", "1")], &["GONE"]);
        fs::write(scratch.dir().join("ci.env"), text).unwrap();
        let finished = run(&mut command).expect_status(0);
        assert_eq!(names(&finished), [[change]], "{finished}");
        assert_eq!(finished.events_of("start")[0]["axis"], "env");
        let found = &finished.events_of("found")[0];
        assert_eq!((&found["changes"][0]["kind"], &found["mode"]), (&"variable".into(), &"enable".into()));
        let pasted = |line: &str| {
            let line = found[line].as_str().unwrap();
            run(scrubbed("sh".as_ref(), scratch.dir()).env("HERE", "yes").env("GONE", "1").args(["-c", line]))
        };
        let _ = pasted("reproduce").expect_status(1);
        let _ = pasted("passes").expect_status(0);
    }
}

#[test]
fn values_of_secrets_are_read_from_the_file_and_kept_nowhere() {
    let scratch = Scratch::new();
    scratch.write("ci.env", "A=1\nAPI_TOKEN=it's $hunter2\nZ=2\n");
    scratch.write("check.sh", "test \"$API_TOKEN\" != \"it's \\$hunter2\"\n");
    let finished = search(&scratch, &["--env", "ci.env"], "sh check.sh").expect_status(0);
    assert_eq!(names(&finished), [["API_TOKEN: unset -> (a value that is not shown)"]]);
    let _ = pasted(&scratch, &finished, "reproduce").expect_status(1);
    let _ = pasted(&scratch, &finished, "passes").expect_status(0);
    assert!(!format!("{finished}").contains("hunter2"), "{finished}");
    let found = run(Command::new("grep").args(["-r", "hunter2", "bisect.out"]).current_dir(scratch.dir()));
    let _ = found.expect_status(1);
}

#[test]
fn a_file_that_repairs_the_target_names_what_it_needs() {
    let scratch = Scratch::new();
    scratch.write("good.env", "# of my shell\nA=1\nNEEDED=yes\nB=2\n");
    let finished = search(&scratch, &["--env", "good.env"], "test \"$NEEDED\" = yes").expect_status(0);
    assert_eq!(names(&finished), [["NEEDED: unset -> yes"]]);
    assert_eq!(finished.events_of("found")[0]["mode"], "disable");
    let shown = run(&mut scratch.driver(["report"])).expect_status(0);
    let headline = "the target passes with this variable as in good.env, and fails as it is here: NEEDED: unset -> yes";
    assert!(shown.stdout.contains(headline), "{shown}");
    let _ = pasted(&scratch, &finished, "reproduce").expect_status(1);
}

#[test]
fn a_variable_that_the_command_line_sets_is_not_searched() {
    let scratch = Scratch::new();
    scratch.write("ci.env", "TZ=UTC\nA=1\n");
    let mut command = scratch.driver(["exec", "--json", "--env", "ci.env", "TZ=CET", "sh", "-c", "test -z \"$A\""]);
    let finished = run(&mut command).expect_status(0);
    assert_eq!(names(&finished), [["A: unset -> 1"]]);
    assert_eq!(finished.events_of("trial")[0]["pattern"], "1-");
}

#[test]
fn a_file_that_cannot_be_used_is_refused_with_its_line() {
    let scratch = Scratch::new();
    scratch.write("several.env", "A=1\nsecond line\n");
    scratch.write("same.env", "HERE=yes\n");
    for (file, status, message) in [
        (
            "several.env",
            2,
            "--env several.env: line 2 (`second line`) is not KEY=value: write the file with `env -0 > FILE`",
        ),
        ("none.env", 2, "--env none.env: failed to open file"),
        ("same.env", 1, "all variables in same.env have the same values here"),
    ] {
        let finished = search(&scratch, &["--env", file], "true").expect_status(status);
        assert!(finished.stderr.contains(message), "{finished}");
    }
}

#[test]
fn a_test_is_run_with_variables_and_a_build_is_made_with_them() {
    let workspace = Workspace::new(&[
        ("Cargo.toml", "work 2021\n"),
        ("build.rs", "fn main() { assert!(std::env::var_os(\"NO_BUILD\").is_none(), \"no build\"); }"),
        (
            "src/lib.rs",
            "#[test] fn passes_in_utc() { assert_ne!(option(\"TZ\"), Some(\"CET\".into())); }\n\
                        #[cfg(test)] fn option(name: &str) -> Option<std::ffi::OsString> { std::env::var_os(name) }",
        ),
        ("ci.env", "NO_BUILD=1\nTZ=CET\nX=1\n"),
    ]);
    let finished = workspace.search("test --env ci.env").expect_status(0);
    assert_eq!(names(&finished), [["TZ: unset -> CET"]]);
    let _ = workspace.reproduce(&finished).expect_status(101);
    let finished = workspace.search("check --env ci.env").expect_status(0);
    assert_eq!(names(&finished), [["NO_BUILD: unset -> 1"]]);
    let _ = workspace.reproduce(&finished).expect_status(101);
}

#[test]
fn flags_of_the_compiler_are_those_of_the_file() {
    let workspace = Workspace::new(&[
        ("Cargo.toml", "work 2021\n"),
        ("src/lib.rs", "fn unused() {}\n"),
        ("ci.env", "A=1\nRUSTFLAGS=-Dwarnings\nRUSTC_WRAPPER=/missing/sccache\n"),
    ]);
    let finished = workspace.search("check --env ci.env").expect_status(0);
    let expected = [["RUSTC_WRAPPER: unset -> /missing/sccache"], ["RUSTFLAGS: unset -> -Dwarnings"]];
    assert_eq!(names(&finished), expected, "{finished}");
}

#[test]
fn the_program_is_found_by_the_present_path() {
    let scratch = Scratch::new();
    scratch.write("ci.env", "A=1\nPATH=/nowhere\n");
    let mut command = scratch.driver(["exec", "--json", "--env", "ci.env", "sh", "-c", "test \"$PATH\" != /nowhere"]);
    let finished = run(&mut command).expect_status(0);
    let change = &names(&finished)[0][0];
    assert!(change.starts_with("PATH: ") && change.ends_with(" -> /nowhere"), "{change}");
    let _ = pasted(&scratch, &finished, "reproduce").expect_status(1);
    let _ = pasted(&scratch, &finished, "passes").expect_status(0);
}

#[test]
fn an_interrupted_search_needs_the_same_environment() {
    let scratch = Scratch::new();
    scratch.write("ci.env", "TZ=UTC\nA=1\nB=2\n");
    let script = "test \"$TZ\" != UTC";
    let words = ["exec", "--json", "--env", "ci.env", "--max-runs", "3", "sh", "-c", script];
    let _ = run(scratch.driver(words).env("HERE", "yes")).expect_status(5);
    let resumed = |here: &str| {
        let words = ["exec", "--json", "--resume", "--env", "ci.env", "sh", "-c", script];
        run(scratch.driver(words).env("HERE", here))
    };
    let refused = resumed("no").expect_status(2);
    assert!(refused.stderr.contains("the environment variable `HERE` has changed"), "{refused}");
    assert_eq!(names(&resumed("yes").expect_status(0)), [["TZ: unset -> UTC"]]);
}
