//! Decisions on changes that were not seen before, and the memory of those that were.

use std::cell::Cell;

use bisect_core::{ChangeId, Matcher};

#[cfg(any(target_os = "linux", target_os = "android"))]
use crate::errno;
use crate::{
    config::{self, Setting},
    report::{self, Text},
    table::{PENDING, Table},
    toggle::Toggle,
};

/// What was decided in this process, by [`Fingerprint::key`](crate::fingerprint::Fingerprint::key).
static SEEN: Table = Table::new();

const OFF: u64 = 2;
const ON: u64 = 3;

/// What was decided.
#[inline]
pub(crate) fn seen(key: u64) -> Option<bool> {
    // What is pending becomes known to whoever makes the decision too.
    SEEN.get(key).filter(|tag| *tag != PENDING).map(|tag| tag == ON)
}

fn tag(decision: bool) -> u64 {
    if decision { ON } else { OFF }
}

/// Decides on a change, having reported it if it is to be. `None`: it is at its default.
pub(crate) fn first(_: &Nesting, toggle: &Toggle, id: ChangeId, text: impl FnOnce(&mut Text)) -> Option<bool> {
    let matcher = matcher(toggle)?;
    if matcher.should_report(id) {
        report::once(id, matcher.verbose().then_some(text));
    }
    Some(matcher.should_enable(id))
}

/// The same, and keeps the decision.
#[cold]
pub(crate) fn first_of_key(
    nesting: &Nesting,
    toggle: &Toggle,
    key: u64,
    id: ChangeId,
    text: impl FnOnce(&mut Text),
) -> Option<bool> {
    let decision = first(nesting, toggle, id, text)?;
    SEEN.insert(key, tag(decision));
    Some(decision)
}

/// The same of a change whose ID no other key has: that it is claimed once by its key is enough, and saves the search
/// for its ID in memory that is seldom in a cache.
#[cfg(feature = "stacks")]
#[cold]
pub(crate) fn first_of_only_key(
    _: &Nesting,
    toggle: &Toggle,
    key: u64,
    id: ChangeId,
    text: impl FnOnce(&mut Text),
) -> Option<bool> {
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

/// How many decisions a thread may be in at once. A signal handler may decide while the thread it interrupts does; one
/// inside the other inside the other is a toggle in what a decision itself calls, such as the allocator, and would
/// never end.
const MAX_NESTING: u8 = 4;

thread_local! {
    static NESTING: Cell<u8> = const { Cell::new(0) };
}

/// A first decision that this thread is in.
pub(crate) struct Nesting {
    /// How many it is in.
    level: u8,
    #[cfg(any(target_os = "linux", target_os = "android"))]
    _errno: errno::Kept,
}

impl Nesting {
    /// Begins one; `None`, if there are too many: then the change stays at its default.
    pub(crate) fn enter() -> Option<Self> {
        let level = NESTING.get();
        (level < MAX_NESTING).then(|| {
            NESTING.set(level + 1);
            Self {
                level,
                #[cfg(any(target_os = "linux", target_os = "android"))]
                _errno: errno::Kept::new(),
            }
        })
    }

    /// Whether this thread decides while it decides: it may be in the middle of reading debug information.
    #[cfg(feature = "stacks")]
    pub(crate) fn is_inner(&self) -> bool {
        self.level > 0
    }
}

impl Drop for Nesting {
    fn drop(&mut self) {
        NESTING.set(self.level);
    }
}
