//! The sentence that names a culprit: what is enabled, where, and what fails.

use super::{
    events::Found,
    groups,
    snippets::{DecisivePlace, Own},
};
use crate::{
    report::{content::Report, kind::ChangeKind},
    units::plural,
};

/// The maximum number of characters of names in a sentence.
const WIDEST: usize = 100;

/// Returns the sentence about a culprit.
pub(super) fn headline(own: &Own<'_>, found: &Found) -> String {
    let victim = match found.tests.as_slice() {
        [] => "the target".to_owned(),
        [test] => test.clone(),
        [test, rest @ ..] => format!("{test} and {}", plural(rest.len(), "more test")),
    };
    sentence(own, found, &found.changes, &victim)
}

/// Returns the sentence about several culprits, which share these changes.
pub(super) fn headline_of_group(own: &Own<'_>, first: &Found, shared: &[Report]) -> String {
    sentence(own, first, shared, "the target")
}

fn sentence(own: &Own<'_>, found: &Found, changes: &[Report], victim: &str) -> String {
    if let Some(headline) = &found.headline {
        // The sentence about a moment names it.
        let names = if found.moments.is_none() { names(changes) } else { None };
        return names.map_or_else(|| headline.clone(), |names| format!("{headline}: {names}"));
    }
    let does = if found.mode == "enable" { "enabling" } else { "disabling" };
    let what = match changes {
        [change] => named(own, change),
        [one, other] if own.place(one).is_some() && own.place(other).is_some() => {
            format!("{} and {} together", named(own, one), named(own, other))
        }
        changes => format!("these {} together", plural(changes.len(), "change")),
    };
    format!("{does} {what} makes {victim} fail")
}

/// Returns the names of changes, if they are short enough for a sentence.
fn names(changes: &[Report]) -> Option<String> {
    let names = match changes {
        [] => return None,
        [one] => groups::change_one_line(one),
        [one, other] => format!("{} and {}", groups::change_one_line(one), groups::change_one_line(other)),
        [first, rest @ ..] => format!("{} and {}", groups::change_one_line(first), plural(rest.len(), "more change")),
    };
    (names.chars().count() <= WIDEST).then_some(names)
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
        (Some(DecisivePlace { caller: Some((distance, function)), .. }), Some(line)) => {
            let verb = if distance == 1 { "calls" } else { "reaches" };
            format!("{name} where {function} {verb} it ({line})")
        }
        (_, Some(line)) if change.kind == ChangeKind::CALLER => format!("{name} for the call at {line}"),
        (_, Some(line)) => format!("{name} at {line}"),
        (_, None) => name,
    }
}
