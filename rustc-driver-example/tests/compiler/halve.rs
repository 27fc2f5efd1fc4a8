//! Tests of gate `halve`: the pass of the tutorial, one division at a time.

use crate::harness::{self, all_changes, changes, compile, only};

const PROGRAM: &str = r#"
use std::hint::black_box;

const CONSTANT: i32 = quarter(-1);

const fn quarter(x: i32) -> i32 { x / 4 }

fn mean(a: i32, b: i32) -> i32 { a / 2 + b / 2 }

macro_rules! eighth { ($x:expr) => { $x / 8 } }

fn main() {
    let x = black_box(-1);
    println!("{} {} {} {}", CONSTANT, quarter(x), mean(x, 0), mean(0, x));
    println!("{} {}", eighth!(x), black_box(7_u32) / 2);
    println!("{} {} {}", x / -2, x / black_box(2), x / 3);
    println!("{}", i128::from(x) / 0x1_0000_0000_0000_0000_0000);
}
"#;

const PLACES: [&str; 5] = ["<anon>:6:35", "<anon>:8:34", "<anon>:8:42", "<anon>:15:23", "<anon>:17:20"];

fn run(pattern: &str, args: &[&str]) -> (String, String) {
    harness::run(PROGRAM, pattern, args)
}

fn places(reports: &str) -> Vec<&str> {
    let mut places: Vec<_> =
        reports.lines().filter_map(|line| line.split_once(" halve [")).map(|(place, _)| place).collect();
    places.sort_by_key(|place| place.split(':').skip(1).map(|n| n.parse::<u32>().unwrap()).collect::<Vec<_>>());
    places
}

#[test]
fn every_division_is_a_change_that_is_wrong_by_itself() {
    for args in [&["-O"] as &[_], &["-Copt-level=0"], &["-O", "-Ccodegen-units=8", "-Zthreads=2"]] {
        let (right, _) = run("", args);
        assert_eq!(right, "0 0 0 0\n0 3\n0 0 0\n0\n");
        let (wrong, reports) = run("halve=vy", args);
        assert_eq!(wrong, "0 -1 -1 -1\n-1 3\n0 0 0\n-1\n", "{args:?}");
        assert_eq!(places(&reports), PLACES, "{args:?}");
        assert_eq!(run("halve=on", args), (wrong, String::new()));
    }
    let all = run("halve=vy", &["-O"]).1;
    for (place, expected) in PLACES.iter().zip([
        "0 -1 0 0\n0 3\n0 0 0\n0\n",
        "0 0 -1 0\n0 3\n0 0 0\n0\n",
        "0 0 0 -1\n0 3\n0 0 0\n0\n",
        "0 0 0 0\n-1 3\n0 0 0\n0\n",
        "0 0 0 0\n0 3\n0 0 0\n-1\n",
    ]) {
        let line = all.lines().find(|line| line.starts_with(&format!("{place} "))).unwrap();
        let (id, ..) = bisect_core::marker::cut(line.as_bytes()).unwrap();
        assert_eq!(run(&format!("halve={}", only(id)), &["-O"]).0, expected, "{place}");
    }
}

#[test]
fn the_pass_does_not_run_unless_it_is_asked_for_by_name() {
    for pattern in ["y", "vy", "optimize=y", "optimize=off", "n", "v!n"] {
        let (ran, reports) = run(pattern, &["-O"]);
        assert_eq!(ran, "0 0 0 0\n0 3\n0 0 0\n0\n", "{pattern}");
        assert!(!reports.contains(" halve "), "{pattern}");
    }
    let (ran, reports) = run("halve=vn", &["-O"]);
    assert_eq!((&*ran, places(&reports)), ("0 0 0 0\n0 3\n0 0 0\n0\n", PLACES.into()));
}

#[test]
fn what_is_inlined_is_a_change_of_the_function_that_it_comes_from() {
    let source = "#[inline] pub fn half(x: i32) -> i32 { x / 2 } pub fn twice(x: i32) -> i32 { half(x) + half(x + 1) }";
    let changes = all_changes(source, "halve", &[]);
    assert_eq!(changes.keys().collect::<Vec<_>>(), ["ledger::half"]);
    // Code of other crates is not gated, not even where it is compiled in this one.
    let source = "pub fn f(x: &mut [i32], y: i32) -> i32 { x.sort(); y.midpoint(2).div_euclid(4) }";
    assert!(all_changes(source, "halve", &[]).is_empty());
}

#[test]
fn both_gates_are_searched_at_once() {
    let compiled = compile("pub fn f(x: i32) -> i32 { x / 2 }", "obj", "optimize=v!y;halve=vy", &[]);
    assert_eq!(compiled.stderr.lines().count(), 4, "{}", compiled.stderr);
    assert_eq!(changes(&compiled.stderr).len(), 1);
}
