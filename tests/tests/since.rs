//! Changes on lines that git reports as changed are tried first, which saves runs and does not change the answer.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use bisect_tests::{
    foreign,
    harness::{Finished, Scratch, run},
};

#[cfg(unix)]
use crate::diff::{Place, names};

/// Returns a repository in which these lines of `mill.txt` have changed. Prints a notice and returns `None` if git is
/// not installed.
fn repository(changed: &[usize]) -> Option<Scratch> {
    let scratch = Scratch::new();
    let lines = |changed: &[usize]| -> String {
        let line = |line| format!("step {line}{}\n", if changed.contains(&line) { ", anew" } else { "" });
        (1..=1000).map(line).collect::<Vec<_>>().concat()
    };
    scratch.write("mill.txt", &lines(&[]));
    for words in [
        &["init", "-q", "-b", "main"][..],
        &["add", "mill.txt"],
        &["-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "-m", "as it was"],
        &["checkout", "-q", "-b", "work"],
    ] {
        let mut git = Command::new("git");
        let status = git.current_dir(scratch.dir()).args(words).stderr(Stdio::inherit()).status();
        if status.is_err() {
            assert!(std::env::var_os("CI").is_none(), "CI must have git");
            // Not `eprintln!`: the harness would capture it.
            writeln!(std::io::stderr(), "*** SKIPPED: no git ***").expect("standard error is there");
            return None;
        }
        assert!(status.is_ok_and(|status| status.success()), "git {words:?}");
    }
    scratch.write("mill.txt", &lines(changed));
    Some(scratch)
}

fn search(scratch: &Scratch, options: &[&str]) -> Finished {
    let mut command = scratch.driver(["exec", "--json"]);
    command.args(options).arg("FOREIGN_CHANGES=PATTERN").arg(foreign::executable());
    run(command.args(["--steps=1000", "--fails-when=112"]))
}

fn trials(finished: &Finished) -> usize {
    finished.events_of("trial").len()
}

#[test]
#[ignore = "slow: CI runs it"]
fn evidence_saves_runs_and_does_not_change_the_answer() {
    let Some(scratch) = repository(&[113, 114, 700]) else { return };
    let without = search(&scratch, &[]).expect_status(0);
    assert_eq!(without.culprits(), [["mill.txt:113: step 112"]]);
    for options in [&["--since", "HEAD"][..], &["--since=main"], &["--since", "--max-runs=100"], &["--since", "-j4"]] {
        let with = search(&scratch, options).expect_status(0);
        assert_eq!(with.events_of("found"), without.events_of("found"), "{options:?}");
        // Three of a thousand lines have changed, which saves about log2(1000 / 6) of ten halvings.
        assert!(options.contains(&"-j4") || trials(&with) + 4 <= trials(&without), "{options:?}: {with}");
        let note = "of the changes, 3 are on lines that changed since ";
        assert_eq!(with.stderr.matches(note).count(), 1, "also where an end is run once more: {with}");
    }
}

#[test]
#[cfg(unix)]
fn changes_that_need_no_run_for_their_text_are_tried_first_too() {
    let Some(scratch) = repository(&[113, 114, 700]) else { return };
    let search = |git_dir: &str, options: &[&str]| {
        let mut command = scratch.driver(["list", "--json", "--items", "mill.txt"]);
        command.env("GIT_DIR", scratch.dir().join(git_dir));
        run(command.args(options).args(["sh", "-c", "! grep -q '^step 113' \"$1\"", "sh", "LIST"])).expect_status(0)
    };
    let without = search("no-repository", &[]);
    assert!(!without.stderr.contains("tried first"), "{without}");
    // No run is needed to know the lines, so they are tried first by default.
    for options in [&[][..], &["--since", "HEAD"]] {
        let with = search(".git", options);
        assert_eq!(with.culprits(), without.culprits());
        assert!(trials(&with) + 4 <= trials(&without), "{with}");
        with.expect_message(&["of the changes, 3 are on lines that changed since "]);
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn wrong_evidence_costs_little_and_does_not_change_the_answer() {
    let Some(scratch) = repository(&[5, 600]) else { return };
    let without = search(&scratch, &[]).expect_status(0);
    let with = search(&scratch, &["--since", "HEAD"]).expect_status(0);
    assert_eq!(with.events_of("found"), without.events_of("found"));
    assert!(trials(&with) <= trials(&without) + 3, "{with}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn without_evidence_every_change_is_as_likely() {
    let Some(scratch) = repository(&[]) else { return };
    let without = search(&scratch, &[]).expect_status(0);
    let with = search(&scratch, &["--since", "HEAD"]).expect_status(0);
    assert_eq!((with.events_of("found"), trials(&with)), (without.events_of("found"), trials(&without)));
    with.expect_message(&["no change is on a line that changed since "]);
}

#[test]
fn a_revision_that_is_not_there_is_an_error() {
    let Some(scratch) = repository(&[]) else { return };
    search(&scratch, &["--since", "nowhere"]).expect_status(2).expect_message(&["nowhere"]);
    let elsewhere = Scratch::new();
    search(&elsewhere, &["--since", "HEAD"]).expect_status(2).expect_message(&["git"]);
}

#[cfg(unix)]
#[test]
fn changes_in_an_edited_file_are_tried_first_if_none_is_on_an_edited_line() {
    let place = Place::new();
    for content in ["old", "new"] {
        for file in ["a", "b"] {
            place.repository.write(file, &format!("{content} 1\n\n{content} 2\n\nlast\n"));
        }
        place.repository.commit(content);
    }
    place.repository.write("b", "new 1\n\nnew 2\n\nedited\n");
    let words = ["exec", "--diff=HEAD~1..HEAD", "--since=HEAD", "--", "sh", "-c", "! grep -q 'new 2' b"];
    let finished = place.search(&words).expect_status(0);
    assert_eq!(names(&finished), [["@b:3"]], "{finished}");
    let head = place.repository.hash("HEAD");
    let fact = format!(
        "no change is on a line that changed since {}, but 2 are in files that did: these are tried first",
        &head[..12]
    );
    finished.expect_message(&[&fact]);
}
