//! Helpers for tests of gates `drops` and `scopes`, and a check of the promises that hold for every program.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path, process::Command};

use bisect_core::{ChangeId, marker};
use tempfile::TempDir;

use crate::harness::{Ran, bisect_rustc, clean, only, rustc};

/// The beginning of a program: a type that prints when it is created and when it is dropped, and functions that make
/// temporaries.
pub(crate) const PRELUDE: &str = r#"#![allow(warnings)]
struct Noisy(u32);
impl Drop for Noisy { fn drop(&mut self) { println!("- {}", self.0) } }
fn noisy(n: u32) -> Noisy { println!("+ {n}"); Noisy(n) }
impl Noisy { fn get(&self) -> u32 { self.0 } fn some(&self) -> Option<u32> { Some(self.0) } fn none(&self) -> Option<u32> { None } }
fn say(n: u32) -> u32 { println!("say {n}"); n }
fn run<F: std::future::Future>(f: F) -> F::Output {
    let mut f = std::pin::pin!(f);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut context) { return x } }
}
"#;

/// A folder with a program to compile.
pub(crate) struct Workshop(TempDir);

impl Workshop {
    /// Creates a folder with this program.
    pub(crate) fn new(source: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("program.rs"), source).unwrap();
        Self(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Compiles the program, and returns the result of the compiler.
    pub(crate) fn compile(&self, compiler: &mut Command, edition: &str, args: &[&str]) -> Ran {
        let args = [&["--crate-name=program", "--edition", edition, "program.rs"], args].concat();
        Ran::any(compiler.current_dir(&self.0).args(args))
    }

    /// Returns the output of the program when `rustc` compiles it.
    pub(crate) fn truth(&self, edition: &str) -> String {
        self.compile(&mut rustc(), edition, &[]).successful();
        self.run()
    }

    /// Returns the output of the program when it is compiled with a pattern, and the reports.
    pub(crate) fn with(&self, edition: &str, pattern: &str) -> (String, String) {
        let compiled = self.compile(bisect_rustc().env("BISECT_PATTERN", pattern), edition, &[]).successful();
        (self.run(), compiled.stderr)
    }

    fn run(&self) -> String {
        let mut program = clean(self.0.path().join("program"));
        let ran = Ran::any(program.current_dir(&self.0));
        format!("{}status {:?}\n", ran.text(), ran.code)
    }

    /// Returns the object code that a compiler makes of the program.
    pub(crate) fn object(&self, compiler: &mut Command, edition: &str, args: &[&str]) -> Vec<u8> {
        let args = [&["--emit=obj", "-Ccodegen-units=1", "-o", "program.o"], args].concat();
        self.compile(compiler, edition, &args).successful();
        fs::read(self.0.path().join("program.o")).unwrap()
    }
}

/// Returns the lines of verbose reports, without markers, by change.
pub(crate) fn reports(text: &str) -> BTreeMap<ChangeId, Vec<String>> {
    let mut reports = BTreeMap::<_, Vec<_>>::new();
    for line in text.lines() {
        if let Some((id, before, after)) = marker::cut(line.as_bytes()) {
            assert!(after.is_empty(), "{line}");
            reports.entry(id).or_default().push(str::from_utf8(before).unwrap().to_owned());
        }
    }
    reports
}

/// Returns the changes of gate `drops` by line, column and kind.
pub(crate) fn places(reports: &BTreeMap<ChangeId, Vec<String>>) -> BTreeMap<(usize, usize, String), ChangeId> {
    let place = |(&id, lines): (&ChangeId, &Vec<String>)| {
        let place = lines[0].strip_suffix(" drops").expect("a change of this gate");
        let kind = lines[2].strip_prefix("    expression=\"").unwrap().split_once('"').unwrap().0;
        let mut numbers = place.rsplit(':').map(|number| number.parse().unwrap());
        let (column, line) = (numbers.next().unwrap(), numbers.next().unwrap());
        ((line, column, kind.to_owned()), id)
    };
    reports.iter().map(place).collect()
}

/// Returns the places that a program marks as those that make a difference: each follows `/*tail*/` or `/*if*/`.
pub(crate) fn marked(source: &str) -> Vec<(usize, usize, String)> {
    let mut places = Vec::new();
    for (mark, kind) in [("/*tail*/", "tail of a block"), ("/*if*/", "if let")] {
        for (at, _) in source.match_indices(mark) {
            let mut end = at;
            while let Some(rest) = source[end..].strip_prefix("/*") {
                end += 2 + rest.find("*/").unwrap() + 2;
            }
            let before = &source[..end];
            let line = before.matches('\n').count() + 1;
            let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
            places.push((line, column, kind.to_owned()));
        }
    }
    places.sort();
    places
}

/// Returns the source of one crate that runs these programs one after the other, even if some of them panic.
pub(crate) fn crate_of(programs: &[(&str, &str)]) -> String {
    let mut source = PRELUDE.to_owned();
    let mut calls = String::new();
    for (i, (name, program)) in programs.iter().enumerate() {
        let _ = writeln!(source, "mod case_{i} {{ use super::*; {} }}", program.trim_start());
        let _ = writeln!(calls, "    println!(\"# {name}: {{}}\", std::panic::catch_unwind(case_{i}::main).is_ok());");
    }
    format!("{source}fn main() {{\n    std::panic::set_hook(Box::new(|_| ()));\n{calls}}}\n")
}

/// Checks everything that is promised for a crate that compiles in both editions. With all changes on, the crate
/// behaves as in the other edition, with none as in its own. The changes are those that it marks, and in edition 2021
/// each alone makes a difference.
pub(crate) fn check(source: &str) {
    let workshop = Workshop::new(source);
    let [old, new] = ["2021", "2024"].map(|edition| workshop.truth(edition));
    for (edition, own, other) in [("2021", &old, &new), ("2024", &new, &old)] {
        let (off, stderr) = workshop.with(edition, "drops=vn");
        assert_eq!(off, *own, "{edition}, off");
        let places = places(&reports(&stderr));
        assert_eq!(places.keys().cloned().collect::<Vec<_>>(), marked(source), "{edition}");
        let (on, stderr) = workshop.with(edition, "drops=on");
        assert_eq!((&on, &*stderr), (other, ""), "{edition}, on");
        // In edition 2024 the inner one of two places decides, so that a change of the outer one alone makes no
        // difference.
        for (place, &id) in places.iter().filter(|_| edition == "2021") {
            let (one, _) = workshop.with(edition, &format!("drops={}", only(id)));
            assert!(one != *own, "{place:?} makes no difference");
        }
    }
}
