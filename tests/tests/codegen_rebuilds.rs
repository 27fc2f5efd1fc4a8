//! The crates that are compiled again when a search changes the options of some crates: those crates, their dependents,
//! and no others. Cargo's own messages and a user's wrapper of rustc prove it.
#![cfg(unix)]

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use bisect_tests::{
    counting::{Compiled, Counting, times},
    harness::{Finished, Fixture, Scratch, driver, run},
};
use serde_json::Value;

/// The arguments of a search over flags, which are unknown to cargo. The culprit is `stamp`.
const FLAGS: [&str; 7] =
    ["test", "--codegen", "--level=crates", "--json", "--bad=--cfg=broken", "-papp", "--test=works"];
/// The arguments of a search over profile keys. The culprit is `means`.
const KEYS: [&str; 6] = ["test", "--codegen", "--level=crates", "--json", "-papp", "--test=works"];
/// The most crates that either search compiles for a trial: of `app` the library, the program, and the tests.
const CRATES: usize = 7;

/// Returns a search in directories that no other test uses.
fn search(fixture: &Fixture, scratch: &Scratch, arguments: &[&str]) -> Command {
    let mut command = fixture.driver(arguments);
    command.arg("--out").arg(scratch.dir().join("out")).env("CARGO_TARGET_DIR", scratch.dir().join("target"));
    command
}

/// Returns the names in the only culprit.
fn culprit(finished: &Finished) -> Vec<String> {
    let [found] = finished.events_of("found").try_into().unwrap_or_else(|found| panic!("{found:?}\n{finished}"));
    let names =
        |changes: &Vec<Value>| changes.iter().map(|change| change["name"].as_str().unwrap().to_owned()).collect();
    found["changes"].as_array().map(names).unwrap()
}

/// A cargo that has the driver as its wrapper, as in a search.
struct Wrapped<'a> {
    fixture: &'a Fixture,
    scratch: Scratch,
}

impl Wrapped<'_> {
    /// Builds the tests of `app` with these variables and settings, and returns the packages that were compiled.
    fn build(&self, variables: &[(&str, &str)], settings: &[&str]) -> BTreeSet<String> {
        let mut command =
            self.fixture.cargo(["test", "--no-run", "--release", "-papp", "--test=works", "--message-format=json"]);
        command.env("CARGO_TARGET_DIR", self.scratch.dir().join("target"));
        command.env("RUSTC_WRAPPER", driver()).env("BISECT_OPT_WRAPPER", "{}").envs(variables.iter().copied());
        command.args(settings.iter().flat_map(|setting| ["--config", setting]));
        let finished = run(&mut command).expect_status(0);
        let stale = |message: &Value| message["reason"] == "compiler-artifact" && message["fresh"] == false;
        let name = |message: Value| {
            let id = message["package_id"].as_str().unwrap_or_default().to_owned();
            let (place, name) = id.rsplit_once('#').expect("a package ID has a fragment");
            let directory = place.rsplit_once('/').map_or(place, |(_, last)| last);
            name.split_once('@').map_or(directory, |(name, _)| name).to_owned()
        };
        finished.events().into_iter().filter(stale).map(name).collect()
    }
}

fn set<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.map(str::to_owned).into()
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_crate_that_is_told_something_else_is_compiled_again_and_what_depends_on_it() {
    let fixture = Fixture::new("scales");
    let wrapped = Wrapped { fixture: &fixture, scratch: Scratch::new() };
    let nothing = BTreeSet::new();
    assert_eq!(wrapped.build(&[], &[]), set(["app", "idle", "means", "shlex", "stamp"]));
    assert_eq!(wrapped.build(&[], &[]), nothing);

    let version = fs::read_to_string(fixture.dir().join("Cargo.lock")).unwrap();
    let version = version.split("name = \"shlex\"\nversion = \"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let shlex = format!("BISECT_CODEGEN_shlex_{}", version.replace('.', "_"));
    let of_member = set(["app", "idle", "means"]);
    let of_registry = set(["app", "shlex", "stamp"]);
    for (variable, expected) in [("BISECT_CODEGEN_idle_0_1_0", of_member), (&shlex, of_registry)] {
        for flag in ["-Ctarget-cpu=native", "-Coverflow-checks=on"] {
            let plan = format!("{{\"flags\":[\"{flag}\"]}}");
            let told = [(variable, plan.as_str())];
            assert_eq!(wrapped.build(&told, &[]), expected, "{variable} {flag}");
            assert_eq!(wrapped.build(&told, &[]), nothing, "once more: {variable} {flag}");
        }
        assert_eq!(wrapped.build(&[], &[]), expected, "{variable} is not set any more");
    }
    // The first variable names a package that does not exist, and the second one only begins like a package.
    assert_eq!(wrapped.build(&[("BISECT_CODEGEN_idle_0_1", "{}"), ("BISECT_CODEGEN_idl", "x")], &[]), nothing);
}

#[test]
fn what_a_profile_says_is_compiled_once_for_each_way() {
    let fixture = Fixture::new("scales");
    let wrapped = Wrapped { fixture: &fixture, scratch: Scratch::new() };
    let good = ["profile.release.package.\"idle@0.1.0\".opt-level=0"];
    assert_eq!(wrapped.build(&[], &[]).len(), 5);
    assert_eq!(wrapped.build(&[], &good), set(["app", "idle", "means"]));
    assert_eq!(wrapped.build(&[], &[]), BTreeSet::new(), "cargo has kept both");
    assert_eq!(wrapped.build(&[], &good), BTreeSet::new(), "cargo has kept both");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_second_search_compiles_nothing_and_neither_does_a_second_run() {
    let fixture = Fixture::new("scales");
    let (scratch, counting) = (Scratch::new(), Counting::new());
    let compiled = |arguments: &[&str], more: &str, name: &str| {
        // The seed is the same, so that the same runs are repeated before the culprit is named.
        let mut command = search(&fixture, &scratch, arguments);
        let finished = run(counting.set(&mut command).args([more, "--seed=1"])).expect_status(0);
        assert_eq!(culprit(&finished), [name]);
        let runs = finished.events_of("end")[0]["runs"].as_u64().and_then(|runs| usize::try_from(runs).ok());
        (counting.take(), runs.expect("the end has them"))
    };
    let (first, runs) = compiled(&KEYS, "--count=1", "means");
    assert!(first.of_target() > CRATES && first.of_target() < CRATES * runs, "{first:?} in {runs} runs");
    assert_eq!(compiled(&KEYS, "--count=1", "means").0, Compiled::default());
    // Cargo cannot keep two builds of a crate that differ by flags of ours, but it need not compile the same one twice.
    let (once, runs) = compiled(&FLAGS, "--count=1", "stamp");
    assert!(once.of_target() < CRATES * runs, "{once:?} in {runs} runs");
    let _ = compiled(&KEYS, "--count=1", "means");
    let before = compiled(&FLAGS, "--count=1", "stamp").0;
    let _ = compiled(&KEYS, "--count=1", "means");
    // Both begin with the files of the search before them, and differ in the second run of each trial only.
    let twice = compiled(&FLAGS, "--count=2", "stamp").0;
    assert!(twice.of_target() <= before.of_target(), "a trial's second run compiled something: {twice:?}, {before:?}");
}

/// Checks that the search tries the user's own packages first. The others are then compiled once for each way. A run with
/// a mixture of both ways would compile some of them again.
#[test]
#[ignore = "slow: CI runs it"]
fn dependencies_are_compiled_once_for_each_way() {
    let fixture = Fixture::new("scales");
    let outside = ["calm", "dull", "even", "flat"];
    fixture.write(
        "Cargo.toml",
        "[workspace]\nresolver = '3'\nmembers = ['app', 'idle', 'means', 'stamp']\nexclude = ['outside']\n\
         [workspace.package]\nversion = '0.1.0'\nedition = '2024'\npublish = false\n\
         [workspace.lints.rust]\nunexpected_cfgs = 'allow'\n",
    );
    let mut needed = String::new();
    for name in outside {
        let package = format!("package = {{ name = '{name}', version = '0.1.0', edition = '2024' }}\n");
        fixture.write(&format!("outside/{name}/Cargo.toml"), &format!("{package}[dependencies]\n{needed}"));
        fixture.write(&format!("outside/{name}/src/lib.rs"), "");
        needed = format!("{name} = {{ path = '../{name}' }}\n");
    }
    let manifest = fs::read_to_string(fixture.dir().join("idle/Cargo.toml")).unwrap();
    let needed = needed.replace("../", "../outside/");
    fixture.write("idle/Cargo.toml", &format!("{manifest}\n[dependencies]\n{needed}"));

    let (scratch, counting) = (Scratch::new(), Counting::new());
    let finished = run(counting.set(&mut search(&fixture, &scratch, &KEYS))).expect_status(0);
    assert_eq!(culprit(&finished), ["means"]);
    let compiled = counting.take().target;
    assert_eq!(outside.map(|name| compiled[name]), [2; 4], "{compiled:?}");
}

/// Checks that dependents are not compiled again: LLVM's work on a crate does not concern them, but cargo alone would
/// compile them.
#[test]
#[ignore = "slow: CI runs it"]
fn libraries_are_not_compiled_again_for_each_pass_of_another() {
    let fixture = Fixture::new("scales");
    let replace = |path: &str, from: &str, to: &str| {
        let text = fs::read_to_string(fixture.dir().join(path)).unwrap();
        assert!(text.contains(from), "{path}");
        fixture.write(path, &text.replace(from, to));
    };
    replace("Cargo.toml", "\"means\"", "\"means\", \"middle\"");
    let manifest = fs::read_to_string(fixture.dir().join("means/Cargo.toml")).unwrap();
    fixture.write("middle/Cargo.toml", &manifest.replace("means", "middle").replace("idle", "means"));
    fixture.write("middle/src/lib.rs", "pub fn means(lists: &[Vec<f64>]) -> Vec<f64> {\n    means::means(lists)\n}\n");
    replace("app/Cargo.toml", "means = { path = \"../means\" }", "middle = { path = \"../middle\" }");
    replace("app/src/lib.rs", "means::means", "middle::means");

    let (scratch, counting) = (Scratch::new(), Counting::new());
    let compiled = |level: &str| {
        let mut command = search(&fixture, &scratch, &["test", "--codegen", "--json", "-papp", "--test=works", level]);
        let finished = run(counting.set(&mut command)).expect_status(0);
        let passes = finished.events_of("found").iter().filter(|found| found["changes"][0]["kind"] == "pass").count();
        (counting.take().target, passes)
    };
    assert_eq!(compiled("--level=crates").1, 0);
    let (compiled, passes) = compiled("--level=passes");
    assert_eq!(passes, 1);
    assert!(compiled["means"] > 4, "{compiled:?}");
    // It is compiled once when LLVM counts passes in `means`, and once when a pass is left out there.
    assert_eq!(compiled["middle"], 2, "{compiled:?}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_users_target_directory_is_neither_touched_nor_invalidated() {
    let fixture = Fixture::new("scales");
    let scratch = Scratch::new();
    let target = scratch.dir().join("target");
    let build = || {
        let mut stale = 0;
        for profile in ["--profile=dev", "--profile=release"] {
            let mut command = fixture.cargo(["test", "--no-run", "--message-format=json", "-papp", profile]);
            let finished = run(command.env("CARGO_TARGET_DIR", &target)).expect_status(0);
            stale += finished.events().iter().filter(|message| message["fresh"] == false).count();
        }
        let mut times = times(&target);
        let own = ["bisect-opt", "bisect-opt-lines"].map(|name| target.join(name));
        times.retain(|path, _| !own.iter().any(|own| path.starts_with(own)));
        (stale, times)
    };
    let _ = build();
    let before = build();
    assert_eq!(before.0, 0);
    for arguments in [&KEYS[..], &FLAGS] {
        let _ = run(&mut search(&fixture, &scratch, arguments)).expect_status(0);
        assert!(target.join("bisect-opt").is_dir());
        assert_eq!(build(), before, "{arguments:?}");
    }
}

/// Returns true if a search has compiled into this directory.
fn compiled_in(dir: &Path) -> bool {
    dir.join("release/deps").is_dir()
}

#[test]
#[ignore = "slow: CI runs it"]
fn directories_targets_runners_and_jobs_are_the_users() {
    let fixture = Fixture::new("scales");
    let (scratch, notes) = (Scratch::new(), Scratch::new());
    let rustc = run(Command::new("rustc").arg("-vV"));
    let host = rustc.stdout.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned();
    let finished = run(&mut search(&fixture, &scratch, &FLAGS)).expect_status(0);
    assert_eq!(culprit(&finished), ["stamp"]);
    assert!(compiled_in(&scratch.dir().join("target/bisect-opt")));

    let elsewhere = notes.dir().join("elsewhere");
    let mut command = search(&fixture, &scratch, &FLAGS);
    let finished = run(command.arg("--target-dir").arg(&elsewhere).arg("-j2")).expect_status(0);
    assert_eq!(culprit(&finished), ["stamp"], "{finished}");
    assert_eq!(finished.events_of("start")[0]["jobs"], 2);
    assert!(compiled_in(&elsewhere.join("bisect-opt")));
    // Files that a search needs only while it runs are deleted, and are in no copy.
    let kept = times(&elsewhere).into_keys().filter(|path| path.components().any(|part| part.as_os_str() == "kept"));
    assert_eq!(kept.collect::<Vec<_>>(), Vec::<std::path::PathBuf>::new());

    notes.write("runner.sh", "echo \"$1\" >> \"$NOTES\"; exec \"$@\"");
    let mut command = search(&fixture, &scratch, &KEYS);
    let runner = format!("CARGO_TARGET_{}_RUNNER", host.replace('-', "_").to_uppercase());
    command.env(runner, format!("sh {}", notes.dir().join("runner.sh").display()));
    command.env("NOTES", notes.dir().join("runs")).args(["--target", &host]);
    let finished = run(&mut command).expect_status(0);
    assert_eq!(culprit(&finished), ["means"], "{finished}");
    assert!(compiled_in(&scratch.dir().join("target/bisect-opt").join(&host)));
    let runs = finished.events_of("end")[0]["runs"].as_u64().unwrap();
    let started = notes.read("runs");
    assert!(started.lines().count() as u64 >= runs, "{started}\n{finished}");
    assert!(started.lines().all(|line| line.contains(&host)), "{started}");
}

/// Checks each of cargo's ways to name a wrapper.
#[test]
#[ignore = "slow: CI runs it"]
fn the_users_wrapper_is_started_for_every_crate() {
    let fixture = Fixture::new("scales");
    let counting = Counting::new();
    let path = counting.wrapper().display().to_string();
    let config = format!("build.rustc-wrapper = {path:?}");
    let (all, of_workspace) = (["app", "idle", "means", "shlex", "stamp"], ["app", "idle", "means", "stamp"]);
    for (variable, value, arguments, file, expected) in [
        ("RUSTC_WRAPPER", &*path, &[][..], "", &all[..]),
        ("CARGO_BUILD_RUSTC_WRAPPER", &path, &[], "", &all),
        ("NONE", "", &["--config", &*config], "", &all),
        ("NONE", "", &[], &config, &all),
        // An empty variable overrides the configuration files.
        ("RUSTC_WRAPPER", "", &[], &config, &[]),
        ("RUSTC_WORKSPACE_WRAPPER", &path, &[], "", &of_workspace),
    ] {
        let what = format!("{variable}={value} {arguments:?} {file}");
        fixture.write(".cargo/config.toml", file);
        let scratch = Scratch::new();
        let mut command = search(&fixture, &scratch, &FLAGS);
        command.env(variable, value).envs([counting.notes()]).args(arguments);
        let finished = run(&mut command).expect_status(0);
        assert_eq!(culprit(&finished), ["stamp"], "{what}\n{finished}");
        let compiled: Vec<_> = counting.take().target.into_keys().collect();
        assert_eq!(compiled, expected, "{what}");
    }
}
