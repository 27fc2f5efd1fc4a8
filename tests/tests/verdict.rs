//! `--verdict`: one run, with exit statuses for `git bisect run`.
#![cfg(unix)]

use std::{fs, process::Command};

use bisect_tests::{
    harness::{Scratch, cargo, driver, run},
    repository::Repository,
};

#[test]
fn a_command_has_a_verdict() {
    let scratch = Scratch::new();
    for (words, status) in [
        (&["true"][..], 0),
        (&["false"], 1),
        (&["sh", "-c", "exit 125"], 125),
        (&["sh", "-c", "exit 2"], 1),
        (&["sh", "-c", "kill -SEGV $$"], 1),
        (&["--skip-code=3", "sh", "-c", "exit 3"], 125),
        (&["--timeout=100ms", "sleep", "1000000"], 1),
        (&["--fail-when=other", "sh", "-c", "echo one; exit 1"], 125),
        (&["--repeat=9", "sh", "-c", "echo >> runs; [ $(wc -l < runs) -lt 4 ]"], 1),
        (&["./no-such-command"], 128),
        (&["--no-such-option", "true"], 128),
        (&["--count=3", "true"], 128),
        (&["--commits=HEAD~1..", "true"], 128),
    ] {
        let finished = run(scratch.driver(["exec", "--verdict"]).args(words));
        assert_eq!(finished.status, Some(status), "{words:?}: {finished}");
    }
    assert_eq!(scratch.read("runs").lines().count(), 4);
}

/// Writes a package whose test fails if `is_bad`.
fn write_package(repository: &Repository, number: usize, is_bad: bool, builds: bool) {
    let manifest = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
    repository.write("Cargo.toml", manifest);
    repository.write("Cargo.lock", "version = 3\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n");
    repository.write(".gitignore", "bisect.out\n");
    let broken = if builds { "" } else { "does not build" };
    let source = format!("// {number}\n{broken}\n#[test] fn fine() {{ assert!({}); }}\n", !is_bad);
    repository.write("src/lib.rs", &source);
}

fn in_package(scratch: &Scratch, command: &mut Command) {
    command.env("CARGO_TARGET_DIR", scratch.dir().join("target")).env("CARGO", cargo());
    command.current_dir(scratch.dir().join("repo"));
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_project_has_a_verdict() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.dir().join("repo")).unwrap();
    let repository = Repository::new(&scratch.dir().join("repo"));
    let verdict = |words: &[&str]| {
        let mut command = scratch.driver(words.iter().copied());
        in_package(&scratch, command.arg("--verdict"));
        run(&mut command)
    };
    for (is_bad, builds, of_test, of_check) in [(false, true, 0, 0), (true, true, 1, 0), (false, false, 125, 1)] {
        write_package(&repository, 0, is_bad, builds);
        for (subcommand, status) in [("test", of_test), ("check", of_check)] {
            let finished = verdict(&[subcommand]);
            assert_eq!(finished.status, Some(status), "{subcommand}, {is_bad} {builds}: {finished}");
        }
    }
    write_package(&repository, 0, false, true);
    for (words, status) in [
        (&["test", "no_such_test"][..], 125),
        (&["run"], 128),
        (&["test", "--no-such-option"], 128),
        (&["test", "--codegen"], 128),
    ] {
        let finished = verdict(words);
        assert_eq!(finished.status, Some(status), "{words:?}: {finished}");
    }
    repository.write("Cargo.toml", "not a manifest");
    assert_eq!(verdict(&["test"]).status, Some(125));
}

#[test]
fn git_bisect_run_finds_the_commit_with_it() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.dir().join("repo")).unwrap();
    let repository = Repository::new(&scratch.dir().join("repo"));
    let mut hashes = Vec::new();
    for number in 0..=12 {
        write_package(&repository, number, number >= 8, number != 5 && number != 6);
        hashes.push(repository.commit(&format!("change {number}")));
    }
    repository.git(&["bisect", "start", "HEAD", &hashes[0]]);
    let driver = driver().to_str().unwrap();
    let mut bisect = repository.command(&["bisect", "run", driver, "bisect-opt", "test", "-q", "--verdict"]);
    in_package(&scratch, &mut bisect);
    let finished = run(&mut bisect).expect_status(0);
    assert!(finished.stdout.contains(&format!("{} is the first bad commit", hashes[8])), "{finished}");
    // A wrong command line stops it.
    repository.git(&["bisect", "reset"]);
    repository.git(&["bisect", "start", "HEAD", &hashes[0]]);
    let mut bisect = repository.command(&["bisect", "run", driver, "bisect-opt", "test", "--verdikt", "--verdict"]);
    in_package(&scratch, &mut bisect);
    let finished = run(&mut bisect);
    assert!(finished.status != Some(0) && !finished.stdout.contains("first bad commit"), "{finished}");
}
