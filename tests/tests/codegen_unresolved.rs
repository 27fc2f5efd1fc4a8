//! Crates that do not compile in every combination with others: runs in which they fail to compile are unresolved, and
//! the search works around them.
#![cfg(unix)]

use std::fs;

use bisect_tests::harness::{Finished, Fixture, Scratch, run};

/// A build script of `idle` that passes its optimization level to its dependents.
const TELLS: &str = r#"fn main() {
    println!("cargo::metadata=LEVEL={}", std::env::var("OPT_LEVEL").unwrap());
}
"#;

/// A build script that fails if `idle` is compiled in another way.
const MINDS: &str = r#"fn main() {
    let [its, ours] = ["DEP_IDLE_LEVEL", "OPT_LEVEL"].map(|name| std::env::var(name).unwrap());
    assert_eq!(its, ours, "idle must be optimized in the same way");
}
"#;

/// Searches with a package that compiles only if `idle` is compiled in the same way.
fn search_where_it_matters_to(package: &str) -> Finished {
    let fixture = Fixture::new("scales");
    let replace = |path: &str, from: &str, to: &str| {
        let text = fs::read_to_string(fixture.dir().join(path)).unwrap();
        fixture.write(path, &text.replace(from, to));
    };
    replace("idle/Cargo.toml", "[package]\n", "[package]\nlinks = \"idle\"\n");
    let dependency = "idle = { path = \"../idle\" }\n";
    let manifest = format!("{package}/Cargo.toml");
    replace(&manifest, dependency, "");
    replace(&manifest, "[dependencies]\n", &format!("[dependencies]\n{dependency}"));
    fixture.write("idle/build.rs", TELLS);
    fixture.write(&format!("{package}/build.rs"), MINDS);
    let scratch = Scratch::new();
    let arguments = ["test", "--codegen", "--level=crates", "--json", "-papp", "--test=works"];
    let mut command = fixture.driver(arguments);
    run(command.arg("--out").arg(scratch.dir().join("out"))).expect_status(0)
}

fn culprits(finished: &Finished) -> Vec<Vec<String>> {
    let name = |change: &serde_json::Value| change["name"].as_str().unwrap().to_owned();
    let names = |found: &serde_json::Value| {
        let mut names: Vec<_> = found["changes"].as_array().unwrap().iter().map(name).collect();
        names.sort();
        names
    };
    finished.events_of("found").iter().map(names).collect()
}

#[track_caller]
fn expect_runs_that_did_not_build(finished: &Finished) {
    let unresolved = finished.events_of("trial").into_iter().filter(|trial| trial["outcome"] == "unresolved");
    let reasons: Vec<_> = unresolved.map(|trial| trial["reason"].to_string()).collect();
    assert!(!reasons.is_empty(), "the search asked nothing that does not build\n{finished}");
    assert!(reasons.iter().all(|reason| reason.contains("does not build")), "{reasons:?}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn crates_that_are_compiled_alike_or_not_at_all_are_searched_around() {
    let finished = search_where_it_matters_to("app");
    assert_eq!(culprits(&finished), [["means"]], "{finished}");
    expect_runs_that_did_not_build(&finished);
}

/// Checks a set of two crates: `means` would not compile alone, so no smaller set can be shown to fail.
#[test]
fn a_culprit_that_does_not_compile_alone_is_found_in_the_company_it_needs() {
    let finished = search_where_it_matters_to("means");
    assert_eq!(culprits(&finished), [["idle", "means"]], "{finished}");
    expect_runs_that_did_not_build(&finished);
}
