//! `--diff` and `--commits`: selections without a work tree, and work trees in which a run left something in the way.
#![cfg(unix)]

use std::fs;

use bisect_tests::{
    harness::{Finished, run},
    repository::{Repository, found_commits},
    small_disk::on_small_disk,
};

use super::diff::{Place, lines, names};

/// Returns a repository in which the lines of the file `a` differ, and these files are added.
fn place(count: usize, added: &[&str]) -> Place {
    let place = Place::new();
    place.repository.write("a", &lines(count, |_| false));
    place.repository.write(".gitignore", "/left\n");
    place.repository.commit("old");
    place.repository.write("a", &lines(count, |_| true));
    for name in added {
        place.repository.write(name, "new\n");
        place.repository.git(&["add", "--force", name]);
    }
    place
}

/// Searches the differences with a script.
fn search(place: &Place, script: &str) -> Finished {
    place.search(&["exec", "--diff", "--", "sh", "-c", script])
}

#[test]
fn the_directory_of_the_user_may_be_missing() {
    let place = place(1, &["sub/b"]);
    let mut command = place.command(&["exec", "--diff", "--", "sh", "-c", "! grep -q new b"]);
    let finished = run(command.current_dir(place.dir().join("sub"))).expect_status(3);
    let fact = "with this selection of hunks there is no directory `sub/`: start the search in a directory that both versions have";
    finished.expect_message(&[fact, "with every change disabled, its run gave no result"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn what_a_run_leaves_in_the_way_of_a_hunk_is_removed() {
    // Git lists neither empty directories nor ignored files.
    for left in ["mkdir left", "mkdir left; : > left/x", ": > left", "ln -s ../../../outside left"] {
        for added in ["left", "left/new"] {
            let place = place(4, &[added]);
            fs::create_dir(place.scratch.dir().join("outside")).unwrap();
            place.scratch.write("outside/new", "kept\n");
            let script = format!("test -f left || test -d left || {{ {left}; }}; ! grep -qx 'new 2' a");
            let finished = search(&place, &script).expect_status(0);
            assert_eq!(names(&finished), [["@a:5"]], "{left}, {added}");
            assert_eq!(place.scratch.read("outside/new"), "kept\n", "{left}, {added}");
        }
    }
}

#[test]
fn hunks_that_find_no_room_are_unresolved() {
    let place = place(2, &["big"]);
    place.repository.write("big", &"new\n".repeat(100_000));
    // With every hunk, `big` fits. The first run without hunks then fills the disk.
    let script = "test -e big || { cat /dev/zero > left; } 2>&-; ! grep -qx 'new 0' a";
    let command = place.command(&["exec", "--diff", "--", "sh", "-c", script]);
    let Some(mut command) = on_small_disk(&command, &place.scratch.dir().join("tmp"), "4m") else { return };
    let finished = run(&mut command);
    assert_eq!(names(&finished), [["@a:1"]], "{finished}");
    finished.expect_message(&[
        "the files of this selection cannot be written: ",
        "No space left on device",
        "the patches of culprit 1 cannot be written: ",
    ]);
}

#[test]
fn hunks_that_a_filter_of_git_refuses_are_unresolved() {
    let place = place(2, &[]);
    // The filter fails for a file that mixes both versions.
    let script = "cat > \"$0\"; ! { grep -q old \"$0\" && grep -q new \"$0\"; } && sed \"s/^/> /\" \"$0\"";
    let smudge = format!("sh -c '{script}' {}/seen", place.scratch.dir().display());
    for (name, value) in [("clean", "sed 's/^> //'"), ("smudge", &smudge), ("required", "true")] {
        place.repository.git(&["config", &format!("filter.strict.{name}"), value]);
    }
    place.repository.write(".git/info/attributes", "a filter=strict\n");
    let finished = search(&place, "! grep -qx '> new 1' a").expect_status(0);
    assert_eq!(names(&finished), [["@a:1", "@a:3"]], "{finished}");
    finished.expect_message(&["git cannot convert the files of this selection: `git checkout-index` failed: "]);
}

/// Returns a repository with the submodule `lib`, which has two commits and is at the first one, and their hashes.
fn place_with_submodule() -> (Place, [String; 2]) {
    let place = place(4, &[]);
    let library = place.scratch.dir().join("library");
    fs::create_dir(&library).unwrap();
    let library = Repository::new(&library);
    let hashes = ["1", "2"].map(|content| {
        library.write("n", content);
        library.commit("library")
    });
    place.repository.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../library", "lib"]);
    place.repository.git(&["-C", "lib", "checkout", "-q", &hashes[0]]);
    place.repository.commit("with a submodule");
    (place, hashes)
}

#[test]
fn a_submodule_that_differs_is_no_hunk() {
    let (place, hashes) = place_with_submodule();
    place.repository.write("a", &lines(4, |n| n == 2));
    place.repository.git(&["-C", "lib", "checkout", "-q", &hashes[1]]);
    let finished = search(&place, "test $(cat lib/n) = 1 || exit 125; ! grep -q 'new 2' a");
    finished.expect_message(&["between HEAD and the working files (the submodule `lib` stays as in HEAD)"]);
}

#[test]
fn a_commit_with_an_unknown_commit_of_a_submodule_is_unresolved() {
    let (place, hashes) = place_with_submodule();
    let unknown = "1".repeat(40);
    place.repository.git(&["update-index", "--cacheinfo", &format!("160000,{unknown},lib")]);
    place.repository.git(&["commit", "-q", "-m", "unknown"]);
    place.repository.git(&["-C", "lib", "checkout", "-q", &hashes[1]]);
    let last = place.repository.commit("known");
    let words = ["exec", "--commits=HEAD~2..", "--", "sh", "-c", "test $(cat lib/n) = 1"];
    let finished = place.search(&words).expect_status(5);
    assert_eq!(found_commits(&finished), [[place.repository.hash("HEAD~1"), last]], "{finished}");
    finished.expect_message(&["the submodule `lib` cannot be checked out: "]);
}
