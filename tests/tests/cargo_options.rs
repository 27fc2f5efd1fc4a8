//! Options and variables of cargo that select, place and restrict a build: a search has the same answer with each.
#![cfg(unix)]

use std::{fs, path::PathBuf};

use bisect_tests::harness::{Scratch, root, run};

/// A virtual workspace of two packages, each with a toggle that breaks its test.
struct Workspace(Scratch);

impl Workspace {
    fn new() -> Self {
        let scratch = Scratch::new();
        let runtime = root().join("bisect-rt");
        for name in ["one", "two"] {
            fs::create_dir_all(scratch.dir().join(name).join("src")).unwrap();
            scratch.write(
                &format!("{name}/Cargo.toml"),
                &format!(
                    "[package]\nname = '{name}'\nversion = '0.1.0'\nedition = '2024'\n\
                     [dependencies]\nbisect-rt = {{ path = '{}', default-features = false }}\n",
                    runtime.display()
                ),
            );
            let point = format!("bisect_rt::bisect_point!(\"of-{name}\")");
            let library = format!("#[test]\nfn of_{name}() {{ assert!(!{point}); }}\n");
            scratch.write(&format!("{name}/src/lib.rs"), &library);
        }
        scratch.write("Cargo.toml", "[workspace]\nmembers = ['one', 'two']\nresolver = '3'\n");
        fs::copy(root().join("Cargo.lock"), scratch.dir().join("Cargo.lock")).unwrap();
        let this = Self(scratch);
        // Cargo removes the packages that are not needed.
        let _ = run(this.0.driver(["toggles", "--offline"]).env("CARGO_TARGET_DIR", this.target())).expect_status(0);
        this
    }

    fn target(&self) -> PathBuf {
        self.0.dir().join("target")
    }

    /// Searches in a directory of the workspace. Returns the names of the culprits.
    fn search(&self, place: &str, words: &[&str], target: Option<&str>) -> Vec<String> {
        let mut command = self.0.driver(["test", "--json", "--out"]);
        command.arg(self.0.dir().join("out")).args(words).current_dir(self.0.dir().join(place));
        match target {
            Some(target) => command.env("CARGO_TARGET_DIR", self.0.dir().join(target)),
            None => command.env_remove("CARGO_TARGET_DIR"),
        };
        let finished = run(&mut command).expect_status(0);
        let found = finished.events_of("found");
        let mut names: Vec<_> =
            found.iter().map(|found| found["changes"][0]["name"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn each_selects_or_places_the_same_search() {
    let workspace = Workspace::new();
    let outside = Scratch::new();
    let manifest = workspace.0.dir().join("two/Cargo.toml");
    let manifest = manifest.to_str().unwrap();
    let elsewhere = outside.dir().to_str().unwrap();
    let target = workspace.target();
    let both = &["of-one", "of-two"][..];
    for (place, words, names) in [
        ("", &[][..], both),
        ("", &["--workspace"], both),
        ("", &["-p", "one"], &both[..1]),
        ("two", &[], &both[1..]),
        ("two/src", &["--offline"], &both[1..]),
        ("one", &["--manifest-path", manifest], &both[1..]),
        (elsewhere, &["--manifest-path", manifest, "--locked"], &both[1..]),
        ("", &["--locked"], both),
        ("", &["--frozen", "-p", "two"], &both[1..]),
        ("one", &["--config", "net.offline=true", "--all-features"], &both[..1]),
    ] {
        assert_eq!(workspace.search(place, words, Some("target")), names, "{place} {words:?}");
    }
    // A directory of the workspace, by default and by an option.
    assert!(target.join("bisect-opt").is_dir());
    fs::rename(&target, workspace.0.dir().join("moved")).unwrap();
    assert_eq!(workspace.search("one", &["--target-dir", "../moved"], None), ["of-one"]);
    assert!(!target.exists());
    assert_eq!(workspace.search("one", &[], Some("moved")), ["of-one"]);
    assert!(!target.exists());
    fs::rename(workspace.0.dir().join("moved"), &target).unwrap();
    assert_eq!(workspace.search("one", &[], None), ["of-one"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_lock_file_that_must_change_is_refused_by_cargo() {
    let workspace = Workspace::new();
    let lock = fs::read_to_string(workspace.0.dir().join("Cargo.lock")).unwrap();
    let manifest = workspace.0.read("one/Cargo.toml").replace("0.1.0", "0.2.0");
    workspace.0.write("one/Cargo.toml", &manifest);
    for option in ["--locked", "--frozen"] {
        let mut command = workspace.0.driver(["test", option]);
        let refused = run(command.env("CARGO_TARGET_DIR", workspace.target())).expect_status(3);
        refused.expect_message(&["lock file", option]);
        assert_eq!(workspace.0.read("Cargo.lock"), lock, "{option}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn documentation_tests_are_refused_with_the_reason() {
    let workspace = Workspace::new();
    for command in ["test", "toggles"] {
        let mut command = workspace.0.driver([command, "--doc", "-p", "one"]);
        let refused = run(command.env("CARGO_TARGET_DIR", workspace.target())).expect_status(2);
        refused.expect_message(&[
            "documentation tests cannot be searched: rustdoc compiles and runs them in one step",
            "turn the example into a test",
        ]);
    }
}
