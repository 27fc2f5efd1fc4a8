//! The modes inactive, active, and compiled out; and the values of `BISECT_PATTERN`.

use std::io::Write;

use crate::fixture::{Flavour, Program, probe};

const ALL: [&str; 5] = ["site", "gate", "keyed", "called", "stacks"];

#[test]
fn nobody_bisects() {
    for program in [probe(Flavour::Plain, &ALL), probe(Flavour::Plain, &ALL).pattern("")] {
        let run = program.run();
        assert_eq!(run.decisions()[..3], ["site: on", "the body of the gate", "gate: off"]);
        assert!(run.decisions()[3..].iter().all(|line| line.ends_with(": on")), "{}", run.stdout);
        assert_eq!((run.reports, run.stderr), (String::new(), String::new()));
    }
}

#[test]
fn all_are_asked_for() {
    for (pattern, expected) in [("y", ": on"), ("n", ": off"), ("-y", ": off"), ("!-y", ": on")] {
        let run = probe(Flavour::Plain, &ALL).pattern(pattern).run();
        assert_eq!(run.decisions().len(), 17, "without the body of the gate");
        assert!(run.decisions().iter().all(|line| line.ends_with(expected)), "{pattern}: {}", run.stdout);
        let selects = pattern == "y" || pattern == "n";
        assert_eq!(run.reports.lines().count(), if selects { 15 } else { 0 }, "{pattern}");
    }
}

#[test]
fn toggles_are_asked_for_by_their_names() {
    let run = probe(Flavour::Plain, &ALL).pattern("gate=y;called=n;other=y").run();
    assert_eq!(run.decisions()[..2], ["site: on", "gate: on"]);
    assert_eq!(run.decisions()[6..8], ["called 1: off", "called 2: off"]);
    assert!(run.decisions()[8..].iter().all(|line| line.ends_with(": on")), "{}", run.stdout);
    assert_eq!(run.reports.lines().count(), 3);
}

#[test]
fn on_and_off_are_silent() {
    let run = probe(Flavour::Plain, &ALL).pattern("site=off;gate=on;keyed=off;called=off;stack=off").run();
    assert_eq!(run.decisions()[..2], ["site: off", "gate: on"]);
    assert!(run.decisions()[2..].iter().all(|line| line.ends_with(": off")), "{}", run.stdout);
    assert_eq!((run.reports, run.stderr), (String::new(), String::new()));
}

#[test]
fn part_of_the_changes() {
    let all = probe(Flavour::Plain, &["keyed"]).pattern("y").run();
    let ids = crate::fixture::ids(&all.reports);
    let one = format!("x{:016x}", ids[2]);
    let run = probe(Flavour::Plain, &["keyed"]).pattern(&one).run();
    assert_eq!(run.decisions(), ["keyed 0: off", "keyed 1: off", "keyed 2: on", "keyed 3: off"]);
    assert_eq!(crate::fixture::ids(&run.reports), [ids[2]]);
    let run = probe(Flavour::Plain, &["keyed"]).pattern(&format!("!{one}")).run();
    assert_eq!(run.decisions(), ["keyed 0: on", "keyed 1: on", "keyed 2: off", "keyed 3: on"]);
    assert_eq!(crate::fixture::ids(&run.reports), [ids[2]], "what is selected is reported");
}

#[test]
fn a_malformed_value_stops_the_process_before_main() {
    for (value, complaint) in [
        ("+0-1x", r#"BISECT_PATTERN="+0-1x": unexpected 'x' at byte 4"#),
        ("site=+0-1x", "unexpected 'x' at byte 9"),
        ("site=y;", "`=` and a pattern are missing behind the name at byte 7"),
    ] {
        let run = probe(Flavour::Plain, &ALL).pattern(value).end();
        assert_eq!(run.status.code(), Some(2), "{value}");
        assert_eq!(run.stdout, "", "{value}");
        assert!(run.stderr.starts_with("bisect-rt: ") && run.stderr.contains(complaint), "{}", run.stderr);
        let advice =
            "; set it to PATTERN or to name=PATTERN;other=PATTERN (on and off are patterns there too), or unset it\n";
        assert!(run.stderr.ends_with(advice), "{}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    }
}

#[test]
fn a_name_that_is_no_toggle() {
    let run = probe(Flavour::Plain, &["gate"]).pattern("gat=off;nothing-like-it=y;gate=on").report_to_stderr().run();
    assert_eq!(run.stdout, "gate: on\n");
    assert_eq!(
        run.stderr.lines().collect::<Vec<_>>(),
        [
            r#"bisect-rt: BISECT_PATTERN: no toggle is called "gat"; did you mean "gate"?"#,
            r#"bisect-rt: BISECT_PATTERN: no toggle is called "nothing-like-it"; BISECT_TOGGLES=1 lists those of this program"#,
        ]
    );
    let run = probe(Flavour::Plain, &["gate"]).pattern("gat=off").run();
    assert_eq!(run.stderr, "", "the driver knows what it asks for");
}

#[test]
#[cfg(unix)]
fn an_id_that_no_change_has() {
    let ids = crate::fixture::ids(&probe(Flavour::Plain, &["keyed"]).pattern("y").run().reports);
    let end = |pattern: &str| probe(Flavour::Plain, &["keyed"]).pattern(pattern).report_to_stderr().run().stderr;
    let other = format!("{:016x}", ids[0] ^ 1 << 40);
    for pattern in [format!("vx{other}"), format!("keyed=!x{other}")] {
        let said = end(&pattern);
        assert!(
            said.starts_with(&format!("bisect-rt: BISECT_PATTERN: no change with the ID 0x{other} was met")),
            "{said}"
        );
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    for pattern in [format!("x{other}+x{:016x}", ids[0]), format!("-x{other}"), "x0000-x0000".to_owned()] {
        let said = end(&pattern);
        assert!(!said.contains("bisect-rt"), "{pattern}: {said}");
    }
    let run = probe(Flavour::Plain, &["keyed"]).pattern(&format!("x{other}")).run();
    assert_eq!(run.stderr, "", "the driver knows what it asks for");
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "slow: CI runs it"]
fn a_library_does_not_end_the_program_that_loads_it() {
    let loader = Flavour::Dynamic.program("loader", "loader");
    // This builds the library.
    let libraries = crate::fixture::libraries(&Flavour::Dynamic.program("host", "host"));
    let library = loader.with_file_name("libplugin.so");
    let load = || Program::new(&loader).args(&[library.to_str().unwrap()]).env("LD_LIBRARY_PATH", &libraries);
    let run = load().pattern("+0-1x").run();
    assert_eq!(run.stdout, "loaded\n");
    assert!(run.stderr.starts_with("bisect-rt: ") && run.stderr.contains("unexpected 'x' at byte 4"), "{}", run.stderr);
    let rest = "; until then the toggles of a library that was loaded later keep their defaults\n";
    assert!(run.stderr.ends_with(rest), "{}", run.stderr);
    let run = load().env("BISECT_TOGGLES", "1").run();
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("loaded\n", ""));
}

#[test]
fn the_list_of_toggles() {
    let run = probe(Flavour::Plain, &ALL).env("BISECT_TOGGLES", "1").pattern("+0-1x").run();
    let lines: Vec<Vec<_>> = run.stdout.lines().map(|line| line.split('\t').collect()).collect();
    let build = &lines[0];
    assert_eq!(build[..4], ["built", "build", "probe/src/toggles.rs:25:25", "on"]);
    assert!(build[4].starts_with("0x") && build[4].len() == 18, "{build:?}");
    assert_eq!(build[5..], ["probe@1.2.3", "on"]);
    assert_eq!(
        lines[1..],
        [
            ["called", "caller", "probe/src/toggles.rs:21:5", "on"],
            ["gate", "site", "probe/src/toggles.rs:9:1", "body"],
            ["keyed", "site", "probe/src/toggles.rs:16:5", "on"],
            ["site", "site", "probe/src/toggles.rs:6:5", "on"],
            ["stack", "stack", "probe/src/stacks.rs:9:5", "on"],
        ]
    );
    assert_eq!(run.stderr, "");
}

#[test]
#[ignore = "slow: CI runs it"]
fn compiled_out() {
    let run = probe(Flavour::Off, &ALL).pattern("n").run();
    assert_eq!(run.decisions()[..3], ["site: on", "the body of the gate", "gate: off"]);
    assert!(run.decisions()[3..].iter().all(|line| line.ends_with(": on")), "{}", run.stdout);
    assert_eq!((run.reports, run.stderr), (String::new(), String::new()));
    let run = probe(Flavour::Off, &["site"]).env("BISECT_TOGGLES", "1").pattern("no pattern").run();
    assert_eq!(run.stdout, "site: on\n", "nobody reads the variables");
}

#[test]
#[cfg(target_os = "linux")]
fn raised_privileges() {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    let folder = tempfile::tempdir_in(crate::fixture::temporary()).unwrap();
    let path = folder.path().join("probe");
    // Another process makes the copy. If this process had the file open for writing, a child of another test's thread
    // might still have it open, and then it could not be executed.
    let copied = std::process::Command::new("cp").arg(Flavour::Plain.probe()).arg(&path).status();
    assert!(copied.unwrap().success());
    // Started by root, it has the rights of the user `nobody`. The kernel sets its flag although these are fewer.
    let chowned = std::os::unix::fs::chown(&path, Some(65534), None);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4755)).unwrap();
    let run = Program::new(&path).args(&["secure"]).run();
    if chowned.is_err() || run.stdout != "true\n" {
        // Not `eprintln!`: the harness would capture it.
        writeln!(std::io::stderr(), "SKIPPED: no program with raised privileges can be made here ({chowned:?})")
            .expect("standard error is there");
        return;
    }
    let run = Program::new(&path).args(&["site"]).pattern("n").report_to_stderr().run();
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("site: on\n", ""));
    let run = Program::new(&path).args(&["site"]).pattern("no pattern").env("BISECT_TOGGLES", "1").run();
    assert_eq!(run.stdout, "site: on\n");
    let run = Program::new(&path).args(&["variables"]).pattern("n").env("BISECT_UNWINDER", "1").run();
    assert_eq!(run.stdout, "", "programs that it starts do not get them");
}
