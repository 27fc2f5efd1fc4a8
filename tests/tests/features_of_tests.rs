//! `test --features-of` and `run --features-of`: features that break tests and programs, some of which need a feature.
#![cfg(unix)]

use crate::features::{Workspace, found, line, subject};

/// A library whose function is wrong with two features, with tests and a program that need a feature.
fn shop() -> Workspace {
    Workspace::new(&[
        (
            "Cargo.toml",
            "shop 2021\n[features]\ndefault = [\"std\"]\nstd = []\nfast = [\"std\"]\nround = []\ngate = [\"door\"]\n\
             door = []\nmore = []\n\
             [[test]]\nname = \"it\"\nrequired-features = [\"gate\"]\n\
             [[bin]]\nname = \"tool\"\nrequired-features = [\"gate\"]\n",
        ),
        (
            "src/lib.rs",
            "pub fn price(n: u32) -> u32 {\n    n * 2 + u32::from(cfg!(all(feature = \"fast\", feature = \"round\")))\n}\n\
             #[test]\nfn fine() {}\n\
             #[test]\nfn doubled() { assert_eq!(price(1), 2); }\n\
             #[cfg(feature = \"more\")]\n#[test]\nfn doubled_twice() { assert_eq!(price(price(1)), 4); }\n",
        ),
        ("tests/it.rs", "#[test]\nfn integrated() { assert_eq!(shop::price(1), 2); }\n"),
        ("src/bin/tool.rs", "fn main() { assert_eq!(shop::price(2), 4, \"wrong\"); }\n"),
    ])
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_test_that_two_features_break() {
    let workspace = shop();
    for jobs in ["-j1", "-j2"] {
        let search = format!("test {jobs} --all-features --features-of shop --lib doubled -- --exact");
        let finished = workspace.search(&search).expect_status(0);
        assert_eq!(found(&finished), [["fast", "round"]], "{finished}");
        assert_eq!(finished.events_of("found")[0]["tests"][0], "doubled");
        assert!(line(&finished).contains("--no-default-features --features shop/fast,shop/round "), "{finished}");
        assert_eq!(workspace.reproduce(&finished).status, Some(101));
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_test_that_exists_only_with_a_feature_passes_without_it() {
    let finished = shop().search("test --all-features --features-of shop --lib doubled_twice").expect_status(0);
    assert_eq!(found(&finished), [["fast", "more", "round"]], "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn each_failing_test_has_its_own_features() {
    let finished = shop().search("test --all-features --features-of shop").expect_status(0);
    let of = |test: &str| {
        let events = finished.events_of("found");
        let at = events.iter().position(|found| found["tests"].as_array().unwrap().iter().any(|name| name == test));
        found(&finished)[at.unwrap_or_else(|| panic!("{test}: {finished}"))].clone()
    };
    assert_eq!(of("doubled"), ["fast", "round"], "{finished}");
    assert_eq!(of("doubled_twice"), ["fast", "more", "round"], "{finished}");
    // Its executable is only built with the feature.
    assert_eq!(of("integrated"), ["fast", "gate", "round"], "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn features_that_the_named_target_requires_stay_enabled() {
    let workspace = shop();
    let all = "--all-features --features-of shop";
    for (search, name) in [(format!("test {all} --test it"), "it"), (format!("run {all}"), "tool")] {
        let finished = workspace.search(&search).expect_status(0);
        assert_eq!(found(&finished), [["fast", "round"]], "{name}: {finished}");
        assert!(subject(&finished).contains("besides `door` and `gate`, which cannot be disabled"), "{finished}");
        assert!(line(&finished).contains("--features shop/fast,shop/gate,shop/round"), "{finished}");
        assert_eq!(workspace.reproduce(&finished).status, Some(101));
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn without_any_test_there_is_nothing_to_run() {
    let workspace = Workspace::new(&[
        (
            "Cargo.toml",
            "shop 2021\n[features]\nslow = []\ngate = []\n[lib]\ntest = false\n[[test]]\nname = \"it\"\nrequired-features = [\"gate\"]\n",
        ),
        ("src/lib.rs", ""),
        ("tests/it.rs", "#[test]\nfn quick() { assert!(!cfg!(feature = \"slow\")); }\n"),
    ]);
    let finished = workspace.search("test --all-features --features-of shop").expect_status(0);
    assert_eq!(found(&finished), [["gate", "slow"]], "{finished}");
    let finished = workspace.search("test -F slow --features-of shop").expect_status(3);
    finished.expect_message(&["has nothing to run"]);
}

#[test]
fn a_run_that_does_not_build_is_unresolved() {
    let workspace = shop();
    let source = "#[cfg(not(feature = \"std\"))]\ncompile_error!(\"no\");\n#[test]\nfn it() { assert!(cfg!(not(feature = \"round\"))); }\n";
    workspace.write("src/lib.rs", source);
    let finished = workspace.search("test --all-features --features-of shop --lib").expect_status(3);
    finished.expect_message(&["with every change disabled", "did not build"]);
}
