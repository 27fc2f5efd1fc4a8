//! Several culprits: grouping by the frames that they share, and one-line summaries.

use super::events::{CulpritGroup, Found};
use crate::{
    report::content::{Location, Report},
    units::plural,
};

/// Groups culprits that differ only in the frames of their tests. Groups with short call stacks come first: they are
/// the quickest to read.
pub(crate) fn groups(culprits: Vec<Found>) -> Vec<CulpritGroup> {
    let mut groups: Vec<CulpritGroup> = Vec::new();
    for found in culprits {
        let shared: Vec<_> = found.changes.iter().map(|change| without_test(change, &found.tests)).collect();
        match groups.iter_mut().find(|group| group.culprits[0].mode == found.mode && are_same(&group.shared, &shared)) {
            Some(group) => group.culprits.push(found),
            None => groups.push(CulpritGroup { culprits: vec![found], shared }),
        }
    }
    groups.sort_by_key(|group| group.shared.iter().map(|change| change.frames.len()).sum::<usize>());
    groups
}

/// Returns the change without the frame of its test and the frames outside it.
fn without_test(change: &Report, tests: &[String]) -> Report {
    let is_test = |function: &str| tests.iter().any(|test| is_of_test(function, test));
    let shared = change.frames.iter().position(|frame| is_test(&frame.function)).unwrap_or(change.frames.len());
    let mut change = change.clone();
    change.frames.truncate(shared);
    change
}

/// Returns true for the function of the test, and for closures in it. Frames have the name of the crate before that of
/// the test.
fn is_of_test(function: &str, test: &str) -> bool {
    let function = function.split("::{{closure}}").next().unwrap_or(function);
    function == test || function.strip_suffix(test).is_some_and(|path| path.ends_with("::"))
}

fn are_same(a: &[Report], b: &[Report]) -> bool {
    // Without frames, changes differ in their location, and each location is one change.
    let same = |(a, b): (&Report, &Report)| {
        !a.frames.is_empty() && (a.kind, &a.name, &a.location) == (b.kind, &b.name, &b.location) && a.frames == b.frames
    };
    a.len() == b.len() && a.iter().zip(b).all(same)
}

/// Returns a culprit on one line: what it is, where it is, and which tests it breaks.
pub(crate) fn one_line(found: &Found) -> String {
    let changes = match found.changes.as_slice() {
        [] => String::new(),
        [change] => change_one_line(change),
        [first, rest @ ..] => format!("{} and {} together", change_one_line(first), plural(rest.len(), "more change")),
    };
    match found.tests.as_slice() {
        [] => changes,
        [test] => format!("{changes}, fails {test}"),
        [test, rest @ ..] => format!("{changes}, fails {test} and {}", plural(rest.len(), "more test")),
    }
}

/// Returns a toggle with its caller, or the change with its location.
pub(super) fn change_one_line(change: &Report) -> String {
    let line = |location: &Option<Location>| {
        let location = location.as_ref()?;
        Some(format!(" {}:{}", location.file, location.line?))
    };
    let name = match (change.name.as_str(), change.text.first()) {
        ("", Some(text)) => text.clone(),
        ("", None) => change.id.to_string(),
        (name, _) => name.to_owned(),
    };
    let caller = change.frames.get(1);
    let place = match caller {
        Some(caller) => line(&caller.location),
        None if change.name.is_empty() => None,
        None => line(&change.location).map(|line| format!(" at{line}")),
    };
    let caller = caller.map(|caller| format!(" in {}", caller.function)).unwrap_or_default();
    format!("{name}{caller}{}", place.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use bisect_core::ChangeId;

    use super::*;

    use crate::{
        output::events::Replay,
        report::{content::Frame, kind::ChangeKind},
    };

    /// A culprit of one call stack, innermost frame first.
    fn found(set: usize, functions: &[&str], tests: &[&str]) -> Found {
        let frame = |(line, function): (u32, &&str)| Frame {
            function: (*function).to_owned(),
            location: Some(Location::new("src/lib.rs", line, None)),
        };
        let change = Report::new(ChangeId(set as u64));
        Found {
            set,
            mode: "enable",
            confirmed: true,
            changes: vec![Report {
                kind: ChangeKind::STACK,
                name: "fast".to_owned(),
                frames: (0..).zip(functions).map(frame).collect(),
                ..change
            }],
            tests: tests.iter().map(|&test| test.to_owned()).collect(),
            failures: Vec::new(),
            reproduce: String::new(),
            passes: None,
            last_change: None,
            replay: Replay::default(),
            noise: None,
            moments: None,
            within: None,
            headline: None,
            is_of_tests: true,
            stop_gap: None,
            patches: None,
            next: None,
        }
    }

    #[test]
    fn stacks_that_differ_only_in_the_test_are_one_group() {
        let groups = groups(vec![
            found(1, &["fast", "parse", "xml::tests::a"], &["tests::a"]),
            found(2, &["fast", "skip", "parse", "xml::tests::a::{{closure}}", "xml::tests::a"], &["tests::a"]),
            found(3, &["fast", "parse", "xml::tests::b"], &["tests::b"]),
            found(4, &["fast", "skip", "parse", "xml::tests::c"], &["tests::c"]),
            found(5, &["fast", "print", "xml::tests::b"], &["tests::b"]),
            // Another function than the test of that name.
            found(6, &["fast", "parse", "xml::more_tests::b"], &["tests::b"]),
        ]);
        let sets: Vec<Vec<_>> =
            groups.iter().map(|group| group.culprits.iter().map(|found| found.set).collect()).collect();
        assert_eq!(sets, [vec![1, 3], vec![5], vec![2, 4], vec![6]]);
        let shared: Vec<_> = groups.iter().map(|group| group.shared[0].frames.len()).collect();
        assert_eq!(shared, [2, 2, 3, 3]);
    }

    #[test]
    fn places_are_no_group() {
        assert_eq!(groups(vec![found(1, &[], &["a"]), found(2, &[], &["b"])]).len(), 2);
    }

    #[test]
    fn a_culprit_is_one_line() {
        let one = found(1, &["fast", "xml::parse", "xml::tests::a"], &["tests::a", "tests::b"]);
        assert_eq!(one_line(&one), "fast in xml::parse src/lib.rs:1, fails tests::a and 1 more test");
        let mut two = found(1, &[], &[]);
        two.changes.push(two.changes[0].clone());
        two.changes[0].location = Some(Location::new("a.rs", 7, None));
        assert_eq!(one_line(&two), "fast at a.rs:7 and 1 more change together");
        let mut of_crate = found(1, &[], &["one"]);
        of_crate.changes[0].location = Some(Location::of_file("c3/src/lib.rs".to_owned()));
        assert_eq!(one_line(&of_crate), "fast, fails one");
        of_crate.changes[0].name.clear();
        assert_eq!(one_line(&of_crate), "0x0000000000000001, fails one");
    }
}
