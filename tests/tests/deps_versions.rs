//! `--deps=versions`: the first bad version of an update, among those that are on this machine.
#![cfg(unix)]

use std::fs;

use bisect_tests::harness::{Finished, cargo, run};

use super::deps::{Shop, Version, found};

const TRUE: &str = "pub fn v() -> bool { true }\n";
const FALSE: &str = "pub fn v() -> bool { false }\n";

/// Makes a shop in which `glyph` is updated from 1.0.0 to 1.0.9; the intermediate versions have these sources.
fn shop(between: &[(&str, &str)]) -> Shop {
    let shop = Shop::new(
        "glyph = '1'\nfree = '1'\n",
        "#[test] fn fine() { assert!(glyph::v()); }\n",
        &[("glyph", "1.0.0", "", TRUE), ("free", "1.0.0", "", "")],
        &[("glyph", "1.0.9", "", FALSE), ("free", "1.0.1", "", "")],
    );
    for (version, source) in between {
        shop.publish(("glyph", version, "", source));
    }
    shop
}

/// Makes a shop in which 1.0.5 is the first bad version of `glyph`.
pub(crate) fn shop_with_versions() -> Shop {
    shop(&[("1.0.1", TRUE), ("1.0.4", TRUE), ("1.0.5", FALSE), ("1.0.7", FALSE), ("1.0.10", TRUE)])
}

/// Returns the changes that were found within culprits.
fn inner(finished: &Finished) -> Vec<String> {
    let inner = finished.events_of("found").into_iter().filter(|found| !found["within"].is_null());
    inner
        .map(|found| found["changes"].as_array().unwrap().last().unwrap()["text"][0].as_str().unwrap().to_owned())
        .collect()
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_first_bad_version_is_found() {
    let shop = shop_with_versions();
    let finished = shop.search("test", &["--deps=versions"]).expect_status(0);
    assert_eq!(found(&finished), [["glyph 1.0.0 -> 1.0.9"], ["glyph 1.0.4 -> 1.0.5"]]);
    assert_eq!(inner(&finished), ["glyph 1.0.4 -> 1.0.5"]);
    assert_eq!(finished.events_of("start")[1]["axis"], "versions");
    // Any command, an old lock file, and several runs at once.
    let old = shop.repository.git(&["show", "HEAD:Cargo.lock"]);
    shop.scratch.write("old.lock", &old);
    let cargo = cargo().display().to_string();
    for words in
        [&["exec", "--deps=versions:../old.lock", &cargo, "test", "-q"][..], &["test", "-j2", "--deps", "versions"]]
    {
        let finished = shop.search(words[0], &words[1..]).expect_status(0);
        assert_eq!(inner(&finished), ["glyph 1.0.4 -> 1.0.5"]);
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn people_read_which_versions_there_are_and_how_to_search_them() {
    let shop = shop(&[("1.0.3", FALSE)]);
    let finished = run(&mut shop.command(&["test", "--deps=HEAD", "fine"])).expect_status(0);
    for fact in ["intermediate versions on this machine: 1.0.3", "cargo bisect-opt test --deps=versions fine  # finds"]
    {
        assert!(finished.stdout.contains(fact), "{fact}: {finished}");
    }
    let finished = run(&mut shop.command(&["test", "--deps=versions"])).expect_status(0);
    for fact in [
        "in culprit 1: this is the first bad version",
        "glyph 1.0.0 -> 1.0.3",
        "culprit-2.lock \"$tree/Cargo.lock\" &&",
    ] {
        assert!(finished.stdout.contains(fact), "{fact}: {finished}");
    }
    let before = shop.everything();
    for (words, status) in [(&["replay", "--set=2"][..], 101), (&["replay", "--set=2", "--off"], 0)] {
        let _ = run(&mut shop.command(words)).expect_status(status);
    }
    assert_eq!(shop.everything(), before);
}

#[test]
#[ignore = "slow: CI runs it"]
fn each_test_has_its_own_first_bad_version() {
    let source = |one: bool, two: bool| format!("pub fn one() -> bool {{ {one} }}\npub fn two() -> bool {{ {two} }}\n");
    let sources = [source(true, true), source(false, true), source(false, false)];
    let version = |number, source: usize| -> Version<'_> { ("glyph", number, "", sources[source].as_str()) };
    let shop = Shop::new(
        "glyph = '1'\nfree = '1'\n",
        "#[test] fn one() { assert!(glyph::one()); }\n#[test] fn two() { assert!(glyph::two()); }\n",
        &[version("1.0.0", 0), ("free", "1.0.0", "", "")],
        &[version("1.0.9", 2), ("free", "1.0.1", "", "")],
    );
    for (number, source) in [("1.0.1", 0), ("1.0.2", 1), ("1.0.3", 1), ("1.0.4", 2)] {
        shop.publish(version(number, source));
    }
    let finished = shop.search("test", &["--deps=versions"]).expect_status(0);
    let mut inner = inner(&finished);
    inner.sort();
    assert_eq!(inner, ["glyph 1.0.1 -> 1.0.2", "glyph 1.0.3 -> 1.0.4"], "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn without_a_version_between_only_a_note_is_added() {
    let shop = shop(&[]);
    let finished = shop.search("test", &["--deps=versions"]).expect_status(0);
    assert_eq!(found(&finished), [["glyph 1.0.0 -> 1.0.9"]]);
    finished.expect_message(&["no version between glyph 1.0.0 and 1.0.9 is known on this machine"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_version_that_does_not_compile_makes_the_answer_a_range() {
    let broken = "pub fn v() -> bool { none }\n";
    let shop = shop(&[("1.0.1", TRUE), ("1.0.2", broken), ("1.0.3", FALSE)]);
    let finished = shop.search("test", &["--deps=versions"]).expect_status(5);
    let last = &finished.events_of("found")[1];
    let texts: Vec<_> = last["changes"].as_array().unwrap().iter().map(|change| change["text"][0].clone()).collect();
    assert_eq!(texts, ["glyph 1.0.1 -> 1.0.2", "glyph 1.0.2 -> 1.0.3"], "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn packages_that_pin_each_other_move_together() {
    let outer = |version: &'static str, pinned: &'static str| -> Version<'static> {
        ("outer", version, pinned, "pub fn v() -> bool { inner::v() }")
    };
    let pin =
        ["[dependencies]\ninner = '=1.0.0'", "[dependencies]\ninner = '=1.0.5'", "[dependencies]\ninner = '=1.0.9'"];
    let shop = Shop::new(
        "outer = '1'\nfree = '1'\n",
        "#[test] fn fine() { assert!(outer::v()); }\n",
        &[outer("1.0.0", pin[0]), ("inner", "1.0.0", "", TRUE), ("free", "1.0.0", "", "")],
        &[outer("1.0.9", pin[2]), ("inner", "1.0.9", "", FALSE), ("free", "1.0.1", "", "")],
    );
    shop.publish(outer("1.0.5", pin[1]));
    shop.publish(("inner", "1.0.5", "", FALSE));
    let finished = shop.search("test", &["--deps=versions"]).expect_status(0);
    assert_eq!(inner(&finished), ["outer 1.0.0 -> 1.0.5"], "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_branch_of_that_name_is_written_in_full() {
    let shop = shop(&[]);
    shop.repository.git(&["branch", "versions"]);
    let finished = shop.search("test", &["--deps=heads/versions"]).expect_status(0);
    assert_eq!(found(&finished), [["glyph 1.0.0 -> 1.0.9"]]);
    assert!(!finished.stderr.contains("no version between"), "{finished}");
    fs::copy(shop.dir().join("Cargo.lock"), shop.dir().join("versions")).unwrap();
    let finished = run(&mut shop.command(&["test", "--deps=./versions"]));
    finished.expect_status(1).expect_message(&["the same versions as that of `./versions`"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_limit_of_runs_may_end_the_search_of_versions() {
    let shop = shop_with_versions();
    for (max, fact) in [
        ("--max-runs=9", "the search within culprit 1 is not complete, because --max-runs is reached: allow more runs"),
        (
            "--max-runs=11",
            "nothing was found among 5 versions of glyph after 1.0.0, up to 1.0.9: stopped at --max-runs",
        ),
    ] {
        let finished = shop.search("test", &["--deps=versions", max]).expect_status(5);
        assert_eq!(found(&finished), [["glyph 1.0.0 -> 1.0.9"]]);
        finished.expect_message(&[fact]);
    }
}
