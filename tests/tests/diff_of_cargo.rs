//! `--diff` with what cargo tests, runs and checks: hunks that only compile together are one change.
#![cfg(unix)]

use bisect_tests::harness::run;

use crate::diff::{Place, names};

/// A package: a library with a module, and its tests.
const MANIFEST: &str = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
const LOCK: &str = "version = 3\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n";
const OLD: &str = "\
//! A shop.

pub fn price(count: u32) -> u32 {
    count * unit()
}

fn unit() -> u32 {
    7
}

pub fn tax(net: u32) -> u32 {
    net / 5
}

pub fn label(n: u32) -> String {
    format!(\"{n} items\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums() {
        assert_eq!(price(3) + tax(10), 23);
    }

    #[test]
    fn labels() {
        assert_eq!(label(2), \"2 items\");
    }
}
";

/// Returns the new library: a signature with its caller, a module with its `mod` line, and other hunks.
fn new_library() -> String {
    OLD.replace("//! A shop.\n", "//! A shop.\npub mod rates;\n")
        .replace("count * unit()", "count * unit(1)")
        .replace("fn unit() -> u32 {\n    7", "fn unit(factor: u32) -> u32 {\n    7 * factor")
        .replace("net / 5", "net * rates::vat() / 100")
        .replace("format!(\"{n} items\")", "let word = \"items\";\n    format!(\"{n} {word}\")")
        .replace("#[cfg(test)]", "/// New.\npub fn first() {}\n\n/// New, too.\npub fn second() {}\n\n#[cfg(test)]")
}

/// Returns a repository with the package, and the new version as its working files.
pub(crate) fn shop() -> Place {
    let place = Place::new();
    for (name, text) in [("Cargo.toml", MANIFEST), ("Cargo.lock", LOCK), ("src/lib.rs", OLD)] {
        place.repository.write(name, text);
    }
    place.repository.commit("old");
    place.repository.write("src/lib.rs", &new_library());
    place.repository.write("src/rates.rs", "pub fn vat() -> u32 {\n    19\n}\n");
    place
}

/// A test that fails with the new library. In slot 0 it then waits until two selections of hunks were checked, and
/// records its sources if they have changed in that time.
const WAITS: &str = r#"
use std::{env, fs, thread, time::Duration};

#[test]
fn waits() {
    let sources = || fs::read_to_string("src/lib.rs").unwrap();
    let notes = env::var("NOTES").unwrap();
    let before = sources();
    let fails = before.contains("unit(1)");
    let is_first = fs::exists(format!("{notes}/waited")).is_ok_and(|exists| !exists);
    if fails && is_first && env::var("BISECT_SLOT").unwrap() == "0" {
        fs::write(format!("{notes}/waited"), "").unwrap();
        // The build script runs at most three times for builds of the other slot, and once for each check.
        let builds = || fs::read_to_string(format!("{notes}/builds")).unwrap().lines().count();
        let enough = builds() + 5;
        let waited = (0..600).any(|_| { thread::sleep(Duration::from_millis(100)); builds() >= enough });
        if !waited || sources() != before {
            fs::write(format!("{notes}/changed"), sources()).unwrap();
        }
    }
    assert!(!fails);
}
"#;

#[test]
#[ignore = "slow: CI runs it"]
fn checks_leave_the_sources_of_runs_alone() {
    let place = Place::new();
    let notes = place.scratch.dir().join("notes");
    std::fs::create_dir(&notes).unwrap();
    let script = "fn main() {
        use std::io::Write;
        let builds = std::env::var(\"NOTES\").unwrap() + \"/builds\";
        writeln!(std::fs::OpenOptions::new().create(true).append(true).open(builds).unwrap()).unwrap();
    }";
    let files = [("Cargo.toml", MANIFEST), ("Cargo.lock", LOCK), ("src/lib.rs", OLD), ("build.rs", script)];
    for (name, text) in files.into_iter().chain([("tests/waits.rs", WAITS)]) {
        place.repository.write(name, text);
    }
    place.repository.commit("old");
    place.repository.write("src/lib.rs", &new_library());
    place.repository.write("src/rates.rs", "pub fn vat() -> u32 {\n    20\n}\n");
    let words = ["test", "--diff", "-j2", "--count=2", "--test=waits"];
    let finished = run(place.command(&words).env("NOTES", &notes)).expect_status(0);
    assert_eq!(names(&finished).len(), 1, "{finished}");
    assert!(!notes.join("changed").exists(), "{finished}");
}

/// The sources of the second slot are written while the first one builds, whose artifacts it then copies.
#[test]
#[ignore = "slow: CI runs it"]
fn a_slot_compiles_its_own_sources() {
    let place = Place::new();
    let manifest = |name: &str, more: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{more}")
    };
    let root = manifest("shop", "[workspace]\nmembers = [\"low\"]\n[dependencies]\nlow = { path = \"low\" }\n");
    let value = |value: u32| format!("pub fn value() -> u32 {{\n    {value}\n}}\n");
    let test = "#[test]\nfn is_seven() {\n    assert_eq!(low::value(), 7);\n}\n";
    for (name, text) in [
        ("Cargo.toml", root.as_str()),
        ("src/lib.rs", test),
        ("low/Cargo.toml", &manifest("low", "")),
        ("low/src/lib.rs", &value(7)),
        (".gitignore", "Cargo.lock\n"),
    ] {
        place.repository.write(name, text);
    }
    place.repository.commit("old");
    place.repository.write("low/src/lib.rs", &value(8));
    place.repository.write("src/lib.rs", &format!("//! A shop.\n{test}"));
    let finished = place.search(&["test", "--diff", "-j2"]).expect_status(0);
    assert_eq!(names(&finished), [["fn value@low/src/lib.rs:2"]], "{finished}");
    assert!(!finished.stderr.contains("contradicts itself"), "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn hunks_that_only_compile_together_are_found_together() {
    let place = shop();
    let finished = place.search(&["test", "--diff"]).expect_status(0);
    assert_eq!(names(&finished), [["fn tax@src/lib.rs:13"]], "{finished}");
    for line in ["bisecting 8 hunks in 2 files", "      7 changes: about "] {
        assert!(finished.stderr.lines().any(|shown| shown.starts_with(line)), "{line}: {finished}");
    }
    let unresolved = finished.events_of("trial").iter().filter(|trial| trial["outcome"] == "unresolved").count();
    assert_eq!(unresolved, 0, "everything compiles: {finished}");
    // The patch has what the hunk needs to compile, and nothing else.
    let patch = place.patch(1);
    for (text, is_there) in
        [("rates::vat()", true), ("+pub mod rates;", true), ("src/rates.rs", true), ("factor", false)]
    {
        assert_eq!(patch.contains(text), is_there, "{text}: {patch}");
    }
    // The fault is in the file that the hunk needs, so the answer shows its lines, too.
    let lines = finished.events_of("found")[0]["changes"][0]["text"].clone();
    let lines: Vec<_> = lines.as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    for line in ["needed to compile: new file src/rates.rs", "+    19"] {
        assert!(lines.contains(&line), "{lines:?}");
    }
    assert_eq!(finished.events_of("found")[0]["tests"][0], "tests::sums");
    let reproduce = finished.events_of("found")[0]["reproduce"].as_str().unwrap().to_owned();
    let again = place.shell(&reproduce);
    assert!(again.stdout.contains("tests::sums ... FAILED") && again.status == Some(101), "{again}");
}

/// Checks have a target directory of their own.
#[test]
#[ignore = "slow: CI runs it"]
fn hunks_are_checked_only_if_the_new_version_fails() {
    let place = shop();
    let executions = place.scratch.dir().join("executions");
    let script = format!(
        "use std::{{env, fs::File, io::Write}};\n\nfn main() {{\n    let mut file = File::options().create(true).append(true).open({executions:?}).unwrap();\n    \
         writeln!(file, \"{{}}\", env::var(\"OUT_DIR\").unwrap()).unwrap();\n}}\n"
    );
    place.repository.write("build.rs", &script);
    place.repository.commit("new");
    let target_directories = || {
        let text = std::fs::read_to_string(&executions).unwrap();
        let directories = text.lines().map(|line| line.split("/debug/").next().unwrap().to_owned());
        directories.collect::<std::collections::BTreeSet<_>>().len()
    };
    let finished = place.search(&["test", "--diff=HEAD~1..HEAD", "--", "labels"]).expect_status(1);
    finished.expect_message(&[
        "the target passes with every change enabled and with every change disabled",
        "check that this is what fails for you, with the same command, features and profile (documentation tests are not run)",
    ]);
    assert_eq!(target_directories(), 1, "{finished}");
    let _ = place.search(&["test", "--diff=HEAD~1..HEAD"]).expect_status(0);
    // The directory above, one of these runs, one of the checks, and that of the line that fails.
    assert_eq!(target_directories(), 4);
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "slow: CI runs it"]
fn a_terminal_shows_that_hunks_are_checked() {
    let place = shop();
    let mut screen = bisect_tests::screen::OnScreen::start(&place.command(&["test", "--diff"]), 100, 100);
    screen.wait_for("the line about the checks", |text| {
        text.contains("only the new version fails: checking which of 8 hunks need each other to compile\n")
    });
    assert_eq!(screen.finish().code(), Some(0));
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_signature_and_its_callers_are_one_change() {
    let place = shop();
    place.repository.write("src/lib.rs", &new_library().replace("7 * factor", "8 * factor"));
    place.repository.write("src/rates.rs", "pub fn vat() -> u32 {\n    20\n}\n");
    let finished = place.search(&["test", "--diff", "-j2"]).expect_status(0);
    assert_eq!(names(&finished), [["fn price@src/lib.rs:5"]], "{finished}");
    let patch = place.patch(1);
    assert!(patch.contains("unit(1)") && patch.contains("8 * factor") && !patch.contains("vat"), "{patch}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_hunk_that_only_compiles_with_two_others_comes_with_them() {
    let place = shop();
    let library = new_library()
        .replace("pub mod rates;\n", "pub mod rates;\npub mod words;\n")
        .replace("let word = \"items\";\n", "let word = words::of(n, rates::LIMIT);\n")
        .replace("7 * factor", "7 * factor + 0");
    place.repository.write("src/lib.rs", &library);
    place.repository.write("src/rates.rs", "pub const LIMIT: u32 = 1;\n\npub fn vat() -> u32 {\n    20\n}\n");
    place.repository.write(
        "src/words.rs",
        "pub fn of(n: u32, limit: u32) -> &'static str {\n    if n >= limit { \"item\" } else { \"items\" }\n}\n",
    );
    let finished = place.search(&["test", "--diff"]).expect_status(0);
    assert_eq!(finished.events_of("found")[0]["tests"][0], "tests::labels", "{finished}");
    let found = names(&finished);
    assert!(found.len() == 1 && found[0].contains(&"fn label@src/lib.rs:18".to_owned()), "{finished}");
    let patch = place.patch(1);
    for (text, is_there) in [
        ("words::of(n", true),
        ("new file", true),
        ("+pub mod words;", true),
        ("rates::vat()", false),
        ("factor", false),
    ] {
        assert_eq!(patch.contains(text), is_there, "{text}: {patch}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_new_test_that_fails_needs_its_own_hunk_and_the_bad_one() {
    let place = shop();
    let test =
        "    #[test]\n    fn taxes() {\n        assert_eq!(tax(100), 20);\n    }\n\n    #[test]\n    fn labels()";
    place.repository.write("src/lib.rs", &new_library().replace("    #[test]\n    fn labels()", test));
    place.repository.write("README.md", "A shop.\n");
    let finished = place.search(&["test", "--diff", "--", "taxes"]).expect_status(0);
    assert_eq!(names(&finished), [["fn tax@src/lib.rs:13", "fn tests::taxes@src/lib.rs:36"]], "{finished}");
    let trials = finished.events_of("trial");
    assert!(trials.iter().all(|trial| trial["outcome"] != "unresolved"), "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_hunks_that_break_a_build() {
    let place = shop();
    place.repository.write("src/lib.rs", &new_library().replace("unit(1)", "unit(1, 2)"));
    let finished = place.search(&["check", "--diff"]).expect_status(0);
    assert_eq!(names(&finished), [["fn price@src/lib.rs:5", "fn unit@src/lib.rs:8"]], "{finished}");
    let how = finished.events_of("found")[0]["failures"][0]["how"].as_str().unwrap().to_owned();
    assert!(how.contains("this function takes 1 argument but 2 arguments were supplied"), "{how}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_hunk_that_breaks_a_program_in_a_subdirectory() {
    let place = Place::new();
    let main = |text: &str| format!("fn main() {{\n    let a = 1;\n{text}    assert_eq!(a + b, 3);\n}}\n");
    place.repository.write("app/Cargo.toml", &MANIFEST.replace("shop", "app"));
    place.repository.write("app/Cargo.lock", &LOCK.replace("shop", "app"));
    place.repository.write("app/src/main.rs", &main("    let b = 2;\n"));
    place.repository.commit("old");
    place.repository.write("app/src/main.rs", &main("    let b = 3;\n"));
    place.repository.write("README", "new\n");
    let before = place.repository.state();
    let finished = run(place.command(&["run", "--diff"]).current_dir(place.dir().join("app"))).expect_status(0);
    assert_eq!(names(&finished), [["fn main@app/src/main.rs:3"]], "{finished}");
    assert_eq!(place.repository.state(), before);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_lock_file_that_git_ignores_is_that_of_the_user() {
    let place = shop();
    place.repository.git(&["rm", "-q", "--cached", "Cargo.lock"]);
    place.repository.write(".gitignore", "Cargo.lock\n");
    place.repository.git(&["add", ".gitignore"]);
    place.repository.git(&["commit", "-q", "-m", "ignore the lock file"]);
    // Cargo refuses to make a lock file.
    let finished = place.search(&["test", "--diff", "--locked"]).expect_status(0);
    assert_eq!(names(&finished), [["fn tax@src/lib.rs:13"]], "{finished}");
    for (line, status) in [("reproduce", 101), ("passes", 0)] {
        let line = finished.events_of("found")[0][line].as_str().unwrap().to_owned();
        assert!(
            line.contains("{ test -e Cargo.lock || cp \"$top\"/Cargo.lock Cargo.lock; } || exit 125 && "),
            "{line}"
        );
        place.paste(&line, status);
    }
    let replay = run(place.scratch.driver(["replay", "../out"]).current_dir(place.dir()));
    assert_eq!(replay.status, Some(101), "{replay}");
    let finished = place.search(&["test", "--commits", "HEAD~..HEAD", "--locked"]).expect_status(1);
    assert!(finished.stderr.contains("passes with every change enabled"), "{finished}");
}
