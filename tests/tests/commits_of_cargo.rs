//! `--commits` with what cargo tests, runs, builds or checks: each run builds in a worktree.
#![cfg(unix)]

use std::{fs, path::PathBuf, process::Command};

use bisect_tests::{
    harness::{Finished, Scratch, cargo, run, scrubbed},
    repository::{Repository, found_commits},
};

/// A repository with a package of cargo.
struct Package {
    scratch: Scratch,
    repository: Repository,
    hashes: Vec<String>,
}

/// Returns a source file whose lines move from commit to commit.
fn source(number: usize, body: &str) -> String {
    let lines = "// a line\n".repeat(number);
    format!("{lines}{body}\n")
}

impl Package {
    /// Makes one commit for each of these sources of the library.
    fn new(sources: &[String]) -> Self {
        let scratch = Scratch::new();
        for name in ["repo", "tmp"] {
            fs::create_dir(scratch.dir().join(name)).unwrap();
        }
        let repository = Repository::new(&scratch.dir().join("repo"));
        let manifest = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
        repository.write("Cargo.toml", manifest);
        repository.write("Cargo.lock", "version = 3\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n");
        repository.write("src/main.rs", "fn main() { assert!(shop::price(2) == 4, \"wrong price\"); }\n");
        let mut hashes = Vec::new();
        for (number, source) in sources.iter().enumerate() {
            repository.write("src/lib.rs", source);
            hashes.push(repository.commit(&format!("change {number}")));
        }
        Self { scratch, repository, hashes }
    }

    fn dir(&self) -> PathBuf {
        self.scratch.dir().join("repo")
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.scratch.driver(words);
        command.current_dir(self.dir()).env("CARGO_TARGET_DIR", self.scratch.dir().join("target"));
        command.env("TMPDIR", self.scratch.dir().join("tmp"));
        command
    }

    /// Searches all commits after the first one.
    fn search(&self, subcommand: &str, words: &[&str]) -> Finished {
        let range = format!("{}..", self.hashes[0]);
        let out = self.scratch.dir().join("out").display().to_string();
        let before = self.repository.state();
        let finished =
            run(&mut self.command(&[&[subcommand, "--json", "--out", &out, "--commits", &range], words].concat()));
        assert_eq!(self.repository.state(), before);
        assert_eq!(fs::read_dir(self.scratch.dir().join("tmp")).unwrap().count(), 0);
        finished
    }

    /// Returns the hashes of these commits.
    fn hashes(&self, numbers: &[usize]) -> Vec<String> {
        numbers.iter().map(|&number| self.hashes[number].clone()).collect()
    }
}

/// Returns the source of a commit: `price` is wrong from 6 on, `name` from 3 on.
fn two_tests(number: usize) -> String {
    let (factor, name) = (if number >= 6 { 3 } else { 2 }, if number >= 3 { "b" } else { "a" });
    let broken = if number == 7 { "does not build" } else { "" };
    source(
        number,
        &format!(
            "pub fn price(n: u32) -> u32 {{ n * {factor} }}\npub fn name() -> &'static str {{ {name:?} }}\n{broken}\n\
             #[test] fn priced() {{ assert_eq!(price(2), 4); }}\n#[test] fn named() {{ assert_eq!(name(), \"a\"); }}\n\
             #[test] fn fine() {{}}\n"
        ),
    )
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_search_from_a_hook_of_git_works_in_its_worktrees() {
    // Git sets the variable for hooks. A build script that asks git would get an answer about another commit.
    let body = |price: u32| {
        format!(
            "pub fn price(n: u32) -> u32 {{ n * {price} }}\n#[test] fn priced() {{ assert_eq!((price(2), option_env!(\"GIT_DIR\"), \
             std::env::var_os(\"GIT_DIR\")), (4, None, None)); }}"
        )
    };
    let sources: Vec<_> =
        [2, 2, 3, 3].iter().enumerate().map(|(number, &price)| source(number, &body(price))).collect();
    let package = Package::new(&sources);
    let range = format!("{}..", package.hashes[0]);
    let mut command = package.command(&["test", "--json", "--commits", &range]);
    let finished = run(command.env("GIT_DIR", package.dir().join(".git"))).expect_status(0);
    assert_eq!(found_commits(&finished), [package.hashes(&[2])], "{finished}");
    let before = package.repository.state();
    for (option, status) in [(None, 101), (Some("--off"), 0)] {
        let mut replay = package.command(&["replay"]);
        replay.args(option).env("GIT_INDEX_FILE", package.dir().join(".git/index"));
        let _ = run(replay.env("GIT_DIR", package.dir().join(".git"))).expect_status(status);
        assert_eq!(package.repository.state(), before);
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn each_failing_test_has_its_own_first_bad_commit() {
    let sources: Vec<_> = (0..=9).map(two_tests).collect();
    let package = Package::new(&sources);
    let finished = package.search("test", &[]).expect_status(0);
    let found: Vec<_> = finished.events_of("found").iter().map(|found| found["tests"][0].clone()).collect();
    let commits = found_commits(&finished);
    for (test, number) in [("named", 3), ("priced", 6)] {
        let index = found.iter().position(|found| found == test).unwrap_or_else(|| panic!("{test}: {finished}"));
        assert_eq!(commits[index], package.hashes(&[number]), "{test}: {finished}");
    }
    // The line that reproduces a failure leaves the checkout as it is.
    let line = finished.events_of("found")[0]["reproduce"].as_str().unwrap().to_owned();
    assert!(line.contains("worktree add ") && line.contains(" cargo test -- --exact "), "{line}");
    let before = package.repository.state();
    let mut shell = scrubbed("sh".as_ref(), &package.dir());
    let path = std::env::join_paths(
        [cargo().parent().unwrap().to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    shell.env("CARGO_TARGET_DIR", package.scratch.dir().join("target")).env("PATH", path.unwrap());
    let _ = run(shell.args(["-c", &line])).expect_status(101);
    assert_eq!(package.repository.state(), before);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_test_that_is_named_is_searched_also_in_parallel() {
    let sources: Vec<_> = (0..=9).map(two_tests).collect();
    let package = Package::new(&sources);
    let finished = package.search("test", &["-j2", "--lib", "priced"]).expect_status(0);
    assert_eq!(found_commits(&finished), [package.hashes(&[6])]);
}

#[test]
fn a_test_target_that_is_not_tracked_is_not_called_a_wrong_name() {
    let package = Package::new(&[String::new(), "pub fn f() {}".to_owned()]);
    package.repository.write("tests/new.rs", "#[test] fn fine() {}\n");
    let finished = package.search("test", &["--test", "new"]).expect_status(3);
    finished.expect_message(&["your files have this package or target", "untracked files are not in worktrees"]);
    let finished = package.search("test", &["--test", "other"]).expect_status(3);
    finished.expect_message(&["correct the name of the package or the target"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_commit_without_the_test_is_not_tested() {
    // The test exists from 4 on, and the defect from 2 on.
    let with_test = |number: usize| {
        let test =
            if number >= 4 { "#[test] fn priced() { assert_eq!(price(2), 4); }" } else { "#[test] fn fine() {}" };
        let factor = if number >= 2 { 3 } else { 2 };
        source(number, &format!("pub fn price(n: u32) -> u32 {{ n * {factor} }}\n{test}\n"))
    };
    let package = Package::new(&(0..=6).map(with_test).collect::<Vec<_>>());
    let finished = package.search("test", &["--lib"]).expect_status(5);
    assert_eq!(found_commits(&finished), [package.hashes(&[1, 2, 3, 4])], "{finished}");
    finished.expect_message(&["the test is not there"]);
    let finished = package.search("test", &["priced"]).expect_status(3);
    finished.expect_message(&["with every change disabled"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_build_and_a_program_are_searched() {
    let sources: Vec<_> = (0..=5)
        .map(|number| {
            let factor = if number >= 2 { 3 } else { 2 };
            let broken = if number >= 4 { "const WRONG: u32 = -1;" } else { "" };
            source(number, &format!("pub fn price(n: u32) -> u32 {{ n * {factor} }}\n{broken}\n"))
        })
        .collect();
    let package = Package::new(&sources);
    for subcommand in ["check", "build"] {
        let finished = package.search(subcommand, &[]).expect_status(0);
        assert_eq!(found_commits(&finished), [package.hashes(&[4])], "{subcommand}");
    }
    // The last commits do not build.
    let range = format!("{}..{}", package.hashes[0], package.hashes[3]);
    let finished = run(&mut package.command(&["run", "--json", "--commits", &range])).expect_status(0);
    assert_eq!(found_commits(&finished), [package.hashes(&[2])]);
    let finished = package.search("run", &[]).expect_status(3);
    finished.expect_message(&["with every change enabled, its run did not build"]);
}

#[test]
fn options_that_contradict_it_are_refused() {
    let package = Package::new(&[String::new(), "pub fn f() {}".to_owned()]);
    for words in [&["--codegen"][..], &["--edition=2024"], &["--toggle=x"], &["--rustflags=PATTERN"]] {
        let finished =
            run(&mut package.command(&[&["test", "--commits", "HEAD~1.."], words].concat())).expect_status(2);
        finished.expect_message(&["cannot be used with"]);
    }
    let manifest = package.dir().canonicalize().unwrap().join("Cargo.toml");
    let words = ["test", "--commits", "HEAD~1..", "--manifest-path", manifest.to_str().unwrap()];
    run(&mut package.command(&words)).expect_status(2).expect_message(&["give a path relative to"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_commit_without_one_of_two_tests_is_not_tested_for_it() {
    // Both fail from 4 on, and one does not exist from 1 to 3.
    let two_tests = |number: usize| {
        let one = if (1..4).contains(&number) { "" } else { "#[test] fn named() { assert_eq!(price(1), 2); }" };
        let factor = if number >= 4 { 3 } else { 2 };
        let other = "#[test] fn priced() { assert_eq!(price(2), 4); }";
        source(number, &format!("pub fn price(n: u32) -> u32 {{ n * {factor} }}\n{one}\n{other}\n"))
    };
    let package = Package::new(&(0..=5).map(two_tests).collect::<Vec<_>>());
    let finished = package.search("test", &["--lib", "--per-test=always"]).expect_status(5);
    finished.expect_message(&["it is not there with these changes"]);
}
