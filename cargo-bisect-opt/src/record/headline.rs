//! The sentence that names a culprit: what is enabled, where, and what fails.

use bisect_core::search::Mode;

use super::{
    change::ChangeRecord,
    snippets::{Own, OwnPlace},
};
use crate::{
    report::{content::Report, kind::ChangeKind},
    units::plural,
};

/// The words for what fails, if no test is known.
const TARGET: &str = "the target";
/// The maximum length of the names in a sentence, in characters.
const MAX_NAME_CHARS: usize = 100;

/// Returns the sentence about a culprit, which breaks these tests. `special` replaces the usual one, which says that the
/// changes are enabled or disabled; the names of the changes are added to it.
pub(crate) fn headline(
    own: &Own<'_>,
    mode: Mode,
    changes: &[Report],
    tests: &[String],
    special: Option<String>,
) -> String {
    if let Some(special) = special {
        return names(changes).map_or_else(|| special.clone(), |names| format!("{special}: {names}"));
    }
    let does = match mode {
        Mode::Enable => "enabling",
        Mode::Disable => "disabling",
    };
    let what = match changes {
        [change] => named(own, change),
        [one, other] if own.place(one).is_some() && own.place(other).is_some() => {
            format!("{} and {} together", named(own, one), named(own, other))
        }
        changes => format!("these {} together", plural(changes.len(), "change")),
    };
    format!("{does} {what}") + &effect(&failing(tests))
}

/// Converts the sentence about one culprit, which breaks these tests, into that about a group of culprits that differ
/// only in their tests.
pub(crate) fn of_group(headline: &str, tests: &[String]) -> String {
    let of_one = headline.strip_suffix(&effect(&failing(tests)));
    of_one.map_or_else(|| headline.to_owned(), |what| what.to_owned() + &effect(TARGET))
}

/// Returns the words for what fails.
fn failing(tests: &[String]) -> String {
    match tests {
        [] => TARGET.to_owned(),
        [test] => test.clone(),
        [test, rest @ ..] => format!("{test} and {}", plural(rest.len(), "more test")),
    }
}

/// Returns the end of a sentence: the effect of changes on what fails.
fn effect(failing: &str) -> String {
    format!(" makes {failing} fail")
}

/// Returns the names of changes, if they are short enough for a sentence.
fn names(changes: &[Report]) -> Option<String> {
    let one_line = |change: &Report| {
        let name = ChangeRecord::new(change, None).one_line();
        // It is not known which of them is to blame.
        change.tied_parts().map_or_else(|| name.clone(), |parts| format!("{parts}, among them {name}"))
    };
    let names = match changes {
        [] => return None,
        [one] => one_line(one),
        [one, other] => format!("{} and {}", one_line(one), one_line(other)),
        [first, rest @ ..] => format!("{} and {}", one_line(first), plural(rest.len(), "more change")),
    };
    (names.chars().count() <= MAX_NAME_CHARS).then_some(names)
}

/// Returns the change with its decisive place.
fn named(own: &Own<'_>, change: &Report) -> String {
    let place = own.place(change);
    let line = place.as_ref().map(|place| own.line(place.location));
    let name = match change.name.as_str() {
        "" if line.is_none() => return "this change".to_owned(),
        "" => "the change".to_owned(),
        name => format!("`{name}`"),
    };
    match (place, line) {
        (Some(OwnPlace { caller: Some((distance, function)), .. }), Some(line)) => {
            let verb = if distance == 1 { "calls" } else { "reaches" };
            format!("{name} where {function} {verb} it ({line})")
        }
        (_, Some(line)) if change.kind == ChangeKind::CALLER => format!("{name} for the call at {line}"),
        (_, Some(line)) => format!("{name} at {line}"),
        (_, None) => name,
    }
}

#[cfg(test)]
mod tests {
    use bisect_core::ChangeId;

    use super::*;
    use crate::report::{content::Location, kind::ShownSource};

    #[test]
    fn hunks_that_only_compile_together_are_not_blamed_singly() {
        const HUNK: ChangeKind =
            ChangeKind { name: "hunk", noun: "hunk", label: "changed", source: ShownSource::Patch };
        let change = |name: &str, details: &[&str]| Report {
            kind: HUNK,
            name: name.to_owned(),
            location: Some(Location::new("src/lib.rs", 9, None)),
            details: details.iter().map(|&detail| detail.to_owned()).collect(),
            ..Report::new(ChangeId(0))
        };
        let tied = change("fn a", &["34 hunks that only compile together (231 of 449 lines):", "fn a at src/lib.rs:9"]);
        let in_one = change("fn b", &["2 hunks of `fn b` (4 of 449 lines):"]);
        let words = "34 hunks that only compile together, among them fn a at src/lib.rs:9";
        let both = [in_one, tied];
        assert_eq!(names(&both[..1]).unwrap(), "fn b at src/lib.rs:9");
        assert_eq!(names(&both[1..]).unwrap(), words);
        assert_eq!(names(&both).unwrap(), format!("fn b at src/lib.rs:9 and {words}"));
    }
}
