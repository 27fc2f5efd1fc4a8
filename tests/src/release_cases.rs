//! The truth about the fixture `release`: for each of its tests, the code that makes it fail in release.
//!
//! It is kept in the fixture's `cases.json`, a list of objects with: `test` and `target`, the test's name and
//! executable; `good` and `bad`, the options if they are not optimization level 0 and the release profile; `needs`, a
//! feature that the processor must have; `crates`, the culprits, all needed together; `functions`, the culprits among
//! functions if a search for functions can find them (`path`, `file`, and the `mark` that ends the line above), or else
//! `place`, which it cannot find; and `pass`, the first pass that makes the test fail, by the counter of `llvm` or
//! `mir`.

use std::{fs, path::Path};

use serde_json::Value;

use crate::harness::line_of;

/// A test of the fixture, and the cause of its failure.
#[derive(Clone, Debug)]
pub struct Case {
    /// The name of the test.
    pub test: String,
    /// The executable that contains the test.
    pub target: String,
    /// The options with which the test passes.
    pub good: Vec<String>,
    /// The options with which the test fails.
    pub bad: Vec<String>,
    /// A feature that the processor must have.
    pub needs: Option<String>,
    /// The crates that, together, make it fail.
    pub crates: Vec<String>,
    /// The functions that, together, make it fail; empty if a search for functions cannot find the cause.
    pub functions: Vec<Function>,
    /// The first pass that makes it fail.
    pub pass: Option<Pass>,
}

/// A function, and its place.
#[derive(Clone, Debug)]
pub struct Function {
    /// The path as rustc writes it.
    pub path: String,
    /// The file, from the root of the fixture.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

/// A pass of one of the compiler's counters.
#[derive(Clone, Debug)]
pub struct Pass {
    /// The counter: `llvm` or `mir`.
    pub counter: String,
    /// The name as the counter prints it.
    pub name: String,
}

impl Case {
    /// Returns the arguments that a user passes to `cargo bisect-opt` to have this case explained.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        let options = |name: &str, values: &[String]| -> Vec<_> {
            values.iter().map(|value| format!("{name}={value}")).collect()
        };
        let mut words = vec!["test".to_owned(), "--codegen".to_owned()];
        words.extend(options("--good", &self.good));
        words.extend(options("--bad", &self.bad));
        words.extend(["-p", "checks", "--test", &self.target, &self.test].map(str::to_owned));
        words
    }

    /// Returns true if it passes at optimization level 0 and fails in release, without further options.
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.good.is_empty() && self.bad.is_empty()
    }
}

/// Returns all cases of the fixture, of which `dir` is a copy.
///
/// # Panics
/// If the table is not as described, or a marked place is not in the sources.
#[must_use]
pub fn cases(dir: &Path) -> Vec<Case> {
    let table = fs::read_to_string(dir.join("cases.json")).expect("the fixture has its table");
    let table: Value = serde_json::from_str(&table).expect("it is JSON");
    table["cases"].as_array().expect("`cases` is a list").iter().map(|case| read(dir, case)).collect()
}

fn read(dir: &Path, case: &Value) -> Case {
    let options = |key: &str| if case[key].is_null() { Vec::new() } else { texts(&case[key]) };
    let function = |function: &Value| {
        let (path, file) = (text(&function["path"]), text(&function["file"]));
        let line = line_of(dir, &file, &text(&function["mark"])) + 1;
        Function { path, file, line }
    };
    // The place must exist even if only people read it.
    assert!(case["functions"].is_array() != case["place"].is_object(), "either functions or a place: {case}");
    case.get("place").map(function);
    Case {
        test: text(&case["test"]),
        target: text(&case["target"]),
        good: options("good"),
        bad: options("bad"),
        needs: case.get("needs").map(text),
        crates: texts(&case["crates"]),
        functions: case["functions"].as_array().map_or(Vec::new(), |list| list.iter().map(function).collect()),
        pass: case.get("pass").map(|pass| Pass { counter: text(&pass["counter"]), name: text(&pass["name"]) }),
    }
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap_or_else(|| panic!("a list of texts, not {value}")).iter().map(text).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("a text, not {value}")).to_owned()
}
