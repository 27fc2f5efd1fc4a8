//! `--deps` where updates depend on each other, and where packages are renamed, added or removed.
#![cfg(unix)]

use std::fs;

use super::deps::{Shop, Version, found};

const TRUE: &str = "pub fn v() -> bool { true }\n";
const FALSE: &str = "pub fn v() -> bool { false }\n";
const LOW: &str = "pub fn v() -> bool { low::v() }\n";

/// Makes a shop in which `one` and `two` need the same version of `low`, and `free` is on its own.
fn contended(one: &'static str, low: &'static str) -> Shop {
    Shop::new(
        "one = '1'\ntwo = '1'\nfree = '1'\n",
        "#[test] fn fine() { assert!(one::v() && two::v()); }\n",
        &[
            ("one", "1.0.0", "[dependencies]\nlow = '1'", LOW),
            ("two", "1.0.0", "[dependencies]\nlow = '>=1.0, <1.2'", LOW),
            ("low", "1.0.0", "", TRUE),
            ("free", "1.0.0", "", ""),
        ],
        &[
            ("one", "1.1.0", "[dependencies]\nlow = '1.2'", one),
            ("two", "1.1.0", "[dependencies]\nlow = '1.2'", LOW),
            ("low", "1.2.0", "", low),
            ("free", "1.0.1", "", ""),
        ],
    )
}

#[test]
#[ignore = "slow: CI runs it"]
fn an_update_that_another_package_refuses_moves_with_it() {
    // Without the new `two`, nothing may have the new `low`.
    let finished = contended(LOW, FALSE).search("test", &["--deps"]).expect_status(0);
    assert_eq!(found(&finished), [["low 1.0.0 -> 1.2.0", "two 1.0.0 -> 1.1.0"]]);
    // `one` needs both, and neither needs `one`.
    let finished = contended(FALSE, TRUE).search("test", &["--deps"]).expect_status(0);
    assert_eq!(found(&finished), [["one 1.0.0 -> 1.1.0"]]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn incompatible_versions_are_side_by_side() {
    let shop = Shop::new(
        "one = '1'\ntwo = '1'\nfree = '1'\n",
        "#[test] fn fine() { assert!(one::v() && two::v()); }\n",
        &[
            ("one", "1.0.0", "[dependencies]\nlow = '1'", LOW),
            ("two", "1.0.0", "[dependencies]\nlow = '1'", LOW),
            ("low", "1.0.0", "", TRUE),
            ("free", "1.0.0", "", ""),
        ],
        &[
            ("one", "1.1.0", "[dependencies]\nlow = '2'", LOW),
            ("two", "1.1.0", "[dependencies]\nlow = '1'", LOW),
            ("low", "2.0.0", "", FALSE),
            ("low", "1.0.1", "", TRUE),
            ("free", "1.0.1", "", ""),
        ],
    );
    let finished = shop.search("test", &["--deps"]).expect_status(0);
    assert_eq!(found(&finished), [["one 1.0.0 -> 1.1.0"]]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn packages_that_link_the_same_library_move_together() {
    let links = |version| -> Version<'static> { ("low", version, "links = 'low'", TRUE) };
    let user = |name, version, low, source| -> Version<'static> { (name, version, low, source) };
    let (old, new) = ("[dependencies]\nlow = '1'", "[dependencies]\nlow = '2'");
    let names: Vec<_> = (0..6).map(|number| format!("free{number}")).collect();
    let free = |version: &'static str| names.iter().map(move |name| -> Version<'_> { (name, version, "", "") });
    let mut before = vec![user("one", "1.0.0", old, LOW), user("two", "1.0.0", old, LOW), links("1.0.0")];
    let mut after = vec![user("one", "1.1.0", new, FALSE), user("two", "1.1.0", new, LOW), links("2.0.0")];
    before.extend(free("1.0.0"));
    after.extend(free("1.0.1"));
    let needs: Vec<_> = names.iter().map(|name| format!("{name} = '1'\n")).collect();
    let source = "#[test] fn fine() { assert!(one::v() && two::v()); }\n";
    let shop = Shop::unpublished(&[], &format!("one = '1'\ntwo = '1'\n{}", needs.concat()), source);
    let publish = |versions: &[Version<'_>]| {
        for version in versions {
            shop.publish(*version);
        }
        for (name, version, ..) in versions.iter().filter(|(name, ..)| *name == "low") {
            let script = shop.scratch.dir().join(format!("versions/{name}-{version}/build.rs"));
            fs::write(script, "fn main() {}\n").unwrap();
        }
    };
    publish(&before);
    shop.commit_lock_file();
    publish(&after);
    shop.update();
    let finished = shop.search("test", &["--deps"]).expect_status(0);
    // No lock file can have one of them with each version of `low`.
    assert_eq!(finished.events_of("found")[0]["changes"].as_array().unwrap().len(), 1, "{finished}");
    assert_eq!(found(&finished), [["one 1.0.0 -> 1.1.0", "two 1.0.0 -> 1.1.0"]]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_renamed_dependency_has_the_name_of_its_package() {
    let shop = Shop::new(
        "alias = { package = 'p', version = '1' }\nfree = '1'\n",
        "#[test] fn fine() { assert!(alias::v()); }\n",
        &[("p", "1.0.0", "", TRUE), ("alias", "1.0.0", "", ""), ("free", "1.0.0", "", "")],
        &[("p", "1.0.1", "", FALSE), ("alias", "1.0.1", "", ""), ("free", "1.0.1", "", "")],
    );
    let finished = shop.search("test", &["--deps"]).expect_status(0);
    assert_eq!(found(&finished), [["p 1.0.0 -> 1.0.1"]]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_member_that_was_renamed_since_keeps_its_old_versions() {
    let shop = Shop::new(
        "p = '1'\nfree = '1'\n",
        "#[test] fn fine() { assert!(p::v()); }\n",
        &[("p", "1.0.0", "", TRUE), ("free", "1.0.0", "", "")],
        &[("p", "1.0.1", "", FALSE), ("free", "1.0.1", "", "")],
    );
    let manifest = shop.repository.git(&["show", "HEAD:Cargo.toml"]);
    shop.repository.write("Cargo.toml", &manifest.replace("name = \"shop\"", "name = \"store\""));
    shop.cargo(&["metadata", "--offline", "--format-version=1"]);
    let finished = shop.search("test", &["--deps"]).expect_status(0);
    assert_eq!(found(&finished), [["p 1.0.0 -> 1.0.1"]]);
}

#[test]
fn packages_that_were_only_added_or_removed_are_no_updates() {
    let shop = Shop::new(
        "p = '1'\n",
        "#[test] fn fine() { panic!(); }\n",
        &[("p", "1.0.0", "", TRUE), ("q", "1.0.0", "", TRUE)],
        &[],
    );
    let manifest = fs::read_to_string(shop.dir().join("Cargo.toml")).unwrap();
    let expect_nothing = |more: &str, facts: &[&str]| {
        shop.repository.write("Cargo.toml", &manifest.replace("p = '1'\n", more));
        shop.cargo(&["metadata", "--offline", "--format-version=1"]);
        let words = ["--deps"];
        shop.search("test", &words).expect_status(1).expect_message(facts);
    };
    expect_nothing("p = '1'\nq = '1'\n", &["no package was updated since the Cargo.lock of `HEAD`", "added: q 1.0.0"]);
    expect_nothing("", &["no package was updated since the Cargo.lock of `HEAD`", "removed: p 1.0.0"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_version_that_needs_a_newer_compiler_is_found() {
    let shop = Shop::new(
        "p = '1'\nfree = '1'\n",
        "#[test] fn fine() { assert!(p::v()); }\n",
        &[("p", "1.0.0", "rust-version = '1.60'", TRUE), ("free", "1.0.0", "", "")],
        &[("p", "1.0.1", "rust-version = '1.999'", TRUE), ("free", "1.0.1", "", "")],
    );
    for subcommand in ["check", "build"] {
        let finished = shop.search(subcommand, &["--deps"]).expect_status(0);
        assert_eq!(found(&finished), [["p 1.0.0 -> 1.0.1"]]);
    }
    // A test cannot fail if it is not compiled.
    let finished = shop.search("test", &["--deps"]).expect_status(3);
    finished.expect_message(&[
        "p@1.0.1 requires rustc 1.999",
        "to find what breaks the build, search with `build` instead",
    ]);
}
