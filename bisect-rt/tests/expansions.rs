//! Expansions in users' crates, which are built from a copy of `tests/fixtures/expansions`: strict crates compile
//! without warnings, and build-time changes are compiled as their variable says.

use std::{
    collections::BTreeMap,
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::LazyLock,
};

use bisect_test_support::search_path::search_path;

/// The copy of the fixture: one for each run of these tests, in the workspace's target directory.
static FIXTURE: LazyLock<PathBuf> = LazyLock::new(|| {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("expansions");
    match fs::remove_dir_all(&copy) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => panic!("{}: {error}", copy.display()),
        _ => copy_all(&here.join("../tests/fixtures/expansions"), &copy),
    }
    let manifest = copy.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("the fixture has a manifest");
    let quoted = format!("{:?}", here.to_str().expect("cargo takes Unicode paths only"));
    assert!(text.contains("\"../../../bisect-rt\""), "the fixture's manifest has another path to replace");
    fs::write(&manifest, text.replace("\"../../../bisect-rt\"", &quoted)).expect("the copy is writable");
    // The versions in this file are downloaded already, so `--offline` works.
    let _ = fs::copy(here.join("../Cargo.lock"), copy.join("Cargo.lock"));
    copy
});

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap_or_else(|error| panic!("{}: {error}", to.display()));
    for entry in fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display())) {
        let entry = entry.expect("the fixture is readable");
        if entry.file_type().expect("the fixture is readable").is_dir() {
            copy_all(&entry.path(), &to.join(entry.file_name()));
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).expect("the fixture can be copied");
        }
    }
}

/// Returns the command `cargo COMMAND` in the fixture.
fn cargo(command: &str) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(&*FIXTURE).args([command, "--offline", "--quiet", "--target-dir"]);
    // The one of the programs that `runtime` builds in the same way, whose dependencies are the same.
    cargo.arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("Plain"));
    cargo.envs(search_path().map(|path| ("PATH", path)));
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("BISECT_")) {
        cargo.env_remove(name);
    }
    cargo
}

fn output(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Runs a command that succeeds, and returns what it printed.
#[track_caller]
fn success(command: &mut Command) -> String {
    let output = output(command);
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Lints the strict crates, by rustc alone if clippy is not installed.
#[track_caller]
fn lint(rustflags: Option<&str>, fix: Option<&str>) {
    let has_clippy = output(Command::new(env!("CARGO")).args(["clippy", "--version"])).status.success();
    if !has_clippy {
        // Not `eprintln!`: the harness would capture it.
        writeln!(io::stderr(), "SKIPPED: clippy is not installed; only rustc's lints are checked")
            .expect("standard error is there");
    }
    let mut cargo = cargo(if has_clippy { "clippy" } else { "check" });
    if let Some(rustflags) = rustflags {
        cargo.env_remove("CARGO_ENCODED_RUSTFLAGS").env("RUSTFLAGS", rustflags);
    }
    cargo.envs(fix.map(|fix| ("BISECT_FIX", fix)));
    let output = output(cargo.args(["--workspace", "--exclude", "build-time"]));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn strict_crates_have_nothing_to_complain_about() {
    lint(None, None);
}

#[test]
#[ignore = "slow: CI runs it"]
fn nor_have_they_when_all_is_compiled_out() {
    lint(Some("--cfg bisect_off"), None);
}

#[test]
#[ignore = "slow: CI runs it"]
fn nor_have_they_when_toggles_are_fixed() {
    for state in ["on", "off"] {
        let fix = ["lints", "no-std", "renamed", "unsafe"].map(|name| format!("{name}={state}")).join(";");
        lint(None, Some(&fix));
        lint(Some("--cfg bisect_off"), Some(&fix));
    }
}

/// The variable of the fixture's package `build-time`.
const VARIABLE: &str = "BISECT_BUILD_build_time_1_2_3_rc_1";

/// The names of all its changes, in order.
const CHANGES: [&str; 7] = ["build", "function", "in-trait", "layout", "macro", "method", "wide"];

fn build_time(command: &str, decisions: Option<&str>) -> Command {
    let mut cargo = cargo(command);
    cargo.args(["--package", "build-time"]).envs(decisions.map(|decisions| (VARIABLE, decisions)));
    cargo
}

/// Returns the changes that are compiled in.
fn compiled_in(decisions: Option<&str>) -> Vec<String> {
    let said = success(&mut build_time("run", decisions));
    let said: BTreeMap<_, _> = said.lines().map(|line| line.split_once(' ').expect("a name and a decision")).collect();
    assert_eq!(said.keys().copied().collect::<Vec<_>>(), CHANGES);
    said.into_iter().filter(|(_, on)| *on == "true").map(|(name, _)| name.into()).collect()
}

#[test]
#[ignore = "slow: CI runs it"]
#[cfg_attr(bisect_off, ignore = "nothing is decided when all is compiled out")]
fn build_time_changes_are_compiled_as_their_variable_says() {
    assert_eq!(compiled_in(None), CHANGES);
    assert_eq!(compiled_in(Some("off")), [""; 0]);
    assert_eq!(compiled_in(Some("on")), CHANGES);

    // The runtime lists the same places that the macros look up.
    let list = success(build_time("run", None).env("BISECT_TOGGLES", "1"));
    let places: BTreeMap<_, _> = list
        .lines()
        .map(|line| match line.split('\t').collect::<Vec<_>>()[..] {
            [name, "build", place, "on", _, "build-time@1.2.3-rc.1", "on"] => (name, place),
            _ => panic!("{line:?} is not a build-time change that is on"),
        })
        .collect();
    assert_eq!(places.keys().copied().collect::<Vec<_>>(), CHANGES);

    let (some, others): (Vec<_>, Vec<_>) = CHANGES.into_iter().partition(|name| name.len() % 2 == 0);
    let exceptions = some.iter().map(|name| format!("{name}={}", places[name])).collect::<Vec<_>>().join(";");
    assert_eq!(compiled_in(Some(&format!("off;{exceptions}"))), some);
    assert_eq!(compiled_in(Some(&format!("on;{exceptions}"))), others);

    // A name at the place of another one is no change.
    let elsewhere = format!("off;function={};method={}", places["method"], places["function"]);
    assert_eq!(compiled_in(Some(&elsewhere)), [""; 0]);
}

#[test]
#[ignore = "slow: CI runs it"]
#[cfg_attr(bisect_off, ignore = "nothing is decided when all is compiled out")]
fn a_malformed_variable_does_not_compile() {
    for (decisions, error) in [
        ("", "expected `on` or `off` at the start"),
        ("maybe", "expected `on` or `off` at the start"),
        ("on;function=src/main.rs", "expected `name=file:line:column` instead of `function=src/main.rs`"),
    ] {
        // `check` would compile all dependencies once more, beside those that the programs are linked with.
        let output = output(&mut build_time("build", Some(decisions)));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && stderr.contains(&format!("{VARIABLE}: {error}")),
            "{decisions:?}\n{stderr}"
        );
    }
}
