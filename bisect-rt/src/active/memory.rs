//! First decisions on changes, and the memory of earlier ones.

use bisect_core::{ChangeId, Matcher};

use super::{
    config::{self, Setting},
    nesting::Nesting,
    occurrence::{self, Decision},
    report::{self, MakesText},
    table::{PENDING, Table},
    toggle::Toggle,
};

/// The decisions of this process, by [`Fingerprint::key`](crate::active::fingerprint::Fingerprint::key).
static SEEN: Table = Table::new();

const OFF: u64 = 2;
const ON: u64 = 3;

/// Returns the remembered decision.
#[inline]
pub(crate) fn seen(key: u64) -> Option<bool> {
    // A thread that finds a pending key makes the decision itself.
    SEEN.get(key).filter(|tag| *tag != PENDING).map(|tag| tag == ON)
}

fn tag(decision: bool) -> u64 {
    if decision { ON } else { OFF }
}

/// Decides on a change, and first reports it if the pattern selects it. Returns `None` if the change is at its default.
pub(crate) fn first(_: &Nesting, toggle: &Toggle, id: ChangeId, text: MakesText<'_>) -> Option<Decision> {
    let matcher = matcher(toggle)?;
    if matcher.should_report(id) {
        report::once(id, matcher.verbose().then_some(text));
    }
    Some(occurrence::decide(id, matcher.should_enable(id)))
}

/// Decides like [`first`], and remembers the decision.
#[cold]
pub(crate) fn first_of_key(
    nesting: &Nesting,
    toggle: &Toggle,
    key: u64,
    id: ChangeId,
    text: MakesText<'_>,
) -> Option<bool> {
    let decision = first(nesting, toggle, id, text)?;
    if decision.is_lasting {
        SEEN.insert(key, tag(decision.is_on));
    }
    Some(decision.is_on)
}

/// Decides like [`first_of_key`] on a change whose ID belongs to this key only. So it is enough to claim the key for
/// the report. This saves a lookup of the ID, in memory that is seldom in a cache.
#[cfg(feature = "stacks")]
#[cold]
pub(crate) fn first_of_only_key(
    nesting: &Nesting,
    toggle: &Toggle,
    key: u64,
    id: ChangeId,
    text: MakesText<'_>,
) -> Option<bool> {
    if occurrence::counts(id) {
        return first_of_key(nesting, toggle, key, id, text);
    }
    let matcher = matcher(toggle)?;
    let decision = matcher.should_enable(id);
    if matcher.should_report(id) {
        let report = report::Report::new(id, matcher.verbose().then_some(text));
        SEEN.once(key, tag(decision), || report.write());
    } else {
        SEEN.insert(key, tag(decision));
    }
    Some(decision)
}

fn matcher(toggle: &Toggle) -> Option<&'static Matcher> {
    match config::setting(toggle.name) {
        Setting::Search(matcher) => Some(matcher),
        Setting::Default | Setting::Fixed(_) => None,
    }
}
