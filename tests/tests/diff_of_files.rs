//! `exec --diff` with files that git converts, whose changes are hard to see, or that no search may change.
#![cfg(unix)]

use std::{
    collections::BTreeMap,
    fs::{self, File},
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, SystemTime},
};

use bisect_tests::{
    harness::{Running, run, wait_until},
    repository::Repository,
};

use crate::diff::{Place, names};

/// Searches for the line `bad`, in runs that check that the rest of the file is as git would write it.
fn find_bad(place: &Place, check: &str) {
    let script = format!("{check} || exit 125; ! grep -q bad f");
    let finished = place.search(&["exec", "--diff", "--", "sh", "-c", &script]).expect_status(0);
    assert_eq!(names(&finished), [["@f:3"]], "{finished}");
    let reproduce = finished.events_of("found")[0]["reproduce"].as_str().unwrap().to_owned();
    assert_eq!(place.shell(&reproduce).status, Some(1), "{reproduce}");
    place.repository.git(&["apply", "../out/culprit-1-undo.patch"]);
    let left = fs::read_to_string(place.dir().join("f")).unwrap();
    assert!(!left.contains("bad") && left.contains("fine"), "{left:?}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn line_endings_are_those_of_a_checkout() {
    for attribute in ["", "f text eol=crlf\n"] {
        let place = Place::new();
        if attribute.is_empty() {
            place.repository.git(&["config", "core.autocrlf", "true"]);
            place.repository.git(&["config", "core.safecrlf", "true"]);
        } else {
            place.repository.write(".gitattributes", attribute);
        }
        place.repository.write("f", "1\r\n2\r\n3\r\n4\r\n5\r\n");
        place.repository.commit("old");
        place.repository.write("f", "fine\r\n2\r\nbad\r\n4\r\nfine\r\n");
        find_bad(&place, "test $(grep -c \"$(printf '\\r')\" f) = 5");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_hunk_of_attributes_converts_the_files_of_its_selection() {
    let place = Place::new();
    for (name, text) in [("f", "1\n2\n3\n"), ("g", "1\n"), ("h", "1\n")] {
        place.repository.write(name, text);
    }
    place.repository.commit("old");
    for (name, text) in
        [("f", "fine\n2\nfine\n"), ("g", "fine\n"), ("h", "fine\n"), (".gitattributes", "f text eol=crlf\n")]
    {
        place.repository.write(name, text);
    }
    // In each selection, all lines of the file have the same ending.
    let script = "case $(grep -c \"$(printf '\\r')\" f) in 3) exit 1;; 0) exit 0;; *) exit 125; esac";
    for jobs in ["-j1", "-j4"] {
        let finished = place.search(&["exec", jobs, "--diff", "--", "sh", "-c", script]).expect_status(0);
        assert_eq!(names(&finished), [["new file .gitattributes@.gitattributes"]], "{finished}");
    }
}

#[test]
fn filters_are_applied() {
    let place = Place::new();
    place.repository.git(&["config", "filter.letters.clean", "tr a-z A-Z"]);
    place.repository.git(&["config", "filter.letters.smudge", "tr A-Z a-z"]);
    place.repository.write(".gitattributes", "f filter=letters\n");
    place.repository.write("f", "one\ntwo\nthree\nfour\nfive\n");
    place.repository.commit("old");
    place.repository.write("f", "fine\ntwo\nbad\nfour\nfine\n");
    find_bad(&place, "grep -q two f");
}

#[test]
fn a_change_just_after_the_index_was_written_is_seen() {
    let place = Place::new();
    // Neither size nor times show the change.
    place.repository.git(&["config", "core.trustctime", "false"]);
    let time = SystemTime::now() - Duration::from_secs(100);
    let set_time =
        |name: &str| File::options().write(true).open(place.dir().join(name)).unwrap().set_modified(time).unwrap();
    place.repository.write("f", "1\n2\n3\n4\n5\n");
    set_time("f");
    place.repository.commit("old");
    place.repository.write("f", "1\n2\nX\n4\n5\n");
    set_time("f");
    set_time(".git/index");
    let finished = run(&mut place.command(&["exec", "--diff", "--", "sh", "-c", "! grep -q X f"])).expect_status(0);
    assert_eq!(names(&finished), [["@f:3"]], "{finished}");
}

/// No difference.
const NO_PATHS: [PathBuf; 0] = [];

/// All files below a directory, those of git too: modes and contents.
type Snapshot = BTreeMap<PathBuf, (u32, Vec<u8>)>;

fn snapshot(directory: &Path) -> Snapshot {
    let mut files = Snapshot::new();
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let metadata = entry.metadata().unwrap();
        if metadata.is_dir() {
            files.extend(snapshot(&entry.path()));
        } else {
            files.insert(entry.path(), (metadata.permissions().mode(), fs::read(entry.path()).unwrap()));
        }
    }
    files
}

/// Returns the paths of which two snapshots have different files.
fn differences(one: &Snapshot, other: &Snapshot) -> Vec<PathBuf> {
    let paths = one.keys().chain(other.keys());
    let mut paths: Vec<_> = paths.filter(|path| one.get(*path) != other.get(*path)).cloned().collect();
    paths.dedup();
    paths
}

/// Returns a repository with staged, unstaged, untracked, ignored and stashed changes, and a submodule.
fn busy() -> Place {
    let place = Place::new();
    let repository = &place.repository;
    let library = place.scratch.dir().join("library");
    fs::create_dir(&library).unwrap();
    Repository::new(&library).write("n", "1\n");
    Repository::new(&library).commit("library");
    repository.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../library", "lib"]);
    repository.write(".gitignore", "ignored\nCargo.lock\n");
    let lines = |word: &str| (0..8).fold(String::new(), |all, n| format!("{all}{word} {n}\n\n"));
    repository.write("a", &lines("old"));
    repository.commit("old");
    repository.write("a", "stashed\n");
    repository.git(&["stash", "--quiet"]);
    for name in ["ignored", "Cargo.lock", "untracked"] {
        repository.write(name, name);
    }
    repository.write("a", &lines("new"));
    repository.write("lib/n", "2\n");
    repository.git(&["add", "a"]);
    repository.write("a", &(lines("new") + "last\n"));
    place
}

/// Returns the command of a search in a busy repository.
fn search_of(place: &Place, script: &str, word: &str) -> Command {
    place.command(&["exec", "--diff", "--", "sh", "-c", script, word])
}

/// Changes all that it can in its worktree.
const DIRTY: &str = "echo x > untracked; echo x > lib/n; echo x > Cargo.lock; echo x > ignored; ";

#[test]
#[ignore = "slow: CI runs it"]
fn all_files_are_the_same_after_success_and_failure() {
    let place = busy();
    let before = snapshot(&place.dir());
    for (check, status) in [("! grep -qx 'new 3' a", 0), ("true", 1), ("grep -qx 'new 3' a", 0)] {
        let script = format!("{check}; status=$?; {DIRTY} exit $status");
        let _ = run(&mut search_of(&place, &script, "sh")).expect_status(status);
        assert_eq!(differences(&before, &snapshot(&place.dir())), NO_PATHS, "{check}");
        assert_eq!(place.leftovers(), 0);
    }
    // The comparison notices a change.
    place.repository.write("ignored", "other\n");
    assert_eq!(differences(&before, &snapshot(&place.dir())), [place.dir().join("ignored")]);
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "slow: CI runs it"]
fn all_files_are_the_same_after_ctrl_c_and_kill() {
    for signal in ["INT", "KILL"] {
        let place = busy();
        let before = snapshot(&place.dir());
        let started = place.scratch.dir().join("started");
        let script = format!("{DIRTY} echo >> \"$0\"; [ $(wc -l < \"$0\") -lt 3 ] || sleep 1000; ! grep -qx 'new 3' a");
        let mut command = search_of(&place, &script, started.to_str().unwrap());
        let running = Running::start(command.process_group(0));
        wait_until("the third run starts", || fs::read_to_string(&started).is_ok_and(|text| text.lines().count() >= 3));
        running.signal(signal);
        assert_eq!(running.finish().status, (signal == "INT").then_some(130));
        let mut left = differences(&before, &snapshot(&place.dir()));
        if signal == "KILL" {
            // The records of its worktree stay until the next search.
            assert!(!left.is_empty());
            left.retain(|path| !path.starts_with(place.dir().join(".git/worktrees")));
        }
        assert_eq!(left, NO_PATHS, "{signal}");
        let _ = run(&mut search_of(&place, "! grep -qx 'new 3' a", "sh")).expect_status(0);
        assert_eq!(differences(&before, &snapshot(&place.dir())), NO_PATHS, "{signal}");
        assert_eq!(place.leftovers(), 0);
    }
}
