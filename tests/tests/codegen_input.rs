//! Arguments of `--codegen`, and profiles in users' manifests.
#![cfg(unix)]

use std::path::Path;

use bisect_tests::harness::{Finished, Fixture, Scratch, run};
use serde_json::Value;

/// Runs `cargo bisect-opt` with these arguments, and accepts any result.
fn search(fixture: &Fixture, arguments: &[&str]) -> Finished {
    let scratch = Scratch::new();
    let mut command = fixture.driver(arguments);
    run(command.arg("--out").arg(scratch.dir().join("out")))
}

/// Returns the names in the only culprit, and the line that reproduces it.
#[track_caller]
fn culprit(finished: &Finished) -> (Vec<String>, String) {
    let [found] = finished.events_of("found").try_into().unwrap_or_else(|found| panic!("{found:?}\n{finished}"));
    let names = found["changes"].as_array().unwrap().iter().map(|change: &Value| change["name"].as_str().unwrap());
    let mut names: Vec<_> = names.map(str::to_owned).collect();
    names.sort();
    (names, found["reproduce"].as_str().unwrap().to_owned())
}

/// Returns true if cargo builds and the target then fails, with a line as a user would paste it.
#[track_caller]
fn fails(fixture: &Fixture, line: &str) -> bool {
    let finished = run(&mut fixture.shell(line, Path::new("/")));
    let is_built = finished.stdout.contains("running 1 test") || finished.stderr.contains("Running `");
    assert!(is_built, "{line}\n{finished}");
    finished.status == Some(101) || finished.status == Some(134)
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_command_line_that_makes_no_sense_is_refused_before_anything_is_compiled() {
    let fixture = Fixture::new("scales");
    for (arguments, facts) in [
        (&["--codegen", "--good=fast"][..], &["fast", "opt-level", "-Ctarget-cpu=native"][..]),
        (&["--codegen", "--bad=opt-level=9"], &["9", "opt-level", "0, 1, 2, 3, s or z"]),
        (&["--codegen", "--bad=lto=off"], &["lto", "single packages", "opt-level"]),
        (&["--codegen", "--bad=-Cllvm-args='x"], &["quote"]),
        (&["--codegen", "--bad", "opt-level=0"], &["--good and --bad say the same"]),
        (&["--codegen", "--good", "opt-level=2", "--bad=opt-level=2"], &["--good and --bad say the same"]),
        (&["--codegen", "--good=dev", "--bad=test"], &["have the same opt-level", "compare their other keys"]),
        (&["--codegen", "--good=dev release"], &["are two profiles, and crates are compiled by one"]),
        (&["--codegen", "--release", "--good=release", "--bad=dev"], &["names another profile than", "`release`"]),
        (&["--codegen", "--level=modules"], &["modules", "crates", "functions", "passes"]),
        (&["--level=crates"], &["--codegen"]),
        (&["--good=opt-level=0"], &["--codegen"]),
        (&["--bad=-Ctarget-cpu=native"], &["--codegen"]),
        (&["--bisect-rustc=bisect-rustc"], &["--codegen"]),
        (&["--codegen", "--toggle=x"], &["--codegen", "--toggle"]),
        (&["--codegen", "--rustflags=-Zx=PATTERN"], &["--codegen", "--rustflags"]),
        (&["--codegen", "--bisect-rustc=no/such/file"], &["no/such/file", "bisect-rustc"]),
        (&["--codegen", "--bisect-rustc=/bin/true"], &["/bin/true", "bisect-rustc"]),
        (&["--codegen", "--doc"], &["documentation tests"]),
        (&["--codegen", "--profile=slow"], &["slow"]),
        (&["--codegen", "-p=nobody"], &["nobody"]),
    ] {
        let finished = search(&fixture, &[&["test", "--json"], arguments].concat());
        assert!(matches!(finished.status, Some(2 | 3)), "{arguments:?}\n{finished}");
        let is_cargos = arguments.iter().any(|word| word.starts_with("--profile") || word.starts_with("-p"));
        assert!(is_cargos || finished.status == Some(2), "{arguments:?}\n{finished}");
        finished.expect_message(facts);
        assert!(!finished.stderr.contains("Compiling"), "{arguments:?}\n{finished}");
    }
    let finished = search(&fixture, &["exec", "--codegen", "true"]);
    assert_eq!(finished.status, Some(2), "{finished}");
}

/// Searches with a profile in the manifest and with arguments, and expects the culprit.
fn search_with_profile(profile: &str, arguments: &[&str]) {
    let fixture = Fixture::new("scales");
    let manifest = std::fs::read_to_string(fixture.dir().join("Cargo.toml")).unwrap();
    fixture.write("Cargo.toml", &format!("{profile}\n{manifest}"));
    let mut words = vec!["test", "--codegen", "--level=crates", "--json", "-papp", "--test=works"];
    words.extend(arguments);
    let finished = search(&fixture, &words).expect_status(0);
    let (names, line) = culprit(&finished);
    assert_eq!(names, ["means"], "{finished}");
    assert!(fails(&fixture, &line), "{line}");
}

macro_rules! profiles {
    ($($name:ident: $profile:expr, $arguments:expr;)*) => {
        $(#[test]
        #[ignore = "slow: CI runs it"]
        fn $name() {
            super::search_with_profile($profile, &$arguments);
        })*
    };
}

#[rustfmt::skip]
mod a_profile_is_honoured {
    profiles! {
        that_aborts: "profile.release.panic = 'abort'", [];
        of_one_codegen_unit: "profile.release.codegen-units = 1", [];
        that_is_incremental: "profile.release = { incremental = true, debug = 2, strip = false }", [];
        that_inherits_release: "profile.slow = { inherits = 'release', opt-level = 2 }", ["--profile=slow"];
        that_inherits_dev: "profile.slow = { inherits = 'dev', opt-level = 2 }", ["--profile", "slow"];
        dev_with_one_package_optimized: "profile.dev.package.means.opt-level = 3", ["--profile=dev"];
        test_with_one_package_optimized: "profile.test.package.means.opt-level = 3", ["--profile=test"];
        with_another_level_of_the_culprit: "profile.release.package.means.opt-level = 1", [];
        with_a_version: "profile.release.package.'means@0.1.0'.debug = 2", [];
        with_a_part_of_a_version: "profile.release.package.'shlex:2'.opt-level = 1", [];
        with_a_package_not_optimized: "profile.release.package.idle.opt-level = 0", [];
        with_all_packages: "profile.release.package.'*'.opt-level = 1", [];
        with_all_packages_and_one:
            "profile.release = { package = { '*' = { opt-level = 0 }, shlex = { opt-level = 's' } } }", [];
        of_the_command_line: "", ["--config=profile.release.package.idle.opt-level=1"];
        of_the_command_line_in_quotes: "", ["--config", "profile.release.package.'means'.opt-level=2"];
        of_the_command_line_with_a_version: "", ["--config=profile.release.package.\"shlex@2\".debug=1"];
        with_bad_options: "", ["--bad=opt-level=s"];
        with_good_options: "", ["--good=opt-level=0,debug-assertions=true", "--good", "overflow-checks=on"];
        with_bad_codegen_units: "", ["--bad=codegen-units=1"];
        in_short: "", ["-r"];
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_program_is_searched_like_a_test() {
    let fixture = Fixture::new("scales");
    let finished = search(&fixture, &["run", "--codegen", "--json", "-papp"]).expect_status(0);
    let found = finished.events_of("found");
    let kinds: Vec<_> = found.iter().map(|found| found["changes"][0]["kind"].clone()).collect();
    assert_eq!(kinds, ["crate", "pass"], "{finished}");
    assert_eq!(found[0]["changes"][0]["name"], "means");
    for found in &found {
        assert!(fails(&fixture, found["reproduce"].as_str().unwrap()), "{found}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn of_a_whole_workspace_each_failing_test_is_explained() {
    let fixture = Fixture::new("scales");
    let words = ["test", "--codegen", "--level=crates", "--json", "--workspace"];
    let finished = search(&fixture, &words).expect_status(0);
    assert_eq!(culprit(&finished).0, ["means"]);
    // Both tests fail, each because of a different crate.
    let finished =
        search(&fixture, &[&words[..], &["--good=opt-level=0", "--bad=--cfg=broken"]].concat()).expect_status(0);
    let found = finished.events_of("found").into_iter();
    let mut found: Vec<_> =
        found.map(|found| (found["changes"][0]["name"].to_string(), found["tests"][0].to_string())).collect();
    found.sort();
    assert_eq!(
        found,
        [
            ("\"means\"".to_owned(), "\"a_list_without_readings_comes_first\"".to_owned()),
            ("\"stamp\"".to_owned(), "\"the_end_of_a_line_is_found\"".to_owned()),
        ],
        "{finished}"
    );
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_member_may_have_the_name_of_a_package_of_the_registry() {
    let fixture = Fixture::new("scales");
    let manifest = |path: &str| std::fs::read_to_string(fixture.dir().join(path)).unwrap();
    let registry = manifest("Cargo.lock");
    let version = registry.split("name = \"shlex\"\nversion = \"").nth(1).unwrap().split('"').next().unwrap();
    for version in ["0.1.0", version] {
        let member = manifest("means/Cargo.toml").replace("\"means\"", "\"shlex\"");
        let member = member.replace("version.workspace = true", &format!("version = \"{version}\""));
        fixture.write("own/Cargo.toml", &member);
        fixture.write("own/src/lib.rs", &manifest("means/src/lib.rs"));
        let root = manifest("Cargo.toml");
        if !root.contains("\"own\"") {
            fixture.write("Cargo.toml", &root.replace("\"means\"", "\"means\", \"own\""));
            let app = manifest("app/Cargo.toml");
            fixture.write(
                "app/Cargo.toml",
                &app.replace("means = { path = \"../means\" }", "means = { path = \"../own\", package = \"shlex\" }"),
            );
        }
        let finished = search(&fixture, &["test", "--codegen", "--level=crates", "--json", "-papp", "--test=works"]);
        let (names, line) = culprit(&finished);
        assert_eq!(names, ["shlex"], "{version} {finished}");
        assert!(fails(&fixture, &line), "{line}");
        let change = &finished.events_of("found")[0]["changes"][0];
        assert_eq!(change["file"], "own/src/lib.rs", "{version} {change}");
    }
}
