//! The answer of `--codegen` at the end of a search: the package of the culprit, a stop-gap until it is fixed, and the
//! time of all searches.
#![cfg(unix)]

use std::{fs, path::Path, time::Duration};

use bisect_tests::harness::{Finished, Fixture, RustcDriver, Scratch, line_of, run, rustc_driver};

/// Searches the generic function, down to a level.
fn search(fixture: &Fixture, scratch: &Scratch, driver: Option<&RustcDriver>, words: &[&str]) -> Finished {
    let mut command = fixture.driver(["test", "--codegen", "-papp"]);
    command.args(words).arg("--out").arg(scratch.dir().join("out"));
    if let Some(RustcDriver { driver, rustc }) = driver {
        command
            .env("CARGO_TARGET_DIR", fixture.target_dir_for("driver"))
            .env("RUSTC", rustc)
            .arg("--bisect-rustc")
            .arg(driver);
    }
    run(&mut command).expect_status(0)
}

#[test]
fn the_stop_gap_for_a_crate_is_one() {
    let (fixture, scratch) = (Fixture::new("shelf"), Scratch::new());
    let finished = search(&fixture, &scratch, None, &["--level=crates", "--json"]);
    let stop_gap = finished.events_of("found")[0]["stop_gap"].clone();
    assert_eq!(stop_gap["text"], "[profile.release.package.app]\nopt-level = 0", "{finished}");

    let tests = || run(&mut fixture.cargo(["test", "--release", "-papp"])).status;
    assert_ne!(tests(), Some(0));
    let manifest = fs::read_to_string(fixture.dir().join("Cargo.toml")).unwrap();
    fixture.write("Cargo.toml", &format!("{manifest}\n{}\n", stop_gap["text"].as_str().unwrap()));
    assert_eq!(tests(), Some(0));
}

/// Checks that the reported time is at least the time between the ends of the first run and the last one.
#[test]
#[ignore = "slow: CI runs it"]
fn the_time_is_that_of_all_searches() {
    let (fixture, scratch) = (Fixture::new("shelf"), Scratch::new());
    let finished = search(&fixture, &scratch, None, &["--level=passes", "--json"]);
    finished.expect_message(&["functions are not searched, but passes are: bisect-rustc was not found. \
         To install it: `rustup toolchain install 1.96.0 -c rustc-dev && RUSTC_BOOTSTRAP=1 cargo "]);
    let end = &finished.events_of("end")[0];
    let modified = |path: &str| fs::metadata(scratch.dir().join("out").join(path)).unwrap().modified().unwrap();
    let last = format!("runs/{:04}.log", end["runs"].as_u64().unwrap());
    let between = modified(&last).duration_since(modified("runs/0001.log")).unwrap();
    let whole = Duration::from_millis(end["ms"].as_u64().unwrap() + 1);
    assert!(whole >= between, "{whole:?} of at least {between:?}\n{finished}");
    // Unsafe code of a dependency is seen without bisect-rustc, too.
    assert!(end["answers"].to_string().contains("there is unsafe code in shelf"), "{end}");
    let kept: serde_json::Value = serde_json::from_str(&scratch.read("out/result.json")).unwrap();
    assert_eq!(kept["end"]["ms"], end["ms"], "{kept}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn at_the_limit_of_runs_no_search_begins() {
    let (fixture, scratch) = (Fixture::new("shelf"), Scratch::new());
    let whole = search(&fixture, &scratch, None, &["--level=passes", "--json"]);
    let runs = |finished: &Finished| finished.events_of("end")[0]["runs"].as_u64().unwrap();
    let (mut of_crates, mut later) = (0, 0);
    for most in (1..runs(&whole)).step_by(4) {
        let mut command = fixture.driver(["test", "--codegen", "-papp", "--level=passes", "--json"]);
        command.arg(format!("--max-runs={most}")).arg("--out").arg(scratch.dir().join("out"));
        let finished = run(&mut command).expect_status(5);
        assert_eq!(runs(&finished), most, "{finished}");
        finished.expect_message(&["stopped at --max-runs"]);
        // A search that has begun has had a run.
        for search in finished.events_of("start") {
            let is_of_it = |trial: &serde_json::Value| trial["search"] == search["search"];
            assert!(finished.events_of("trial").iter().any(is_of_it), "{finished}");
        }
        assert!(!finished.stderr.contains("see its log"), "{finished}");
        *(if finished.events_of("found").is_empty() { &mut of_crates } else { &mut later }) += 1;
    }
    assert!(of_crates > 0 && later > 0, "{of_crates} {later}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_pass_that_repairs_it_is_a_stop_gap() {
    let (fixture, scratch) = (Fixture::new("release"), Scratch::new());
    let words = ["-pchecks", "--test=cases", "a_page_without_a_limit_has_all_its_room"];
    let mut command = fixture.driver(["test", "--codegen"]);
    command.args(words).arg("--out").arg(scratch.dir().join("out"));
    let finished = run(&mut command).expect_status(0);
    finished.expect_message(&["note: leaving out other passes ("]);
    let (_, answer) = finished.stdout.split_once(", in short:").unwrap_or_else(|| panic!("{finished}"));
    let of = |what: &str| answer.lines().find_map(|line| line.strip_prefix("  ")?.strip_prefix(what));
    // LLVM's earlier work on the function makes it fail as well.
    assert!(of("others ").is_some_and(|text| text.contains("-opt-disable=")), "{answer}");
    let (_, variables) =
        of("stop-gap ").and_then(|text| text.split_once("fixed: ")).unwrap_or_else(|| panic!("{answer}"));
    let (variables, _) = variables.split_once(" (").unwrap_or_else(|| panic!("{answer}"));

    let line = format!("cd {} && {variables} cargo test --release {}", fixture.dir().display(), words.join(" "));
    let mut shell = fixture.shell(&line, Path::new("/"));
    let _ = run(shell.env("CARGO_TARGET_DIR", fixture.target_dir_for("flags"))).expect_status(0);
}

#[test]
fn a_generic_function_is_of_the_package_that_has_written_it() {
    let Some(driver) = rustc_driver() else { return };
    let (fixture, scratch) = (Fixture::new("shelf"), Scratch::new());
    let finished = search(&fixture, &scratch, Some(&driver), &["--level=functions", "--json"]);
    let found = finished.events_of("found");
    assert_eq!(found[0]["changes"][0]["name"], "app", "{finished}");
    let function = &found[1]["changes"][0];
    assert_eq!(
        (&function["name"], &function["package"]),
        (&"shelf::first".into(), &"shelf 1.2.0".into()),
        "{finished}"
    );
    assert_eq!(
        function["line"],
        line_of(fixture.dir(), "shelf/src/lib.rs", "things: &[T]) -> Option<&T> {"),
        "{finished}"
    );

    let scratch = Scratch::new();
    let finished = search(&fixture, &scratch, Some(&driver), &["--level=functions"]);
    for fact in [
        "shelf::first of shelf 1.2.0 at ",
        "there is unsafe code in shelf,",
        // The text shows the body, not only the signature.
        "last.unchecked_add(1)",
        "#[optimize(none)]",
        "compiled so",
    ] {
        assert!(finished.stdout.contains(fact) || finished.stderr.contains(fact), "{fact}\n{finished}");
    }
}
