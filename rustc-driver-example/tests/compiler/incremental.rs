//! Incremental compilation: never an answer of an earlier pattern, here or in crates that depend on this one.

use std::{fs, path::Path};

use crate::harness::{Ran, bisect_rustc, changes, clean, rustc, without};

/// Says whether it was optimized: `1 < 0` where additions wrap.
const UPSTREAM: &str = "#[inline(never)] pub fn is_before(x: i32) -> bool { inner(x) } \
    #[inline] pub fn inner(x: i32) -> bool { x < unsafe { x.unchecked_add(1) } } \
    pub fn generic<T>(x: i32, _: T) -> bool { x < unsafe { x.unchecked_add(1) } } \
    pub fn half(x: i32) -> i32 { x / 2 }";
const DOWNSTREAM: &str = "fn main() { let x = std::hint::black_box(i32::MAX); \
    println!(\"{} {} {} {}\", upstream::is_before(x), upstream::inner(x), upstream::generic(x, ()), upstream::half(-x)); }";

/// Compiles the library by bisect-rustc and the program by rustc, both incrementally.
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
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("upstream.rs"), UPSTREAM).unwrap();
    fs::write(folder.join("program.rs"), DOWNSTREAM).unwrap();
    let (optimized, reports) = run(folder, "vy");
    assert_eq!(optimized, "true true true -1073741823\n");
    let all = changes(&reports);
    for round in 0..2 {
        for (pattern, expected) in [
            ("".to_owned(), &*optimized),
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
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("upstream.rs"), UPSTREAM).unwrap();
    fs::write(folder.join("program.rs"), DOWNSTREAM).unwrap();
    let both = "optimize=vy;halve=vy";
    let first = run(folder, both);
    assert!(first.1.contains(" halve ["));
    assert_eq!(run(folder, both), first);
    // Elsewhere, from nothing.
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("upstream.rs"), UPSTREAM).unwrap();
    fs::write(other.path().join("program.rs"), DOWNSTREAM).unwrap();
    assert_eq!(run(other.path(), both), first);
}
