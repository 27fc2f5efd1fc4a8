//! `--deps` in workspaces with several members, renamed and patched packages, other targets, and packages from git.
#![cfg(unix)]

use std::fs;

use bisect_tests::{
    harness::{cargo, run, scrubbed},
    repository::Repository,
};

use super::deps::{Shop, found};

const TRUE: &str = "pub fn v() -> bool { true }\n";
const FALSE: &str = "pub fn v() -> bool { false }\n";

#[test]
#[ignore = "slow: CI runs it"]
fn two_versions_of_a_renamed_package() {
    let shop = Shop::new(
        "one = { package = 'p', version = '1' }\ntwo = { package = 'p', version = '2' }\nfree = '1'\n",
        "#[test] fn fine() { assert!(one::v() && two::v()); }\n",
        &[("p", "1.0.0", "", TRUE), ("p", "2.0.0", "", TRUE), ("free", "1.0.0", "", "")],
        &[("p", "1.0.1", "", TRUE), ("p", "2.0.1", "", FALSE), ("free", "1.0.1", "", "")],
    );
    let finished = shop.search("test", &["--deps"]).expect_status(0);
    assert_eq!(found(&finished), [["p 2.0.0 -> 2.0.1"]]);
}

#[test]
fn packages_for_other_targets_do_not_matter() {
    let shop = Shop::new(
        "p = '1'\n[target.'cfg(windows)'.dependencies]\nother = '1'\n[build-dependencies]\nlow = '1'\n",
        "#[test] fn fine() { assert!(p::v()); }\n",
        &[("p", "1.0.0", "", TRUE), ("other", "1.0.0", "", TRUE), ("low", "1.0.0", "", TRUE)],
        &[("p", "1.0.1", "", FALSE), ("other", "1.0.1", "", "compile_error!(\"w\");\n"), ("low", "1.0.1", "", TRUE)],
    );
    let finished = shop.search("test", &["--deps"]).expect_status(0);
    assert_eq!(found(&finished), [["p 1.0.0 -> 1.0.1"]]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn several_members_and_a_patched_package() {
    let member =
        "[package]\nname = \"member\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\np = '1'\nq = '1'\n";
    let patched = "[package]\nname = \"q\"\nversion = \"1.0.7\"\nedition = \"2021\"\n[workspace]\n";
    let shop = Shop::with_files(
        &[
            ("member/Cargo.toml", member),
            ("member/src/lib.rs", "pub fn v() -> bool { p::v() && q::v() }\n#[test] fn inner() { assert!(v()); }\n"),
            ("patched/Cargo.toml", patched),
            ("patched/src/lib.rs", TRUE),
        ],
        "member = { path = 'member' }\nfree = '1'\n[patch.crates-io]\nq = { path = 'patched' }\n",
        "#[test] fn fine() { assert!(member::v()); }\n",
        &[("p", "1.0.0", "", TRUE), ("q", "1.0.0", "", FALSE), ("free", "1.0.0", "", "")],
        &[("p", "1.0.1", "", FALSE), ("q", "1.0.1", "", FALSE), ("free", "1.0.1", "", "")],
    );
    for words in [&["--deps"][..], &["--deps=HEAD", "-p", "member"], &["--deps=HEAD", "--workspace"]] {
        let finished = shop.search("test", words).expect_status(0);
        assert!(found(&finished).iter().all(|culprit| culprit == &["p 1.0.0 -> 1.0.1"]), "{finished}");
        assert!(!found(&finished).is_empty(), "{finished}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_commit_of_a_package_from_git() {
    let shop = Shop::new(
        "free = '1'\nmore = '1'\n",
        "#[test] fn fine() { assert!(g::v()); }\n",
        &[("free", "1.0.0", "", ""), ("more", "1.0.0", "", "")],
        &[("free", "1.0.1", "", ""), ("more", "1.0.1", "", "")],
    );
    let dir = shop.scratch.dir().join("g");
    fs::create_dir(&dir).unwrap();
    let package = Repository::new(&dir);
    package.write("Cargo.toml", "[package]\nname = \"g\"\nversion = \"1.0.0\"\nedition = \"2021\"\n");
    package.write("src/lib.rs", TRUE);
    package.commit("true");
    let text = fs::read_to_string(shop.dir().join("Cargo.toml")).unwrap();
    shop.repository.write("Cargo.toml", &format!("{text}g = {{ git = 'file://{}' }}\n", dir.display()));
    shop.repository.git(&["checkout", "Cargo.lock"]);
    // Commits are fetched from a folder, without network.
    let home = shop.scratch.dir().join("home");
    let fetch = |words: &[&str]| {
        let mut command = scrubbed(&cargo(), &shop.dir());
        let _ = run(command.args(words).env("CARGO_HOME", &home).env("CARGO_NET_OFFLINE", "false")).expect_status(0);
    };
    fetch(&["metadata", "--format-version=1"]);
    shop.repository.commit("with git");
    package.write("src/lib.rs", FALSE);
    package.commit("false");
    fetch(&["update"]);
    let finished = run(shop.command(&["test", "--json", "--deps"]).env("CARGO_HOME", &home)).expect_status(0);
    let [culprit] = &found(&finished)[..] else { panic!("{finished}") };
    assert!(culprit[0].starts_with("g 1.0.0 (") && culprit[0].contains(") -> 1.0.0 ("), "{culprit:?}");
}
