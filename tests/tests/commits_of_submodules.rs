//! `exec --commits` in repositories with submodules.
#![cfg(unix)]

use std::fs;

use bisect_tests::repository::{Repository, found_commits};

use super::commits::Place;

#[test]
#[ignore = "slow: CI runs it"]
fn submodules_are_those_of_each_commit() {
    let place = Place::new();
    let library = place.scratch.dir().join("library");
    fs::create_dir(&library).unwrap();
    let library = Repository::new(&library);
    library.import(&(0..=6).map(|n| vec![("n", n.to_string())]).collect::<Vec<_>>());
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../library", "lib"];
    place.repository.git(&add);
    for number in 0..=6 {
        place.repository.git(&["-C", "lib", "checkout", "-q", &library.hash(&format!("HEAD~{}", 6 - number))]);
        place.repository.commit(&format!("use {number}"));
    }
    // With this setting, git itself would check out the submodules, which a worktree does not have yet.
    place.repository.git(&["config", "submodule.recurse", "true"]);
    // The user's copy is enough. By default, git also clones no submodules from other folders.
    fs::rename(place.scratch.dir().join("library"), place.scratch.dir().join("elsewhere")).unwrap();
    let before = place.repository.state();
    for options in [&[][..], &["-j2"]] {
        let finished = place.search(options, &["sh", "-c", "[ $(cat lib/n) -lt 3 ]"]).expect_status(0);
        assert_eq!(found_commits(&finished), [[place.hash(6, 3)]], "{finished}");
        assert_eq!(place.repository.state(), before);
        assert_eq!(place.leftovers(), 0);
        for (option, status) in [(None, 1), (Some("--off"), 0)] {
            let _ = place.replay(option).expect_status(status);
            assert_eq!(place.repository.state(), before);
            assert_eq!(place.leftovers(), 0);
        }
    }
    // A submodule that the user does not have stays empty.
    place.repository.git(&["submodule", "--quiet", "deinit", "--all"]);
    fs::remove_dir_all(place.dir().join(".git/modules")).unwrap();
    let finished = place.search(&[], &["sh", "-c", "test ! -e lib/n"]).expect_status(1);
    finished.expect_message(&["passes with every change enabled"]);
}

#[test]
fn a_replay_has_no_submodule_where_the_path_was_a_directory() {
    let place = Place::new();
    let library = place.scratch.dir().join("library");
    fs::create_dir(&library).unwrap();
    let library = Repository::new(&library);
    library.write("n", "9");
    library.commit("library");
    for number in ["0", "5"] {
        place.repository.write("lib/n", number);
        place.repository.commit(number);
    }
    place.repository.git(&["rm", "-rq", "lib"]);
    place.repository.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../library", "lib"]);
    place.repository.commit("submodule");
    let finished = place.search(&[], &["sh", "-c", "[ $(cat lib/n) -lt 3 ]"]).expect_status(0);
    assert_eq!(found_commits(&finished), [[place.hash(2, 1)]], "{finished}");
    for (option, status) in [(None, 1), (Some("--off"), 0)] {
        let _ = place.replay(option).expect_status(status);
    }
}

#[test]
fn a_replay_has_the_submodules_of_its_commit_and_theirs() {
    let place = Place::new();
    let new = |name: &str| {
        let dir = place.scratch.dir().join(name);
        fs::create_dir(&dir).unwrap();
        Repository::new(&dir)
    };
    let add = |repository: &Repository, from: &str, to: &str| {
        let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "--name", "x", "--", from, to];
        repository.git(&add);
    };
    let inner = new("inner");
    inner.write("n", "9");
    inner.commit("inner");
    let middle = new("middle");
    add(&middle, "../inner", "in n");
    middle.commit("middle");
    place.repository.write("n", "0");
    place.repository.commit("old");
    add(&place.repository, "../middle", "mid dle");
    place.repository.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "update",
        "--init",
        "--recursive",
    ]);
    place.repository.commit("submodules");
    // The index lacks them now, and the path is that of a file.
    place.repository.git(&["rm", "-rqf", "mid dle"]);
    place.repository.write("mid dle", "now a file");
    place.repository.commit("none");
    let script = "! test -f mid\" \"dle && ! test \"$(cat mid*/in*/n)\" = 9";
    let finished = place.search(&[], &["sh", "-c", script]).expect_status(0);
    assert_eq!(found_commits(&finished), [[place.hash(2, 1)]], "{finished}");
    for (option, status) in [(None, 1), (Some("--off"), 0)] {
        let _ = place.replay(option).expect_status(status);
    }
}
