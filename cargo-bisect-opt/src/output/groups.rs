//! Several culprits: those that are the same but for the test that they come from, and each on one line.

use super::events::{Change, Found};
use crate::units::plural;

/// Culprits that are the same but for the test that they come from.
#[derive(Debug)]
pub(crate) struct Group {
    /// They, in the order of their numbers.
    pub(crate) culprits: Vec<Found>,
    /// Their changes, with the frames that they share.
    pub(crate) shared: Vec<Change>,
}

/// Puts culprits together that differ only in the frames of their tests. Groups with short call stacks come first, since these
/// say most with the fewest lines.
pub(crate) fn groups(culprits: Vec<Found>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for found in culprits {
        let shared: Vec<_> = found.changes.iter().map(|change| without_test(change, &found.tests)).collect();
        match groups.iter_mut().find(|group| group.culprits[0].mode == found.mode && are_same(&group.shared, &shared)) {
            Some(group) => group.culprits.push(found),
            None => groups.push(Group { culprits: vec![found], shared }),
        }
    }
    groups.sort_by_key(|group| group.shared.iter().map(|change| change.frames.len()).sum::<usize>());
    groups
}

/// The change without the outer frames from that of its test on.
fn without_test(change: &Change, tests: &[String]) -> Change {
    let is_test = |function: &str| tests.iter().any(|test| is_of_test(function, test));
    let shared = change.frames.iter().position(|frame| is_test(&frame.function)).unwrap_or(change.frames.len());
    let mut change = change.clone();
    change.frames.truncate(shared);
    change
}

/// Whether this is a function of the test, or a closure in it. Frames have the crate's name before that of the test.
fn is_of_test(function: &str, test: &str) -> bool {
    let function = function.split("::{{closure}}").next().unwrap_or(function);
    function == test || function.strip_suffix(test).is_some_and(|path| path.ends_with("::"))
}

fn are_same(a: &[Change], b: &[Change]) -> bool {
    // Without frames it is the place that tells two changes apart, and each place is one change.
    let same = |(a, b): (&Change, &Change)| {
        !a.frames.is_empty()
            && (a.kind, &a.name, &a.file, a.line, a.column) == (b.kind, &b.name, &b.file, b.line, b.column)
            && a.frames == b.frames
    };
    a.len() == b.len() && a.iter().zip(b).all(same)
}

/// A culprit on one line: what it is, where, and what fails by it.
pub(crate) fn in_short(found: &Found) -> String {
    let changes = match found.changes.as_slice() {
        [] => String::new(),
        [change] => change_in_short(change),
        [first, rest @ ..] => format!("{} and {} together", change_in_short(first), plural(rest.len(), "more change")),
    };
    match found.tests.as_slice() {
        [] => changes,
        [test] => format!("{changes}, fails {test}"),
        [test, rest @ ..] => format!("{changes}, fails {test} and {}", plural(rest.len(), "more test")),
    }
}

/// A toggle and who called it, or the change and its place.
fn change_in_short(change: &Change) -> String {
    let place = |file: &Option<String>, line: Option<u32>| match (file, line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        _ => String::new(),
    };
    let name = if change.name.is_empty() { change.text.first().map_or(&change.id, |text| text) } else { &change.name };
    let words = match change.frames.get(1) {
        Some(caller) => [name, "in", &caller.function, &place(&caller.file, caller.line)].map(str::to_owned),
        None if change.name.is_empty() => [name, "", "", ""].map(str::to_owned),
        None => [name, "at", &place(&change.file, change.line), ""].map(str::to_owned),
    };
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use bisect_core::ChangeId;

    use super::*;

    use crate::report::{kind::ChangeKind, text::Frame};

    /// A culprit of one call stack, innermost frame first.
    fn found(set: usize, functions: &[&str], tests: &[&str]) -> Found {
        let frame = |(line, function): (usize, &&str)| Frame {
            function: (*function).to_owned(),
            file: Some("src/lib.rs".to_owned()),
            line: u32::try_from(line).ok(),
            column: None,
        };
        let change = Change::new(ChangeId(set as u64), ChangeKind::Stack, "fast".to_owned(), &[]);
        Found {
            set,
            mode: "enable",
            confirmed: true,
            changes: vec![Change { frames: functions.iter().enumerate().map(frame).collect(), ..change }],
            tests: tests.iter().map(|&test| test.to_owned()).collect(),
            failures: Vec::new(),
            reproduce: String::new(),
            noise: None,
            within: None,
            headline: None,
            is_of_tests: true,
            stop_gap: None,
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
        assert_eq!(in_short(&one), "fast in xml::parse src/lib.rs:1, fails tests::a and 1 more test");
        let mut two = found(1, &[], &[]);
        two.changes.push(two.changes[0].clone());
        (two.changes[0].file, two.changes[0].line) = (Some("a.rs".to_owned()), Some(7));
        assert_eq!(in_short(&two), "fast at a.rs:7 and 1 more change together");
    }
}
