//! `--codegen` where the dev profile passes because of what it checks, not because it does not optimize.
#![cfg(unix)]

use std::fs;

use bisect_tests::harness::{Finished, Fixture, Scratch, line_of, run};
use serde_json::Value;

/// Searches the fixture with these words, and expects a status.
#[track_caller]
fn search(fixture: &Fixture, words: &[&str], status: i32) -> Finished {
    let scratch = Scratch::new();
    let mut command = fixture.driver(["test", "--codegen", "-papp"]);
    run(command.args(words).arg("--out").arg(scratch.dir().join("out"))).expect_status(status)
}

/// Searches a test with the default options: expects a culprit, the only line of its workaround, and words of the answer.
#[track_caller]
fn expect_check(test: &str, culprit: &str, line: &str, answer: &[&str]) {
    let fixture = Fixture::new("toll");
    let finished = search(&fixture, &["--json", "--test", test], 0);
    assert_eq!(finished.culprits(), [[format!("{culprit} 0.1.0")]], "{finished}");
    finished.expect_message(&[
        "the target also fails with opt-level=0 in every crate. Next, with the checks of the dev profile: \
         debug-assertions=true overflow-checks=true",
        "with debug-assertions=true opt-level=0 overflow-checks=true in every crate ",
        "and with no smaller set of settings. The crates are now searched with --good ",
        "functions and passes are not searched: ",
        "to pass, which applies to whole crates",
    ]);
    let end = &finished.events_of("end")[0];
    let said = end["answers"][0].to_string();
    for words in answer {
        assert!(said.contains(words), "{words:?} is not in {said}");
    }
    assert!(!said.contains("unsafe"), "{said}");

    let stop_gap = finished.events_of("found")[0]["stop_gap"]["text"].as_str().unwrap().to_owned();
    assert_eq!(stop_gap, format!("[profile.release.package.{culprit}]\n{line}"));
    let result = || run(&mut fixture.cargo(["test", "--release", "-papp", "--test", test])).status;
    assert_ne!(result(), Some(0));
    let manifest = fs::read_to_string(fixture.dir().join("Cargo.toml")).unwrap();
    fixture.write("Cargo.toml", &format!("{manifest}\n{stop_gap}\n"));
    assert_eq!(result(), Some(0));
}

#[test]
#[ignore = "slow: CI runs it"]
fn an_assertion_with_an_effect_is_found() {
    let line = line_of(Fixture::new("toll").dir(), "gates/src/lib.rs", "// culprit: effect");
    let place = format!("code under `cfg(debug_assertions)`: gates/src/lib.rs:{line}");
    let answer = [
        "`debug-assertions` on in crate `gates`: without them, `debug_assert!` evaluates nothing",
        "look in `gates` for a `debug_assert!` with a side effect",
        "move the side effect out of the assertion",
        &place,
    ];
    expect_check("opens", "gates", "debug-assertions = true", &answer);
}

#[test]
#[ignore = "slow: CI runs it"]
fn an_overflow_that_only_checks_catch_is_found() {
    let answer = [
        "`overflow-checks` on in crate `meter`: without them, an arithmetic overflow wraps",
        "an arithmetic overflow in `meter`, or in inlined and generic code that is compiled there, wraps in release",
        "the panic with overflow-checks names the line",
    ];
    expect_check("counts", "meter", "overflow-checks = true", &answer);
}

#[test]
#[ignore = "slow: CI runs it"]
fn code_for_debug_assertions_only_is_found() {
    let answer = ["for code under `cfg(debug_assertions)`: notice/src/lib.rs:6", "`cfg(debug_assertions)` is false"];
    expect_check("shows", "notice", "debug-assertions = true", &answer);
}

/// A macro of another crate writes the assertion.
#[test]
#[ignore = "slow: CI runs it"]
fn an_assertion_from_a_macro_is_found() {
    let fixture = Fixture::new("toll");
    fixture.write("notice/src/lib.rs", "#[macro_export]\nmacro_rules! check { ($e:expr) => { debug_assert!($e) } }\n");
    let gates = fs::read_to_string(fixture.dir().join("gates/src/lib.rs")).unwrap();
    let gates = gates.replace(
        "debug_assert!(self.open.insert(number), \"gate {number} is open\")",
        "notice::check!(self.open.insert(number))",
    );
    fixture.write("gates/src/lib.rs", &gates);
    let manifest = fs::read_to_string(fixture.dir().join("gates/Cargo.toml")).unwrap();
    fixture.write("gates/Cargo.toml", &format!("{manifest}[dependencies]\nnotice = {{ path = \"../notice\" }}\n"));
    fs::remove_file(fixture.dir().join("app/tests/shows.rs")).unwrap();
    let finished = search(&fixture, &["--test=opens", "--level=crates"], 0);
    for words in ["crate     gates 0.1.0", "the source contains neither, so a macro of another crate may expand to one"]
    {
        assert!(finished.stdout.contains(words), "{words}\n{finished}");
    }
    // With `--level=crates`, nothing else was asked for.
    assert!(!finished.stderr.contains("functions and passes are not searched"), "{finished}");
}

/// Each of the three tests has a culprit and a check of its own, and a fourth one fails in the dev profile as well.
#[test]
#[ignore = "slow: CI runs it"]
fn each_of_several_tests_has_its_own_check() {
    let fixture = Fixture::new("toll");
    let finished = search(&fixture, &["--json"], 0);
    let mut culprits = finished.culprits();
    culprits.sort();
    assert_eq!(culprits, [["gates 0.1.0"], ["meter 0.1.0"], ["notice 0.1.0"]], "{finished}");
    finished.expect_message(&[
        "fewer tests fail with debug-assertions=true overflow-checks=true, and",
        "left out, because they fail both ways: a_closed_gate_is_open",
    ]);
    let end = &finished.events_of("end")[0];
    let answers = end["answers"].as_array().unwrap();
    let text = |answer: &Value| answer["facts"].to_string();
    let expected = [("gates", "debug-assertions"), ("meter", "overflow-checks"), ("notice", "debug-assertions")];
    for (name, check) in expected {
        let answer = answers.iter().find(|answer| text(answer).contains(&format!("{name} 0.1.0"))).unwrap();
        let less = format!("a smaller one repairs this culprit: [profile.release.package.{name}] {check} = true");
        assert!(text(answer).contains(&less), "{less:?} is not in {answer}");
        let needs = answer["facts"].as_array().unwrap().iter().filter(|fact| fact["of"] == "needs");
        assert_eq!(needs.count(), 1, "{answer}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_test_that_fails_in_the_dev_profile_is_not_explained() {
    let finished = search(&Fixture::new("toll"), &["--test=never"], 1);
    finished.expect_message(&[
        "the target also fails with debug-assertions=true opt-level=0 overflow-checks=true in every crate",
        "check that it passes without --release. If it does, another setting of the dev profile decides",
        "copy its keys to [profile.release] one by one",
    ]);
}

/// The dev profile is the user's: checks that it does not have are not tried.
#[test]
#[ignore = "slow: CI runs it"]
fn checks_are_those_of_the_users_dev_profile() {
    let fixture = Fixture::new("toll");
    let manifest = fs::read_to_string(fixture.dir().join("Cargo.toml")).unwrap();
    let with = |profile: &str| fixture.write("Cargo.toml", &format!("{profile}\n{manifest}"));

    with("profile.dev = { debug-assertions = false, overflow-checks = false }");
    search(&fixture, &["--test=opens"], 1)
        .expect_message(&["the dev profile has the same debug-assertions and overflow-checks as the release profile"]);

    with("profile.dev.package.gates.debug-assertions = false");
    let finished = search(&fixture, &["--test=opens"], 1);
    finished.expect_message(&["the checks of the dev profile: debug-assertions=true overflow-checks=true"]);

    with("profile.dev.overflow-checks = false\nprofile.slow.inherits = 'release'");
    let finished = search(&fixture, &["--test=opens", "--profile=slow", "--json"], 0);
    finished.expect_message(&["Next, with the checks of the dev profile: debug-assertions=true\n"]);
    let stop_gap = &finished.events_of("found")[0]["stop_gap"]["text"];
    assert_eq!(stop_gap, "[profile.slow.package.gates]\ndebug-assertions = true");
}

/// A package keeps the value that the dev profile has for it, in the search, in its commands and in the workaround.
#[test]
#[ignore = "slow: CI runs it"]
fn a_package_keeps_its_own_check() {
    let fixture = Fixture::new("toll");
    let manifest = fs::read_to_string(fixture.dir().join("Cargo.toml")).unwrap();
    fixture.write("Cargo.toml", &format!("profile.dev.package.notice.debug-assertions = false\n{manifest}"));
    // Here `notice` must not have debug assertions.
    fixture.write("app/tests/shows.rs", "#[test]\nfn it_shows() {\n    assert_eq!((app::open_gates(&[4]), notice::text(\"a\")), (1, \"a\".to_owned()));\n}\n");
    let finished = search(&fixture, &["--test=shows", "--json"], 0);
    assert_eq!(finished.culprits(), [["gates 0.1.0"]], "{finished}");
    let found = &finished.events_of("found")[0];
    for (line, status) in [("reproduce", 101), ("passes", 0)] {
        let Some(line) = found[line].as_str() else { panic!("{found}") };
        let _ = run(&mut fixture.shell(line, std::path::Path::new("/"))).expect_status(status);
    }
}

/// If only flags are bad, the good side has no settings of its own.
#[test]
#[ignore = "slow: CI runs it"]
fn checks_are_tried_beside_flags() {
    let finished = search(&Fixture::new("toll"), &["--test=opens", "--bad=-Ccodegen-units=1"], 0);
    let words =
        "the target also fails without the flags of --bad in every crate. Next, with the checks of the dev profile";
    finished.expect_message(&[words]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_limit_of_runs_counts_for_experiments_too() {
    let fixture = Fixture::new("toll");
    let finished = search(&fixture, &["--test=opens", "--max-runs=5"], 5);
    finished.expect_message(&["stopped at --max-runs, before the settings of the dev profile were all tried"]);
    let finished = search(&fixture, &["--test=opens", "--max-runs=8", "--json"], 5);
    assert!(finished.events_of("end")[0]["runs"].as_u64().unwrap() <= 8, "{finished}");
}

/// Settings that are given by hand are used as they are.
#[test]
#[ignore = "slow: CI runs it"]
fn checks_by_hand_end_at_crates() {
    let fixture = Fixture::new("toll");
    for words in [
        &["--good=debug-assertions=true", "--good=overflow-checks=true"][..],
        &["--good", "debug-assertions=true overflow-checks=true"],
    ] {
        let finished = search(&fixture, &[words, &["--test=opens"]].concat(), 0);
        finished.expect_message(&[
            "functions and passes are not searched: the target needs debug-assertions or overflow-checks to pass",
        ]);
        assert!(!finished.stderr.contains("bisecting LLVM passes"), "{finished}");
        assert!(!finished.stderr.contains("Next, with the checks"), "{finished}");
        let advice = "look in `gates` for a `debug_assert!` with a side effect";
        assert!(finished.stdout.contains(advice), "{finished}");
    }
    // The other way round: a check makes it fail.
    fixture.write(
        "app/tests/never.rs",
        "#[test]\nfn it_wraps() {\n    assert_eq!(app::sum(vec![200, 100]), Some(44));\n}\n",
    );
    let finished = search(&fixture, &["--good=overflow-checks=false", "--bad=overflow-checks=true", "--test=never"], 0);
    for words in [
        "`overflow-checks` off in crate `meter`: with them, an arithmetic overflow panics; without them, it wraps",
        "it fails: it_wraps (panic at meter/src/lib.rs:9:9: attempt to add with overflow)",
        "attempt to add with overflow at meter/src/lib.rs:9:9: if this arithmetic is meant to wrap",
        // The release profile has no such checks.
        "[profile.dev.package.meter]\n  overflow-checks = false",
    ] {
        assert!(finished.stdout.contains(words), "{words}\n{finished}");
    }
    finished.expect_message(&[
        "functions and passes are not searched: the target fails with overflow-checks, which applies",
    ]);
    fixture
        .write("app/tests/never.rs", "#[test]\nfn it_is_small() {\n    assert_eq!(notice::text(\"a\"), \"a\");\n}\n");
    let words = ["--good=debug-assertions=false", "--bad=debug-assertions=true", "--test=never"];
    let finished = search(&fixture, &words, 0);
    for words in
        ["`debug-assertions` off in crate `notice`: with them, `debug_assert!` is evaluated", "notice/src/lib.rs:6"]
    {
        assert!(finished.stdout.contains(words), "{words}\n{finished}");
    }
}

/// Optimization explains one test, and the other one fails at every level.
#[test]
#[ignore = "slow: CI runs it"]
fn tests_that_fail_either_way_get_a_hint() {
    let fixture = Fixture::new("shelf");
    fixture.write("app/tests/never.rs", "#[test]\nfn it_never_passes() {\n    panic!();\n}\n");
    let finished = search(&fixture, &["--level=crates", "--json"], 0);
    assert_eq!(finished.culprits(), [["app 0.1.0"]], "{finished}");
    finished.expect_message(&["this still fails: it_never_passes. If it passes in the dev profile, search it alone"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_build_that_fails_without_debug_assertions_is_searched() {
    let fixture = Fixture::new("toll");
    let notice = "#[cfg(debug_assertions)]\npub fn shown() {}\npub fn text(text: &str) -> String {\n    shown();\n    text.to_owned()\n}\n";
    fixture.write("notice/src/lib.rs", notice);
    let scratch = Scratch::new();
    let mut command = fixture.driver(["check", "--codegen", "--json", "-papp"]);
    let finished = run(command.arg("--out").arg(scratch.dir().join("out"))).expect_status(0);
    assert_eq!(finished.culprits(), [["notice 0.1.0"]], "{finished}");
    let answer = finished.events_of("end")[0]["answers"].to_string();
    assert!(answer.contains("`debug-assertions` on in crate `notice`"), "{answer}");
}
