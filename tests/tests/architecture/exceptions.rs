//! Violations, and the list of those that are known: it may only shrink.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

use crate::house::PERMITS;

/// A breach of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) rule: &'static str,
    /// The name under which exceptions are listed: a file, a folder, or a type.
    pub(crate) place: String,
    pub(crate) file: String,
    pub(crate) line: usize,
    /// The problem, and what to do.
    pub(crate) message: String,
}

impl Violation {
    /// Makes a violation whose place is its file.
    pub(crate) fn new(rule: &'static str, file: &str, line: usize, message: String) -> Self {
        Self { rule, place: file.to_owned(), file: file.to_owned(), line, message }
    }
}

/// The list, one exception a line: `rule | place | count`.
const LIST: &str = "tests/architecture/not-yet.txt";
/// The variable that, set to 1, removes exceptions from the list that are no longer needed.
const UPDATE: &str = "UPDATE_ARCHITECTURE";

/// Guards the list while the tests of several rules update it.
static UPDATING: Mutex<()> = Mutex::new(());

/// Fails unless the violations of a rule are exactly those that are known.
pub(crate) fn check(rule: &'static str, violations: &[Violation]) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join("architecture/not-yet.txt");
    let _guard = UPDATING.lock();
    let list = fs::read_to_string(&path).expect("the list of exceptions can be read");
    let mut problems = unknown(rule, violations, &list);
    let permits = PERMITS.iter().filter(|permit| permit.rule == rule);
    for permit in permits.filter(|permit| violations.iter().all(|violation| violation.place != permit.place)) {
        let _ = writeln!(
            problems,
            "  {} is permitted ({}), but nothing there needs it: delete the permit",
            permit.place, permit.why
        );
    }
    let shorter = shortened(rule, violations, &list);
    if shorter != list {
        if std::env::var(UPDATE).is_ok_and(|value| value == "1") {
            fs::write(&path, shorter).expect("the list of exceptions can be written");
        } else {
            let _ = writeln!(
                problems,
                "  fewer violations than {LIST} lists: run again with {UPDATE}=1, which shortens it"
            );
        }
    }
    assert!(problems.is_empty(), "rule `{rule}` of the architecture:\n{problems}");
}

/// Describes the violations that are neither permitted nor listed.
fn unknown(rule: &str, violations: &[Violation], list: &str) -> String {
    let allowed = allowed(rule, list);
    let mut problems = String::new();
    for (place, found) in by_place(violations) {
        let known = allowed.get(place).copied().unwrap_or(0);
        if found.len() > known && !PERMITS.iter().any(|permit| permit.rule == rule && permit.place == place) {
            let _ = writeln!(problems, "  {rule} | {place} | {}: {known} allowed by {LIST}", found.len());
            for Violation { file, line, message, .. } in found {
                let _ = writeln!(problems, "    {file}:{line}: {message}");
            }
        }
    }
    problems
}

/// Returns the list with the exceptions of a rule lowered to what is needed.
fn shortened(rule: &str, violations: &[Violation], list: &str) -> String {
    let found = by_place(violations);
    let mut shorter = String::new();
    for line in list.lines() {
        match parse(line) {
            Some((of, place, count)) if of == rule => {
                let needed = found.get(place).map_or(0, Vec::len).min(count);
                if needed > 0 {
                    let _ = writeln!(shorter, "{rule} | {place} | {needed}");
                }
            }
            _ => {
                let _ = writeln!(shorter, "{line}");
            }
        }
    }
    shorter
}

fn by_place(violations: &[Violation]) -> BTreeMap<&str, Vec<&Violation>> {
    let mut places: BTreeMap<&str, Vec<&Violation>> = BTreeMap::new();
    for violation in violations {
        places.entry(&violation.place).or_default().push(violation);
    }
    places
}

fn allowed<'a>(rule: &str, list: &'a str) -> BTreeMap<&'a str, usize> {
    let entries = list.lines().filter_map(parse).filter(|(of, ..)| *of == rule);
    entries.map(|(_, place, count)| (place, count)).collect()
}

fn parse(line: &str) -> Option<(&str, &str, usize)> {
    let mut parts = line.split('|').map(str::trim);
    let entry = (parts.next()?, parts.next()?, parts.next()?.parse().ok()?);
    Some(entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &str = "# comment\nlines | a.rs | 2\nwords | a.rs | 1\nlines | b.rs | 1\n";

    fn violations(places: &[&str]) -> Vec<Violation> {
        places.iter().map(|place| Violation::new("lines", place, 7, "too long".to_owned())).collect()
    }

    #[test]
    fn listed_violations_are_known() {
        assert_eq!(unknown("lines", &violations(&["a.rs", "a.rs", "b.rs"]), KNOWN), "");
    }

    #[test]
    fn one_violation_more_than_listed_is_reported_with_its_line() {
        let problems = unknown("lines", &violations(&["b.rs", "b.rs"]), KNOWN);
        assert!(problems.contains("lines | b.rs | 2: 1 allowed"), "{problems}");
        assert!(problems.contains("b.rs:7: too long"), "{problems}");
    }

    #[test]
    fn exceptions_only_ever_shrink() {
        let shorter = shortened("lines", &violations(&["a.rs", "c.rs"]), KNOWN);
        assert_eq!(shorter, "# comment\nlines | a.rs | 1\nwords | a.rs | 1\n");
    }
}
