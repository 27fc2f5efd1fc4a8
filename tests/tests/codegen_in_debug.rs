//! "It fails in debug and works in release": `--codegen` searches the dev profile by itself, and any two profiles by name.
#![cfg(unix)]

use std::{fs, path::Path};

use bisect_tests::harness::{Finished, Fixture, Scratch, run};
use serde_json::{Value, json};

/// Returns the fixture with this file of the crate `notice`, and this test.
fn station(notice: &str, test: &str) -> Fixture {
    let fixture = Fixture::new("toll");
    fixture.write("notice/src/lib.rs", notice);
    fixture.write("app/tests/never.rs", &format!("#[test]\nfn it_works() {{\n    {test}\n}}\n"));
    fs::remove_file(fixture.dir().join("app/tests/shows.rs")).unwrap();
    fixture
}

/// Searches the test with these words, and expects a status.
#[track_caller]
fn search(fixture: &Fixture, words: &[&str], status: i32) -> Finished {
    let scratch = Scratch::new();
    let mut command = fixture.driver(["test", "--codegen", "-papp", "--test=never", "--json"]);
    run(command.args(words).arg("--out").arg(scratch.dir().join("out"))).expect_status(status)
}

/// Expects a culprit, the cause of the failure, the workaround, and words of the answer. Pastes the workaround.
#[track_caller]
fn expect_culprit(
    fixture: &Fixture,
    finished: &Finished,
    culprit: &str,
    how: &[&str],
    stop_gap: &str,
    answer: &[&str],
) {
    assert_eq!(finished.culprits(), [[format!("{culprit} 0.1.0")]], "{finished}");
    let found = &finished.events_of("found")[0];
    for words in how {
        assert!(found["failures"].to_string().contains(words), "{words} is not in {found}");
    }
    assert_eq!(found["stop_gap"]["text"], stop_gap, "{finished}");
    let said = finished.events_of("end")[0]["answers"][0].to_string();
    for words in answer {
        assert!(said.contains(words), "{words:?} is not in {said}");
    }
    assert_eq!(found["pasted"], json!({"reproduce": "fail", "passes": "pass"}), "{found}");
    let profile = stop_gap.trim_start_matches("[profile.").split('.').next().unwrap();
    let manifest = fs::read_to_string(fixture.dir().join("Cargo.toml")).unwrap();
    fixture.write("Cargo.toml", &format!("{manifest}\n{stop_gap}\n"));
    let mut cargo = fixture.cargo(["test", "-papp", "--test", "never"]);
    let cargo = if profile == "dev" { &mut cargo } else { cargo.args(["--profile", profile]) };
    assert_eq!(run(cargo).status, Some(0));
}

/// A crate that reads from a pointer that may be misaligned.
const MISALIGNED: &str = "#[repr(align(8))]\npub struct Page(pub [u8; 64]);\npub fn number(page: &Page, at: usize) -> u32 {\n    \
                          unsafe { *page.0.as_ptr().wrapping_add(at).cast::<u32>() }\n}\n";

#[test]
#[ignore = "slow: CI runs it"]
fn a_check_of_unsafe_code_is_found() {
    let fixture = station(MISALIGNED, "assert_eq!(notice::number(&notice::Page([0; 64]), 3), 0);");
    let finished = search(&fixture, &[], 0);
    finished.expect_message(&[
        "in the dev profile",
        "the target fails in the dev profile. Next, with the settings of the release profile: debug-assertions=false",
        "The crates are now searched with --bad dev --good 'debug-assertions=false'",
        "functions and passes are not searched: the target fails with debug-assertions, which applies to whole crates",
    ]);
    let how = ["panic at notice/src/lib.rs:4:14, signal 6", "misaligned pointer dereference: address must be"];
    let answer = [
        "a check of unsafe code failed at notice/src/lib.rs:4:14: misaligned pointer dereference",
        "the code is wrong in release, too",
        "Miri shows where it comes from: cargo +nightly miri test -- --exact it_works",
    ];
    let stop_gap = "[profile.dev.package.notice]\ndebug-assertions = false";
    let found = &finished.events_of("found")[0];
    let status = |line: &Value| run(&mut fixture.shell(line.as_str().unwrap(), Path::new("/"))).status;
    assert_ne!(status(&found["reproduce"]), Some(0), "{found}");
    assert_eq!(status(&found["passes"]), Some(0), "{found}");
    expect_culprit(&fixture, &finished, "notice", &how, stop_gap, &answer);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_violated_precondition_is_found() {
    let notice = "#[inline(never)]\npub fn letter(text: &str, at: usize) -> u8 {\n    unsafe { *text.as_bytes().get_unchecked(at) }\n}\n";
    let fixture = station(notice, "let open = \"open\";\n    assert_eq!(notice::letter(&open[..2], 3), b'n');");
    let finished = search(&fixture, &["--good", "release", "--bad", "dev"], 0);
    let how = ["unsafe precondition(s) violated: slice::get_unchecked requires"];
    let answer = ["a check of unsafe code failed at notice/src/lib.rs:3:31: unsafe precondition(s) violated"];
    let stop_gap = "[profile.dev.package.notice]\ndebug-assertions = false";
    expect_culprit(&fixture, &finished, "notice", &how, stop_gap, &answer);
}

#[test]
#[ignore = "slow: CI runs it"]
fn an_assertion_that_does_not_hold_is_found() {
    let notice = "pub fn half(number: u32) -> u32 {\n    debug_assert!(number % 2 == 1, \"{number} is odd\");\n    number / 2\n}\n";
    let fixture = station(notice, "assert_eq!(notice::half(4), 2);");
    let finished = search(&fixture, &[], 0);
    let how = ["\"message\":\"4 is odd\"", "panic at notice/src/lib.rs:2:5"];
    let answer = ["the `debug_assert!` at notice/src/lib.rs:2:5 does not hold"];
    let stop_gap = "[profile.dev.package.notice]\ndebug-assertions = false";
    expect_culprit(&fixture, &finished, "notice", &how, stop_gap, &answer);
}

/// The stack is too small without optimization.
#[test]
#[ignore = "slow: CI runs it"]
fn a_stack_that_overflows_in_debug_is_found() {
    let notice = "#[inline(never)]\npub fn depth(n: u64) -> u64 {\n    let a = [n; 200];\n    if n == 0 { 0 } else { 1 + depth(n - 1) + (a[(n % 200) as usize] - n) }\n}\n";
    let fixture = station(notice, "assert_eq!(notice::depth(std::hint::black_box(5000)), 5000);");
    let finished = search(&fixture, &[], 0);
    let how = ["stack overflow, signal 6", "thread 'it_works' has overflowed its stack"];
    let answer = [
        "`opt-level=3` in crate `notice`: without optimization, its stack frames are larger",
        "the stack of a thread is too small for the frames of `notice` without optimization",
    ];
    let stop_gap = "[profile.dev.package.notice]\nopt-level = 3";
    expect_culprit(&fixture, &finished, "notice", &how, stop_gap, &answer);
    // With options by hand, the search itself is reversed.
    let finished = search(&fixture, &["--good=opt-level=0"], 0);
    assert_eq!(finished.events_of("found")[0]["mode"], "disable", "{finished}");
    finished.expect_message(&["functions and passes are not searched where the target needs the options of --bad"]);
    let headline = "the target fails with this crate compiled with opt-level=0, and passes with it compiled by the release profile";
    let scratch = Scratch::new();
    let mut command = fixture.driver(["test", "--codegen", "-papp", "--test=never", "--good=opt-level=0"]);
    let finished = run(command.arg("--out").arg(scratch.dir().join("out"))).expect_status(0);
    assert!(finished.stdout.contains(headline), "{finished}");
}

/// Both profiles are the user's own.
#[test]
#[ignore = "slow: CI runs it"]
fn profiles_of_the_manifest_are_compared_by_name() {
    let fixture = Fixture::new("toll");
    let manifest = fs::read_to_string(fixture.dir().join("Cargo.toml")).unwrap();
    let profiles =
        "[profile.careful]\ninherits = 'release'\noverflow-checks = true\n[profile.fast]\ninherits = 'release'\n";
    fixture.write("Cargo.toml", &format!("{manifest}\n{profiles}"));
    let test = "#[test]\nfn it_wraps() {\n    assert_eq!(app::sum(vec![200, 100]), Some(44));\n}\n";
    fixture.write("app/tests/never.rs", test);
    let finished = search(&fixture, &["--good=fast", "--bad=careful"], 0);
    finished.expect_message(&["the target fails in the careful profile. Next, with the settings of the fast profile"]);
    let answer = ["`overflow-checks` off in crate `meter`"];
    let stop_gap = "[profile.careful.package.meter]\noverflow-checks = false";
    expect_culprit(&fixture, &finished, "meter", &[], stop_gap, &answer);
    // The other way round there is nothing to find, and the trace says why.
    let finished = search(&fixture, &["--good=careful", "--bad=fast"], 1);
    finished.expect_message(&["in the fast profile"]);
}

/// With `--profile dev`, the dev profile is compared with the release profile.
#[test]
#[ignore = "slow: CI runs it"]
fn the_dev_profile_is_not_compared_with_itself() {
    let test = "assert_eq!(notice::number(&notice::Page([0; 64]), 3), 0);";
    let finished = search(&station(MISALIGNED, test), &["--profile=dev"], 0);
    assert_eq!(finished.culprits(), [["notice 0.1.0"]], "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_limit_of_runs_counts_in_the_dev_profile_too() {
    let fixture = station(MISALIGNED, "assert_eq!(notice::number(&notice::Page([0; 64]), 3), 0);");
    let finished = search(&fixture, &["--max-runs=6"], 5);
    finished.expect_message(&["stopped at --max-runs, before the settings of the release profile were all tried"]);
    assert!(finished.events_of("end")[0]["runs"].as_u64().unwrap() <= 6, "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_target_that_passes_in_both_profiles_has_no_culprit() {
    let fixture = station(MISALIGNED, "assert_eq!(notice::number(&notice::Page([0; 64]), 4), 0);");
    let finished = search(&fixture, &[], 1);
    finished.expect_message(&["in the dev profile", "nothing to find: the target passes"]);
}
