//! The driver starts executables as cargo does, with the user's settings, and leaves the user's target directory alone.
#![cfg(unix)]

use std::{env, fs, os::unix::fs::PermissionsExt, path::Path};

use bisect_tests::{
    foreign,
    harness::{Finished, Fixture, Scratch, cargo, driver, line_of, run, scrubbed},
};
use serde_json::Value;

/// Returns the line of the only change of each culprit.
fn lines(finished: &Finished) -> Vec<Value> {
    finished.events_of("found").iter().map(|found| found["changes"][0]["line"].clone()).collect()
}

#[test]
#[ignore = "slow: CI runs it"]
fn flags_runner_and_variables_are_what_cargo_would_use() {
    let fixture = Fixture::new("settings");
    let scratch = Scratch::new();
    let mut command = fixture.driver(["test", "--json"]);
    // Any other missing setting makes the test fail both ways.
    let finished = run(command.env("NOTE_RUNS_IN", scratch.dir().join("runner"))).expect_status(0);
    assert_eq!(lines(&finished), [line_of(fixture.dir(), "src/lib.rs", "// the culprit")]);
    let runs = finished.events_of("end")[0]["runs"].as_u64().unwrap();
    assert!(scratch.read("runner").lines().count() as u64 >= runs, "the runner starts every run");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_program_runs_in_the_users_folder() {
    let fixture = Fixture::new("settings");
    let scratch = Scratch::new();
    // Cargo also searches this directory for configuration, so the fixture's does not count.
    let mut command = scratch.driver(["run", "--json", "--manifest-path"]);
    command.arg(fixture.dir().join("Cargo.toml")).env("CARGO_TARGET_DIR", fixture.target_dir());
    let finished = run(command.args(["--", "strict"])).expect_status(0);
    assert_eq!(finished.events_of("found").len(), 1, "{finished}");
    let log = scratch.read("bisect.out/runs/0002.log");
    let here = scratch.dir().canonicalize().unwrap();
    assert!(log.lines().any(|line| line == here.to_str().unwrap()), "{} is not in {log}", here.display());
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_users_target_directory_stays_as_it_is() {
    let fixture = Fixture::new("settings");
    let fresh = || {
        let mut command = fixture.cargo(["test", "--no-run", "--message-format=json"]);
        let messages = run(&mut command).expect_status(0).stdout;
        let artifacts: Vec<Value> = messages.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        artifacts.iter().filter(|message| message["fresh"] == false).count()
    };
    fresh();
    assert_eq!(fresh(), 0);
    let _ = run(&mut fixture.driver(["test", "--json"])).expect_status(0);
    assert_eq!(fresh(), 0, "artifacts that had to be built again");
}

#[test]
#[ignore = "slow: CI runs it"]
fn warnings_of_the_users_crates_are_not_shown_and_errors_are() {
    let fixture = Fixture::new("settings");
    let library = fs::read_to_string(fixture.dir().join("src/lib.rs")).unwrap();
    fixture.write("src/lib.rs", &(library.clone() + "\nfn forgotten() {}\n"));
    for words in [&["toggles"][..], &["test", "--max-runs=1"]] {
        let finished = run(&mut fixture.driver(words));
        assert!(!finished.stderr.contains("forgotten") && !finished.stderr.contains("warning"), "{finished}");
        finished.expect_message(&["Finished `test` profile"]);
    }
    fixture.write("src/lib.rs", &(library + "\nfn broken() { nonsense }\n"));
    for words in [&["toggles"][..], &["test"], &["test", "--quiet"]] {
        let finished = run(&mut fixture.driver(words)).expect_status(3);
        assert_eq!(finished.stderr.matches("cannot find value `nonsense`").count(), 1, "{finished}");
    }
}

#[test]
fn a_slip_in_an_option_is_not_for_cargo() {
    let scratch = Scratch::new();
    let slip = |words: &[&str]| run(&mut scratch.driver(words)).expect_status(2);
    slip(&["test", "--toogle", "x"]).expect_message(&["no option `--toogle`, did you mean `--toggle`?", "--cargo-arg"]);
    slip(&["toggles", "--lokced"]).expect_message(&["did you mean `--locked`?"]);
    // Cargo itself refuses an argument that is passed on.
    let handed_on = run(&mut scratch.driver(["test", "--cargo-arg=--toogle"])).expect_status(3);
    assert!(!handed_on.stderr.contains("--cargo-arg"), "{handed_on}");
}

#[test]
fn without_tests_it_says_so() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.dir().join("src")).unwrap();
    scratch
        .write("Cargo.toml", "package = { name = 'documented', version = '0.1.0', edition = '2024' }\n[workspace]\n");
    scratch.write("src/lib.rs", "/// ```\n/// assert_eq!(documented::one(), 1);\n/// ```\npub fn one() -> u32 { 1 }\n");
    let finished = run(&mut scratch.driver(["test", "--lib", "--rustflags=--cfg=x=\"PATTERN\""])).expect_status(3);
    finished.expect_message(&["runs no test: there is none in what it builds (documentation tests are not searched"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_toggle_in_a_dylib_is_found_by_its_stack() {
    let fixture = Fixture::new("dylib");
    let finished = run(&mut fixture.driver(["test", "--json", "-p", "dylib-app"])).expect_status(0);
    let change = &finished.events_of("found")[0]["changes"][0];
    assert_eq!(change["kind"], "stack");
    let line = line_of(fixture.dir(), "app/src/lib.rs", "// the culprit");
    let frames = change["frames"].as_array().unwrap();
    let frame = frames.iter().find(|frame| frame["function"].as_str().unwrap().ends_with("particular"));
    assert_eq!(frame.unwrap_or_else(|| panic!("{change:#}"))["line"], line);
}

#[test]
fn a_target_that_does_not_build_is_shown_with_the_compilers_words() {
    let fixture = Fixture::new("broken");
    for command in ["test", "toggles"] {
        let finished = run(&mut fixture.driver([command])).expect_status(3);
        assert_eq!(finished.stdout, "", "{command}");
        finished.expect_message(&["mismatched types", "src/lib.rs:4", "error"]);
    }
}

#[test]
fn what_cargo_refuses_is_shown_in_cargos_words() {
    let fixture = Fixture::new("stacks");
    let finished = run(&mut fixture.driver(["test", "-p", "no-such-package"]));
    assert!(matches!(finished.status, Some(2 | 3)), "{finished}");
    finished.expect_message(&["no-such-package"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_pattern_goes_to_another_compiler_in_flags() {
    let fixture = Fixture::new("flags");
    let compiler = fixture.dir().join("compiler.sh");
    fs::set_permissions(&compiler, PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = fixture.driver(["test", "--json", "--rustflags", "--cfg changes=\"PATTERN\""]);
    command.env("RUSTC_WORKSPACE_WRAPPER", compiler).env("FOREIGN", foreign::executable());
    let finished = run(&mut command).expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:4: step 3", "mill.txt:8: step 7"]]);
    assert_eq!(finished.events_of("found")[0]["tests"], serde_json::json!(["as_it_is_written"]));
}

#[test]
fn it_is_a_subcommand_of_cargo() {
    let scratch = Scratch::new();
    let dirs = env::split_paths(&env::var_os("PATH").unwrap()).collect::<Vec<_>>();
    let dirs = driver().parent().map(Path::to_owned).into_iter().chain(dirs);
    let mut cargo = scrubbed(&cargo(), scratch.dir());
    let finished = run(cargo.env("PATH", env::join_paths(dirs).unwrap()).args(["bisect-opt", "--version"]));
    assert!(finished.expect_status(0).stdout.contains(env!("CARGO_PKG_VERSION")));
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_variable_of_an_outer_bisection_does_not_reach_the_target() {
    let fixture = Fixture::new("stacks");
    let mut command = fixture.driver(["run", "--json", "-p", "app"]);
    command.envs([("BISECT_PATTERN", "+0-1x"), ("BISECT_TOGGLES", "1"), ("BISECT_REPORT", "/no/such/file")]);
    let finished = run(&mut command).expect_status(0);
    assert_eq!(finished.events_of("found").len(), 1, "{finished}");
}
