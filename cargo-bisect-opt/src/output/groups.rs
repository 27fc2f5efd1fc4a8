//! Several culprits: grouping by the frames that they share, and one-line summaries.

use std::cmp::Reverse;

use crate::{
    record::{change::ChangeRecord, culprit::CulpritRecord, source_place::SourcePlace},
    units::plural,
};

/// Culprits that differ only in the test that reaches them.
#[derive(Debug)]
pub(crate) struct CulpritGroup<'a> {
    /// The culprits, in the order of their numbers.
    pub(crate) culprits: Vec<&'a CulpritRecord>,
    /// Their changes, with the frames that they share.
    pub(crate) shared: Vec<ChangeRecord>,
}

/// Groups culprits that differ only in the frames of their tests. Groups with short call stacks come first: they are
/// the quickest to read.
pub(crate) fn groups<'a>(culprits: impl IntoIterator<Item = &'a CulpritRecord>) -> Vec<CulpritGroup<'a>> {
    let mut groups: Vec<CulpritGroup<'_>> = Vec::new();
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
fn without_test(change: &ChangeRecord, tests: &[String]) -> ChangeRecord {
    let is_test = |function: &str| tests.iter().any(|test| is_of_test(function, test));
    let frames = &change.frames;
    let shared = frames.iter().position(|frame| is_test(&frame.function)).unwrap_or(frames.len());
    let mut change = change.clone();
    change.frames.truncate(shared);
    // Of the code at the calls, only that of the shared frames remains.
    let calls = change.frames.iter().map(|frame| (&frame.file, frame.line));
    let places: Vec<_> = calls.chain([(&change.file, change.line)]).collect();
    let is_at = |place: &SourcePlace, (file, line): &(&Option<String>, Option<u32>)| {
        let is_same_file = file.as_ref().is_some_and(|file| file.ends_with(&place.file));
        is_same_file && line.is_some_and(|line| usize::try_from(line) == Ok(place.from.0))
    };
    change.source.retain(|shown| places.iter().any(|place| is_at(shown, place)));
    change
}

/// Returns true for the function of the test, and for closures in it. Frames have the name of the crate before that of
/// the test.
fn is_of_test(function: &str, test: &str) -> bool {
    let function = function.split("::{{closure}}").next().unwrap_or(function);
    function == test || function.strip_suffix(test).is_some_and(|path| path.ends_with("::"))
}

fn are_same(a: &[ChangeRecord], b: &[ChangeRecord]) -> bool {
    // Without frames, changes differ in their location, and each location is one change.
    let same = |(a, b): (&ChangeRecord, &ChangeRecord)| {
        let is_alike = (&a.kind, &a.name, a.location()) == (&b.kind, &b.name, b.location());
        !a.frames.is_empty() && is_alike && a.frames == b.frames
    };
    a.len() == b.len() && a.iter().zip(b).all(same)
}

/// Returns each distinct place with its number of culprits, the most frequent first.
pub(crate) fn places(culprits: &[&CulpritRecord]) -> Vec<(usize, String)> {
    let mut places: Vec<(usize, String)> = Vec::new();
    for place in culprits.iter().map(|found| changes_one_line(found)) {
        match places.iter_mut().find(|(_, known)| *known == place) {
            Some((count, _)) => *count += 1,
            None => places.push((1, place)),
        }
    }
    places.sort_by_key(|&(count, _)| Reverse(count));
    places
}

/// Returns the changes of a culprit on one line: what they are, and where.
fn changes_one_line(found: &CulpritRecord) -> String {
    match found.changes.as_slice() {
        [] => String::new(),
        [change] => change.one_line(),
        [one, other] => format!("{} and {} together", one.one_line(), other.one_line()),
        [first, rest @ ..] => format!("{} and {} together", first.one_line(), plural(rest.len(), "more change")),
    }
}

/// Returns a culprit on one line: what it is, where it is, and which tests it breaks.
pub(crate) fn one_line(found: &CulpritRecord) -> String {
    let changes = changes_one_line(found);
    match found.tests.as_slice() {
        [] => changes,
        [test] => format!("{changes}, fails {test}"),
        [test, rest @ ..] => format!("{changes}, fails {test} and {}", plural(rest.len(), "more test")),
    }
}

#[cfg(test)]
mod tests {
    use bisect_core::search::Mode;

    use super::*;
    use crate::record::change::StackFrame;

    /// A culprit of one call stack, innermost frame first.
    fn found(set: usize, functions: &[&str], tests: &[&str]) -> CulpritRecord {
        let frame = |(line, function): (u32, &&str)| StackFrame {
            function: (*function).to_owned(),
            file: Some("src/lib.rs".to_owned()),
            line: Some(line),
            column: None,
            own: true,
        };
        let change = ChangeRecord {
            id: format!("0x{set:016x}"),
            kind: "stack".to_owned(),
            name: "fast".to_owned(),
            frames: (0..).zip(functions).map(frame).collect(),
            noun: "call stack of".to_owned(),
            ..ChangeRecord::default()
        };
        CulpritRecord {
            set,
            mode: Mode::Enable,
            changes: vec![change],
            tests: tests.iter().map(|&test| test.to_owned()).collect(),
            is_of_tests: true,
            ..CulpritRecord::default()
        }
    }

    #[test]
    fn stacks_that_differ_only_in_the_test_are_one_group() {
        let culprits = [
            found(1, &["fast", "parse", "xml::tests::a"], &["tests::a"]),
            found(2, &["fast", "skip", "parse", "xml::tests::a::{{closure}}", "xml::tests::a"], &["tests::a"]),
            found(3, &["fast", "parse", "xml::tests::b"], &["tests::b"]),
            found(4, &["fast", "skip", "parse", "xml::tests::c"], &["tests::c"]),
            found(5, &["fast", "print", "xml::tests::b"], &["tests::b"]),
            // Another function than the test of that name.
            found(6, &["fast", "parse", "xml::more_tests::b"], &["tests::b"]),
        ];
        let groups = groups(&culprits);
        let sets: Vec<Vec<_>> =
            groups.iter().map(|group| group.culprits.iter().map(|found| found.set).collect()).collect();
        assert_eq!(sets, [vec![1, 3], vec![5], vec![2, 4], vec![6]]);
        let shared: Vec<_> = groups.iter().map(|group| group.shared[0].frames.len()).collect();
        assert_eq!(shared, [2, 2, 3, 3]);
    }

    #[test]
    fn places_are_no_group() {
        assert_eq!(groups(&[found(1, &[], &["a"]), found(2, &[], &["b"])]).len(), 2);
    }

    #[test]
    fn the_most_frequent_place_is_the_first_one() {
        let culprits = [
            found(1, &["fast", "print"], &["a"]),
            found(2, &["fast", "parse", "one"], &["a"]),
            found(3, &["fast", "parse", "two"], &["b"]),
        ];
        let places = places(&culprits.iter().collect::<Vec<_>>());
        assert_eq!(
            places,
            [(2, "fast in parse src/lib.rs:1".to_owned()), (1, "fast in print src/lib.rs:1".to_owned())]
        );
    }

    #[test]
    fn a_culprit_is_one_line() {
        let one = found(1, &["fast", "xml::parse", "xml::tests::a"], &["tests::a", "tests::b"]);
        assert_eq!(one_line(&one), "fast in xml::parse src/lib.rs:1, fails tests::a and 1 more test");
        let mut two = found(1, &[], &[]);
        two.changes.push(two.changes[0].clone());
        (two.changes[0].file, two.changes[0].line) = (Some("a.rs".to_owned()), Some(7));
        assert_eq!(one_line(&two), "fast at a.rs:7 and fast together");
        two.changes.push(two.changes[1].clone());
        assert_eq!(one_line(&two), "fast at a.rs:7 and 2 more changes together");
        let mut of_crate = found(1, &[], &["one"]);
        of_crate.changes[0].file = Some("c3/src/lib.rs".to_owned());
        assert_eq!(one_line(&of_crate), "fast, fails one");
        let mut hunk = of_crate.clone();
        hunk.changes[0].name.clear();
        (hunk.changes[0].line, hunk.changes[0].is_patch) = (Some(3), true);
        hunk.changes[0].noun = "hunk".to_owned();
        assert_eq!(one_line(&hunk), "hunk at c3/src/lib.rs:3, fails one");
        of_crate.changes[0].name.clear();
        assert_eq!(one_line(&of_crate), "0x0000000000000001, fails one");
    }
}
