//! Toggles that are fixed while they are compiled: what they decide, how they are listed, and what is said about them.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::fixture::{Flavour, Program, Run, temporary};

const VARIABLE: &str = "BISECT_FIX";

/// All toggles of the program, in the order in which it decides.
const ALL: [&str; 8] = ["site", "keyed", "called", "stack", "gate", "gate-by-stack", "built", "attributed"];

/// The tests build the same program in different ways, one after the other.
static ONE_BUILD: Mutex<()> = Mutex::new(());

fn one_build() -> MutexGuard<'static, ()> {
    ONE_BUILD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Builds the program with this value of the variable, and counts the packages that were compiled for it.
fn build(flavour: Flavour, value: Option<&str>) -> (PathBuf, usize) {
    let mut cargo = flavour.cargo(&["build", "--package", "fixed", "--message-format=json"]);
    cargo.envs(value.map(|value| (VARIABLE, value)));
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let compiled = String::from_utf8(output.stdout).unwrap().matches(r#""fresh":false"#).count();
    (temporary().join(format!("{flavour:?}/debug/fixed")), compiled)
}

/// Returns the decisions of a run, each once.
fn decisions(run: &Run) -> Vec<(&str, &str)> {
    let lines = run.stdout.lines().filter(|line| !line.starts_with("count of") && *line != "the body of the gate");
    let decisions: Vec<_> = lines.map(|line| line.split_once(": ").unwrap()).collect();
    let (first, others) = decisions.split_at(ALL.len());
    assert_eq!((first, first), others.split_at(ALL.len()), "the same three times");
    assert_eq!(first.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ALL);
    first.to_vec()
}

/// Returns the last column of each toggle in the list, by its name.
fn listed(run: &Run) -> Vec<(&str, &str)> {
    run.stdout.lines().map(|line| (line.split('\t').next().unwrap(), line.rsplit('\t').next().unwrap())).collect()
}

/// Returns the setting of all toggles.
fn all(state: &str) -> String {
    ALL.map(|name| format!("{name}={state}")).join(";")
}

#[test]
fn every_kind_is_fixed_on_or_off() {
    let _guard = one_build();
    for state in ["on", "off"] {
        let (program, _) = build(Flavour::Plain, Some(&all(state)));
        let run = Program::new(&program).run();
        assert!(decisions(&run).iter().all(|(_, decision)| *decision == state), "{}", run.stdout);
        assert!(!run.stdout.contains("the body of the gate"), "a fixed gate does not run its body");
        assert!(!run.stdout.contains("count of"), "nothing is decided, so nothing is counted");

        let run = Program::new(&program).pattern("y").run();
        assert!(decisions(&run).iter().all(|(_, decision)| *decision == state), "{}", run.stdout);
        assert_eq!((run.reports.as_str(), run.stderr.as_str()), ("", ""), "a pattern for all selects what can be");

        let list = Program::new(&program).env("BISECT_TOGGLES", "1").run();
        let fixed = format!("fixed {state}");
        assert!(listed(&list).iter().all(|(_, last)| *last == fixed), "{}", list.stdout);
        assert_eq!((list.stdout.lines().count(), list.stderr.as_str()), (ALL.len(), ""));
        let gate = list.stdout.lines().find(|line| line.starts_with("gate\t")).unwrap();
        assert_eq!(gate, format!("gate\tsite\tfixed/src/main.rs:32:1\tbody\tfixed {state}"));
        let built = list.stdout.lines().find(|line| line.starts_with("built\t")).unwrap();
        assert!(built.ends_with(&format!("\tfixed@1.2.3\t{state}\tfixed {state}")), "{built}");
    }
}

#[test]
fn only_what_is_named_is_fixed() {
    let _guard = one_build();
    build(Flavour::Plain, Some("site=on"));
    let (program, compiled) = build(Flavour::Plain, Some("stack=off;gate=on"));
    assert_eq!(compiled, 1, "the package with toggles, and nothing else");
    assert_eq!(build(Flavour::Plain, Some("stack=off;gate=on")).1, 0);
    let run = Program::new(&program).run();
    let expected = ["on", "on", "on", "off", "on", "on", "on", "on"];
    assert_eq!(decisions(&run), ALL.into_iter().zip(expected).collect::<Vec<_>>());

    // The others are searched as always.
    let run = Program::new(&program).pattern("n").run();
    let expected = ["off", "off", "off", "off", "on", "off", "on", "on"];
    assert_eq!(decisions(&run), ALL.into_iter().zip(expected).collect::<Vec<_>>());
    assert_eq!(run.reports.lines().count(), 4, "{}", run.reports);
    let list = Program::new(&program).env("BISECT_TOGGLES", "1").run();
    let fixed: Vec<_> = listed(&list).into_iter().filter(|(_, last)| last.starts_with("fixed")).collect();
    assert_eq!(fixed, [("gate", "fixed on"), ("stack", "fixed off")]);

    let (program, compiled) = build(Flavour::Plain, None);
    assert_eq!(compiled, 1);
    let run = Program::new(&program).run();
    let expected = ["on", "on", "on", "on", "off", "on", "on", "on"];
    assert_eq!(decisions(&run), ALL.into_iter().zip(expected).collect::<Vec<_>>(), "the defaults");
    let (program, _) = build(Flavour::Plain, Some(""));
    assert_eq!(Program::new(&program).run().stdout, run.stdout, "an empty value fixes nothing");
}

#[test]
fn a_pattern_that_names_a_fixed_toggle_gets_a_message() {
    let _guard = one_build();
    let (program, _) = build(Flavour::Plain, Some("stack=off;built=off"));
    for (pattern, name) in [("stack=on", "stack"), ("stack=y;site=off", "stack"), ("built=on", "built")] {
        for run in [Program::new(&program).pattern(pattern).run(), {
            Program::new(&program).pattern(pattern).report_to_stderr().run()
        }] {
            let message = format!("bisect-rt: BISECT_PATTERN: \"{name}\" is fixed off in this build: to select it, ");
            assert!(run.stderr.starts_with(&message) && run.stderr.contains(&format!("{name}=off")), "{}", run.stderr);
            assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
            assert!(decisions(&run).contains(&(name, "off")), "{}", run.stdout);
        }
    }
    let run = Program::new(&program).pattern("stack=off;built=off;gate=on").report_to_stderr().run();
    assert_eq!(run.stderr, "", "as the pattern asks");
}

#[test]
fn a_name_that_no_toggle_has_is_named_by_the_list() {
    let _guard = one_build();
    let (program, _) = build(Flavour::Plain, Some("sitt=off;quite-another=on;gate=on"));
    let list = Program::new(&program).env("BISECT_TOGGLES", "1").run();
    assert_eq!(
        list.stderr.lines().collect::<Vec<_>>(),
        [
            r#"bisect-rt: BISECT_FIX: no toggle is called "sitt"; did you mean "site"?"#,
            r#"bisect-rt: BISECT_FIX: no toggle is called "quite-another"; BISECT_TOGGLES=1 lists those of this program"#,
        ]
    );
    assert_eq!(list.stdout.lines().count(), ALL.len());
    assert_eq!(Program::new(&program).run().stderr, "", "programs for users say nothing");
}

#[test]
#[ignore = "slow: CI runs it"]
fn what_is_fixed_stays_so_when_all_is_compiled_out() {
    let _guard = one_build();
    for state in ["on", "off"] {
        let (program, compiled) = build(Flavour::Off, Some(&all(state)));
        assert!(compiled >= 1, "the variable is watched there, too");
        let run = Program::new(&program).pattern("y").run();
        assert!(decisions(&run).iter().all(|(_, decision)| *decision == state), "{}", run.stdout);
        assert!(!run.stdout.contains("count of"), "the list of counts is empty");
    }
    let (program, _) = build(Flavour::Off, None);
    let run = Program::new(&program).run();
    let expected = ["on", "on", "on", "on", "off", "on", "on", "on"];
    assert_eq!(decisions(&run), ALL.into_iter().zip(expected).collect::<Vec<_>>(), "the defaults");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_malformed_value_is_a_compile_error_that_names_the_byte() {
    for flavour in [Flavour::Plain, Flavour::Off] {
        let mut cargo = flavour.cargo(&["check", "--package", "fixed"]);
        let output = cargo.env(VARIABLE, "site=on;stack=of").output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let error = r#"error: BISECT_FIX="site=on;stack=of": expected `on` or `off` at byte 14; set it to name=off"#;
        assert!(!output.status.success() && stderr.contains(error), "{stderr}");
    }
}

#[test]
fn what_a_setting_changes_is_counted() {
    let _guard = one_build();
    let (program, _) = build(Flavour::Plain, None);
    let count = |pattern: &str| {
        let run = Program::new(&program).pattern(pattern).run();
        let lines = run.stdout.lines().filter_map(|line| line.strip_prefix("count of "));
        lines.filter(|line| !line.ends_with(": 0 0")).map(str::to_owned).collect::<Vec<_>>()
    };
    let expected = [
        "called at fixed/src/main.rs:19:5: 0 3",
        "gate at fixed/src/main.rs:32:1: 0 3",
        "gate-by-stack at fixed/src/main.rs:38:1: 0 3",
        "keyed at fixed/src/main.rs:14:5: 0 3",
        "site at fixed/src/main.rs:10:5: 0 3",
        "stack at fixed/src/main.rs:26:1: 0 3",
    ];
    assert_eq!(count("called=off;gate=off;gate-by-stack=off;keyed=off;site=off;stack=off"), expected);
    // For toggles that are on by default, this is no change.
    let expected = ["gate at fixed/src/main.rs:32:1: 3 0", "gate-by-stack at fixed/src/main.rs:38:1: 3 0"];
    assert_eq!(count("called=on;gate=on;gate-by-stack=on;keyed=on;site=on;stack=on"), expected);
    assert_eq!(count("site=off"), ["site at fixed/src/main.rs:10:5: 0 3"]);
    for searched in ["", "y", "n", "site=n;gate=y;stack=vn"] {
        assert_eq!(count(searched), [""; 0], "{searched}: a search counts nothing");
    }
    let all = Program::new(&program).run().stdout;
    assert_eq!(all.lines().filter(|line| line.ends_with(": 0 0")).count(), 6, "all that decide at run time are listed");
}

/// Returns the counts of the toggles that a setting disables, after a command.
fn disabled(program: &Path, command: &str) -> Vec<u64> {
    let run = Program::new(program).args(&[command]).pattern("site=off;keyed=off;called=off;stack=off").run();
    let lines: Vec<_> = run.stdout.lines().filter(|line| !line.contains("gate")).collect();
    let numbers = lines.iter().map(|line| line.rsplit_once(": 0 ").expect(line).1.parse().unwrap());
    assert_eq!(lines.len(), 4, "{}", run.stdout);
    numbers.collect()
}

#[test]
fn no_decision_of_eight_threads_is_lost() {
    let _guard = one_build();
    let (program, _) = build(Flavour::Plain, None);
    assert_eq!(disabled(&program, "threads"), [80_000; 4]);
}

#[test]
#[cfg(unix)]
fn decisions_in_signal_handlers_are_counted() {
    let _guard = one_build();
    let (program, _) = build(Flavour::Plain, None);
    let counts = disabled(&program, "handler");
    // The timer's signals are as many as the time allows; those that the program raises are 1000.
    assert!(counts.iter().all(|count| *count >= 101_000 && *count == counts[0]), "{counts:?}");
}
