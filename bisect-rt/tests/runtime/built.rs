//! Build-time changes: only their crate is rebuilt, and a program that does not match the pattern refuses to run.

use std::path::PathBuf;

use crate::fixture::{Flavour, Program, ids, temporary, texts};

const VARIABLE: &str = "BISECT_BUILD_built_1_2_3";

/// Builds the program with a value of its package's variable, and counts the packages that were compiled for it.
fn build(value: Option<&str>) -> (PathBuf, usize) {
    let mut cargo = Flavour::Plain.cargo(&["build", "--package", "built", "--message-format=json"]);
    match value {
        Some(value) => cargo.env(VARIABLE, value),
        None => cargo.env_remove(VARIABLE),
    };
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let compiled = String::from_utf8(output.stdout).unwrap().matches(r#""fresh":false"#).count();
    (temporary().join("Plain/debug/built"), compiled)
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_change_of_the_variable_rebuilds_its_package() {
    build(Some("off"));
    let (program, compiled) = build(Some("on"));
    assert_eq!(compiled, 1, "the package, and nothing else");
    assert_eq!(Program::new(&program).run().stdout, "built: true\n");
    assert_eq!(build(Some("on")).1, 0);

    let all = Program::new(&program).pattern("built=vy;attributed=y").run();
    assert_eq!(all.stdout, "built: true\n");
    let lines = all.reports.lines();
    assert_eq!(lines.clone().count(), 2);
    assert!(lines.clone().any(|line| line.starts_with("built/src/main.rs:6:21 built [bisect-match 0x")), "{all:?}");

    let (program, compiled) = build(Some("on;built=built/src/main.rs:6:21"));
    assert_eq!(compiled, 1);
    let run = Program::new(&program).pattern("built=vn;attributed=y").run();
    assert_eq!(run.stdout, "built: false\n");
    let id = texts(&run.reports).into_iter().find(|(_, text)| text.ends_with(" built")).unwrap().0;

    let run = Program::new(&program).pattern(&format!("built=x{id:016x}")).end();
    assert_eq!((run.status.code(), run.stdout.as_str()), (Some(2), ""));
    assert!(run.stderr.contains("built at built/src/main.rs:6:21 is compiled as off, but asked to be on"), "{run:?}");
    assert_eq!(ids(&run.reports), [id], "what is selected is reported all the same");

    let run = Program::new(&program).pattern("built=off").run();
    assert_eq!((run.stdout.as_str(), run.reports.as_str()), ("built: false\n", ""));
    assert_eq!(Program::new(&program).pattern("built=on").end().status.code(), Some(2));
    assert_eq!(Program::new(&program).pattern("y").run().reports, "", "only by its name");

    let list = Program::new(&program).env("BISECT_TOGGLES", "1").run().stdout;
    let columns: Vec<Vec<_>> = list.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!((columns[0][0], columns[0][5], columns[0][6]), ("attributed", "built@1.2.3", "on"));
    assert_eq!((columns[1][0], columns[1][5], columns[1][6]), ("built", "built@1.2.3", "off"));
    assert_eq!(columns[1][4], format!("{id:#018x}"));
    assert_eq!(columns[0][4][14..], columns[1][4][14..], "the crate's bits");

    let (program, _) = build(None);
    assert_eq!(Program::new(&program).run().stdout, "built: true\n");
}

#[test]
fn a_malformed_variable_is_a_compile_error() {
    let mut cargo = Flavour::Plain.cargo(&["check", "--package", "built"]);
    let output = cargo.env(VARIABLE, "yes").output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && stderr.contains("neither `on` nor `off`"), "{stderr}");
}
