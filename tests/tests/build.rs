//! The build itself as the target: errors, refusals, crashes and hangs of what cargo compiles.
#![cfg(unix)]

use std::{fs, os::unix::fs::PermissionsExt, process::Command};

use bisect_tests::{
    foreign,
    harness::{Finished, Fixture, Scratch, line_of, run},
    process_tree::ProcessTree,
};
use serde_json::Value;

/// Returns a search in the foundry that writes no files into the folder.
fn search(fixture: &Fixture, words: &[&str]) -> Command {
    let mut command = fixture.driver(words);
    command.args(["--json", "--out"]).arg(fixture.dir().join("target-out"));
    command
}

/// Returns the names of the changes of each culprit.
fn names(finished: &Finished) -> Vec<Vec<String>> {
    let name = |change: &Value| change["name"].as_str().expect("a name").to_owned();
    let changes = |found: &Value| found["changes"].as_array().expect("changes").iter().map(name).collect();
    finished.events_of("found").iter().map(changes).collect()
}

/// Returns the different reasons of the runs that failed.
fn reasons(finished: &Finished) -> Vec<String> {
    let failed = finished.events_of("trial").into_iter().filter(|trial| trial["outcome"] == "fail");
    let mut reasons: Vec<_> = failed.map(|trial| trial["reason"].as_str().expect("a reason").to_owned()).collect();
    reasons.sort();
    reasons.dedup();
    reasons
}

/// Runs the line that reproduces a culprit.
fn reproduced(found: &Value, fixture: &Fixture) -> Finished {
    run(&mut fixture.shell(found["reproduce"].as_str().expect("a line for a shell"), fixture.dir()))
}

/// Returns true if everything that cargo builds of a package is up to date, in the user's directory.
fn is_fresh(fixture: &Fixture, package: &str) -> bool {
    let finished = run(&mut fixture.cargo(["build", "-p", package, "--message-format=json"])).expect_status(0);
    let messages = finished.events();
    let artifacts: Vec<_> = messages.iter().filter(|message| message["reason"] == "compiler-artifact").collect();
    assert!(!artifacts.is_empty());
    artifacts.iter().all(|artifact| artifact["fresh"] == true)
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_crate_that_refuses_to_be_optimized_is_found_and_the_users_builds_stay_as_they_are() {
    let fixture = Fixture::new("foundry");
    is_fresh(&fixture, "polish");
    for (words, axis) in [
        (&["build", "--codegen", "-p", "shop"][..], "cargo build --release -p shop"),
        (&["build", "--codegen", "-p", "shop", "-j2", "--level=crates"], "cargo build --release -p shop"),
        (&["check", "--codegen", "-p", "shop"], "cargo check --release -p shop"),
    ] {
        let finished = run(&mut search(&fixture, words)).expect_status(0);
        assert_eq!(names(&finished), [["anvil"]], "{finished}");
        let start = &finished.events_of("start")[0];
        assert_eq!((&start["axis"], &start["target"]), (&"crates".into(), &axis.into()), "{finished}");
        let found = &finished.events_of("found")[0];
        assert_eq!((&found["changes"][0]["kind"], &found["tests"]), (&"crate".into(), &Value::Array(Vec::new())));
        assert_eq!(reasons(&finished), ["panic at anvil/build.rs:6:5"], "{finished}");
        assert_eq!(finished.events_of("end").len(), 1);
        assert!(is_fresh(&fixture, "polish"), "{words:?}");
        if words == ["build", "--codegen", "-p", "shop"] {
            finished.expect_message(&["the build fails before the first LLVM pass, so it is none of them"]);
        }
        if !words.contains(&"-j2") {
            let again = reproduced(found, &fixture);
            assert_ne!(again.status, Some(0), "{again}");
            again.expect_message(&["an anvil cannot be optimized"]);
        }
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn all_that_fails_is_seen_at_once() {
    let fixture = Fixture::new("foundry");
    let words = ["build", "--codegen", "-p", "shop", "-p", "mint", "--level=crates"];
    let finished = run(&mut search(&fixture, &words)).expect_status(0);
    let mut found = names(&finished);
    found.sort();
    assert_eq!(found, [["anvil"], ["press"]], "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_crash_of_the_compiler_is_told_by_the_pass_that_crashes() {
    let fixture = Fixture::new("foundry");
    let finished = run(&mut search(&fixture, &["build", "--codegen", "-p", "mint"])).expect_status(0);
    let found = finished.events_of("found");
    let kinds: Vec<_> = found.iter().map(|found| found["changes"][0]["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["crate", "pass"], "{finished}");
    assert_eq!(names(&finished)[0], ["press"]);
    assert!(
        names(&finished)[1][0].starts_with("LLVM pass ")
            && names(&finished)[1][0].ends_with(" on function press::pressed")
    );
    assert_eq!(reasons(&finished), ["signal 11"], "{finished}");
    for found in &found {
        let again = reproduced(found, &fixture);
        assert_ne!(again.status, Some(0), "{again}");
        again.expect_message(&["SIGSEGV"]);
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_compiler_that_never_ends_is_ended_with_all_its_children() {
    let fixture = Fixture::new("foundry");
    let options = ["--good=opt-level=0,debug-assertions=false", "--bad=opt-level=0,debug-assertions=true"];
    let words = ["check", "--codegen", "-p", "shop", "--timeout=6s"];
    let mut command = search(&fixture, &words);
    let tree = ProcessTree::mark(command.args(options));
    let finished = run(&mut command).expect_status(0);
    tree.expect_gone();
    assert_eq!(names(&finished), [["kiln"]], "{finished}");
    assert_eq!(reasons(&finished), ["timeout"], "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_choice_that_does_not_compile_is_found_where_nothing_can_be_started() {
    let fixture = Fixture::new("foundry");
    for (words, status, found) in [
        (&["build", "-p", "alloy"][..], 0, &["lighter"][..]),
        (&["check", "-p", "alloy", "--toggle=lighter", "--toggle=harder", "-j2"], 0, &["lighter"]),
        // This choice does not compile either way.
        (&["check", "-p", "alloy", "--toggle=harder"], 1, &[]),
    ] {
        let finished = run(&mut search(&fixture, words)).expect_status(status);
        assert_eq!(names(&finished).concat(), found, "{finished}");
        assert_eq!(reasons(&finished), ["error[E0080] at alloy/src/lib.rs:9:15"], "{finished}");
        for found in finished.events_of("found") {
            let change = &found["changes"][0];
            assert_eq!((&change["kind"], &change["file"]), (&"build".into(), &"alloy/src/lib.rs".into()));
            assert_eq!(change["line"], line_of(fixture.dir(), "alloy/src/lib.rs", "// the culprit"));
            let again = reproduced(&found, &fixture);
            assert_ne!(again.status, Some(0), "{again}");
            again.expect_message(&["there is more tin than alloy"]);
        }
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_compiler_that_takes_a_pattern_breaks_a_build() {
    let fixture = Fixture::new("flags");
    fixture.write("src/lib.rs", "#[cfg(miscompiled)]\ncompile_error!(\"it is not what it was\");\n");
    let compiler = fixture.dir().join("compiler.sh");
    fs::set_permissions(&compiler, PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = search(&fixture, &["build", "--rustflags", "--cfg changes=\"PATTERN\""]);
    command.env("RUSTC_WORKSPACE_WRAPPER", compiler).env("FOREIGN", foreign::executable());
    let finished = run(&mut command).expect_status(0);
    assert_eq!(finished.culprits(), [["mill.txt:4: step 3", "mill.txt:8: step 7"]], "{finished}");
    assert_eq!(finished.events_of("start")[0]["axis"], "rustflags");
}

#[test]
#[ignore = "slow: CI runs it"]
fn only_a_failure_that_says_so_counts() {
    let fixture = Fixture::new("foundry");
    let words = ["build", "--codegen", "-p", "shop", "--level=crates", "--fail-when"];
    let with = |regex: &'static str| run(&mut search(&fixture, &[&words[..], &[regex]].concat()));
    assert_eq!(names(&with("an anvil .* be optimized").expect_status(0)), [["anvil"]]);
    let finished = with("internal compiler error").expect_status(3);
    let trial = &finished.events_of("trial")[0];
    assert_eq!(trial["outcome"], "unresolved", "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_build_without_a_difference_and_one_that_cannot_begin() {
    let fixture = Fixture::new("foundry");
    let codegen = ["--codegen", "--level=crates", "-p"];
    let passes = [&["build"][..], &codegen, &["polish"]].concat();
    run(&mut search(&fixture, &passes))
        .expect_status(1)
        .expect_message(&["check that this is the build that fails for you"]);
    let unknown = [&passes[..], &["--cargo-arg=--frobnicate"]].concat();
    run(&mut search(&fixture, &unknown)).expect_status(3).expect_message(&["unexpected argument '--frobnicate'"]);

    let broken = Fixture::new("broken");
    run(&mut search(&broken, &["build", "--codegen"]))
        .expect_status(1)
        .expect_message(&["the target fails with every"]);
    let finished = run(&mut search(&broken, &["check"])).expect_status(3);
    finished.expect_message(&["`cargo check` fails with all build-time changes and without any"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn what_a_build_cannot_be_asked_is_refused() {
    let fixture = Fixture::new("foundry");
    for (words, facts) in [
        (
            &["build", "-p", "alloy", "--toggle=rounded"][..],
            &["`rounded` is decided at run time", "bisect-opt test"][..],
        ),
        (&["check", "-p", "alloy", "--toggle=light"], &["no toggle is called `light`", "`lighter`"]),
        (&["build", "-p", "alloy", "--launcher", "env"], &["--launcher"]),
        (&["build", "--codegen", "words"], &["`cargo build` takes only options, and `words` is not an option"]),
        (&["check", "--codegen", "--", "words"], &["`cargo check` takes only options"]),
    ] {
        let mut command = fixture.driver(words);
        let finished = run(command.arg("--out").arg(Scratch::new().dir().join("out")));
        finished.expect_status(2).expect_message(facts);
    }
}
