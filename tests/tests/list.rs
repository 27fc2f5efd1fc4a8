//! `cargo bisect-opt list`: lines of a file as changes, with commands that do not know our protocol.
#![cfg(unix)]

use bisect_tests::harness::{Finished, Scratch, driver, run, scrubbed};

/// Returns a command that fails if the file has all lines of one of these sets.
fn fails_with(sets: &[&[&str]]) -> String {
    let has = |line: &&str| format!("grep -qx {line} \"$1\"");
    let set = |set: &&[&str]| format!("{{ {}; }}", set.iter().map(has).collect::<Vec<_>>().join(" && "));
    format!("! {{ {}; }}", sets.iter().map(set).collect::<Vec<_>>().join(" || "))
}

fn search(scratch: &Scratch, options: &[&str], script: &str) -> Finished {
    let mut command = scratch.driver(["list", "--json", "--items", "items.txt"]);
    command.args(options).args(["sh", "-c", script, "sh", "LIST"]);
    run(&mut command)
}

fn names(finished: &Finished) -> Vec<Vec<String>> {
    let name = |change: &serde_json::Value| change["name"].as_str().unwrap().to_owned();
    let set = |found: serde_json::Value| found["changes"].as_array().unwrap().iter().map(name).collect();
    finished.events_of("found").into_iter().map(set).collect()
}

fn numbers(count: usize) -> String {
    (1..=count).flat_map(|n| [n.to_string(), "\n".to_owned()]).collect()
}

fn trials(finished: &Finished) -> u64 {
    finished.events_of("end")[0]["trials"].as_u64().unwrap()
}

#[test]
fn one_of_ten_thousand_lines() {
    let scratch = Scratch::new();
    scratch.write("items.txt", &numbers(10_000));
    let finished = search(&scratch, &[], &fails_with(&[&["4321"]])).expect_status(0);
    assert_eq!(names(&finished), [["4321"]]);
    let start = &finished.events_of("start")[0];
    assert_eq!(start["axis"], "list");
    let change = &finished.events_of("found")[0]["changes"][0];
    assert_eq!(
        (&change["kind"], &change["file"], &change["line"]),
        (&"item".into(), &"items.txt".into(), &4321.into())
    );
    // The engine's bound: log2 N + 1, and 4.
    assert!(trials(&finished) <= 18, "{finished}");
    let first = &finished.events_of("trial")[..2];
    assert_eq!((&first[0]["pattern"], &first[1]["pattern"]), (&"1-".into(), &"!1-".into()));
    let beside = scratch.read("bisect.out/inputs/culprit-1-others.txt");
    assert_eq!(beside, numbers(10_000).replace("4321\n", ""), "the line that passes has all others");
    assert!(finished.events_of("found")[0]["passes"].as_str().unwrap().contains("culprit-1-others.txt"), "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_pair_and_a_line_of_ten_thousand() {
    let scratch = Scratch::new();
    scratch.write("items.txt", &numbers(10_000));
    let finished = search(&scratch, &[], &fails_with(&[&["37", "9000"], &["512"]])).expect_status(0);
    let mut found = names(&finished);
    for set in &mut found {
        set.sort();
    }
    found.sort();
    assert_eq!(found, [vec!["37", "9000"], vec!["512"]]);
    assert!(trials(&finished) <= 3 * 15 + 2 * 4, "{finished}");
    let same = search(&scratch, &["-j", "4"], &fails_with(&[&["37", "9000"], &["512"]])).expect_status(0);
    assert_eq!(names(&same).concat().len(), 3, "{same}");
}

#[test]
fn what_reproduces_it_can_be_pasted() {
    let scratch = Scratch::new();
    scratch.write("items.txt", "a b\nc\n\nc\nlast");
    let script = fails_with(&[&["c", "last"]]);
    let finished = search(&scratch, &[], &script).expect_status(0);
    assert_eq!(names(&finished).concat().len(), 2, "one of the equal lines is enough: {finished}");
    let line = finished.events_of("found")[0]["reproduce"].as_str().unwrap().to_owned();
    let again = run(scrubbed("sh".as_ref(), scratch.dir()).args(["-c", &line]));
    let _ = again.expect_status(1);
    let passes = finished.events_of("found")[0]["passes"].as_str().unwrap().to_owned();
    let _ = run(scrubbed("sh".as_ref(), scratch.dir()).args(["-c", &passes])).expect_status(0);
}

/// Searches with the placeholder inside a script, in a directory below the scratch directory. Checks the answer, what can
/// be pasted, and `replay`.
#[track_caller]
fn expect_what_is_pasted_to_do_the_same(scratch: &Scratch, directory: &str, temporary: &str) {
    let [directory, temporary] = [directory, temporary].map(|name| scratch.dir().join(name));
    std::fs::create_dir_all(&temporary).unwrap();
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("items.txt"), numbers(5)).unwrap();
    let here = |command: &mut std::process::Command| {
        let finished = run(command.current_dir(&directory).env("TMPDIR", &temporary));
        assert!(!directory.join("pwned").exists(), "a name was executed: {finished}");
        finished
    };
    let mut command = scratch.driver(["list", "--json", "--items", "items.txt", "--", "sh", "-c"]);
    let finished = here(command.arg("! grep -qx 3 LIST")).expect_status(0);
    assert_eq!(names(&finished), [["3"]], "{finished}");
    for (field, status) in [("reproduce", 1), ("passes", 0)] {
        let line = finished.events_of("found")[0][field].as_str().unwrap().to_owned();
        let _ = here(scrubbed("sh".as_ref(), scratch.dir()).args(["-c", &line])).expect_status(status);
    }
    let _ = here(&mut scratch.driver(["replay"])).expect_status(1);
    let _ = here(&mut scratch.driver(["replay", "--off"])).expect_status(0);
    let inputs = std::fs::read_dir(directory.join("bisect.out/inputs")).unwrap();
    let inputs: Vec<_> = inputs.map(|file| file.unwrap().file_name()).collect();
    let is_of_run = |name: &std::ffi::OsString| name.to_string_lossy().starts_with("run-");
    assert!(!inputs.iter().any(is_of_run), "the files of runs are deleted: {inputs:?}");
}

#[test]
fn in_a_directory_with_a_blank_what_is_pasted_does_the_same() {
    expect_what_is_pasted_to_do_the_same(&Scratch::new(), "My Project", "tmp");
}

#[test]
fn in_a_directory_with_a_command_in_its_name_nothing_executes_it() {
    expect_what_is_pasted_to_do_the_same(&Scratch::new(), "$(touch pwned)", "$(touch pwned)");
}

#[test]
fn a_directory_for_temporary_files_with_a_blank_does_not_change_the_answer() {
    expect_what_is_pasted_to_do_the_same(&Scratch::new(), "plain", "tm p");
}

#[test]
fn a_run_directory_that_a_shell_would_act_upon_is_refused_before_the_search() {
    let scratch = Scratch::new();
    scratch.write("items.txt", &numbers(5));
    let mut command = scratch.driver(["list", "--items", "items.txt", "--out", "o;x", "--", "sh", "-c"]);
    let finished = run(command.arg("! grep -qx 3 LIST")).expect_status(2);
    finished.expect_message(&["which a shell would split or expand", "--out", "make LIST an argument of its own"]);
    assert!(!scratch.dir().join("o;x").exists(), "{finished}");
    // As a word of its own, the path is quoted in what is pasted.
    let mut command = scratch.driver(["list", "--json", "--items", "items.txt", "--out", "o;x", "--", "sh", "-c"]);
    let finished = run(command.args(["! grep -qx 3 \"$1\"", "sh", "LIST"])).expect_status(0);
    let line = finished.events_of("found")[0]["reproduce"].as_str().unwrap().to_owned();
    let _ = run(scrubbed("sh".as_ref(), scratch.dir()).args(["-c", &line])).expect_status(1);
}

#[test]
fn lines_become_arguments() {
    let scratch = Scratch::new();
    scratch.write("items.txt", "a b\n\n$HOME\n*\nc\n");
    let script = r#"for word; do if [ "$word" = '$HOME' ]; then exit 1; fi; done"#;
    let mut command = scratch.driver(["list", "--json", "--items", "items.txt", "--as-args", "--"]);
    let finished = run(command.args(["sh", "-c", script, "sh", "LIST", "end"])).expect_status(0);
    assert_eq!(names(&finished), [["$HOME"]]);
    let line = finished.events_of("found")[0]["reproduce"].as_str().unwrap().to_owned();
    assert!(line.ends_with(" sh '$HOME' end"), "{line}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn arguments_with_control_characters_can_be_pasted_and_show_nothing_hidden() {
    let hidden = ['\u{1b}', '\r', '\u{9b}', '\u{202e}'];
    for item in hidden.map(|c| format!("{c}[31mred")) {
        let scratch = Scratch::new();
        scratch.write("items.txt", &format!("one\ntwo\n{item}\nthree\n"));
        scratch.write("check.sh", &format!("for word; do if [ \"$word\" = '{item}' ]; then exit 1; fi; done"));
        let options = ["list", "--as-args", "--items", "items.txt", "sh", "check.sh"];
        let finished = run(&mut scratch.driver(options)).expect_status(0);
        let lines: Vec<_> = finished.stdout.lines().skip_while(|line| *line != "fails:").collect();
        let reported = run(&mut scratch.driver(["report", "--format", "json"])).expect_status(0);
        let json: serde_json::Value = serde_json::from_str(&reported.stdout).unwrap();
        assert_eq!(json["found"][0]["reproduce"], lines[1].trim(), "{finished}");
        for shell in ["sh", "bash"] {
            let _ = run(scrubbed(shell.as_ref(), scratch.dir()).args(["-c", lines[1]])).expect_status(1);
        }
        let _ = run(&mut scratch.driver(["replay"])).expect_status(1);
        for format in ["text", "brief", "markdown", "github", "json", "sarif", "diagnostics", "html", "trace"] {
            let reported = run(&mut scratch.driver(["report", "--format", format])).expect_status(0);
            assert!(!reported.stdout.contains(hidden), "{format}: {:?}", reported.stdout);
        }
        let json = run(&mut scratch.driver(["list", "--json"].iter().chain(&options[1..]))).expect_status(0);
        assert!(!json.stdout.contains(hidden) && !json.stderr.contains(hidden), "{json}");
    }
}

#[test]
fn a_command_line_that_is_too_long_is_said() {
    let scratch = Scratch::new();
    // This is more than any system accepts: an argument may have 128 KiB on Linux, and all arguments together 1 MiB
    // elsewhere.
    scratch.write("items.txt", &"x".repeat(3 << 20));
    let mut command = scratch.driver(["list", "--items", "items.txt", "--as-args", "--"]);
    run(command.arg("true")).expect_status(3).expect_message(&["Argument list too long", "bytes", "in a file"]);
}

#[test]
fn standard_input_is_read() {
    let scratch = Scratch::new();
    scratch.write("items.txt", "1\n2\n3");
    let mut command = scrubbed("sh".as_ref(), scratch.dir());
    let line = r#"exec "$0" list --json --items - sh -c "$1" sh LIST < items.txt"#;
    command.args(["-c", line]).arg(driver()).arg(fails_with(&[&["3"]]));
    let finished = run(&mut command).expect_status(0);
    assert_eq!(names(&finished), [["3"]]);
}

#[test]
fn flaky_commands_are_searched_too() {
    let scratch = Scratch::new();
    scratch.write("items.txt", &numbers(64));
    // The target fails in half of the runs that have line 40: those whose random number ends with 0 to 4.
    let script = r#"! grep -qx 40 "$1" || case $2 in *[01234]) exit 1; esac"#;
    let mut command = scratch.driver(["list", "--json", "--items", "items.txt", "--confidence", "0.99", "--seed", "1"]);
    let finished = run(command.args(["sh", "-c", script, "sh", "LIST", "RANDOM"])).expect_status(0);
    assert_eq!(names(&finished), [["40"]]);
    let rate = finished.events_of("found")[0]["noise"]["with"]["mean"].as_f64().unwrap();
    assert!((0.2..0.8).contains(&rate), "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_hundred_megabytes_are_searched() {
    let scratch = Scratch::new();
    let line = "x".repeat(1 << 20);
    let text: String = (0..100).map(|n| if n == 70 { "here\n".to_owned() } else { format!("{line}\n") }).collect();
    scratch.write("items.txt", &text);
    let finished = search(&scratch, &[], &fails_with(&[&["here"]])).expect_status(0);
    assert_eq!(names(&finished), [["here"]]);
}

#[test]
fn what_cannot_be_searched_is_said() {
    let scratch = Scratch::new();
    scratch.write("items.txt", "");
    scratch.write("one.txt", "1\n");
    for (words, status, facts) in [
        (&["list", "--items", "items.txt", "true", "LIST"][..], 1, &["`items.txt` has no lines"][..]),
        (&["list", "--items", "none.txt", "true", "LIST"], 2, &["--items", "none.txt"]),
        (&["list", "true", "LIST"], 2, &["--items <FILE>"]),
        (&["list", "--items", "one.txt", "true"], 2, &["the word LIST must stand", "--items FILE ./check LIST"]),
        (&["list", "--items", "one.txt", "true", "LIST"], 1, &["passes with every change"]),
    ] {
        run(&mut scratch.driver(words.iter().copied())).expect_status(status).expect_message(facts);
    }
}

/// Fails in one way with line 7, in another way without it, and in no way with line 3 but not 7, if `repairs`.
fn fails_twice(scratch: &Scratch, repairs: bool) -> Finished {
    scratch.write("items.txt", &numbers(20));
    let panic = |letter: &str| format!("printf \"thread 'main' panicked at {letter}.rs:1:1:\\n{letter}\\n\"; exit 101");
    let repair = if repairs { "grep -qx 3 \"$1\" && exit 0\n" } else { "" };
    let script = format!("if grep -qx 7 \"$1\"; then {}; fi\n{repair}{}", panic("b"), panic("a"));
    search(scratch, &[], &script)
}

#[test]
fn a_line_may_replace_one_failure_by_another() {
    let scratch = Scratch::new();
    let finished = fails_twice(&scratch, false).expect_status(0);
    assert_eq!(names(&finished), [["7"]]);
    let found = &finished.events_of("found")[0];
    assert!(
        scratch.read("bisect.out/result.json").contains("this line replaces panic at a.rs:1:1 by panic at b.rs:1:1")
    );
    assert_eq!((&found["replaces"], found.get("passes")), (&"panic at a.rs:1:1".into(), None), "{finished}");
    finished.expect_message(&["with everything else the target fails by panic at a.rs:1:1"]);
    finished.expect_message(&["the search is for the changes that replace panic at a.rs:1:1 by panic at b.rs:1:1"]);
}

#[test]
fn two_failures_that_have_nothing_to_do_with_each_other_are_both_named() {
    let scratch = Scratch::new();
    let finished = fails_twice(&scratch, true).expect_status(1);
    assert_eq!(names(&finished), [[""; 0]; 0]);
    finished.expect_message(&[
        "(with every change by panic at b.rs:1:1, with none by panic at a.rs:1:1). With some of the changes it passes",
    ]);
}

#[test]
fn the_lines_are_run_at_once_and_alone_if_they_leave_something() {
    let scratch = Scratch::new();
    scratch.write("items.txt", &numbers(8));
    // The lines have no slot. The first one waits until the second one has come, which then gives no result.
    let meet = "if [ -z \"$BISECT_SLOT\" ] && [ ! -e \"$TMPDIR/met\" ]; then \
                    if mkfifo \"$TMPDIR/meeting\" 2>/dev/null; then read -r word <\"$TMPDIR/meeting\"; \
                    else touch \"$TMPDIR/met\"; echo word >\"$TMPDIR/meeting\"; exit 125; fi; fi";
    let finished = search(&scratch, &["-j2"], &format!("{meet}; {}", fails_with(&[&["5"]]))).expect_status(0);
    assert_eq!(names(&finished), [["5"]]);
    let found = &finished.events_of("found")[0];
    assert_eq!(found["pasted"], serde_json::json!({"reproduce": "fail", "passes": "pass"}), "{finished}");
    assert!(["reproduce", "passes"].iter().all(|line| !found[line].as_str().unwrap().contains("mktemp")), "{finished}");
    assert_eq!(finished.events_of("end")[0]["pasted"], 4, "{finished}");
}
