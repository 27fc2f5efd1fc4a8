//! Tests of reports: their form, their number, and their IDs.

use std::{collections::BTreeSet, fs};

use bisect_core::{ChangeId, Field, marker};

use crate::harness::{Ran, all_changes, bisect_rustc, changes, compile, only, without};

const PROGRAM: &str = "
pub fn outer(x: u32) -> u32 {
    inner(x).wrapping_add(1)
}
fn inner(x: u32) -> u32 { [x, 2].iter().map(|y| y * 3).sum() }
macro_rules! function { ($name:ident) => { pub fn $name(x: i32) -> i32 { x / 4 } } }
function!(quarter);
mod nested { impl super::S<u8> { pub fn get(self) -> u8 { self.0 } } impl super::S<u16> { pub fn get(self) -> u16 { self.0 } } }
pub struct S<T>(T);
";

fn ids(reports: &str) -> Vec<ChangeId> {
    reports.lines().map(|line| marker::find(line.as_bytes()).expect(line).0).collect()
}

#[test]
fn a_report_for_people_has_the_place_the_gate_and_the_function() {
    let compiled = compile(PROGRAM, "obj", "optimize=vy;halve=vy", &[]);
    let text: Vec<_> = compiled
        .stderr
        .lines()
        .map(|line| {
            let (_, before, after) = marker::cut(line.as_bytes()).expect(line);
            assert!(after.is_empty(), "{line}");
            str::from_utf8(before).unwrap()
        })
        .collect();
    for lines in [
        ["<anon>:2:1 optimize", "  ledger::outer at <anon>:2:1"],
        ["<anon>:5:45 optimize", "  ledger::inner::{closure#0} at <anon>:5:45"],
        // The place of code from a macro is the call of the macro.
        ["<anon>:7:1 optimize", "  ledger::quarter at <anon>:7:1"],
        ["<anon>:7:1 halve", "  ledger::quarter at <anon>:7:1"],
        ["<anon>:8:34 optimize", "  ledger::nested::<impl ledger::S<u8>>::get at <anon>:8:34"],
        ["<anon>:8:91 optimize", "  ledger::nested::<impl ledger::S<u16>>::get at <anon>:8:91"],
    ] {
        assert!(text.windows(2).any(|window| window == lines), "{lines:?} in\n{}", compiled.stderr);
    }
}

#[test]
fn a_report_without_v_is_the_marker() {
    let compiled = compile(PROGRAM, "obj", "y", &[]);
    assert!(!compiled.stderr.is_empty());
    for line in compiled.stderr.lines() {
        assert_eq!(line.len(), marker::LEN, "{line}");
    }
}

#[test]
fn a_change_is_reported_once_and_only_if_the_pattern_selects_it() {
    for args in [&[] as &[_], &["-Zthreads=4"]] {
        let all = ids(&compile(PROGRAM, "obj", "y", args).stderr);
        let set: BTreeSet<_> = all.iter().copied().collect();
        assert_eq!(set.len(), all.len());
        assert!(set.len() > 6);
        let (&first, &last) = (set.first().unwrap(), set.last().unwrap());
        for (id, pattern) in [(first, only(first)), (last, format!("!{}", only(last)))] {
            assert_eq!(ids(&compile(PROGRAM, "obj", &pattern, args).stderr), [id], "{pattern}");
        }
    }
    let one = all_changes(PROGRAM, "optimize", &[])["ledger::inner"];
    assert!(!ids(&compile(PROGRAM, "obj", &without(one), &[]).stderr).contains(&one));
    for silent in ["optimize=off", "optimize=on", "optimize=off;halve=on", "other=y"] {
        assert_eq!(compile(PROGRAM, "obj", silent, &[]).stderr, "", "{silent}");
    }
}

#[test]
fn reports_are_appended_to_an_existing_file() {
    let folder = tempfile::tempdir().unwrap();
    let (reports, missing) = (folder.path().join("reports"), folder.path().join("missing"));
    fs::write(&reports, "before\n").unwrap();
    let report_to = |file| {
        let mut command = bisect_rustc();
        command.args(["-", "-O", "--crate-type=lib", "--emit=obj", "-o-", "-Awarnings"]);
        Ran::with_input(command.env("BISECT_PATTERN", "y").env("BISECT_REPORT", file), PROGRAM).successful().stderr
    };
    assert_eq!(report_to(&reports), "");
    let text = fs::read_to_string(&reports).unwrap();
    let expected = ids(text.strip_prefix("before\n").unwrap());
    assert!(!expected.is_empty());

    let stderr = report_to(&missing);
    let (warning, rest) = stderr.split_once('\n').unwrap();
    assert!(warning.starts_with("bisect-rustc: BISECT_REPORT=") && warning.ends_with("go to standard error"));
    assert_eq!(ids(rest), expected);
    assert!(!missing.exists());
}

#[test]
fn reports_that_cannot_be_written_are_announced_once() {
    let mut command = bisect_rustc();
    command.args(["-", "-O", "--crate-type=lib", "--emit=obj", "-o-", "-Awarnings"]);
    command.env("BISECT_PATTERN", "y").env("BISECT_REPORT", "/dev/full");
    let stderr = Ran::with_input(&mut command, PROGRAM).successful().stderr;
    assert_eq!(stderr, "bisect-rustc: BISECT_REPORT: no storage space: reports are lost\n");
}

#[test]
fn nothing_is_reported_but_code_of_the_program() {
    assert_eq!(compile(PROGRAM, "metadata", "y", &[]).stderr, "");
    let compiled = |args: &[&str]| {
        let mut command = bisect_rustc();
        command.args(["-", "-O", "--emit=obj", "-o-", "-Awarnings"]).args(args).env("BISECT_PATTERN", "y");
        Ran::with_input(&mut command, "fn main() {}").successful().stderr
    };
    assert_ne!(compiled(&["--crate-name=program"]), "");
    for other in [&["--crate-name=build_script_build"] as &[_], &["--crate-name=x", "--crate-type=proc-macro"]] {
        assert_eq!(compiled(other), "", "{other:?}");
    }
}

#[test]
fn a_compilation_that_fails_later_has_reported() {
    let source = "pub fn fails<T>() { const { assert!(size_of::<T>() > 4) } } fn main() { fails::<u8>() }";
    let mut command = bisect_rustc();
    command.args(["-", "-O", "--crate-name=ledger", "--emit=obj", "-o-"]).env("BISECT_PATTERN", "vy");
    let failed = Ran::with_input(&mut command, source);
    assert_eq!(failed.code, Some(1));
    assert!(changes(&failed.stderr).contains_key("ledger::main"), "{}", failed.stderr);
}

#[test]
fn the_same_source_has_the_same_ids_wherever_and_however_it_is_compiled() {
    let [one, two] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let mut seen = Vec::new();
    for (folder, remapped, args) in [
        (&one, false, &["-Cmetadata=a", "-O"] as &[&str]),
        (&two, true, &["-Cmetadata=b", "-O", "-Ccodegen-units=1"]),
        (&two, false, &["-Cmetadata=b", "-Cextra-filename=-c", "-O", "-g"]),
    ] {
        let file = folder.path().join("lib.rs");
        fs::write(&file, PROGRAM).unwrap();
        let mut command = bisect_rustc();
        command.args(["--crate-name=ledger", "--crate-type=lib", "--emit=obj", "--edition=2024", "-Awarnings"]);
        if remapped {
            command.arg(format!("--remap-path-prefix={}=/x", folder.path().display()));
        }
        let command = command.arg(&file).args(args).current_dir(folder).env("BISECT_PATTERN", "optimize=vy;halve=vy");
        let ran = Ran::of(command);
        let shown = if remapped { "/x/lib.rs".into() } else { file.display().to_string() };
        assert!(ran.stderr.contains(&format!("{shown}:2:1 optimize")), "{}", ran.stderr);
        seen.push(changes(&ran.stderr));
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0], seen[2]);
    assert!(seen[0].contains_key("ledger::quarter"));
}

#[test]
fn an_id_ends_in_the_package_that_is_compiled() {
    let compiled = |package: &[(&str, &str)]| {
        let mut command = bisect_rustc();
        command.args(["-", "-O", "--crate-name=ledger", "--crate-type=lib", "--emit=obj", "-o-", "-Awarnings"]);
        let command = command.envs(package.iter().copied()).env("BISECT_PATTERN", "y");
        ids(&Ran::with_input(command, PROGRAM).successful().stderr)
    };
    let low = |fields: &[Field<'_>]| ChangeId::of(fields).0 & 0xffff;
    let alone = compiled(&[]);
    let packaged = compiled(&[("CARGO_PKG_NAME", "my-ledger"), ("CARGO_PKG_VERSION", "1.2.3")]);
    assert!(alone.iter().all(|id| id.0 & 0xffff == low(&[Field::Str("ledger")])));
    assert!(packaged.iter().all(|id| id.0 & 0xffff == low(&[Field::Str("my-ledger"), Field::Str("1.2.3")])));
    let above = |ids: &[ChangeId]| ids.iter().map(|id| id.0 >> 16).collect::<Vec<_>>();
    assert_eq!(above(&alone), above(&packaged));
}

#[test]
fn ids_are_the_same_in_every_release() {
    // Other IDs would break every pattern that a user has written down.
    let changes = all_changes("pub fn f(x: i32) -> i32 { x / 2 }", "optimize", &[]);
    assert_eq!(
        changes["ledger::f"],
        ChangeId::of(&[Field::Str("optimize"), Field::Str("ledger"), Field::Str("::f")])
            .in_crate(ChangeId::of(&[Field::Str("ledger")]))
    );
}
