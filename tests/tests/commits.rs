//! `exec --commits`: the first-parent commits between two revisions, with commands that do not know our protocol.
#![cfg(unix)]

use std::{
    fs,
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Command, Stdio},
};

use bisect_tests::{
    harness::{Finished, Running, Scratch, paste, run, scrubbed, wait_until},
    repository::{Repository, found_commits},
};

/// A repository beside a directory for temporary files.
pub(crate) struct Place {
    pub(crate) scratch: Scratch,
    pub(crate) repository: Repository,
}

/// Passes while the number in `n` is less than `$1`. A commit with the file `broken` cannot be tested.
pub(crate) const CHECK: &str = r#"[ -e broken ] && exit 125; [ "$(cat n)" -lt "$1" ]"#;

impl Place {
    pub(crate) fn new() -> Self {
        let scratch = Scratch::new();
        for name in ["repo", "tmp"] {
            fs::create_dir(scratch.dir().join(name)).unwrap();
        }
        let repository = Repository::new(&scratch.dir().join("repo"));
        Self { scratch, repository }
    }

    /// Makes commits whose file `n` has the numbers from 0 to `count`; those of `broken` cannot be tested.
    pub(crate) fn with_numbers(count: usize, broken: &[usize]) -> Self {
        let place = Self::new();
        let version = |n: usize| {
            let broken = broken.contains(&n).then(|| ("broken", String::new()));
            [("n", n.to_string()), ("sub/dir/file", String::new())].into_iter().chain(broken).collect()
        };
        place.repository.import(&(0..=count).map(version).collect::<Vec<_>>());
        place
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.scratch.dir().join("repo")
    }

    /// Returns the run directory.
    pub(crate) fn out(&self) -> PathBuf {
        self.scratch.dir().join("out")
    }

    /// Returns the command of a search in the commits since the first one.
    pub(crate) fn command(&self, options: &[&str], words: &[&str]) -> Command {
        let first = self.repository.git(&["rev-list", "--max-parents=0", "HEAD"]);
        let range = format!("{first}..");
        let out = self.scratch.dir().join("out").display().to_string();
        let mut command = self.scratch.driver(["exec", "--json", "--out", &out, "--commits", &range]);
        command.args(options).args(words).current_dir(self.dir()).env("TMPDIR", self.scratch.dir().join("tmp"));
        command
    }

    /// Replays the search, with the culprit or without it.
    pub(crate) fn replay(&self, option: Option<&str>) -> Finished {
        let mut replay = self.scratch.driver(["replay".as_ref(), self.out().as_os_str()]);
        run(replay.args(option).current_dir(self.dir()).env("TMPDIR", self.scratch.dir().join("tmp")))
    }

    pub(crate) fn search(&self, options: &[&str], words: &[&str]) -> Finished {
        run(&mut self.command(options, words))
    }

    /// Searches, and pastes the lines of the answer, which leave the user's checkout as it is.
    fn search_and_paste(&self, options: &[&str], words: &[&str]) -> Finished {
        let before = self.repository.state();
        let finished = self.search(options, words);
        assert_eq!(paste(&self.command(options, words), &finished), 2, "{finished}");
        assert_eq!(self.repository.state(), before, "{finished}");
        finished
    }

    /// Searches with [`CHECK`].
    fn check(&self, options: &[&str], first_bad: usize) -> Finished {
        self.search(options, &["sh", "-c", CHECK, "sh", &first_bad.to_string()])
    }

    /// Returns the hash of the commit with this number, among `count`.
    pub(crate) fn hash(&self, count: usize, number: usize) -> String {
        self.repository.hash(&format!("HEAD~{}", count - number))
    }

    /// Returns the number of directories for temporary files.
    pub(crate) fn leftovers(&self) -> usize {
        fs::read_dir(self.scratch.dir().join("tmp")).unwrap().count()
    }
}

#[test]
fn the_first_bad_commit_is_found() {
    let place = Place::with_numbers(40, &[]);
    for number in [1, 17, 40] {
        let finished = place.search_and_paste(&[], &["sh", "-c", CHECK, "sh", &number.to_string()]).expect_status(0);
        assert_eq!(found_commits(&finished), [[place.hash(40, number)]]);
        let found = &finished.events_of("found")[0];
        assert_eq!(found["changes"][0]["text"][0], format!("change {number}"), "{finished}");
        assert_eq!(finished.events_of("start")[0]["axis"], "commits");
        let trials = finished.events_of("end")[0]["trials"].as_u64().unwrap();
        assert!(trials <= u64::from(40_u32.ilog2()) + 1 + 4, "{finished}");
    }
    assert_eq!(place.leftovers(), 0);
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_answer_for_people_goes_on() {
    let place = Place::with_numbers(9, &[]);
    let mut command = place.scratch.driver(["exec", "--commits", "HEAD~9.."]);
    let finished = run(command.args(["sh", "-c", CHECK, "sh", "4"]).current_dir(place.dir())).expect_status(0);
    let short = place.repository.git(&["rev-parse", "--short", "HEAD~5"]);
    for fact in [
        "this is the first bad commit".to_owned(),
        format!("{short} 2023-11-14 change 4"),
        format!("git -C \"$top\" worktree add -q --detach \"$tree\" {short} && cd "),
        format!("git show {short}"),
        "# To find the hunks within this commit (the command must exit with 125".to_owned(),
    ] {
        assert!(finished.stdout.contains(&fact), "{fact}: {finished}");
    }
    let hash = place.hash(9, 4);
    let line = format!("cargo bisect-opt exec '--diff={0}~1..{0}' sh -c ", &hash[..12]);
    let line = finished.stdout.lines().map(str::trim).find(|shown| shown.starts_with(&line));
    let driver = place.scratch.driver([""; 0]).get_program().to_owned();
    let pasted = line.unwrap_or_else(|| panic!("{finished}")).replacen("cargo bisect-opt", "\"$0\" --out ../out", 1);
    let pasted = pasted.replacen("--out ../out exec", "exec --out ../out", 1);
    let mut shell = scrubbed("sh".as_ref(), &place.dir());
    let inside = run(shell.args(["-c".as_ref(), pasted.as_ref(), driver.as_os_str()])).expect_status(0);
    assert!(inside.stdout.contains("this hunk makes the target fail"), "{inside}");
    finished.expect_message(&["9 commits after", "with everything before it the target passes"]);
    // A replay has a worktree of its own.
    let before = place.repository.state();
    for (option, status) in [(None, 1), (Some("--off"), 0)] {
        let mut command = place.scratch.driver(["replay"]);
        command.args(option).current_dir(place.dir()).env("TMPDIR", place.scratch.dir().join("tmp"));
        let _ = run(&mut command).expect_status(status);
        assert_eq!(place.repository.state(), before);
        assert_eq!(place.leftovers(), 0);
    }
}

#[test]
fn the_command_runs_in_the_same_directory_of_a_worktree() {
    let place = Place::with_numbers(9, &[]);
    place.repository.write(
        "sub/check.sh",
        r#"#!/bin/sh
        echo "$PWD" >> "$SEEN"; [ -z "$GIT_DIR" ] && [ "$(cat ../../n)" -lt 6 ]"#,
    );
    let script = place.dir().join("sub/check.sh");
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let seen = place.scratch.dir().join("seen");
    // The script is not committed. Git sets such a variable for hooks.
    let mut command = place.command(&["--same-failure"], &["../check.sh"]);
    command.current_dir(place.dir().join("sub/dir")).env("SEEN", &seen).env("GIT_DIR", place.dir().join(".git"));
    let finished = run(&mut command).expect_status(0);
    assert_eq!(found_commits(&finished), [[place.hash(9, 6)]]);
    let seen = fs::read_to_string(seen).unwrap();
    let tmp = place.scratch.dir().join("tmp").canonicalize().unwrap().display().to_string();
    assert!(seen.lines().all(|dir| dir.starts_with(&tmp) && dir.ends_with("/sub/dir")), "{seen}");
}

#[test]
fn parallel_runs_have_worktrees_of_their_own() {
    let place = Place::with_numbers(100, &[50, 51, 77]);
    let words =
        ["sh", "-c", "echo $BISECT_SLOT >> slot; sleep 0.01; test $(sort -u slot | wc -l) = 1 && [ $(cat n) -lt 63 ]"];
    let finished = place.search(&["-j4"], &words).expect_status(0);
    assert_eq!(found_commits(&finished), [[place.hash(100, 63)]]);
    assert_eq!(place.leftovers(), 0);
}

#[test]
fn commits_that_cannot_be_tested_elsewhere_do_not_matter() {
    let place = Place::with_numbers(60, &[3, 15, 16, 30, 45, 59]);
    let finished = place.check(&[], 22).expect_status(0);
    assert_eq!(found_commits(&finished), [[place.hash(60, 22)]]);
}

#[test]
fn beside_commits_that_cannot_be_tested_the_answer_is_a_range() {
    let place = Place::with_numbers(30, &[5, 11, 12]);
    let finished = place.check(&[], 12).expect_status(5);
    let range: Vec<_> = [11, 12, 13].map(|number| place.hash(30, number)).into();
    assert_eq!(found_commits(&finished), [range]);
    let mut command = place.scratch.driver(["exec", "--commits", "HEAD~30.."]);
    command.args(["sh", "-c", CHECK, "sh", "13"]).current_dir(place.dir());
    let for_people = run(&mut command).expect_status(5);
    assert!(for_people.stdout.contains("the first bad commit is one of these 3"), "{for_people}");
    for_people.expect_message(&["a range: its earlier commits could not be tested"]);
    let before = run(place.scratch.driver(["replay", "--off"]).current_dir(place.dir())).expect_status(0);
    before.expect_message(&["everything before culprit 1", &place.hash(30, 10)]);
}

#[test]
fn a_commit_without_the_directory_or_the_command_is_not_tested() {
    let place = Place::new();
    let version = |number: usize| {
        let check = if number == 6 { "#!/no/such/interpreter".to_owned() } else { format!("#!/bin/sh\n{CHECK}") };
        match number {
            3 => vec![("sub-is-not-there", String::new())],
            _ => vec![("sub/check", check), ("sub/n", number.to_string())],
        }
    };
    place.repository.import(&(0..=12).map(version).collect::<Vec<_>>());
    let mut command = place.command(&[], &["./check", "5"]);
    let finished = run(command.current_dir(place.dir().join("sub"))).expect_status(0);
    assert_eq!(found_commits(&finished), [[place.hash(12, 5)]]);
    let trials = finished.events_of("trial");
    for fact in ["has no directory `sub/`", "cannot start `./check`"] {
        let is_told = |trial: &serde_json::Value| {
            trial["outcome"] == "unresolved" && trial["reason"].as_str().unwrap().contains(fact)
        };
        assert!(trials.iter().any(is_told), "{fact}: {finished}");
    }
}

#[test]
fn a_merge_is_one_commit_of_its_line() {
    let place = Place::with_numbers(3, &[]);
    let git = |arguments: &[&str]| place.repository.git(arguments);
    git(&["checkout", "-q", "-b", "side", "HEAD~2"]);
    place.repository.write("bad", "");
    let side = place.repository.commit("on a branch");
    place.repository.write("more", "");
    place.repository.commit("on the branch again");
    git(&["checkout", "-q", "main"]);
    git(&["merge", "-q", "--no-ff", "--no-edit", "side"]);
    let merge = place.repository.hash("HEAD");
    place.repository.write("later", "");
    place.repository.commit("after the merge");
    let finished = place.search(&[], &["sh", "-c", "! [ -e bad ]"]).expect_status(0);
    assert_eq!(found_commits(&finished), [[merge]]);
    let next = finished.events_of("found")[0]["next"].as_str().unwrap().to_owned();
    assert!(next.starts_with("git show -m --first-parent "), "{next}");
    // A search within the merge finds the commit on the branch.
    let range = format!("{}..{}", place.repository.hash("HEAD~4"), place.repository.hash("side"));
    let short = |hash: &str| hash.chars().take(12).collect::<String>();
    let (fork, tip) = range.split_once("..").unwrap();
    assert!(next.contains(&format!(" '--commits={}..{}' sh ", short(fork), short(tip))), "{next}");
    let mut inside = place.scratch.driver(["exec", "--json", "--commits", &range, "sh", "-c", "! [ -e bad ]"]);
    let inside = run(inside.current_dir(place.dir())).expect_status(0);
    assert_eq!(found_commits(&inside), [[side.clone()]]);
    // From the branch, there is no line to the present.
    let range = format!("{side}..HEAD");
    let mut command = place.scratch.driver(["exec", "--commits", &range, "true"]);
    let refused = run(command.current_dir(place.dir())).expect_status(2);
    let fork = place.repository.git(&["rev-parse", "--short=12", "HEAD~4"]);
    refused.expect_message(&["is on a branch that was merged later", &format!("--commits {fork}..HEAD")]);
}

#[test]
fn the_users_work_is_not_touched() {
    let place = Place::with_numbers(20, &[]);
    let git = |arguments: &[&str]| place.repository.git(arguments);
    place.repository.write("n", "stashed");
    git(&["stash", "-q"]);
    place.repository.write("staged", "in the index");
    git(&["add", "staged"]);
    place.repository.write("n", "1000 edited");
    place.repository.write("untracked", "new");
    fs::remove_file(place.dir().join("sub/dir/file")).unwrap();
    // No hook runs in a worktree.
    place.repository.write(".git/hooks/post-checkout", "#!/bin/sh\n: > hooked; exit 1");
    let hook = place.dir().join(".git/hooks/post-checkout");
    fs::set_permissions(hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let before = place.repository.state();
    // A run that edits, stages and leaves files in its worktree does not disturb the next one.
    let script = "[ -e left ] || [ -e hooked ] && exit 1; [ $(cat n) -lt 9 ]; status=$?; echo 1 > n; : > left; git add n; exit $status";
    for options in [&[][..], &["-j3"]] {
        let finished = place.search(options, &["sh", "-c", script]).expect_status(0);
        assert_eq!(found_commits(&finished), [[place.hash(20, 9)]]);
        assert_eq!(place.repository.state(), before);
        assert_eq!(place.leftovers(), 0);
    }
}

/// Starts a search whose runs hang, and waits for two of them.
fn hanging(place: &Place) -> Running {
    let started = place.scratch.dir().join("started");
    let script = format!("echo >> {}; exec sleep 1000000", started.display());
    let mut command = place.command(&["-j2"], &["sh", "-c", &script]);
    // A group of its own, as a shell starts a job.
    let running = Running::start(command.process_group(0));
    wait_until("runs start", || fs::read_to_string(&started).is_ok_and(|lines| lines.lines().count() == 2));
    assert_eq!(place.repository.git(&["worktree", "list"]).lines().count(), 3);
    running
}

#[test]
fn ctrl_c_leaves_no_worktree() {
    let place = Place::with_numbers(8, &[]);
    let before = place.repository.state();
    let running = hanging(&place);
    let group = format!("-{}", running.id());
    let status = Command::new("kill").args(["-INT", "--", &group]).stderr(Stdio::inherit()).status();
    assert!(status.is_ok_and(|status| status.success()));
    let _ = running.finish().expect_status(130);
    assert_eq!(place.repository.state(), before);
    assert_eq!(place.leftovers(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn the_next_search_removes_what_a_killed_one_left() {
    let place = Place::with_numbers(8, &[]);
    let before = place.repository.state();
    let running = hanging(&place);
    running.signal("KILL");
    assert_eq!(running.finish().status, None);
    assert_eq!(place.repository.git(&["worktree", "list"]).lines().count(), 3);
    // The user's own worktree stays, also if its directory is not there now.
    let own = place.scratch.dir().join("own");
    place.repository.git(&["worktree", "add", "-q", "--detach", own.to_str().unwrap()]);
    fs::rename(&own, place.scratch.dir().join("away")).unwrap();
    let finished = place.check(&[], 3).expect_status(0);
    assert_eq!(found_commits(&finished), [[place.hash(8, 3)]]);
    assert_eq!(place.leftovers(), 0);
    let left = place.repository.git(&["worktree", "list"]);
    assert!(left.lines().count() == 2 && left.contains("/own "), "{left}");
    fs::rename(place.scratch.dir().join("away"), &own).unwrap();
    place.repository.git(&["worktree", "remove", own.to_str().unwrap()]);
    assert_eq!(place.repository.state(), before);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_flaky_command_among_500_commits() {
    let broken = [7, 61, 62, 140, 199, 260, 333, 334, 401, 480];
    let place = Place::with_numbers(500, &broken);
    // It fails three times in ten from commit 287 on; the last digit is that of a random number.
    let script = "[ -e broken ] && exit 125; [ $(cat n) -lt 287 ] || case $1 in *[012]) exit 1; esac";
    let options = ["--confidence=0.99", "--seed=7"];
    let finished = place.search(&options, &["sh", "-c", script, "sh", "RANDOM"]).expect_status(0);
    assert_eq!(found_commits(&finished), [[place.hash(500, 287)]]);
    let runs = finished.events_of("end")[0]["runs"].as_u64().unwrap();
    assert!(runs < 300, "{runs} runs");
}

#[test]
fn a_flaky_command_beside_commits_that_cannot_be_tested_has_a_range() {
    let place = Place::with_numbers(100, &[59, 60, 90]);
    let script = "[ -e broken ] && exit 125; [ $(cat n) -lt 60 ] || case $1 in *[01234567]) exit 1; esac";
    let options = ["--confidence=0.99", "--seed=3"];
    let finished = place.search(&options, &["sh", "-c", script, "sh", "RANDOM"]).expect_status(5);
    let range: Vec<_> = [59, 60, 61].map(|number| place.hash(100, number)).into();
    assert_eq!(found_commits(&finished), [range]);
}

#[test]
fn what_cannot_be_searched_is_said() {
    let place = Place::with_numbers(9, &[]);
    place.repository.git(&["checkout", "-q", "--orphan", "other"]);
    place.repository.commit("another root");
    place.repository.git(&["checkout", "-q", "main"]);
    for (range, status, facts) in [
        ("HEAD", 2, &["give a range GOOD..BAD"][..]),
        ("HEAD~3...HEAD", 2, &["give a range GOOD..BAD"]),
        ("..HEAD", 2, &["give a range GOOD..BAD"]),
        ("no-such..HEAD", 2, &["`no-such` names no commit", "fetch it"]),
        ("HEAD~3..no-such", 2, &["`no-such` names no commit"]),
        ("HEAD~3..-q", 2, &["names no commit: a revision does not begin with `-`"]),
        ("HEAD:n..HEAD", 2, &["`HEAD:n` names no commit"]),
        ("^HEAD..HEAD", 2, &["`^HEAD` names no commit: it is a range"]),
        ("HEAD..HEAD", 2, &["both are the same commit"]),
        ("HEAD..HEAD~3", 2, &["the bad commit is older"]),
        ("other..HEAD", 2, &["is no ancestor of the bad one", "fetch more of the history"]),
        ("HEAD~9..", 1, &["the target passes with every change enabled"]),
    ] {
        let mut command = place.scratch.driver(["exec", "--commits", range, "true"]);
        run(command.current_dir(place.dir())).expect_status(status).expect_message(facts);
    }
    let mut command = place.scratch.driver(["exec", "--commits", "A..B", "true"]);
    run(command.current_dir(place.scratch.dir().join("tmp")))
        .expect_status(2)
        .expect_message(&["is not in a git work tree", "change to a directory of the repository"]);
}
