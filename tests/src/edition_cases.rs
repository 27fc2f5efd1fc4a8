//! The truth about the fixture `editions`: for each of its cases, which expressions make it fail in another edition.
//!
//! It is kept in the fixture's `cases.json`, a list of objects with: `test` and `target`, the test's name and
//! executable; `edition`, in which it fails; `timeout`, if the test does not end in that edition; and `expressions`,
//! the culprits, all needed together (`file`, the `mark` that ends the line above, the text `at` which the expression
//! begins there, and its `form` as the answer names it).

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
    /// The edition in which the test fails.
    pub edition: String,
    /// The time limit after which the test counts as failed, if it does not end.
    pub timeout: Option<String>,
    /// The expressions that, together, make it fail.
    pub expressions: Vec<Expression>,
}

/// An expression, and its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Expression {
    /// The path from the root of the fixture.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The form of the expression.
    pub form: String,
}

impl Case {
    /// Returns the arguments that a user passes to `cargo bisect-opt` to have this case explained.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        let words = ["test", "--edition", &self.edition, "--test", &self.target, &self.test];
        let timeout = self.timeout.iter().flat_map(|timeout| ["--timeout", timeout]);
        words.into_iter().chain(timeout).map(str::to_owned).collect()
    }

    /// Returns the package that contains the culprits.
    ///
    /// # Panics
    /// If they are in several packages.
    #[must_use]
    pub fn package(&self) -> &str {
        let mut packages = self.expressions.iter().filter_map(|expression| expression.file.split('/').next());
        let package = packages.next().expect("a case has a culprit");
        assert!(packages.all(|other| other == package), "{self:?}");
        package
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
    list(&table, "cases").iter().map(|case| read(dir, case)).collect()
}

fn read(dir: &Path, case: &Value) -> Case {
    let expressions = list(case, "expressions").iter().map(|expression| find(dir, expression)).collect();
    Case {
        test: text(case, "test"),
        target: text(case, "target"),
        edition: text(case, "edition"),
        timeout: case.get("timeout").map(|_| text(case, "timeout")),
        expressions,
    }
}

fn find(dir: &Path, expression: &Value) -> Expression {
    let (file, mark, at) = (text(expression, "file"), text(expression, "mark"), text(expression, "at"));
    let line = line_of(dir, &file, &mark) + 1;
    let source = fs::read_to_string(dir.join(&file)).expect("it was just read");
    let code = source.lines().nth(line - 1).unwrap_or_default();
    let before = code.find(&at).unwrap_or_else(|| panic!("{at:?} is not at {file}:{line}: {code}"));
    Expression { file, line, column: code[..before].chars().count() + 1, form: text(expression, "form") }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a Vec<Value> {
    value[key].as_array().unwrap_or_else(|| panic!("{key} is a list in {value}"))
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_else(|| panic!("{key} is a text in {value}")).to_owned()
}
