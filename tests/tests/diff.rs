//! `exec --diff`: the hunks between two versions of a repository, with commands that do not know our protocol.
#![cfg(unix)]

use std::{
    fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::PathBuf,
    process::{Command, Stdio},
};

use bisect_tests::{
    harness::{Finished, Running, Scratch, paste, run, scrubbed, wait_until},
    repository::Repository,
};

/// A repository beside a directory for temporary files.
pub(crate) struct Place {
    pub(crate) scratch: Scratch,
    pub(crate) repository: Repository,
}

impl Place {
    pub(crate) fn new() -> Self {
        let scratch = Scratch::new();
        for name in ["repo", "tmp"] {
            fs::create_dir(scratch.dir().join(name)).unwrap();
        }
        let repository = Repository::new(&scratch.dir().join("repo"));
        Self { scratch, repository }
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.scratch.dir().join("repo")
    }

    /// Returns the command of a search.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let out = self.scratch.dir().join("out").display().to_string();
        let mut command = self.scratch.driver([&words[..1], &["--json", "--out", &out], &words[1..]].concat());
        command.current_dir(self.dir()).env("CARGO_TARGET_DIR", self.scratch.dir().join("target"));
        command.env("TMPDIR", self.scratch.dir().join("tmp"));
        command
    }

    /// Searches, and checks that the user's files are the same afterwards.
    pub(crate) fn search(&self, words: &[&str]) -> Finished {
        let before = self.repository.state();
        let finished = run(&mut self.command(words));
        assert_eq!(self.repository.state(), before, "{finished}");
        assert_eq!(self.leftovers(), 0, "{finished}");
        finished
    }

    /// Searches, and pastes the lines of the answer, which leave the user's files as they are, too.
    pub(crate) fn search_and_paste(&self, words: &[&str]) -> Finished {
        let finished = self.search(words);
        let before = self.repository.state();
        assert!(paste(&self.command(words), &finished) > 0, "{finished}");
        assert_eq!(self.repository.state(), before, "{finished}");
        assert_eq!(self.leftovers(), 0, "{finished}");
        finished
    }

    pub(crate) fn leftovers(&self) -> usize {
        fs::read_dir(self.scratch.dir().join("tmp")).unwrap().count()
    }

    pub(crate) fn patch(&self, culprit: usize) -> String {
        fs::read_to_string(self.scratch.dir().join(format!("out/culprit-{culprit}.patch"))).unwrap()
    }

    pub(crate) fn shell(&self, line: &str) -> Finished {
        let mut shell = scrubbed("sh".as_ref(), &self.dir());
        shell.args(["-c", line]).env("TMPDIR", self.scratch.dir().join("tmp"));
        run(shell.env("CARGO_TARGET_DIR", self.scratch.dir().join("target")))
    }

    /// Pastes a line of an answer into a shell, and checks its status and that it leaves nothing else behind.
    pub(crate) fn paste(&self, line: &str, status: i32) -> Finished {
        let before = self.repository.state();
        let finished = self.shell(&format!("{line}\necho \"status $? in $PWD\""));
        let expected = format!("status {status} in {}\n", self.dir().display());
        assert!(finished.stdout.ends_with(&expected), "{line}\n{finished}");
        assert_eq!(self.repository.state(), before, "{line}\n{finished}");
        assert_eq!(self.repository.git(&["worktree", "list"]).lines().count(), 1, "{line}\n{finished}");
        assert_eq!(self.leftovers(), 0, "{line}\n{finished}");
        finished
    }
}

/// Returns the names of the changes of each culprit.
pub(crate) fn names(finished: &Finished) -> Vec<Vec<String>> {
    let names = |found: &serde_json::Value| {
        let changes = found["changes"].as_array().unwrap().iter();
        let name = |change: &serde_json::Value| {
            assert_eq!(change["kind"], "hunk", "{finished}");
            let line = change["line"].as_u64().map(|line| format!(":{line}")).unwrap_or_default();
            let (name, file) = (change["name"].as_str().unwrap(), change["file"].as_str().unwrap());
            format!("{name}@{file}{line}")
        };
        let mut names: Vec<_> = changes.map(name).collect();
        names.sort();
        names
    };
    finished.events_of("found").iter().map(names).collect()
}

/// Returns a text with a line for each number; those that `is_new` selects are changed.
pub(crate) fn lines(count: usize, is_new: impl Fn(usize) -> bool) -> String {
    // A line between keeps the hunks apart.
    (0..count).map(|n| if is_new(n) { format!("new {n}\n\n") } else { format!("old {n}\n\n") }).collect()
}

pub(crate) fn grep(text: &str) -> [&str; 5] {
    ["--", "sh", "-c", "! grep -qx \"$0\" a", text]
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_patch_renames_files_and_is_applied_from_any_directory() {
    let place = Place::new();
    for name in ["plain", "with \"quotes\"", "edited"] {
        place.repository.write(name, &lines(9, |_| false).replace("old", name));
    }
    place.repository.write("sub/s", "old\n");
    place.repository.commit("old");
    for (from, to) in [("plain", "moved/plain"), ("with \"quotes\"", "moved/\"quotes\""), ("edited", "moved/edited")] {
        fs::create_dir_all(place.dir().join("moved")).unwrap();
        fs::rename(place.dir().join(from), place.dir().join(to)).unwrap();
    }
    place.repository.write("moved/edited", &lines(9, |n| n == 4).replace("old", "edited"));
    let out = place.scratch.dir().join("o ut");
    let script = "! grep -rq 'new 4' ..";
    let search = |format: &[&str]| {
        let out = out.display().to_string();
        let mut command = place
            .scratch
            .driver([&["exec", "--out", &out][..], format, &["--diff", "--", "sh", "-c", script]].concat());
        run(command.current_dir(place.dir().join("sub"))).expect_status(0)
    };
    let finished = search(&["--json"]);
    assert_eq!(names(&finished), [["@moved/edited:9"]], "{finished}");
    for (line, status) in [("reproduce", 1), ("passes", 0)] {
        place.paste(finished.events_of("found")[0][line].as_str().unwrap(), status);
    }
    // The line that undoes it, pasted where the search was started.
    let text = search(&[]).stdout;
    let line = text.lines().find_map(|line| line.split_once("  # on the working files: undoes").map(|(line, _)| line));
    let line = format!("cd sub && {} && {script}", line.unwrap());
    assert_eq!(place.shell(&line).status, Some(0), "{line}\n{text}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn one_hunk_among_many() {
    let place = Place::new();
    place.repository.write("a", &lines(50, |_| false));
    place.repository.commit("old");
    place.repository.write("a", &lines(50, |_| true));
    for jobs in ["-j1", "-j4"] {
        let words = [&["exec", jobs, "--diff"][..], &grep("new 31")].concat();
        let finished = place.search(&words).expect_status(0);
        assert_eq!(names(&finished), [["@a:63"]], "{finished}");
        let patch = place.patch(1);
        assert!(patch.contains("\n-old 31\n+new 31\n") && patch.matches("\n+new").count() == 1, "{patch}");
    }
    // The patch undoes it, and the command line reproduces it.
    let finished = run(&mut place.command(&[&["exec", "--diff"][..], &grep("new 31")].concat()));
    let undo = fs::read_to_string(place.scratch.dir().join("out/culprit-1-undo.patch")).unwrap();
    assert!(undo.starts_with("Apply this patch to the working files: it undoes the culprit.\n\ndiff --git "), "{undo}");
    assert!(place.patch(1).starts_with("Apply this patch to HEAD: the target then fails.\n\ndiff --git "));
    let words = [&["exec", "--out", "../text", "--diff"][..], &grep("new 31")].concat();
    let text = run(place.scratch.driver(words).current_dir(place.dir())).expect_status(0);
    for line in ["undo.patch  # on the working files: undoes the culprit", "1.patch  # on HEAD: makes the target fail"]
    {
        assert!(text.stdout.contains(line), "{text}");
    }
    let reproduce = finished.events_of("found")[0]["reproduce"].as_str().unwrap().to_owned();
    place.paste(&reproduce, 1);
    let passes = finished.events_of("found")[0]["passes"].as_str().unwrap().to_owned();
    place.paste(&passes, 0);
    place.repository.git(&["apply", "../out/culprit-1-undo.patch"]);
    assert_eq!(fs::read_to_string(place.dir().join("a")).unwrap(), lines(50, |n| n != 31));
}

#[test]
fn a_pasted_line_that_a_signal_ends_removes_its_worktree() {
    let place = Place::new();
    place.repository.write("a", "old\n");
    place.repository.commit("old");
    place.repository.write("a", "new\n");
    let script = "[ -z \"$KILL\" ] || kill -s \"$KILL\" $PPID; ! grep -qx new a";
    let finished = place.search(&["exec", "--diff", "--", "sh", "-c", script]).expect_status(0);
    let reproduce = finished.events_of("found")[0]["reproduce"].as_str().unwrap().to_owned();
    assert!(reproduce.starts_with("(trap 'exit 130' HUP INT TERM && top="), "{reproduce}");
    place.paste(&reproduce, 1);
    for signal in ["INT", "TERM", "HUP"] {
        place.paste(&format!("export KILL={signal}; {reproduce}"), 130);
    }
}

#[test]
fn two_hunks_that_fail_only_together() {
    let place = Place::new();
    place.repository.write("a", &lines(64, |_| false));
    let old = place.repository.commit("old");
    place.repository.write("a", &lines(64, |_| true));
    place.repository.commit("new");
    // The revisions are compared, not the working files.
    place.repository.write("a", "something else\n");
    let both = ["sh", "-c", "! { grep -qx 'new 5' a && grep -qx 'new 60' a; }"];
    let finished = place.search(&[&["exec", "--diff", &format!("{old}..")][..], &both].concat()).expect_status(0);
    assert_eq!(names(&finished), [["@a:11", "@a:121"]], "{finished}");
    let patch = place.patch(1);
    assert!(patch.contains("+new 5\n") && patch.contains("+new 60\n"), "{patch}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn three_thousand_hunks() {
    let place = Place::new();
    for file in 0..30 {
        place.repository.write(&format!("d{}/f{file}", file % 7), &lines(100, |_| false));
    }
    place.repository.commit("old");
    for file in 0..30 {
        place.repository.write(&format!("d{}/f{file}", file % 7), &lines(100, |_| true));
    }
    let finished = place.search(&["exec", "--diff", "--", "sh", "-c", "! grep -qx 'new 71' d3/f17"]).expect_status(0);
    assert_eq!(names(&finished), [["@d3/f17:143"]], "{finished}");
    let trials = finished.events_of("end")[0]["trials"].as_u64().unwrap();
    assert!(trials <= 17, "{trials} trials");
}

#[test]
#[ignore = "slow: CI runs it"]
fn files_of_all_kinds_are_changes() {
    let place = Place::new();
    let old = |name: &str, text: &str| place.repository.write(name, text);
    for (name, text) in [
        ("deleted", "d\n"),
        ("old name", "a long text\nthat git\nrecognizes\n"),
        ("mode", "m\n"),
        ("binary", "\0b\n"),
        ("was/a directory", "x\n"),
        ("umlaut-\u{e4}", "1\n"),
    ] {
        old(name, text);
    }
    std::os::unix::fs::symlink("deleted", place.dir().join("link")).unwrap();
    place.repository.write(".gitignore", "ignored\n");
    place.repository.commit("old");
    let path = |name: &str| place.dir().join(name);
    fs::remove_file(path("deleted")).unwrap();
    fs::rename(path("old name"), path("new name")).unwrap();
    fs::set_permissions(path("mode"), fs::Permissions::from_mode(0o755)).unwrap();
    place.repository.write("binary", "\0c\n");
    fs::remove_dir_all(path("was")).unwrap();
    place.repository.write("was", "a file now\n");
    place.repository.write("umlaut-\u{e4}", "2\n");
    place.repository.write("ignored", "i\n");
    place.repository.write("sub/new", "n\n");
    fs::remove_file(path("link")).unwrap();
    std::os::unix::fs::symlink("mode", path("link")).unwrap();
    for (check, expected) in [
        ("test -e deleted", "deleted file deleted@deleted"),
        ("test -e 'old name'", "new name, renamed from old name@new name"),
        ("! test -x mode", "mode of mode@mode"),
        ("! grep -qa c binary", "content of binary@binary"),
        ("test $(cat umlaut-\u{e4}) = 1", "@umlaut-\u{e4}:1"),
        ("! test -e sub/new", "new file sub/new@sub/new"),
        ("test $(readlink link) = deleted", "content of link@link"),
        // These two cannot be separated.
        ("test -d was", "new file was@was"),
    ] {
        let finished = place.search(&["exec", "--diff", "--", "sh", "-c", check]).expect_status(0);
        assert_eq!(names(&finished), [[expected]], "{check}\n{finished}");
        let reproduce = finished.events_of("found")[0]["reproduce"].as_str().unwrap().to_owned();
        place.paste(&reproduce, 1);
    }
    let finished = place.search(&["exec", "--diff", "--", "sh", "-c", "! test -e ignored"]);
    assert_eq!(finished.status, Some(1), "ignored files are no changes: {finished}");
}

/// Searches with a script that leaves something behind in its worktree, and checks that the culprit is the right one.
#[track_caller]
fn search_with(dirty: &str) {
    let place = Place::new();
    place.repository.write("a", &lines(8, |_| false));
    place.repository.write("kept", "kept\n");
    place.repository.commit("old");
    place.repository.write("a", &lines(8, |_| true));
    let script = format!("{dirty}; ! grep -qx 'new 3' a");
    let finished = place.search(&["exec", "--diff", "--", "sh", "-c", &script]).expect_status(0);
    assert_eq!(names(&finished), [["@a:7"]], "{finished}");
}

#[test]
fn what_runs_leave_behind_is_removed() {
    search_with("test ! -e left || exit 125; test \"$(cat kept)\" = kept || exit 125; touch left; echo x > kept");
}

#[test]
fn what_runs_add_to_the_index_is_removed() {
    search_with("test ! -e left && test -e kept || exit 125; touch left; git add left; git rm -q kept");
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let place = Place::new();
    place.repository.write("a", "1\n");
    place.repository.commit("old");
    let exec = |options: &[&str]| place.search(&[&["exec"], options, &["--", "true"]].concat());
    let finished = exec(&["--diff"]).expect_status(1);
    finished.expect_message(&[
        "no difference between HEAD and the working files: compare with an older version, for example `--diff=HEAD~1`",
        "search the commits between two versions with `--commits GOOD..BAD`",
    ]);
    for (range, fact) in [
        ("nowhere", "`nowhere` names no commit"),
        ("nowhere", "If it names a test or a program, write `--diff -- nowhere`"),
        ("^HEAD..HEAD", "`^HEAD` names no commit: it is a range"),
        ("HEAD..^HEAD", "`^HEAD` names no commit: it is a range"),
        ("..HEAD", "give one revision, or two as OLD..NEW"),
        ("HEAD...HEAD", "give one revision, or two as OLD..NEW"),
    ] {
        let finished = exec(&[&format!("--diff={range}")]).expect_status(2);
        assert!(finished.stderr.contains(fact), "{finished}");
    }
    let finished = exec(&["--diff", "--commits=HEAD.."]).expect_status(2);
    assert!(finished.stderr.contains("cannot be used with"), "{finished}");
    let outside = Scratch::new();
    let finished = run(outside.driver(["exec", "--diff", "--", "true"]).current_dir(outside.dir())).expect_status(2);
    assert!(finished.stderr.contains("is not in a git work tree"), "{finished}");
}

/// Starts a search whose third run waits.
fn hanging(place: &Place) -> Running {
    place.repository.write("a", &lines(8, |_| false));
    place.repository.commit("old");
    place.repository.write("a", &lines(8, |_| true));
    place.repository.git(&["add", "a"]);
    place.repository.write("a", &lines(9, |_| true));
    place.repository.write("untracked", "u\n");
    let started = place.scratch.dir().join("started");
    let script = "echo >> \"$0\"; [ $(wc -l < \"$0\") -lt 3 ] || sleep 1000; ! grep -qx 'new 3' a";
    let mut command = place.command(&["exec", "--diff", "--", "sh", "-c", script, started.to_str().unwrap()]);
    let running = Running::start(command.process_group(0));
    wait_until("the third run starts", || fs::read_to_string(&started).is_ok_and(|text| text.lines().count() >= 3));
    running
}

#[test]
fn an_interrupted_search_leaves_nothing() {
    let place = Place::new();
    let running = hanging(&place);
    let before = fs::read(place.dir().join(".git/index")).unwrap();
    let group = format!("-{}", running.id());
    let status = Command::new("kill").args(["-INT", "--", &group]).stderr(Stdio::inherit()).status();
    assert!(status.is_ok_and(|status| status.success()));
    let _ = running.finish().expect_status(130);
    assert_eq!(fs::read(place.dir().join(".git/index")).unwrap(), before);
    assert_eq!(place.leftovers(), 0);
    let _ = place.repository.state();
}

#[cfg(target_os = "linux")]
#[test]
fn the_next_search_removes_what_a_killed_one_left() {
    let place = Place::new();
    let running = hanging(&place);
    let index = fs::read(place.dir().join(".git/index")).unwrap();
    running.signal("KILL");
    assert_eq!(running.finish().status, None);
    assert_eq!(fs::read(place.dir().join(".git/index")).unwrap(), index);
    let finished = run(&mut place.command(&[&["exec", "--diff"][..], &grep("new 3")].concat())).expect_status(0);
    assert_eq!(names(&finished), [["@a:7"]], "{finished}");
    assert_eq!(place.leftovers(), 0);
    assert_eq!(fs::read_to_string(place.dir().join("a")).unwrap(), lines(9, |_| true));
    let _ = place.repository.state();
}
