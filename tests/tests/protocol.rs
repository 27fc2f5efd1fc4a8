//! A program of ours under the search of Go's tool, over standard error, and under our search in the same way.

use std::{collections::BTreeSet, path::PathBuf};

use bisect_tests::{
    go_peer::{GoPeer, reported_ids},
    harness::{Fixture, run, scrubbed},
};

/// The flags with which the driver compiles crates whose stacks are changes.
const FLAGS: &str = "-Cforce-frame-pointers=yes --cfg bisect_frame_pointers";

/// Builds the program of the fixture `stacks` as a user does: the unwinder captures its stacks.
fn program(fixture: &Fixture) -> PathBuf {
    let _ = run(&mut fixture.cargo(["build", "--package=app"])).expect_status(0);
    fixture.target_dir().join("debug").join(format!("app{}", std::env::consts::EXE_SUFFIX))
}

/// Returns the sets that `cargo bisect-opt exec` finds, as IDs.
fn found_by_exec(fixture: &Fixture, program: &str) -> BTreeSet<BTreeSet<u64>> {
    let mut command = fixture.driver(["exec", "--json", "BISECT_PATTERN=PATTERN", program]);
    let found = run(&mut command).expect_status(0).events_of("found");
    let id = |change: &serde_json::Value| {
        let digits = change["id"].as_str().and_then(|id| id.strip_prefix("0x")).expect("an ID in hex");
        u64::from_str_radix(digits, 16).expect("an ID in hex")
    };
    found.iter().map(|set| set["changes"].as_array().expect("changes").iter().map(id).collect()).collect()
}

#[test]
#[ignore = "slow: CI runs it"]
fn gos_search_and_ours_find_the_same_stack_in_a_program_of_ours() {
    let fixture = Fixture::new("stacks");
    let program = program(&fixture);
    let target = |pattern: &str| {
        let finished = run(scrubbed(&program, fixture.dir()).env("BISECT_PATTERN", pattern));
        // Reports go to standard error, because no other place is set.
        assert!(!finished.stdout.contains("bisect-match"), "{finished}");
        (finished.status == Some(0), reported_ids(finished.stderr.as_bytes()))
    };
    let report = GoPeer::default().search(target).expect("Go's search gets along with it");
    assert!(report.sets.iter().all(|set| set.confirmed), "{report:?}");
    let gos: BTreeSet<_> = report.sets.iter().map(|set| set.ids.clone()).collect();
    assert_eq!(gos.iter().map(BTreeSet::len).collect::<Vec<_>>(), [1], "one call stack");
    assert_eq!(found_by_exec(&fixture, program.to_str().expect("a path in UTF-8")), gos);
}

#[test]
fn a_malformed_pattern_stops_a_program_before_main() {
    let fixture = Fixture::new("stacks");
    // With the driver's flags: other tests compile the same.
    let target_dir = fixture.target_dir().join("bisect-opt");
    let mut build = fixture.cargo(["build", "--package=app"]);
    build.env("CARGO_TARGET_DIR", &target_dir).env("RUSTFLAGS", FLAGS);
    let _ = run(&mut build).expect_status(0);
    let program = target_dir.join(format!("debug/app{}", std::env::consts::EXE_SUFFIX));
    let finished = run(scrubbed(&program, fixture.dir()).env("BISECT_PATTERN", "+0-1x")).expect_status(2);
    assert_eq!((finished.stdout.as_str(), finished.stderr.lines().count()), ("", 1), "{finished}");
    finished.expect_message(&["BISECT_PATTERN", "+0-1x", "byte 4"]);
}
