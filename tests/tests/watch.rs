//! `cargo bisect-opt watch`: the first moment at which a condition is false, in programs, tests and commands.
#![cfg(target_os = "linux")]

use std::{fs, process::Command};

use bisect_tests::harness::{Finished, Fixture, Scratch, line_of, run};
use serde_json::Value;

fn watch(fixture: &Fixture, options: &[&str], name: &str, words: &[&str]) -> Finished {
    let mut command = fixture.driver(["watch", "--json"]);
    command.args(options).arg(name).args(words);
    run(&mut command)
}

/// Returns the only culprit, which is a moment.
#[track_caller]
fn only_moment(finished: &Finished) -> Value {
    let [found] = &finished.events_of("found")[..] else { panic!("one culprit: {finished}") };
    assert_eq!((&found["changes"][0]["kind"], &found["confirmed"]), (&"moment".into(), &true.into()), "{finished}");
    found.clone()
}

/// Returns the numbers of the first bad and of the last good moment.
#[track_caller]
fn numbers(finished: &Finished) -> (u64, Option<u64>) {
    let moment = &only_moment(finished)["moment"];
    let good = moment["last_good"][0]["id"].as_str().map(|id| u64::from_str_radix(&id[2..], 16).unwrap());
    (moment["n"].as_u64().unwrap(), good)
}

#[test]
fn the_first_bad_moment_is_named_with_its_stack_and_values() {
    let fixture = Fixture::new("moments");
    let line = line_of(fixture.dir(), "src/main.rs", "// the moment");
    for options in [&[][..], &["--rerun"]] {
        let finished = watch(&fixture, options, "step", &["run", "--", "700g400b"]).expect_status(0);
        assert_eq!(numbers(&finished), (701, Some(700)), "{finished}");
        let found = only_moment(&finished);
        let (change, moment) = (&found["changes"][0], &found["moment"]);
        assert_eq!((&change["name"], &change["line"]), (&"step".into(), &line.into()));
        let functions: Vec<_> =
            change["frames"].as_array().unwrap().iter().map(|frame| frame["function"].as_str().unwrap()).collect();
        assert_eq!(functions, ["moments::pass", "moments::main"]);
        assert_eq!(moment["last_good"][0]["frames"].as_array().unwrap().len(), 2);
        let values = (&moment["values"][0], &moment["last_good_values"][0]);
        assert_eq!(values, (&"value 'b' at 700".into(), &"value 'g' at 699".into()));
        // 2·log2(moments) + 4
        assert!(moment["evaluations"].as_u64().unwrap() <= 2 * 10 + 4, "{finished}");
        let runs = finished.events_of("end")[0]["runs"].as_u64().unwrap();
        assert!(if options.is_empty() { runs == 1 } else { runs <= 12 }, "{finished}");
        let start = &finished.events_of("start")[0];
        assert_eq!((&start["axis"], &start["jobs"]), (&"watch".into(), &1.into()));
        assert_eq!(finished.events_of("trial").len() as u64, moment["evaluations"].as_u64().unwrap());
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn an_answer_for_people() {
    let fixture = Fixture::new("moments");
    let mut command = fixture.driver(["watch", "step", "run", "--", "9gp4b"]);
    let finished = run(&mut command).expect_status(0);
    let line = line_of(fixture.dir(), "src/main.rs", "// the moment");
    for text in [
        format!("culprit 1: `step` breaks at moment 10 of 14 (src/main.rs:{line}:5)"),
        "the condition counts as false: its evaluation panicked at src/main.rs:".to_owned(),
        "last good moment, 9 (the condition was evaluated".to_owned(),
        "  with the same call stack\n    value 'g' at 8\n".to_owned(),
        "^ at this moment".to_owned(),
        "BISECT_WATCH='step@10;describe' ".to_owned(),
    ] {
        assert!(finished.stdout.contains(&text), "{text}: {finished}");
    }
    assert!(finished.stderr.contains("`step` is true at moment 9 and false at moment 10"), "{finished}");
    // The line for the shell stops at the moment, and describes it.
    let line = finished.stdout.lines().find(|line| line.contains("BISECT_WATCH=")).unwrap();
    let again = run(&mut fixture.shell(line, fixture.dir())).expect_status(113);
    assert!(again.stderr.contains(" probe 10 bad panicked ") && again.stdout.ends_with("step 9\n"), "{again}");
    let replayed = run(&mut fixture.driver(["replay", "--debugger=gdb"])).expect_status(2);
    replayed.expect_message(&["repeat `cargo bisect-opt watch` with `--debugger`"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_moment_in_a_test_is_found_in_one_run() {
    let fixture = Fixture::new("moments");
    let finished = watch(&fixture, &[], "below", &["test", "--test", "steps", "counts_to_a_limit"]).expect_status(0);
    assert_eq!(numbers(&finished), (64, Some(63)), "{finished}");
    let found = only_moment(&finished);
    assert_eq!(found["moment"]["values"][0], "64");
    let line = line_of(fixture.dir(), "tests/steps.rs", "// the moment in a test");
    assert_eq!(found["changes"][0]["line"], line);
    assert_eq!(finished.events_of("end")[0]["runs"], 1, "the main thread of the harness only waits: {finished}");
    assert!(!finished.stderr.contains("cannot be copied"), "{finished}");
    // Moments are counted over the whole process: tests run one after the other, in their order.
    let finished = watch(&fixture, &[], "shared", &["test", "--test", "steps"]).expect_status(0);
    assert_eq!(numbers(&finished), (107, Some(106)), "{finished}");
    assert_eq!(only_moment(&finished)["moment"]["by"], "reruns", "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn threads_and_other_systems_need_runs() {
    let fixture = Fixture::new("moments");
    let finished = watch(&fixture, &[], "step", &["run", "--", "60g9b", "threads"]).expect_status(0);
    assert_eq!(numbers(&finished), (61, Some(60)), "{finished}");
    assert_eq!(only_moment(&finished)["moment"]["by"], "reruns");
    let finished = watch(&fixture, &["--max-runs=3"], "step", &["run", "--", "60g9b", "threads"]).expect_status(5);
    finished.expect_message(&["stopped at --max-runs", "the last moment known to be good is"]);
}

/// Checks that moment 701 of a program is found by runs, because its copies do not get there.
#[track_caller]
fn expect_runs(program: &str, why: &str) {
    let fixture = Fixture::new("moments");
    fixture.write("src/main.rs", program);
    let finished = watch(&fixture, &[], "step", &["run"]).expect_status(0);
    assert_eq!(numbers(&finished), (701, Some(700)), "{finished}");
    finished.expect_message(&[&format!("run again for each moment: {why}")]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_main_thread_that_goes_on_needs_runs() {
    // The copies are made of the other thread, which ends before the first bad moment.
    let program = "
        fn pass(n: u32) { bisect_rt::bisect_watch!(\"step\", n <= 700); }
        fn main() {
            std::thread::spawn(|| (1..=600).for_each(pass)).join().unwrap();
            (601..=1100).for_each(pass);
        }";
    expect_runs(program, "its main thread goes on between its moments");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_checkpoint_that_was_killed_needs_runs() {
    let program = "
        use std::{fs, os::unix::process::parent_id, process::{self, Command}};
        /// Kills the other children of the supervisor, if there is one: it is the same program.
        fn kill_others() {
            let name = |id: u32| fs::read_to_string(format!(\"/proc/{id}/comm\")).unwrap();
            if name(parent_id()) != name(process::id()) { return; }
            let parent = format!(\"PPid:\\t{}\\n\", parent_id());
            let ids = fs::read_dir(\"/proc\").unwrap().filter_map(|entry| entry.unwrap().file_name().into_string().ok());
            let is_child = |id: &String| {
                fs::read_to_string(format!(\"/proc/{id}/status\")).is_ok_and(|status| status.contains(&parent))
            };
            for other in ids.filter(|id| *id != process::id().to_string() && is_child(id)) {
                Command::new(\"kill\").args([\"-9\", &other]).status().unwrap();
            }
        }
        fn main() {
            for n in 1..=1100 {
                if n == 600 { kill_others(); }
                bisect_rt::bisect_watch!(\"step\", n <= 700);
            }
        }";
    expect_runs(program, "the checkpoint ended with signal 9");
}

#[test]
#[ignore = "slow: CI runs it"]
fn conditions_that_change_more_than_once_or_were_never_true() {
    let fixture = Fixture::new("moments");
    let finished = watch(&fixture, &[], "step", &["run", "--", "3b20g30b"]).expect_status(0);
    assert_eq!(numbers(&finished), (24, Some(23)), "{finished}");
    assert_eq!(only_moment(&finished)["moment"]["was_false_before"], true);
    let finished = watch(&fixture, &[], "step", &["run", "--", "5b"]).expect_status(0);
    assert_eq!(numbers(&finished), (1, None), "{finished}");
    assert!(only_moment(&finished)["moment"]["values"][0] == "value 'b' at 0");
    let finished = watch(&fixture, &[], "step", &["run", "--", "5g"]).expect_status(1);
    finished.expect_message(&["`step` is true at moment 5, the last one"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_condition_that_crashes_is_bad() {
    let fixture = Fixture::new("moments");
    for options in [&[][..], &["--rerun"]] {
        let finished = watch(&fixture, options, "step", &["run", "--", "37gc9b"]).expect_status(0);
        assert_eq!(numbers(&finished), (38, Some(37)), "{finished}");
        assert_eq!(only_moment(&finished)["moment"]["failure"], "ended the process with signal 6");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_program_that_never_ends_is_searched_up_to_the_time_limit() {
    let fixture = Fixture::new("moments");
    for options in [&["--timeout=2s"][..], &["--timeout=2s", "--rerun"]] {
        // It hangs after a moment that the way forward does not evaluate: the last one before was number 32.
        let finished = watch(&fixture, options, "step", &["run", "--", "34g10b", "hang"]).expect_status(0);
        assert_eq!(numbers(&finished), (35, Some(34)), "{finished}");
        finished.expect_message(&["did not end by itself (timeout); moments after number 44 are not searched"]);
        // The condition itself has no end.
        let finished = watch(&fixture, options, "step", &["run", "--", "3gh"]).expect_status(0);
        assert_eq!(numbers(&finished), (4, Some(3)), "{finished}");
        let failure = &only_moment(&finished)["moment"]["failure"];
        assert_eq!(failure, "ended the process with SIGTERM before its value was known", "{finished}");
        let finished = watch(&fixture, options, "step", &["run", "--", "9g", "hang"]).expect_status(1);
        finished.expect_message(&["`step` is true at moment 9, the last one before the program was ended"]);
    }
}

#[test]
fn what_cannot_be_searched_is_said() {
    let fixture = Fixture::new("moments");
    for (name, words, status, facts) in [
        ("stpe", &["run", "--", "5g"][..], 3, &["no moment of `stpe`", "did you mean `step`?"][..]),
        (
            "unheard",
            &["run", "--", "5g"],
            3,
            &["and does the program get there?; it passes moments of `other` and `step`"],
        ),
        ("a;b", &["run"], 2, &["is not the name of a condition"]),
        ("step", &["build"], 2, &["run", "test", "exec"]),
        ("step", &["run", "--no-such-option"], 2, &["have no option `--no-such-option`"]),
        ("step", &["exec"], 2, &["a command is missing"]),
        ("step", &["exec", "true"], 3, &["reported nothing about `step`"]),
    ] {
        watch(&fixture, &[], name, words).expect_status(status).expect_message(facts);
    }
    let program = fixture.target_dir().join("bisect-opt/debug/moments");
    let mut started = fixture.shell("exec \"$PROGRAM\" g", fixture.dir());
    let refused = run(started.env("PROGRAM", &program).env("BISECT_WATCH", "step@0")).expect_status(2);
    refused.expect_message(&["counts from 1; set it to NAME or NAME@MOMENT, or unset it"]);
}

#[test]
fn a_program_that_takes_another_course_each_time_is_inconsistent() {
    let fixture = Fixture::new("moments");
    let program = fixture.target_dir().join("bisect-opt/debug/moments");
    let _ = watch(&fixture, &[], "step", &["run", "--", "g"]).expect_status(1);
    let script = "n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n; if [ $n = 0 ]; then s=20g20b; else s=3g; fi; exec $0 $s";
    let words = ["exec", "sh", "-c", script, program.to_str().unwrap()];
    let finished = watch(&fixture, &["--rerun"], "step", &words).expect_status(4);
    finished.expect_message(&["a run ended after 3 moments, and another one has reached", "fix the seeds"]);
    // Two programs have moments of the same name.
    let script = "$0 9g; $0 9g";
    let words = ["exec", "sh", "-c", script, program.to_str().unwrap()];
    watch(&fixture, &[], "step", &words).expect_status(3).expect_message(&["2 processes of the target pass moments"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_run_that_differs_from_an_earlier_one_is_no_evidence() {
    let fixture = Fixture::new("moments");
    let program = fixture.target_dir().join("bisect-opt/debug/moments");
    let _ = watch(&fixture, &[], "step", &["run", "--", "g"]).expect_status(1);
    for (first, later, status, fact) in [
        ("\"$0\" b", "\"$0\" g", 4, "`step` was false at moment 1, and true when it was repeated"),
        ("\"$0\" b", "\"$0\"", 4, "moment 1 was reached once, and not when the run was repeated"),
        ("\"$0\" 2g9b", "exit 7", 3, "a run did not evaluate moment 3: it ended with exit status 7"),
    ] {
        let script = format!("if mkdir begun 2>&-; then {first}; else {later}; fi");
        let words = ["exec", "sh", "-c", &script, program.to_str().unwrap()];
        watch(&fixture, &["--rerun"], "step", &words).expect_status(status).expect_message(&[fact]);
        fs::remove_dir(fixture.dir().join("begun")).unwrap();
    }
}

#[test]
fn a_file_that_is_read_meanwhile_is_read_again() {
    let fixture = Fixture::new("moments");
    let lines = |good: usize, bad: usize| format!("{}{}", "good\n".repeat(good), "bad\n".repeat(bad));
    fixture.write("values", &lines(345, 200));
    let finished = watch(&fixture, &[], "step", &["run", "--", "@values"]).expect_status(0);
    assert_eq!(numbers(&finished), (346, Some(345)), "{finished}");
    assert_eq!(finished.events_of("end")[0]["runs"], 1);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_file_that_is_written_meanwhile_is_written_once() {
    let fixture = Fixture::new("moments");
    let finished = watch(&fixture, &[], "step", &["run", "--", "20gb4b", "file"]).expect_status(0);
    assert_eq!(numbers(&finished), (21, Some(20)), "{finished}");
    let written = fs::read_to_string(fixture.dir().join("written")).unwrap();
    assert_eq!(written.lines().count(), 25, "{written}");
    let log = fs::read_to_string(fixture.dir().join("bisect.out/runs/0001.log")).unwrap();
    assert_eq!(log.matches("step 20\n").count(), 1, "{log}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_debugger_stops_in_the_function_of_the_moment() {
    let fixture = Fixture::new("moments");
    if Command::new("gdb").arg("--version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "CI must have gdb");
        return;
    }
    for (name, words, function) in [
        ("step", &["run", "--", "300g100b"][..], "moments::pass "),
        ("below", &["test", "--test", "steps", "counts_to_a_limit"], "steps::count "),
    ] {
        let mut command = fixture.driver(["watch", "-q", "--debugger=gdb -batch", name]);
        command.args(words).env("DEBUGINFOD_URLS", "");
        let finished = run(&mut command).expect_status(0);
        assert!(finished.stdout.contains("received signal SIGTRAP"), "{finished}");
        let frame = finished.stdout.lines().rfind(|line| line.starts_with('#')).unwrap_or_default();
        assert!(frame.contains(&format!(" in {function}")), "{frame}: {finished}");
        let line = finished.stdout.lines().rfind(|line| line.contains("// the moment")).unwrap_or_default();
        assert!(line.contains("bisect_watch!"), "{finished}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn without_a_debugger_the_command_line_is_shown() {
    let fixture = Fixture::new("moments");
    let scratch = Scratch::new();
    // A path without gdb, in which the shell is found.
    std::os::unix::fs::symlink("/bin/sh", scratch.dir().join("sh")).unwrap();
    let program = fixture.target_dir().join("bisect-opt/debug/moments");
    let _ = watch(&fixture, &[], "step", &["run", "--", "g"]).expect_status(1);
    let mut command =
        fixture.driver(["watch", "-q", "--debugger=lldb", "step", "exec", program.to_str().unwrap(), "3g3b"]);
    let finished = run(command.env("PATH", scratch.dir())).expect_status(3);
    finished.expect_message(&["lldb cannot be started: it is not installed", "'step@4;stop' lldb -o run "]);
}
