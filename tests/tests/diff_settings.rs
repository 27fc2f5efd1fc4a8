//! `exec --diff` with settings of git, and in kinds of repositories, that could change the result.
#![cfg(unix)]

use std::fs;

use bisect_tests::harness::run;

use super::diff::{Place, lines, names};

#[test]
#[ignore = "slow: CI runs it"]
fn the_users_settings_of_git_change_nothing() {
    let place = Place::new();
    let old = lines(8, |_| false);
    place.repository.write("a", &old);
    // Line endings of Windows, also in the commit.
    place.repository.write("crlf", "1\r\n2\r\n3\r\n");
    place.repository.commit("old");
    place.repository.write("a", &old.replace("old 3\n", "blank \t \n"));
    place.repository.write("crlf", "1\r\nx\r\n3\r\n");
    for (name, value) in
        [("diff.context", "0"), ("core.autocrlf", "input"), ("core.ignoreStat", "true"), ("submodule.recurse", "true")]
    {
        place.repository.git(&["config", name, value]);
    }
    for (whitespace, check, expected) in [
        ("error", "! grep -q blank.*[[:blank:]]$ a", "@a:7"),
        ("fix", "! grep -q blank.*[[:blank:]]$ a", "@a:7"),
        ("fix", "! grep -q x crlf", "@crlf:2"),
    ] {
        place.repository.git(&["config", "apply.whitespace", whitespace]);
        let finished = place.search(&["exec", "--diff", "--", "sh", "-c", check]).expect_status(0);
        assert_eq!(names(&finished), [[expected]], "{finished}");
        let patch = place.patch(1);
        assert!(patch.matches("\n ").count() >= 2, "{patch}");
        assert_eq!(patch.contains("+x\r\n"), expected == "@crlf:2", "{patch}");
        let reproduce = finished.events_of("found")[0]["reproduce"].as_str().unwrap().to_owned();
        place.paste(&reproduce, 1);
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn files_outside_of_a_sparse_checkout_are_changes() {
    let place = Place::new();
    for name in ["in/a", "out/a"] {
        place.repository.write(name, "old\n");
    }
    place.repository.commit("old");
    place.repository.git(&["sparse-checkout", "set", "in"]);
    for name in ["in/a", "out/a", "out/b"] {
        place.repository.write(name, "new\n");
    }
    // Before `git status`, which `Place::search` runs, the index says that `out/a` is not there.
    let first = run(&mut place.command(&["exec", "--diff", "--", "sh", "-c", "! grep -q new out/a"])).expect_status(0);
    assert_eq!(names(&first), [["@out/a:1"]], "{first}");
    for (check, expected) in [("! grep -q new out/a", "@out/a:1"), ("! test -e out/b", "new file out/b@out/b")] {
        let finished = place.search(&["exec", "--diff", "--", "sh", "-c", check]).expect_status(0);
        assert_eq!(names(&finished), [[expected]], "{finished}");
        let found = &finished.events_of("found")[0];
        for (line, status) in [("reproduce", 1), ("passes", 0)] {
            place.paste(found[line].as_str().unwrap(), status);
        }
    }
    // A run has the old version, not no file.
    let finished = place.search(&["exec", "--diff", "--", "grep", "-q", "old", "out/a"]).expect_status(0);
    let found = &finished.events_of("found")[0];
    for (line, status) in [("reproduce", 1), ("passes", 0)] {
        place.paste(found[line].as_str().unwrap(), status);
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_patch_has_the_format_of_git_without_settings() {
    let place = Place::new();
    let old = "1\n\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
    place.repository.write("a", old);
    place.repository.commit("old");
    place.repository.write("a", &old.replace("1\n\n2", "x\n\n2").replace("10\n", "x\n"));
    let patch = |place: &Place| {
        let _ = place.search(&["exec", "--diff", "--", "sh", "-c", "[ $(grep -c x a) -lt 2 ]"]).expect_status(0);
        place.patch(1)
    };
    let plain = patch(&place);
    for (name, value) in [
        ("diff.interHunkContext", "9"),
        ("diff.suppressBlankEmpty", "true"),
        ("diff.algorithm", "patience"),
        ("diff.noPrefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.relative", "true"),
        ("diff.indentHeuristic", "false"),
        ("diff.renames", "false"),
        ("diff.wsErrorHighlight", "all"),
        ("diff.colorMoved", "zebra"),
        ("core.quotePath", "false"),
        ("core.abbrev", "40"),
    ] {
        place.repository.git(&["config", name, value]);
        assert_eq!(patch(&place), plain, "{name}");
        place.repository.git(&["config", "--unset", name]);
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn what_a_run_does_to_its_repository_is_undone() {
    let place = Place::new();
    place.repository.write("a", &lines(8, |_| false));
    place.repository.write("b", "b\n");
    place.repository.commit("old");
    place.repository.write("a", &lines(8, |_| true));
    let git = "git -c user.name=n -c user.email=e -c commit.gpgSign=false";
    for change in [
        format!("echo c > b && {git} commit -qam c"),
        format!("git checkout -q -B other-$$ && git rm -q --cached b && {git} commit -qm c"),
        "echo c > c && git add -N c".to_owned(),
        "git rm -q --cached b".to_owned(),
        "git rm -qf b".to_owned(),
        "git mv b c".to_owned(),
        "git update-index --assume-unchanged b && echo c > b".to_owned(),
        ": > $(git rev-parse --git-dir)/index.lock".to_owned(),
        "merge=$(git rev-parse --git-dir)/rebase-merge; [ -e $merge ] && status=1; mkdir -p $merge".to_owned(),
        "rm .git".to_owned(),
    ] {
        let check = format!(
            "test -z \"$(git status --porcelain | grep -v ' a$')\" && test -z \"$(git log --format=%s | grep -v old)\" && \
             [ $(cat b) = b ] && ! test -e c && ! grep -q 'new 5' a || status=1; {change}; exit $status"
        );
        let finished = run(&mut place.command(&["exec", "--diff", "--", "sh", "-c", &check])).expect_status(0);
        assert_eq!(names(&finished), [["@a:11"]], "{change}: {finished}");
        for branch in place.repository.git(&["branch", "--list", "other-*", "--format=%(refname:short)"]).lines() {
            place.repository.git(&["branch", "-qD", branch]);
        }
    }
}

#[test]
fn a_run_without_git_leaves_the_users_repository_alone() {
    let place = Place::new();
    place.repository.write(".gitignore", "temporary\n");
    for (number, n) in [0, 1, 2].iter().enumerate() {
        place.repository.write("n", &n.to_string());
        place.repository.commit(&number.to_string());
    }
    place.repository.write("staged", "s");
    place.repository.git(&["add", "staged"]);
    let temporary = place.dir().join("temporary");
    fs::create_dir(&temporary).unwrap();
    let before = place.repository.state();
    // Above the worktree, git finds the user's repository.
    for option in ["--diff=HEAD~1", "--commits=HEAD~2.."] {
        let mut command = place.command(&["exec", option, "--", "sh", "-c", "rm .git; [ $(cat n) -lt 2 ]"]);
        let finished = run(command.env("TMPDIR", &temporary)).expect_status(0);
        assert_eq!(finished.events_of("found").len(), 1, "{finished}");
        assert_eq!(place.repository.state(), before, "{finished}");
    }
}

#[test]
fn a_colon_in_the_path_of_the_repository_is_no_separator() {
    let place = Place::new();
    place.repository.write("a", "old\n");
    place.repository.commit("old");
    let moved = place.dir().with_file_name("with:colon \"and quotes\"");
    fs::rename(place.dir(), &moved).unwrap();
    fs::write(moved.join("a"), "new\n").unwrap();
    let mut command = place.command(&["exec", "--diff", "--", "sh", "-c", "! grep -q new a"]);
    let finished = run(command.current_dir(&moved).env("GIT_LITERAL_PATHSPECS", "1")).expect_status(0);
    assert_eq!(names(&finished), [["@a:1"]], "{finished}");
}
