//! Tests of incremental compilation: it never reuses an answer for an earlier pattern, here or in dependent crates.

use std::{fs, path::Path};

use tempfile::TempDir;

use crate::harness::{Ran, bisect_rustc, changes, clean, rustc, without};

/// A library whose results show which functions were optimized. For `i32::MAX`, `x < x + 1` is true only in an
/// optimized function: otherwise the addition wraps.
const UPSTREAM: &str = "#[inline(never)] pub fn is_before(x: i32) -> bool { inner(x) } \
    #[inline] pub fn inner(x: i32) -> bool { x < unsafe { x.unchecked_add(1) } } \
    pub fn generic<T>(x: i32, _: T) -> bool { x < unsafe { x.unchecked_add(1) } } \
    pub fn half(x: i32) -> i32 { x / 2 }";
const DOWNSTREAM: &str = "fn main() { let x = std::hint::black_box(i32::MAX); \
    println!(\"{} {} {} {}\", upstream::is_before(x), upstream::inner(x), upstream::generic(x, ()), upstream::half(-x)); }";

/// Creates a folder with both crates.
fn sources() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("upstream.rs"), UPSTREAM).unwrap();
    fs::write(folder.path().join("program.rs"), DOWNSTREAM).unwrap();
    folder
}

/// Compiles the library by bisect-rustc and the program by rustc, both incrementally. Returns the output of the program
/// and the reports on the library.
fn run(folder: &Path, pattern: &str) -> (String, String) {
    let args = |name: &str| {
        let incremental = format!("-Cincremental=incremental-{name}");
        [format!("--crate-name={name}"), incremental, format!("{name}.rs"), "--edition=2024".into(), "-O".into()]
    };
    let mut library = bisect_rustc();
    library.args(args("upstream")).arg("--crate-type=lib").current_dir(folder).env("BISECT_PATTERN", pattern);
    let reports = Ran::of(&mut library).stderr;
    Ran::of(rustc().args(args("program")).arg("-L.").arg("--extern=upstream").current_dir(folder));
    (Ran::of(&mut clean(folder.join("program"))).text().to_owned(), reports)
}

#[test]
fn each_pattern_has_its_own_answer() {
    let folder = sources();
    let folder = folder.path();
    let (optimized, reports) = run(folder, "vy");
    assert_eq!(optimized, "true true true -1073741823\n");
    let all = changes(&reports);
    for round in 0..2 {
        for (pattern, expected) in [
            (String::new(), &*optimized),
            (without(all["upstream::inner"]), "false false true -1073741823\n"),
            ("optimize=off".to_owned(), "false false false -1073741823\n"),
            ("y".to_owned(), &optimized),
            (without(all["upstream::generic"]), "true true false -1073741823\n"),
            ("optimize=off;halve=on".to_owned(), "false false false -1073741824\n"),
            ("halve=y".to_owned(), "true true true -1073741824\n"),
        ] {
            assert_eq!(run(folder, &pattern).0, expected, "{pattern:?} in round {round}");
        }
    }
}

#[test]
fn the_same_pattern_reports_the_same_again() {
    let folder = sources();
    let folder = folder.path();
    let both = "optimize=vy;halve=vy";
    let first = run(folder, both);
    assert!(first.1.contains(" halve ["));
    assert_eq!(run(folder, both), first);
    // The reports are the same in another folder, without a cache.
    assert_eq!(run(sources().path(), both), first);
}
