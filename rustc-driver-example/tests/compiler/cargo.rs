//! Tests under cargo: a crate is compiled again if and only if its variable, or a crate that it depends on, has
//! changed.

use std::{collections::BTreeSet, env, fs, path::Path, process::Command};

use crate::harness::{Ran, bisect_rustc, changes, clean, rustc_path, without};

/// Writes a file for each pair of a path and a text.
fn write(folder: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// Writes a workspace of three packages in a row, and a package outside the workspace that the middle one needs.
fn workspace(folder: &Path) {
    let package = |name: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\n{rest}")
    };
    write(
        folder,
        &[
            (
                "workspace/Cargo.toml",
                "[workspace]\nmembers = [\"base-crate\", \"middle\", \"app\"]\nresolver = \"3\"\n[profile.quick]\ninherits = \"release\"\nincremental = true\n",
            ),
            ("workspace/base-crate/Cargo.toml", &package("base-crate", "")),
            (
                "workspace/base-crate/src/lib.rs",
                "#[inline(never)] pub fn is_before(x: i32) -> bool { x < unsafe { x.unchecked_add(1) } }",
            ),
            ("workspace/base-crate/build.rs", "fn main() { println!(\"cargo::rerun-if-changed=build.rs\") }"),
            (
                "workspace/middle/Cargo.toml",
                &package(
                    "middle",
                    "base-crate = { path = \"../base-crate\" }\nelsewhere = { path = \"../../elsewhere\" }\n",
                ),
            ),
            (
                "workspace/middle/src/lib.rs",
                "pub fn both(x: i32) -> [bool; 2] { [base_crate::is_before(x), elsewhere::is_before(x)] }",
            ),
            ("workspace/app/Cargo.toml", &package("app", "middle = { path = \"../middle\" }\n")),
            (
                "workspace/app/src/main.rs",
                "fn main() { println!(\"{:?}\", middle::both(std::hint::black_box(i32::MAX))) }",
            ),
            ("elsewhere/Cargo.toml", &package("elsewhere", "")),
            (
                "elsewhere/src/lib.rs",
                "#[inline(never)] pub fn is_before(x: i32) -> bool { x < unsafe { x.unchecked_add(1) } }",
            ),
        ],
    );
}

fn cargo() -> Command {
    clean(env::var_os("CARGO").expect("cargo runs these tests"))
}

/// Builds and runs the program. Returns the packages that were compiled, the output of the program, and the reports.
fn build(folder: &Path, profile: &str, variables: &[(&str, &str)]) -> (BTreeSet<String>, String, String) {
    let mut command = cargo();
    command
        .args(["build", "--offline", "--message-format=json", "--profile", profile])
        .current_dir(folder.join("workspace"));
    if !variables.iter().any(|(name, _)| name.ends_with("WRAPPER")) {
        command.env("RUSTC", bisect_rustc().get_program());
    }
    let ran = Ran::of(command.envs(variables.iter().copied()));
    let mut compiled = BTreeSet::new();
    let mut program = None;
    for line in ran.text().lines() {
        let message: serde_json::Value = serde_json::from_str(line).unwrap();
        if message["reason"] != "compiler-artifact" {
            continue;
        }
        let kind = message["target"]["kind"][0].as_str().unwrap();
        if message["fresh"] == false {
            let name = message["target"]["name"].as_str().unwrap();
            compiled.insert(if kind == "custom-build" { "build script" } else { name }.to_owned());
        }
        if let Some(path) = message["executable"].as_str() {
            program = Some(path.to_owned());
        }
    }
    let output = Ran::of(&mut clean(program.unwrap())).text().trim_end().to_owned();
    (compiled, output, ran.stderr)
}

#[test]
fn exactly_the_crates_whose_variables_changed_are_compiled_again() {
    const BASE: &str = "BISECT_RUSTC_base_crate_0_1_0";
    const ELSEWHERE: &str = "BISECT_RUSTC_elsewhere_0_1_0";
    const APP: &str = "BISECT_RUSTC_app_0_1_0";
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    workspace(folder);
    let off = (ELSEWHERE, "optimize=off");
    for profile in ["release", "quick"] {
        for (variables, expected, output) in [
            (&[] as &[_], &["app", "base_crate", "build script", "elsewhere", "middle"] as &[_], "[true, true]"),
            (&[], &[], "[true, true]"),
            (&[(BASE, "optimize=off")], &["app", "base_crate", "middle"], "[false, true]"),
            (&[(BASE, "optimize=off")], &[], "[false, true]"),
            (&[(BASE, "optimize=off"), (APP, "y")], &["app"], "[false, true]"),
            (&[(BASE, "optimize=off"), (APP, "y"), off], &["app", "elsewhere", "middle"], "[false, false]"),
            (&[(BASE, "optimize=off"), (APP, "y"), off], &[], "[false, false]"),
            // Packages with a variable of their own do not depend on the variable for all.
            (&[(BASE, "optimize=off"), (APP, "y"), off, ("BISECT_PATTERN", "y")], &["app", "middle"], "[false, false]"),
            // An empty variable of the package counts, too.
            (
                &[(BASE, ""), (ELSEWHERE, "optimize=off"), ("BISECT_PATTERN", "optimize=off")],
                &["app", "base_crate", "middle"],
                "[true, false]",
            ),
        ] {
            let (compiled, printed, _) = build(folder, profile, variables);
            let expected: BTreeSet<_> = expected.iter().map(|&name| name.to_owned()).collect();
            assert_eq!(compiled, expected, "{profile} {variables:?}");
            assert_eq!(printed, output, "{profile} {variables:?}");
        }
    }
}

#[test]
fn as_a_wrapper_it_compiles_what_cargo_wraps() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    workspace(folder);
    let rustc = rustc_path();
    let compiler = bisect_rustc();
    let wrapped = |kind: &str, pattern: &str| {
        let [compiler, rustc] = [compiler.get_program(), rustc.as_os_str()].map(|path| path.to_str().unwrap());
        build(folder, "release", &[(kind, compiler), ("RUSTC", rustc), ("BISECT_PATTERN", pattern)])
    };
    let (_, printed, reports) = wrapped("RUSTC_WRAPPER", "vy");
    assert_eq!(printed, "[true, true]");
    let all = changes(&reports);
    let elsewhere = all["elsewhere::is_before"];
    assert!(all.contains_key("base_crate::is_before") && all.contains_key("app::main"));
    assert!(!all.keys().any(|path| path.contains("build_script")), "{all:?}");
    assert_eq!(wrapped("RUSTC_WRAPPER", &without(elsewhere)).1, "[true, false]");

    let (_, printed, reports) = wrapped("RUSTC_WORKSPACE_WRAPPER", "optimize=v!y");
    assert_eq!(printed, "[false, true]");
    let members = changes(&reports);
    assert!(members.contains_key("base_crate::is_before"));
    // This wrapper compiles only the crates of the workspace.
    assert_ne!(members.get("elsewhere::is_before"), Some(&elsewhere));
}
