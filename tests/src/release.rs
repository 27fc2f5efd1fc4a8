//! The fixture `release`: a workspace whose tests pass in debug and fail in release. Its `cases.json` says by what, each.

use std::fs;

use serde_json::Value;

use crate::harness::{Fixture, line_of, root};

/// The folder below `tests/fixtures`.
pub const NAME: &str = "release";

/// A test that fails in release.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub test: String,
    /// The target of package `app` that it is in.
    pub target: String,
    /// `--good`, where it is not the default.
    pub good: Vec<String>,
    /// `--bad`, where it is not the default.
    pub bad: Vec<String>,
    /// The packages that are to be found, in order of their names: one set.
    pub crates: Vec<String>,
    /// The functions that are to be found: one set.
    pub functions: Vec<Function>,
}

/// A function that is to be found.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its path, as people write it.
    pub path: String,
    /// The file, from the fixture's root.
    pub file: String,
    /// The end of the line before it.
    mark: String,
}

/// All of them.
///
/// # Panics
/// If the file is not as it should be.
#[must_use]
pub fn cases() -> Vec<Case> {
    let path = root().join("tests/fixtures").join(NAME).join("cases.json");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    file["cases"].as_array().expect("a list of cases").iter().map(Case::of).collect()
}

/// The case of this test.
///
/// # Panics
/// If there is none.
#[must_use]
pub fn case(test: &str) -> Case {
    cases().into_iter().find(|case| case.test == test).unwrap_or_else(|| panic!("no case of {test}"))
}

impl Case {
    fn of(value: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned();
        let texts = |value: &Value| match value {
            Value::String(one) => vec![one.clone()],
            value => value.as_array().into_iter().flatten().map(text).collect(),
        };
        let function = |value: &Value| Function {
            path: text(&value["path"]),
            file: text(&value["file"]),
            mark: text(&value["mark"]),
        };
        let mut crates = texts(&value["crates"]);
        crates.sort();
        Self {
            test: text(&value["test"]),
            target: text(&value["target"]),
            good: texts(&value["good"]),
            bad: texts(&value["bad"]),
            crates,
            functions: value["functions"].as_array().into_iter().flatten().map(function).collect(),
        }
    }

    /// What a user types behind `cargo bisect-opt`.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        let options = |name: &'static str, values: &[String]| {
            values.iter().map(move |value| format!("{name}={value}")).collect::<Vec<_>>()
        };
        let mut words = vec!["test".to_owned(), "--codegen".to_owned()];
        words.extend(options("--good", &self.good));
        words.extend(options("--bad", &self.bad));
        words.extend(["-p", "app", "--test", &self.target, &self.test].map(str::to_owned));
        words
    }

    /// Whether one crate is to blame, so that a pass can be told.
    #[must_use]
    pub fn is_of_one_crate(&self) -> bool {
        self.crates.len() == 1
    }
}

impl Function {
    /// The line that it begins in.
    ///
    /// # Panics
    /// If the mark is not there.
    #[must_use]
    #[track_caller]
    pub fn line(&self, fixture: &Fixture) -> usize {
        line_of(fixture.dir(), &self.file, &self.mark) + 1
    }
}
