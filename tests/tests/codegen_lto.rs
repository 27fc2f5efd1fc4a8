//! Profiles with link-time optimization, which is left out of the search if the target fails without it.
#![cfg(unix)]

use std::{fs, path::Path};

use bisect_tests::harness::{Finished, Fixture, Scratch, run};

/// The source of a function that two crates have. The linker decides if both get the same address, and so does LLVM if
/// it compiles both together.
const SMOOTH: &str = r"
/// The function that smooths a value.
#[inline(never)]
pub fn smooth(value: u64) -> u64 {
    (value ^ (value >> 7)).wrapping_mul(0x9e37_79b9)
}
";

/// The source of a test without the harness, whose optimization by the linker would take longer than all the rest.
const TEST: &str = r#"
fn main() {
    let (readings, heights): (fn(u64) -> u64, fn(u64) -> u64) = (idle::smooth, means::smooth);
    if std::ptr::fn_addr_eq(readings, heights) {
        println!("one function for both");
        std::process::exit(1);
    }
}
"#;

fn fixture() -> Fixture {
    let fixture = Fixture::new("scales");
    let append = |path: &str, text: &str| {
        let before = fs::read_to_string(fixture.dir().join(path)).unwrap_or_default();
        fixture.write(path, &(before + text));
    };
    append("idle/src/lib.rs", SMOOTH);
    append("means/src/lib.rs", SMOOTH);
    append("app/tests/rules.rs", TEST);
    append("app/Cargo.toml", "idle = { path = \"../idle\" }\n[[test]]\nname = \"rules\"\nharness = false\n");
    fs::remove_file(fixture.dir().join("app/src/main.rs")).unwrap();
    append("Cargo.toml", "[profile.release]\nlto = \"fat\"\n");
    fixture
}

fn search(fixture: &Fixture, test: &str) -> Finished {
    let scratch = Scratch::new();
    let mut command = fixture.driver(["test", "--codegen", "--level=crates", "--json", "-papp"]);
    command.arg(format!("--test={test}"));
    run(command.arg("--out").arg(scratch.dir().join("out"))).expect_status(0)
}

#[track_caller]
fn expect_reproduced(fixture: &Fixture, finished: &Finished, failure: &str) {
    let found = finished.events_of("found");
    let line = found[0]["reproduce"].as_str().unwrap();
    let again = run(&mut fixture.shell(line, Path::new("/")));
    assert_ne!(again.status, Some(0), "{line}\n{again}");
    assert!(again.stdout.contains(failure), "{line}\n{again}");
}

#[test]
fn a_failure_without_lto_is_searched_without_lto() {
    let fixture = fixture();
    let finished = search(&fixture, "works");
    assert_eq!(finished.culprits(), [["means 0.1.0"]], "{finished}");
    assert!(finished.events_of("found")[0]["reproduce"].as_str().unwrap().contains("profile.release.lto=false"));
    expect_reproduced(&fixture, &finished, "test result: FAILED");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_failure_that_needs_lto_is_searched_with_lto() {
    let fixture = fixture();
    let finished = search(&fixture, "rules");
    // With fat link-time optimization, rustc optimizes all crates with the options of the program.
    assert_eq!(finished.culprits(), [["app 0.1.0"]], "{finished}");
    finished.expect_message(&["without link-time optimization it passes"]);
    expect_reproduced(&fixture, &finished, "one function for both");
}
