//! Gates `drops` and `scopes`: what their tests share, and what is promised of every program.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path, process::Command};

use bisect_core::{ChangeId, marker};
use tempfile::TempDir;

use crate::harness::{Ran, bisect_rustc, clean, only, rustc};

/// What prints when it begins and when it is dropped, and the means to make temporaries of it.
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

/// A place to compile programs in.
pub(crate) struct Workshop(TempDir);

impl Workshop {
    /// One that holds this program.
    pub(crate) fn new(source: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("program.rs"), source).unwrap();
        Self(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Compiles it, and says what the compiler said.
    pub(crate) fn compile(&self, compiler: &mut Command, edition: &str, args: &[&str]) -> Ran {
        let args = [&["--crate-name=program", "--edition", edition, "program.rs"], args].concat();
        Ran::any(compiler.current_dir(&self.0).args(args))
    }

    /// What the program prints when `rustc` compiles it.
    pub(crate) fn truth(&self, edition: &str) -> String {
        self.compile(&mut rustc(), edition, &[]).successful();
        self.run()
    }

    /// What it prints when it is compiled with a pattern, and the reports.
    pub(crate) fn with(&self, edition: &str, pattern: &str) -> (String, String) {
        let compiled = self.compile(bisect_rustc().env("BISECT_PATTERN", pattern), edition, &[]).successful();
        (self.run(), compiled.stderr)
    }

    fn run(&self) -> String {
        let mut program = clean(self.0.path().join("program"));
        let ran = Ran::any(program.current_dir(&self.0));
        format!("{}status {:?}\n", ran.text(), ran.code)
    }

    /// The object code of one compiler's making.
    pub(crate) fn object(&self, compiler: &mut Command, edition: &str, args: &[&str]) -> Vec<u8> {
        let args = [&["--emit=obj", "-Ccodegen-units=1", "-o", "program.o"], args].concat();
        self.compile(compiler, edition, &args).successful();
        fs::read(self.0.path().join("program.o")).unwrap()
    }
}

/// The reports of changes under `v`: the lines of each, without markers.
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

/// The changes of gate `drops`: line and column.
pub(crate) fn places(reports: &BTreeMap<ChangeId, Vec<String>>) -> BTreeMap<(usize, usize, String), ChangeId> {
    let place = |(&id, lines): (&ChangeId, &Vec<String>)| {
        let place = lines[0].strip_suffix(" drops").expect("a change of this gate");
        let kind = lines[2].strip_prefix("    expression: ").unwrap().split_once(' ').unwrap().1;
        let mut numbers = place.rsplit(':').map(|number| number.parse().unwrap());
        let (column, line) = (numbers.next().unwrap(), numbers.next().unwrap());
        ((line, column, kind.to_owned()), id)
    };
    reports.iter().map(place).collect()
}

/// The places that a program marks as those that make a difference: what stands behind `/*tail*/` and `/*if*/`.
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

/// One crate of programs that run one after the other, whatever becomes of each.
pub(crate) fn crate_of(programs: &[(&str, &str)]) -> String {
    let mut source = PRELUDE.to_owned();
    let mut calls = String::new();
    for (i, (name, program)) in programs.iter().enumerate() {
        let _ = writeln!(source, "mod case_{i} {{ use super::*; {} }}", program.trim_start());
        let _ = writeln!(calls, "    println!(\"# {name}: {{}}\", std::panic::catch_unwind(case_{i}::main).is_ok());");
    }
    format!("{source}fn main() {{\n    std::panic::set_hook(Box::new(|_| ()));\n{calls}}}\n")
}

/// Everything that is promised of a crate that compiles in both editions: with all changes on it is that of the other
/// edition, with none its own; the changes are those that it marks, and each alone makes a difference.
pub(crate) fn check(source: &str) {
    let workshop = Workshop::new(source);
    let [old, new] = ["2021", "2024"].map(|edition| workshop.truth(edition));
    for (edition, own, other) in [("2021", &old, &new), ("2024", &new, &old)] {
        let (off, told) = workshop.with(edition, "drops=vn");
        assert_eq!(off, *own, "{edition}, off");
        let places = places(&reports(&told));
        assert_eq!(places.keys().cloned().collect::<Vec<_>>(), marked(source), "{edition}");
        let (on, told) = workshop.with(edition, "drops=on");
        assert_eq!((&on, &*told), (other, ""), "{edition}, on");
        // In edition 2024 the inner one of two places decides, whatever becomes of the outer one.
        for (place, &id) in places.iter().filter(|_| edition == "2021") {
            let (one, _) = workshop.with(edition, &format!("drops={}", only(id)));
            assert!(one != *own, "{place:?} makes no difference");
        }
    }
}
