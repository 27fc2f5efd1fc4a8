//! Builds of cargo in a copy; and files that are copied, replaced and refused.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    process::Command,
};

use super::*;
use crate::fixture::Fixture;

/// A workspace with all features that depend on the target directory: build scripts that generate code, set variables,
/// pass their directory to dependents and watch their own output, a procedural macro, a program, and tests that start
/// it.
fn workspace() -> Fixture {
    let manifest =
        |name: &str, more: &str| format!("[package]\nname = '{name}'\nversion = '0.1.0'\nedition = '2024'\n{more}");
    Fixture::new(&[
        ("Cargo.toml", "[workspace]\nmembers = ['low', 'derive', 'top', 'watches']\nresolver = '3'\n"),
        ("low/Cargo.toml", &manifest("low", "links = 'low'\n")),
        (
            "low/build.rs",
            r#"fn main() {
                let out = std::env::var("OUT_DIR").unwrap();
                std::fs::write(format!("{out}/generated.rs"), "pub const GENERATED: u32 = 7;").unwrap();
                println!("cargo::rustc-env=FROM_SCRIPT={out}/x");
                println!("cargo::rustc-link-search=native={out}");
                println!("cargo::metadata=place={out}");
                println!("cargo::rerun-if-changed=build.rs");
                println!("cargo::rerun-if-env-changed=OF_NO_MATTER");
            }"#,
        ),
        (
            "low/src/lib.rs",
            r#"include!(concat!(env!("OUT_DIR"), "/generated.rs"));
            pub(crate) const PLACE: &str = env!("FROM_SCRIPT");"#,
        ),
        ("watches/Cargo.toml", &manifest("watches", "")),
        ("watches/src/lib.rs", ""),
        (
            "watches/build.rs",
            r#"fn main() {
                let file = std::env::var("OUT_DIR").unwrap() + "/file";
                if !std::fs::exists(&file).unwrap() { std::fs::write(&file, "").unwrap(); }
                println!("cargo::rerun-if-changed={file}");
            }"#,
        ),
        ("derive/Cargo.toml", &manifest("derive", "[lib]\nproc-macro = true\n")),
        (
            "derive/src/lib.rs",
            "#[proc_macro] pub fn seven(_: proc_macro::TokenStream) -> proc_macro::TokenStream { \"7\".parse().unwrap() }",
        ),
        ("top/Cargo.toml", &manifest("top", "[dependencies]\nlow.path = '../low'\nderive.path = '../derive'\n")),
        // It declares no dependencies, so it depends on the whole package.
        ("top/build.rs", r#"fn main() { assert!(std::env::var_os("DEP_LOW_PLACE").is_some()); }"#),
        ("top/src/lib.rs", "pub fn sum() -> u32 { low::GENERATED + derive::seven!() }"),
        ("top/src/main.rs", "fn main() { println!(\"{}\", top::sum()) }"),
        ("top/tests/plain.rs", "#[test] fn plain() { assert_eq!(top::sum(), 14) }"),
        (
            "top/tests/starts.rs",
            r#"#[test] fn starts() {
                println!("starts {}", env!("CARGO_BIN_EXE_top"));
                assert!(std::process::Command::new(env!("CARGO_BIN_EXE_top")).status().unwrap().success());
            }"#,
        ),
        (
            "top/tests/writes.rs",
            r#"#[test] fn writes() {
                println!("writes to {}", env!("CARGO_TARGET_TMPDIR"));
                std::fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/file"), "").unwrap();
            }"#,
        ),
    ])
}

/// Returns the number of times that a build has compiled each target.
fn build(fixture: &Fixture, target_dir: &Path) -> BTreeMap<String, usize> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(fixture.path()).env_remove("CARGO_TARGET_DIR").env_remove("CARGO_BUILD_BUILD_DIR");
    cargo.args(["test", "--no-run", "--workspace", "--offline", "--message-format=json", "--target-dir"]);
    let output = cargo.arg(target_dir).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let mut made = BTreeMap::new();
    for message in cargo_metadata::Message::parse_stream(output.stdout.as_slice()) {
        if let cargo_metadata::Message::CompilerArtifact(artifact) = message.unwrap() {
            *made.entry(artifact.target.name).or_default() += usize::from(!artifact.fresh);
        }
    }
    // Of build scripts that run there is no message that says whether they ran now; they are compiled with a word.
    assert_eq!(stderr.contains("Compiling"), made.values().any(|&times| times > 0), "{stderr}");
    made
}

/// Returns the targets that were compiled.
fn anew(made: &BTreeMap<String, usize>) -> BTreeSet<&str> {
    made.iter().filter(|(_, times)| **times > 0).map(|(name, _)| name.as_str()).collect()
}

fn copy(from: &Path, to: &Path) -> Result<(), CloneError> {
    clone_target_dir(from, to, None, &|| false)
}

#[test]
fn cargo_finds_everything_fresh_but_what_knows_its_place() {
    let fixture = workspace();
    let (first, second) = (fixture.path().join("target"), fixture.path().join("copies/2"));
    let all = ["build-script-build", "derive", "low", "plain", "starts", "top", "watches", "writes"];
    assert_eq!(anew(&build(&fixture, &first)), all.into());
    // Cargo repeats a script that has written a file that it watches.
    build(&fixture, &first);
    copy(&first, &second).unwrap();
    let made = build(&fixture, &second);
    assert!(made.keys().eq(&all), "{made:?}");
    assert_eq!(anew(&made), ["starts", "watches", "writes"].into(), "{made:?}");
    assert_eq!(anew(&build(&fixture, &second)), [].into(), "and from then on, they are too");
    assert_eq!(anew(&build(&fixture, &first)), [].into(), "the original is as it was");

    // New artifacts are those that the original would have.
    fixture.write("low/src/lib.rs", "pub const GENERATED: u32 = 6 + 1;");
    let made = build(&fixture, &second);
    assert_eq!(anew(&made), ["low", "plain", "starts", "top", "writes"].into());
    assert_eq!(made, build(&fixture, &first));
}

#[test]
#[ignore = "slow: CI runs it"]
fn tests_use_the_programs_and_the_files_of_their_own_copy() {
    let fixture = workspace();
    let (first, second) = (fixture.path().join("target"), fixture.path().join("target/copy"));
    build(&fixture, &first);
    copy(&first, &second).unwrap();
    build(&fixture, &second);
    for (dir, other) in [(&first, &second), (&second, &first)] {
        let deps = fs::read_dir(dir.join("debug/deps")).unwrap().map(|entry| entry.unwrap().path());
        let is_test = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap();
            (name.starts_with("starts-") || name.starts_with("writes-"))
                && path.extension().is_none_or(|extension| extension == std::env::consts::EXE_EXTENSION)
        };
        let tests: Vec<_> = deps.filter(is_test).collect();
        assert_eq!(tests.len(), 2, "{tests:?}");
        for test in tests {
            let output = Command::new(test).arg("--nocapture").output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(output.status.success(), "{text}");
            let debug = |dir: &Path| dir.join("debug").display().to_string();
            let tmp = |dir: &Path| dir.join("tmp").display().to_string();
            assert!(text.contains(&debug(dir)) || text.contains(&tmp(dir)), "{text}");
            assert!(!text.contains(&debug(other)) && !text.contains(&tmp(other)), "{text}");
        }
    }
}

/// Creates a directory with `from`, which has one file, and `to`.
fn places() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("from"), dir.path().join("to"));
    fs::create_dir_all(from.join("debug/deps")).unwrap();
    fs::write(from.join("debug/deps/x"), "text").unwrap();
    (dir, from, to)
}

/// All paths below a directory.
fn paths(dir: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut left = vec![dir.to_owned()];
    while let Some(path) = left.pop() {
        if path.symlink_metadata().unwrap().is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        found.insert(path.strip_prefix(dir).unwrap().to_owned());
    }
    found
}

#[test]
fn incremental_files_locks_and_copies_are_left_out() {
    let (_guard, from, to) = places();
    for path in [
        "debug/incremental/x/y",
        "debug/.fingerprint/x",
        "debug/build/p-1/out/incremental/kept",
        "other/incremental/kept",
        ".search-x/kept/y",
    ] {
        fs::create_dir_all(from.join(path).parent().unwrap()).unwrap();
        fs::write(from.join(path), path).unwrap();
    }
    copy(&from, &to).unwrap();
    let mut expected = paths(&from);
    expected.retain(|path| !path.starts_with("debug/incremental") && !path.starts_with(".search-x"));
    expected.insert(MARK.into());
    assert_eq!(paths(&to), expected);
    assert_eq!(fs::read_to_string(to.join("debug/.fingerprint/x")).unwrap(), "debug/.fingerprint/x");
}

#[cfg(unix)]
#[test]
fn times_permissions_and_links_are_kept() {
    use std::{
        os::unix::{
            fs::{PermissionsExt, symlink},
            net::UnixListener,
        },
        time::{Duration, SystemTime},
    };

    let (_guard, from, to) = places();
    let (file, dir) = (from.join("debug/deps/x"), from.join("debug/deps"));
    symlink("x", dir.join("link")).unwrap();
    symlink("nowhere", dir.join("broken")).unwrap();
    symlink("../deps", dir.join("loop")).unwrap();
    UnixListener::bind(dir.join("socket")).unwrap();
    let time = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 123_456_789);
    for (path, mode) in [(&file, 0o555), (&dir, 0o555)] {
        fs::File::open(path).unwrap().set_modified(time).unwrap();
        fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }
    copy(&from, &to).unwrap();
    for path in ["debug/deps/x", "debug/deps"] {
        let metadata = to.join(path).symlink_metadata().unwrap();
        assert_eq!(metadata.modified().unwrap(), time, "{path}");
        assert_eq!(metadata.permissions().mode() & 0o777, 0o555, "{path}");
    }
    assert_eq!(fs::read_link(to.join("debug/deps/link")).unwrap(), Path::new("x"));
    assert_eq!(fs::read_link(to.join("debug/deps/broken")).unwrap(), Path::new("nowhere"));
    assert_eq!(fs::read_link(to.join("debug/deps/loop")).unwrap(), Path::new("../deps"));
    assert!(!to.join("debug/deps/socket").exists());
    // A partial copy is replaced, too.
    copy(&from, &to).unwrap();
}

#[test]
fn only_our_own_is_replaced() {
    let (_guard, from, to) = places();
    fs::create_dir(&to).unwrap();
    copy(&from, &to).unwrap();
    fs::write(to.join("debug/deps/older"), "").unwrap();
    copy(&from, &to).unwrap();
    assert!(!to.join("debug/deps/older").exists() && to.join("debug/deps/x").exists());

    fs::remove_file(to.join(MARK)).unwrap();
    fs::write(to.join("mine"), "mine").unwrap();
    let before = paths(&to);
    let error = copy(&from, &to).unwrap_err();
    assert!(matches!(error, CloneError::NotOurs(_)), "{error}");
    // A file that only has the name of the mark does not count.
    fs::write(to.join(MARK), "mine").unwrap();
    assert!(matches!(copy(&from, &to), Err(CloneError::NotOurs(_))));
    fs::remove_file(to.join(MARK)).unwrap();
    assert_eq!(paths(&to), before);
    assert!(matches!(copy(&from, &to.join("mine")), Err(CloneError::NotOurs(_))));
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_a_copy_is_not_followed() {
    let (guard, from, to) = places();
    let elsewhere = guard.path().join("elsewhere");
    copy(&from, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &to).unwrap();
    assert!(matches!(copy(&from, &to), Err(CloneError::NotOurs(_))));
    assert!(elsewhere.join(MARK).exists());
}

#[test]
fn copies_may_be_in_the_original_but_not_the_other_way_round() {
    let (_guard, from, _) = places();
    let inner = |number: u32| from.join("slots").join(number.to_string());
    for number in [1, 2, 1] {
        copy(&from, &inner(number)).unwrap();
        assert!(inner(number).join("debug/deps/x").exists());
        assert!(!inner(number).join("slots/1").exists() && !inner(number).join("slots/2").exists());
    }
    for (from, to) in [(inner(1).join("debug"), inner(1)), (inner(1), inner(1))] {
        let error = copy(&from, &to).unwrap_err();
        assert!(matches!(error, CloneError::Inside { .. }), "{error}");
        assert!(inner(1).join("debug/deps/x").exists());
    }
}

#[test]
fn one_that_is_stopped_or_fails_leaves_nothing() {
    let (_guard, from, to) = places();
    for number in 0..9 {
        fs::write(from.join(format!("{number}")), "").unwrap();
    }
    for after in 0..12 {
        let asked = std::cell::Cell::new(0);
        let stop = || asked.replace(asked.get() + 1) == after;
        let result = clone_target_dir(&from, &to, None, &stop);
        assert_eq!(matches!(result, Err(CloneError::Interrupted)), after < 12, "{after}: {result:?}");
        assert!(!to.exists());
    }
    assert!(matches!(copy(&from.join("missing"), &to), Err(CloneError::Io(_))));
    assert!(!to.exists());
}
