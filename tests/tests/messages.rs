//! Messages about the command line and its surroundings: what happened, why it matters, and what to do.
#![cfg(unix)]

use std::{
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt,
    path::Path,
    process::{Command, Stdio},
};

use bisect_tests::{
    harness::{Fixture, Scratch, cargo, driver, run, scrubbed},
    repository::Repository,
};

/// A place where no search was made: a file, a list with a zero byte, and no repository.
fn place() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("zero", "a\0b\n");
    scratch.write("file", "");
    scratch
}

/// The manifest of a package, whose library is the file `file`.
const MANIFEST: &str = "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[lib]\npath = \"file\"\n";

const LOCK_FILE: &str = "version = 4\n[[package]]\nname = \"a\"\nversion = \"0.1.0\"\n";

/// Returns the command that starts the driver from a line of a shell, as its last words.
fn from_shell(scratch: &Scratch, line: &str, words: &[&str]) -> Command {
    let mut command = scrubbed(Path::new("sh"), scratch.dir());
    command.args(["-c", line, "sh"]).arg(driver()).args(words);
    command
}

/// Checks that each of these command lines is refused with the status 2 and these facts.
fn are_refused(scratch: &Scratch, cases: &[(&[&str], &str)]) {
    for (words, fact) in cases {
        run(&mut scratch.driver(*words)).expect_status(2).expect_message(&[fact]);
    }
}

#[test]
fn values_of_options_are_checked() {
    let cases: [(&[&str], &str); 7] = [
        (&["exec", "--timeout=soon", "X=PATTERN", "true"], "it is no duration ("),
        (&["exec", "--timeout=5x", "X=PATTERN", "true"], "): write `90s`, `1500ms` or `2m 30s`"),
        (&["exec", "--message-format=xml", "X=PATTERN", "true"], "it is json, human or short"),
        (&["watch", "n", "--debugger=perf", "exec", "true"], "`perf` is not known, so it cannot be stopped at the"),
        (
            &["list", "--items=zero", "--as-args", "echo"],
            "line 1 of `zero` contains a zero byte, which no argument can",
        ),
        (&["list", "--items=.", "cat", "LIST"], "name a file with one item on each line"),
        (&["test", "--edition=2018"], "it is 2021 or 2024: expressions mean the same in other editions as in 2021"),
    ];
    are_refused(&place(), &cases);
}

#[test]
fn an_argument_must_be_text() {
    let scratch = place();
    let mut command = scratch.driver(["exec"]);
    command.arg(OsStr::from_bytes(b"X=PATTERN\xff")).arg("true");
    run(&mut command).expect_status(2).expect_message(&["an argument is not valid UTF-8, so no pattern can be put"]);
}

#[test]
fn standard_input_must_be_readable() {
    let scratch = place();
    let mut command = from_shell(&scratch, "exec \"$@\" < .", &["list", "--items", "-", "cat", "LIST"]);
    run(&mut command).expect_status(2).expect_message(&["standard input cannot be read: ", "with --items FILE"]);
}

#[test]
fn the_working_directory_must_exist() {
    let scratch = place();
    let line = "mkdir gone && cd gone && rmdir ../gone && exec \"$@\"";
    let mut command = from_shell(&scratch, line, &["exec", "--no-defaults", "X=PATTERN", "true"]);
    run(&mut command).expect_status(3).expect_message(&["in which the target would run, cannot be found: "]);
}

#[test]
fn answers_that_cannot_be_written_are_an_error() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let scratch = place();
    let words = ["count", "--max-count=2", "sh", "-c", "test $0 -lt 2", "COUNT"];
    let found = run(&mut scratch.driver(words)).expect_status(0);
    assert!(found.stdout.contains("step 2"), "{found}");
    let full = || Stdio::from(fs::File::options().write(true).open("/dev/full").unwrap());
    let mut report = scratch.driver(["report"]);
    let output = report.stdout(full()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        text.contains("the answer cannot be written: ") && text.contains("send standard output to another"),
        "{text}"
    );
    let mut list = scratch.driver(["help"]);
    let output = list.stdout(full()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("cannot write the trace or the results: "), "{text}");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_directory_of_results_must_be_possible() {
    let scratch = place();
    are_refused(
        &scratch,
        &[
            (&["exec", "--out=file/out", "X=PATTERN", "true"], "; choose another directory with `--out`"),
            (&["replay", "nowhere"], "`nowhere` is not the directory of a search"),
            (&["report", "nowhere"], "`nowhere` is not the directory of a search"),
        ],
    );
}

#[test]
fn temporary_files_need_a_directory() {
    let scratch = place();
    let mut command = scratch.driver(["exec", "X=PATTERN", "true"]);
    let finished = run(command.env("TMPDIR", "/no/such/directory")).expect_status(3);
    let text = format!("{}{}", finished.stdout, finished.stderr);
    assert!(text.contains("cannot create a directory for temporary files in `/no/such/directory`"), "{text}");
    assert!(text.contains("; set TMPDIR to another directory"), "{text}");
}

#[test]
fn git_is_named_where_it_is_missing() {
    let scratch = place();
    for (words, fact) in [
        (&["exec", "--commits=A..B", "true"][..], "`--commits` reads the history with git: cannot start `git`"),
        (&["exec", "--diff", "--", "true"], "`--diff` compares versions with git: cannot start `git`"),
        (&["exec", "--since=A", "X=PATTERN", "/bin/true"], "`--since` needs git: install it, or leave out `--since`"),
        (&["exec", "--deps=A", "true"], "a revision is read with git: cannot start `git`"),
    ] {
        let mut command = scratch.driver(words);
        scratch.write("Cargo.toml", MANIFEST);
        scratch.write("Cargo.lock", LOCK_FILE);
        run(command.env("PATH", "/no/such/directory")).expect_status(2).expect_message(&[fact]);
    }
}

#[test]
fn a_query_of_git_that_fails_is_named() {
    let scratch = place();
    fs::create_dir_all(scratch.dir().join("repository")).unwrap();
    let repository = Repository::new(&scratch.dir().join("repository"));
    for content in ["1\n", "2\n"] {
        repository.write("a", content);
        repository.commit("one more");
    }
    // It fails where it is asked for `$FAILS`.
    let _ = scratch.script(
        "git",
        "#!/bin/sh\nfor word; do [ \"$word\" = \"$FAILS\" ] && { echo broken >&2; exit 1; }; done\n\
                          PATH=${PATH#*:} exec git \"$@\"\n",
    );
    let path = format!("{}:{}", scratch.dir().display(), std::env::var("PATH").unwrap());
    for (fails, words, status, fact) in [
        ("log", &["exec", "--commits=HEAD~1..", "true"][..], 2, "`git log` failed: broken; run it by hand in the"),
        ("diff-tree", &["exec", "--diff=HEAD~1..", "--", "true"], 2, "`git diff-tree` failed: broken; run it by hand"),
        (
            "diff",
            &["exec", "--since=HEAD~1", "X=PATTERN", "true"],
            2,
            "; run it by hand to see why, or leave out `--since`",
        ),
        (
            "add",
            &["exec", "--commits=HEAD~1..", "true"],
            3,
            "`git worktree add` failed, and runs need a worktree: broken",
        ),
    ] {
        let mut command = scratch.driver(words);
        command.current_dir(scratch.dir().join("repository")).env("PATH", &path).env("FAILS", fails);
        run(&mut command).expect_status(status).expect_message(&[fact]);
    }
    let mut command = scratch.driver(["exec", "--diff=HEAD~1..", "--", "true"]);
    command.current_dir(scratch.dir().join("repository")).env("TMPDIR", "/no/such/directory");
    run(&mut command).expect_status(2).expect_message(&["cannot prepare files for git: ", "free space, or set TMPDIR"]);
}

#[test]
fn a_compiler_that_disappears_during_a_build_is_named() {
    let scratch = place();
    let mut command = scrubbed(driver(), scratch.dir());
    // Cargo starts the driver like this instead of the compiler.
    command.env("BISECT_OPT_WRAPPER", "{}").args(["/no/such/rustc", "-vV"]);
    run(&mut command).expect_status(1).expect_message(&["error: cargo bisect-opt, as a wrapper of /no/such/rustc: "]);
}

#[test]
fn a_configuration_of_cargo_must_be_readable() {
    let scratch = Scratch::new();
    scratch.write("Cargo.toml", MANIFEST);
    scratch.write("file", "");
    fs::create_dir(scratch.dir().join(".cargo")).unwrap();
    scratch.write(".cargo/config.toml", "x = [");
    run(&mut scratch.driver(["test"]))
        .expect_status(3)
        .expect_message(&["cargo's configuration, which builds and runs follow, cannot be used: "]);
}

#[test]
fn revisions_are_no_options() {
    let scratch = place();
    fs::create_dir(scratch.dir().join("repository")).unwrap();
    let repository = Repository::new(&scratch.dir().join("repository"));
    repository.write("Cargo.toml", MANIFEST);
    repository.write("Cargo.lock", LOCK_FILE);
    repository.write("file", "");
    repository.commit("first");
    for (words, fact) in [
        (&["exec", "--commits=-q..HEAD", "true"][..], "names no commit: a revision does not begin with `-`; give a"),
        (&["exec", "--diff=-q", "--", "true"], "names no commit: a revision does not begin with `-`; give a branch"),
        (&["exec", "--deps=-q", "true"], "a revision does not begin with `-`"),
    ] {
        run(scratch.driver(words).current_dir(scratch.dir().join("repository")))
            .expect_status(2)
            .expect_message(&[fact]);
    }
}

#[test]
fn a_search_that_found_nothing_has_nothing_to_replay() {
    let scratch = place();
    let nothing = run(&mut scratch.driver(["count", "--max-count=2", "true", "COUNT"])).expect_status(1);
    nothing.expect_message(&["nothing to find"]);
    let facts =
        ["found no culprit, so there is nothing to replay; `cargo bisect-opt report bisect.out` shows its answer"];
    run(&mut scratch.driver(["replay"])).expect_status(2).expect_message(&facts);
}

/// Checks that each of these command lines is refused in a package with these tests.
fn are_refused_in_package(cases: &[(&[&str], i32, &str)]) {
    let scratch = Scratch::new();
    scratch.write("Cargo.toml", &format!("{MANIFEST}[features]\nextra = []\n"));
    scratch.write("Cargo.lock", LOCK_FILE);
    scratch.write(
        "file",
        "#[cfg(test)] mod one { #[test] fn same() {} #[test] #[ignore] fn left() {} }\n\
         #[cfg(test)] mod two { #[test] fn same() {} }\n",
    );
    for (words, status, fact) in cases {
        run(&mut scratch.driver(*words)).expect_status(*status).expect_message(&[fact]);
    }
}

#[test]
fn a_package_without_marks_has_other_searches() {
    are_refused_in_package(&[
        (&["test"], 3, "help: these options search without any annotation:\n  --commits=GOOD..BAD  "),
        (&["run"], 2, "name another package with -p, or an example with --example"),
        (&["test", "--doc"], 2, "documentation tests cannot be searched: rustdoc compiles and runs them in one step"),
        (&["build", "--launcher=env"], 2, "and of a build nothing is started: leave it out, or search with"),
        (&["test", "--edition=2024"], 2, "so no expression would mean something else: a is of 2024"),
        (&["test", "--features-of=a"], 1, "this command line enables no feature of `a`: add `--all-features`"),
    ]);
}

#[test]
fn flags_that_a_compiler_takes_and_ignores_are_no_change() {
    are_refused_in_package(&[(
        &["test", "--rustflags=--cfg changes=\"PATTERN\""],
        1,
        "the compiler reported no change: does it accept these flags?",
    )]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn cargo_that_fails_before_it_compiles_is_no_result() {
    let scratch = Scratch::new();
    scratch.write("Cargo.toml", &format!("{MANIFEST}[features]\none = []\ntwo = []\n"));
    scratch.write("Cargo.lock", LOCK_FILE);
    scratch.write("file", "#[cfg(feature = \"one\")]\ncompile_error!(\"wrong\");\n");
    // This cargo fails in the build whose number is in `FAILS`.
    let real = cargo().display().to_string();
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in *' build '*) echo >> builds\n[ $(wc -l < builds) != \"$FAILS\" ] || \
         {{ echo 'error: no lock' >&2; exit 101; }};; esac\nexec '{real}' \"$@\"\n"
    );
    let failing = scratch.script("cargo", &script);
    for (fails, status) in [("1", 3), ("3", 0)] {
        scratch.write("builds", "");
        let mut command = scratch.driver(["build", "--features-of=a", "--all-features"]);
        command.env("CARGO", &failing).env("FAILS", fails);
        command.env("CARGO_TARGET_DIR", scratch.dir().join("target"));
        run(&mut command).expect_status(status).expect_message(&["cargo fails before it compiles anything"]);
    }
}

#[test]
fn a_program_whose_runtime_refuses_a_pattern_is_named() {
    let fixture = Fixture::new("calls");
    let program = "fn main() { println!(\"{}\", calls::connect(1, 2)); eprintln!(\"bisect-rt: BISECT_PATTERN: version 9\"); \
                   std::process::exit(2) }\n";
    fixture.write("src/main.rs", program);
    let finished = run(&mut fixture.driver(["run"])).expect_status(3);
    finished.expect_message(&["refuses the pattern: BISECT_PATTERN: version 9"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_victim_has_one_name() {
    are_refused_in_package(&[
        (&["test", "--victim=same"], 2, "which test? `same` can be `one::same` in "),
        (&["test", "--victim=same"], 2, ": give the whole name"),
        (&["test", "--victim=left"], 2, "`one::left` is ignored: add `-- --include-ignored` at the end of the command"),
        (&["test", "--victim=nothing"], 2, "(`cargo test -- --list` shows all)"),
        (&["test", "--victim"], 1, "name it: `cargo bisect-opt test --victim NAME`"),
    ]);
}

#[test]
fn a_program_that_cannot_be_started_is_named() {
    let scratch = place();
    std::os::unix::fs::symlink("loop", scratch.dir().join("loop")).unwrap();
    let finished = run(&mut scratch.driver(["exec", "X=PATTERN", "./loop"])).expect_status(3);
    finished.expect_message(&["run it by hand to see whether it works without `cargo bisect-opt`"]);
}

#[test]
fn a_target_must_report() {
    let scratch = place();
    let finished = run(&mut scratch.driver(["exec", "X=PATTERN", "true"])).expect_status(1);
    finished.expect_message(&["is the code annotated, and does the target reach the toggle?"]);
    let finished = run(&mut scratch.driver(["exec", "X=PATTERN", "sh", "-c", "test $X != y"])).expect_status(3);
    finished.expect_message(&["it passes and fails, but reported no change; does it get the pattern, and do its"]);
}
