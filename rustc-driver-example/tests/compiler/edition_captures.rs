//! Tests of gate `captures` against rustc's own lint for captures in edition 2024, and against the borrow checker.

use std::collections::BTreeSet;

use crate::{
    edition::{Workshop, reports},
    harness::{bisect_rustc, only, rustc},
};

/// A library in which the lines that begin with `/*+*/` have an `impl Trait` that captures more in edition 2024; the
/// others have none.
const PROGRAM: &str = "
pub struct Store(Vec<u32>);
impl Store {
/*+*/ pub fn evens(&self) -> impl Iterator<Item = u32> { self.0.clone().into_iter().filter(|x| x % 2 == 0) }
      pub fn len(&self) -> impl Sized + use<> { self.0.len() }
      pub fn all(&self) -> impl Iterator<Item = &u32> { self.0.iter() }
}
pub struct View<'a>(&'a str);
impl<'a> View<'a> {
/*+*/ pub fn len<T>(&self, x: &'a T) -> impl Fn() -> usize + 'a { let s = self.0; move || { let _ = x; s.len() } }
/*+*/ pub fn size(self) -> impl Sized { self.0.len() }
}
/*+*/ pub fn argument(x: &str, n: impl Into<u32>) -> impl Sized { let _ = x; n.into() }
/*+*/ pub fn inside<'a>(x: &'a str) -> Option<Result<impl Iterator<Item = u8>, ()>> { let n = x.len() as u8; Some(Ok([n].into_iter())) }
      pub fn none<T>(_: T) -> impl Sized { 1 }
      pub trait Sized2 { fn get(&self) -> impl Sized; }
      impl Sized2 for u32 { fn get(&self) -> impl Sized { 1 } }
      pub async fn read(x: &str) -> usize { x.len() }
macro_rules! make { ($name:ident, $arg:ty) => {
/*+*/ pub fn $name(x: $arg) -> impl Sized { x.len() }
} }
make!(made, &str);
make!(again, &[u8]);
fn keep(x: impl Sized) { let _ = x; }
";

/// A caller that keeps the result of `evens`, and one that keeps the result of `size`, longer than edition 2024 allows.
const CALLERS: [(&str, &str); 2] = [
    ("evens", "pub fn evens() -> u32 { let s = Store(vec![1]); let all = s.evens(); drop(s); all.sum() }"),
    ("size", "pub fn size() { let s = String::new(); let n = View(&s).size(); drop(s); keep(n) }"),
];

/// A function that compiles only if an `impl Trait` captures a lifetime that its bounds do not name.
const NEEDS: &str = "pub fn first(x: &str) -> impl Fn() -> usize { move || x.len() }";

const CHECK: &[&str] = &["--emit=metadata", "--crate-type=lib", "-Awarnings"];

#[test]
fn what_captures_more_is_what_the_lint_of_rustc_knows() {
    let workshop = Workshop::new(PROGRAM);
    let lint = ["--emit=metadata", "--crate-type=lib", "-Awarnings", "--force-warn=impl-trait-overcaptures"];
    let stderr = workshop.compile(rustc().arg("--error-format=short"), "2021", &lint).successful().stderr;
    let number = |place: &str| place.split(':').nth(1).unwrap().parse::<usize>().unwrap();
    let known: BTreeSet<_> = stderr.lines().filter(|line| line.contains("will capture more")).map(number).collect();
    let marked = PROGRAM.lines().zip(1..).filter(|(text, _)| text.starts_with("/*+*/")).map(|(_, line)| line);
    assert_eq!(known, marked.collect(), "{stderr}");
    for edition in ["2021", "2024"] {
        let compiled =
            workshop.compile(bisect_rustc().env("BISECT_PATTERN", "captures=vn"), edition, CHECK).successful();
        let places: Vec<_> = reports(&compiled.stderr).into_values().map(|lines| number(&lines[0])).collect();
        assert_eq!(places.len(), known.len(), "one change each: {}", compiled.stderr);
        assert!(compiled.stderr.contains(&format!(" captures={}\n", known.len())), "{}", compiled.stderr);
        assert_eq!(places.into_iter().collect::<BTreeSet<_>>(), known, "{edition}");
    }
}

#[test]
fn one_alone_is_checked_as_in_the_other_edition() {
    for (name, caller) in CALLERS {
        let workshop = Workshop::new(&format!("{PROGRAM}{caller}"));
        let truth = workshop.compile(&mut rustc(), "2024", CHECK);
        assert!(truth.code == Some(1) && truth.stderr.contains("error[E0505]"), "{}", truth.stderr);
        let with = |pattern: &str| workshop.compile(bisect_rustc().env("BISECT_PATTERN", pattern), "2021", CHECK);
        let stderr = with("captures=vn").successful().stderr;
        assert_eq!(with("captures=on").stderr, truth.stderr, "{name}");
        for (id, lines) in reports(&stderr) {
            let is_meant = lines[1].contains(&format!("::{name} at "));
            assert_eq!(with(&format!("captures={}", only(id))).code == Some(0), !is_meant, "{name}: {lines:?}");
        }
    }
}

#[test]
fn what_edition_2024_allows_is_refused_as_in_2021() {
    let workshop = Workshop::new(NEEDS);
    let truth = workshop.compile(&mut rustc(), "2021", CHECK);
    assert!(truth.code == Some(1) && truth.stderr.contains("error[E0700]"), "{}", truth.stderr);
    let on = workshop.compile(bisect_rustc().env("BISECT_PATTERN", "captures=on"), "2024", CHECK);
    assert_eq!((on.code, on.stderr), (truth.code, truth.stderr));
}

#[test]
fn advice_makes_it_the_same_in_both_editions() {
    let workshop = Workshop::new(PROGRAM);
    let compiled = workshop.compile(bisect_rustc().env("BISECT_PATTERN", "captures=vn"), "2021", CHECK).successful();
    let text = compiled.stderr;
    for line in [
        "    captured as well: '_ ",
        "    to keep it: `+ use<>` in its bounds ",
        "    to keep it: `+ use<'a, T>` in its bounds ",
        "    to keep it: name the types of arguments that are `impl Trait`, then `+ use<…>` in its bounds ",
        "    expanded from make! at program.rs:22:1 ",
        "    expanded from make! at program.rs:23:1 ",
    ] {
        assert!(text.lines().any(|reported| reported.starts_with(line)), "{line}\n{text}");
    }
    let mended = PROGRAM.replace("-> impl Iterator<Item = u32>", "-> impl Iterator<Item = u32> + use<>");
    let workshop = Workshop::new(&format!("{mended}{}", CALLERS[0].1));
    for edition in ["2021", "2024"] {
        workshop.compile(&mut rustc(), edition, CHECK).successful();
    }
    let compiled = workshop.compile(bisect_rustc().env("BISECT_PATTERN", "captures=vn"), "2024", CHECK).successful();
    assert!(!compiled.stderr.contains("::evens at "), "{}", compiled.stderr);
    assert!(compiled.stderr.contains("    captured no more: '_ "), "{}", compiled.stderr);
}
