//! Tests of the gates of editions as parts of a compilation: its other results stay the same, and unsupported crates
//! are refused.

use std::{collections::BTreeSet, fs};

use crate::{
    edition::{PRELUDE, Workshop, reports},
    harness::{Ran, bisect_rustc, clean, only, rustc},
};

/// A program with blocks and an `if let` that make a difference, and with output that depends on their locations.
const PROGRAM: &str = r#"#![warn(unused)]
use std::panic::{Location, catch_unwind};
struct Noisy;
impl Drop for Noisy { fn drop(&mut self) { println!("dropped") } }
impl Noisy { fn none(&self) -> Option<u32> { None } fn get(&self) -> u32 { 3 } }
#[track_caller] fn here() -> u32 { println!("{}", Location::caller()); 1 }
fn tail() -> u32 {
    let a = Noisy; let _b = Noisy;
    (Noisy.get() + here())
}
fn condition(n: usize) -> u32 {
    if let Some(x) = Noisy.none() { let y = 4; x } else { { here() + [1, 2][n] } }
}
fn fails() -> u32 { let _a = Noisy; Noisy.get() + Option::<u32>::None.unwrap() }
fn main() {
    std::panic::set_hook(Box::new(|info| println!("{info} {}", line!())));
    println!("{} {}", tail(), condition(0));
    let _ = (catch_unwind(fails), catch_unwind(|| condition(2)));
}
"#;

const ALL: &str = "drops=on;scopes=on;captures=on;into-iter=on;never-type=on";

#[test]
fn places_keep_their_lines_and_lints_their_suggestions() {
    let workshop = Workshop::new(PROGRAM);
    for (edition, other) in [("2021", "2024"), ("2024", "2021")] {
        let truth = workshop.truth(other);
        let (printed, _) = workshop.with(edition, ALL);
        assert_eq!(printed, truth, "{edition}");
        assert!(printed.contains("program.rs:14:71:"), "{printed}");
        for args in [
            &[] as &[_],
            &["--error-format=json"],
            &["-Wrust-2024-compatibility", "-Aedition-2024-expr-fragment-specifier"],
        ] {
            let own = workshop.compile(&mut rustc(), edition, args).successful().stderr;
            let actual = workshop.compile(bisect_rustc().env("BISECT_PATTERN", ALL), edition, args).successful().stderr;
            assert!(own.contains("unused variable: `a`") && own.contains("remove these parentheses"), "{own}");
            if args.len() < 2 {
                assert_eq!(actual, own, "{edition} {args:?}");
            }
        }
    }
}

#[test]
fn errors_are_printed_once_with_the_status_of_rustc() {
    for (source, edition) in [
        ("fn main() { missing() }", "2021"),
        ("fn main() { let x: u32 = \"\"; }", "2024"),
        ("fn main() { let x = 1; }", "2015"),
        ("#![deny(unused)] fn main() { let x = 1; }", "2021"),
        ("macro_rules! m { () => {", "2021"),
        (
            "#![deny(never_type_fallback_flowing_into_unsafe)] fn f() { let Some(()) = (unsafe { std::mem::zeroed() }) else { return }; } fn main() {}",
            "2021",
        ),
        ("fn f() -> &'static str { let s = String::new(); let _x = 1; &s } fn main() { f(); }", "2024"),
    ] {
        let workshop = Workshop::new(source);
        let expected = workshop.compile(&mut rustc(), edition, &[]);
        let pattern =
            if edition == "2015" { "optimize=n" } else { "drops=n;scopes=n;captures=n;into-iter=n;never-type=n" };
        let actual = workshop.compile(bisect_rustc().env("BISECT_PATTERN", pattern), edition, &[]);
        let is_report = |line: &&str| line.starts_with("[bisect");
        let errors: String = actual.stderr.split_inclusive('\n').filter(|line| !is_report(line)).collect();
        assert_eq!((actual.code, errors), (expected.code, expected.stderr), "{source}");
    }
}

#[test]
fn other_editions_are_refused_where_these_gates_are_asked_for() {
    let workshop = Workshop::new("fn main() {}");
    for edition in ["2015", "2018"] {
        for pattern in ["drops=y", "scopes=vn", "captures=y", "into-iter=on", "never-type=on"] {
            let refused = workshop.compile(bisect_rustc().env("BISECT_PATTERN", pattern), edition, &[]);
            assert_eq!((refused.code, refused.stderr.trim().lines().count()), (Some(1), 1), "{}", refused.stderr);
            assert!(refused.stderr.contains(&format!("editions 2021 and 2024, and this one is of {edition}")));
        }
        let compiled = workshop.compile(bisect_rustc().env("BISECT_PATTERN", "drops=off;optimize=n"), edition, &[]);
        assert_eq!(compiled.code, Some(0));
    }
}

/// Returns the IDs that are reported for the program when it is compiled with these arguments.
fn ids(workshop: &Workshop, args: &[&str]) -> BTreeSet<bisect_core::ChangeId> {
    let mut command = bisect_rustc();
    let compiled = workshop.compile(command.env("BISECT_PATTERN", "drops=n;scopes=n"), "2021", args).successful();
    reports(&compiled.stderr).into_keys().collect()
}

#[test]
fn places_are_the_same_wherever_and_however_they_are_compiled() {
    let workshop = Workshop::new(PROGRAM);
    let expected = ids(&workshop, &[]);
    assert!(expected.len() > 3);
    let absolute = format!("--remap-path-prefix={}=elsewhere", workshop.path().display());
    for args in [
        &["--emit=metadata"] as &[_],
        &["--emit=dep-info,link", "-Cmetadata=a", "-Cextra-filename=-b"],
        &["-O", "-g", "-Cpanic=abort"],
        &["-Zthreads=4"],
        &["-Cincremental=cache"],
        &["-Cincremental=cache"],
        &[&absolute],
        &["--cap-lints=allow"],
        &["--test"],
        &["-Cinstrument-coverage"],
    ] {
        assert_eq!(ids(&workshop, args), expected, "{args:?}");
    }
    assert_eq!(ids(&Workshop::new(PROGRAM), &[]), expected);
    let sessions = fs::read_dir(workshop.path().join("cache")).unwrap().count();
    assert_eq!(sessions, 1, "the survey leaves nothing behind");
}

#[test]
fn the_same_text_in_two_files_is_two_places() {
    let workshop = Workshop::new("mod a; mod b; fn main() { a::f(); b::f(); }");
    let text =
        "struct D; impl Drop for D { fn drop(&mut self) {} } pub fn f() -> usize { let _d = D; size_of_val(&D) }";
    for name in ["a.rs", "b.rs"] {
        fs::write(workshop.path().join(name), text).unwrap();
    }
    let (_, stderr) = workshop.with("2021", "drops=vn");
    let places: Vec<_> = reports(&stderr).into_values().map(|lines| lines[0].clone()).collect();
    assert_eq!(places.len(), 2);
    for name in ["a", "b"] {
        assert!(places.contains(&format!("{name}.rs:1:87 drops")), "{places:?}");
    }
}

#[test]
fn verbose_reports_name_dropped_values_and_the_edit_that_keeps_the_meaning() {
    let workshop = Workshop::new(PROGRAM);
    let (_, stderr) = workshop.with("2021", "drops=vn");
    let counts = "bisect-rustc: crate=program edition=2024 places=11 drops=3 scopes=1 captures=0\n";
    assert!(stderr.starts_with(counts), "{stderr}");
    let all = reports(&stderr);
    for lines in [
        [
            "program.rs:9:5 drops",
            "  program::tail at program.rs:9:5",
            r#"    expression="tail of a block" start=9:5 end=9:27"#,
            "    dropped earlier: Noisy (program.rs:9:6)",
            "    Drop: program.rs:4:1",
            "    to keep it: declare `let t;` first in the block; at its end, assign `t = Noisy;` and use `t`",
            "    to mend it: in the block, before its end: `let t = Noisy;`, and use `t`",
        ],
        [
            "program.rs:12:5 drops",
            "  program::condition at program.rs:12:5",
            r#"    expression="if let" start=12:5 end=12:83"#,
            "    dropped earlier: Noisy (program.rs:12:22)",
            "    Drop: program.rs:4:1",
            "    to keep it: match Noisy.none() { Some(x) => { … } _ => { … } }",
            "    to mend it: before the `if`: `let t = Noisy;`; use `t`, and begin the `else` with `drop(t);`",
        ],
    ] {
        assert!(all.values().any(|report| *report == lines), "{stderr}");
    }
    let (_, stderr) = workshop.with("2024", "drops=vn");
    assert!(stderr.contains("    dropped later: Noisy (program.rs:12:22)"), "{stderr}");
    assert!(
        stderr.contains(
            "    to keep it: before the `if`: `let t = Noisy;`; use `t`, and begin the `else` with `drop(t);`"
        )
    );
    // Without `v`, a report is a marker alone.
    let (_, stderr) = workshop.with("2021", "drops=n");
    let reports: Vec<_> = stderr.lines().filter(|line| line.contains("bisect")).collect();
    assert!(reports.len() == 3 && reports.iter().all(|line| line.len() == bisect_core::marker::LEN), "{stderr}");
}

#[test]
fn differences_that_only_the_borrow_checker_observes_have_their_own_gate() {
    let program = "use std::cell::RefCell;
        fn longer(c: &RefCell<Vec<u32>>) -> usize { let x = c.borrow().iter().count(); x }
        fn ends() -> usize { let c = RefCell::new(vec![1]); c.borrow().len() }
        fn also() -> usize { let c = RefCell::new(vec![1]); { let _n = 1; c.borrow().len() } }
        fn main() { longer(&RefCell::default()); ends(); also(); }";
    let workshop = Workshop::new(program);
    let (_, stderr) = workshop.with("2024", "drops=vy;scopes=vn");
    let all = reports(&stderr);
    let (id, _) = all.iter().find(|(_, lines)| lines[0] == "program.rs:3:61 scopes").expect(&stderr);
    let fails = |pattern: &str| {
        let compiled = workshop.compile(bisect_rustc().env("BISECT_PATTERN", pattern), "2024", &["--emit=metadata"]);
        compiled.code != Some(0) && compiled.stderr.contains("error[E0597]: `c` does not live long enough")
    };
    assert!(fails(&format!("scopes={}", only(*id))));
    let others: Vec<_> = all.keys().filter(|other| *other != id).collect();
    assert!(others.len() == 2);
    for other in others {
        assert!(!fails(&format!("scopes={}", only(*other))), "{:?}", all[other]);
    }
    assert!(fails("scopes=on"));
    assert!(!fails("drops=on"));
}

#[test]
fn boxed_slices_and_what_never_returns() {
    let program = r#"#![allow(warnings, never_type_fallback_flowing_into_unsafe)]
unsafe fn make<T>() -> Option<T> { println!("{}", std::any::type_name::<T>()); None }
fn f() { match unsafe { make() } { Some(x) => x, None => return, }; }
fn main() {
    let boxed: Box<[Noisy]> = Box::new([noisy(1), noisy(2)]);
    for x in boxed.into_iter().rev() { say(x.0); }
    for x in vec![3].into_iter() { say(x); }
    f();
}
"#;
    let workshop = Workshop::new(&format!("{program}{}", PRELUDE.split_once('\n').unwrap().1));
    let [borrowing, moving] = ["boxed.iter()", "IntoIterator::into_iter(boxed)"];
    for (edition, other, into_iter, mended) in
        [("2021", "2024", borrowing, moving), ("2024", "2021", moving, borrowing)]
    {
        let (off, stderr) = workshop.with(edition, "into-iter=vn;never-type=vn");
        assert_eq!(off, workshop.truth(edition));
        let all: Vec<_> = reports(&stderr).into_iter().collect();
        assert_eq!(all.len(), 2, "{stderr}");
        let texts: BTreeSet<_> = all.iter().map(|(_, lines)| lines.join("\n")).collect();
        let expected = [
            "program.rs:3:25 never-type\n  program at program.rs:3:25\n    \
                crate: what never returns is `()` in edition 2021, `!` in edition 2024\n    \
                decides: program.rs:3:25\n    to keep it: write the types there\n    to mend it: write the types there"
                .to_owned(),
            format!(
                "program.rs:6:14 into-iter\n  program::main at program.rs:6:14\n    \
                 expression=\"call of into_iter\" start=6:14 end=6:31\n    to keep it: {into_iter}\n    to mend it: {mended}"
            ),
        ];
        assert_eq!(texts, expected.into());
        assert_eq!(workshop.with(edition, ALL).0, workshop.truth(other));
        let outputs: BTreeSet<_> = all
            .iter()
            .map(|(id, _)| workshop.with(edition, &format!("into-iter={0};never-type={0}", only(*id))).0)
            .collect();
        assert!(outputs.len() == 2 && !outputs.contains(&off));
    }
}

#[test]
fn what_is_printed_and_what_is_read_from_standard_input_is_the_same() {
    let mut printed = Vec::new();
    for pattern in ["", "drops=vy"] {
        let mut command = bisect_rustc();
        command.args(["-", "--crate-name=x", "--print=file-names", "--print=cfg"]).env("BISECT_PATTERN", pattern);
        let ran = Ran::with_input(&mut command, "").successful();
        assert_eq!(ran.stderr, "");
        printed.push(ran.stdout);
        assert_eq!(Ran::of(bisect_rustc().arg("-vV").env("BISECT_PATTERN", pattern)).stderr, "");
    }
    assert_eq!(printed[0], printed[1]);

    let folder = tempfile::tempdir().unwrap();
    let mut command = bisect_rustc();
    command.args(["-", "--crate-name=x", "--edition=2021", "--emit=link,dep-info"]).current_dir(&folder);
    let compiled = Ran::with_input(command.env("BISECT_PATTERN", "drops=v!n;scopes=on"), PROGRAM).successful();
    assert_eq!(reports(&compiled.stderr).len(), 3, "{}", compiled.stderr);
    assert_eq!(Ran::of(&mut clean(folder.path().join("x"))).text().lines().count(), 15);
    let dependencies = fs::read_to_string(folder.path().join("x.d")).unwrap();
    assert!(dependencies.contains("# env-dep:BISECT_PATTERN=drops=v!n;scopes=on"), "{dependencies}");
}

#[test]
fn what_runs_while_building_is_left_alone() {
    let workshop = Workshop::new(PROGRAM);
    for args in [
        &["--crate-type=proc-macro", "--cap-lints=allow"] as &[_],
        &["--crate-name=build_script_build", "--cap-lints=allow"],
    ] {
        let mut command = bisect_rustc();
        let args = [&["--edition=2021", "program.rs"], args].concat();
        let compiled = Ran::of(command.args(args).current_dir(workshop.path()).env("BISECT_PATTERN", "drops=vy"));
        assert_eq!(compiled.stderr, "");
    }
}

#[test]
fn files_of_a_crate_on_standard_input_are_distinguished_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.rs", "b.rs"] {
        fs::write(folder.path().join(name), "pub fn f(n: &crate::Noisy) -> u32 { let _a = n.twin(); n.twin().get() }")
            .unwrap();
    }
    let source = "mod a; mod b; pub struct Noisy; impl Drop for Noisy { fn drop(&mut self) { println!() } } \
         impl Noisy { fn twin(&self) -> Noisy { Noisy } fn get(&self) -> u32 { 3 } } \
         fn main() { a::f(&Noisy); b::f(&Noisy); }";
    let mut command = bisect_rustc();
    command.current_dir(&folder).args(["-", "--crate-name=program", "--edition=2021", "--emit=metadata"]);
    let compiled = Ran::with_input(command.env("BISECT_PATTERN", "drops=vn"), source).successful();
    let places: BTreeSet<_> = reports(&compiled.stderr).into_values().map(|lines| lines[0].clone()).collect();
    assert_eq!(places, ["a.rs:1:56 drops", "b.rs:1:56 drops"].map(str::to_owned).into(), "{}", compiled.stderr);
}
