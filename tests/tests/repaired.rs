//! Changes that repair: the target fails without any, and passes with all. Each axis finds that by itself.
#![cfg(unix)]

use bisect_tests::{
    harness::{Finished, Scratch, run},
    repository::found_commits,
};

use crate::{
    commits,
    deps::{Shop, found},
    diff::{Place, names},
};

/// Returns the only culprit, which has to be one that repairs, and checks the conclusion.
#[track_caller]
fn repair(finished: &Finished, conclusion: &str) -> serde_json::Value {
    let [found] = &finished.events_of("found")[..] else { panic!("one culprit: {finished}") };
    assert_eq!(found["mode"], "disable", "{finished}");
    assert_eq!(finished.events_of("end")[0]["message"], format!("found 1 culprit; {conclusion} the target passes"));
    found.clone()
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_commit_that_repairs_is_found() {
    let place = commits::Place::with_numbers(40, &[]);
    // It passes from the commit with this number on.
    let search = |options: &[&str], number: usize| {
        let check = r#"[ -e broken ] && exit 125; [ "$(cat n)" -ge "$1" ]"#;
        place.search(options, &["sh", "-c", check, "sh", &number.to_string()]).expect_status(0)
    };
    for (number, jobs) in [(1, "1"), (17, "3"), (40, "1")] {
        let finished = search(&["-j", jobs], number);
        assert_eq!(found_commits(&finished), [[place.hash(40, number)]]);
        let found = repair(&finished, "with it and everything before it");
        let line = |key: &str| found[key].as_str().unwrap().to_owned();
        let checkout = |number| format!("--detach \"$tree\" {}", &place.hash(40, number)[..7]);
        assert!(line("reproduce").contains(&checkout(number - 1)), "{finished}");
        assert!(line("passes").contains(&checkout(number)), "{finished}");
        let trials = finished.events_of("end")[0]["trials"].as_u64().unwrap();
        assert!(jobs != "1" || trials <= u64::from(40_u32.ilog2()) + 1 + 4, "{finished}");
    }
    for (option, status, words) in
        [(None, 1, "everything before culprit 1"), (Some("--off"), 0, "everything up to culprit 1")]
    {
        place.replay(option).expect_status(status).expect_message(&[words]);
    }
    assert_eq!(place.leftovers(), 0);
}

#[test]
#[ignore = "slow: CI runs it"]
fn beside_commits_that_cannot_be_tested_the_repair_is_a_range() {
    let place = commits::Place::with_numbers(12, &[7, 8, 9]);
    let check = r#"[ -e broken ] && exit 125; [ "$(cat n)" -ge 8 ]"#;
    let finished = place.search(&[], &["sh", "-c", check]).expect_status(5);
    let range: Vec<_> = [7, 8, 9, 10].map(|number| place.hash(12, number)).into();
    assert_eq!(found_commits(&finished), [range]);
    let shown = run(&mut place.scratch.driver(["report".as_ref(), place.out().as_os_str()]));
    assert!(shown.stdout.contains("the commit that repairs the target is one of these 4"), "{shown}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_step_and_an_update_that_repair_are_found() {
    let scratch = Scratch::new();
    let finished = run(&mut scratch.driver(["count", "--json", "--max-count=90", "test", "COUNT", "-gt", "41"]));
    let found_step = repair(&finished.expect_status(0), "with it and everything before it");
    assert_eq!(found_step["changes"][0]["name"], "step 42");

    let shop = Shop::new(
        "inner = '0.3'\nouter = '0.3'\nother = '0.3'\n",
        "#[test] fn sells() { assert!(outer::v() && other::v()); }\n",
        &[
            ("inner", "0.3.1", "", "pub fn v() -> bool { false }\n"),
            ("outer", "0.3.1", "[dependencies]\ninner = '0.3.1'", "pub fn v() -> bool { inner::v() }\n"),
            ("other", "0.3.1", "", "pub fn v() -> bool { true }\n"),
        ],
        &[
            ("inner", "0.3.2", "", "pub fn v() -> bool { true }\n"),
            ("outer", "0.3.2", "[dependencies]\ninner = '0.3.2'", "pub fn v() -> bool { inner::v() }\n"),
            ("other", "0.3.2", "", "pub fn v() -> bool { true }\n"),
        ],
    );
    let finished = shop.search("test", &["--deps"]).expect_status(0);
    assert_eq!(found(&finished), [["inner 0.3.1 -> 0.3.2"]]);
    repair(&finished, "with it alone");
}

const LOCK: &str = "version = 3\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n";
const MANIFEST: &str = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
const OLD: &str = "\
//! A shop.

pub fn tax(net: u32) -> u32 {
    net / 4
}

pub fn label(n: u32) -> String {
    format!(\"{n} items\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taxes() {
        assert_eq!(tax(100), 20);
    }

    #[test]
    fn labels() {
        assert_eq!(label(2), \"2 items\");
    }
}
";

/// Returns a repository with the package, and this library as its working files.
fn shop(new: &str) -> Place {
    let place = Place::new();
    for (name, text) in [("Cargo.toml", MANIFEST), ("Cargo.lock", LOCK), ("src/lib.rs", OLD)] {
        place.repository.write(name, text);
    }
    place.repository.commit("old");
    place.repository.write("src/lib.rs", new);
    place
}

#[test]
fn the_hunk_that_repairs_is_found_with_those_that_it_needs() {
    let new = OLD
        .replace("//! A shop.\n", "//! A shop.\npub mod rates;\n")
        .replace("net / 4", "net * rates::vat() / 100")
        .replace("format!(\"{n} items\")", "let word = \"items\";\n    format!(\"{n} {word}\")");
    let place = shop(&new);
    place.repository.write("src/rates.rs", "pub fn vat() -> u32 {\n    20\n}\n");
    let finished = place.search(&["test", "--diff"]).expect_status(0);
    assert_eq!(names(&finished), [["fn tax@src/lib.rs:5"]], "{finished}");
    let found = repair(&finished, "with it alone");
    place.paste(found["reproduce"].as_str().unwrap(), 101);
    place.paste(found["passes"].as_str().unwrap(), 0);
    let shown = run(place.scratch.driver(["report", "out"]).current_dir(place.scratch.dir()));
    for fact in [
        "culprit 1: the target is repaired by this hunk: without it the target fails: fn tax",
        "  # on the working files: makes the target fail",
        "  # on HEAD: adds what repairs it",
        "src/rates.rs",
    ] {
        assert!(shown.stdout.contains(fact), "{fact}\n{shown}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn repaired_insists_on_one_of_two_directions() {
    // One test fails in the new version only, and one in the old version only.
    let place = shop(&OLD.replace("net / 4", "net / 5").replace("{n} items\")", "{n} item\")"));
    for (options, name, mode, note) in [
        (&["test", "--diff"][..], "fn label@src/lib.rs:8", "enable", "failed only with everything disabled"),
        (&["test", "--diff", "--repaired"], "fn tax@src/lib.rs:4", "disable", "failed only with everything enabled"),
    ] {
        let finished = place.search(options).expect_status(0);
        assert_eq!(names(&finished), [[name]], "{finished}");
        assert_eq!(finished.events_of("found")[0]["mode"], mode);
        assert!(finished.stderr.contains(note), "{finished}");
    }
    let finished = place.search(&["exec", "--diff", "--repaired", "--", "grep", "-q", "net / 4", "src/lib.rs"]);
    finished.expect_status(3).expect_message(&["so nothing repairs it", "leave out --repaired"]);
}
