//! Decisions on changes that were not seen before, and the memory of those that were.

use std::cell::Cell;

use bisect_core::ChangeId;
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    config::{self, Setting},
    report::{self, Text},
    table::Table,
    toggle::Toggle,
};

/// What was decided in this process, by [`key`].
static SEEN: Table = Table::new();

const OFF: u64 = 2;
const ON: u64 = 3;

/// A key of the memory: a hash of whatever tells a change from the others of this process, be it an address.
#[inline]
pub(crate) fn key(parts: &[u64]) -> u64 {
    // SAFETY: a `u64` has no padding, and as many bytes as are read here.
    xxh3_64(unsafe { std::slice::from_raw_parts(parts.as_ptr().cast(), size_of_val(parts)) })
}

/// What was decided.
#[inline]
pub(crate) fn seen(key: u64) -> Option<bool> {
    SEEN.get(key).map(|tag| tag == ON)
}

/// Keeps a decision whose report is written.
#[cold]
pub(crate) fn remember(key: u64, decision: bool) {
    SEEN.insert(key, if decision { ON } else { OFF });
}

/// Decides on a change, having reported it if it is to be. `None`: it is at its default.
pub(crate) fn first(_: &Nesting, toggle: &Toggle, id: ChangeId, text: impl FnOnce(&mut Text)) -> Option<bool> {
    let Setting::Search(matcher) = config::setting(toggle.name) else { return None };
    if matcher.should_report(id) {
        report::once(id, matcher.verbose().then_some(text));
    }
    Some(matcher.should_enable(id))
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
}

impl Nesting {
    /// Begins one; `None`, if there are too many: then the change stays at its default.
    pub(crate) fn enter() -> Option<Self> {
        let level = NESTING.get();
        (level < MAX_NESTING).then(|| {
            NESTING.set(level + 1);
            Self { level }
        })
    }

    /// Whether this thread decides while it decides: it may be in the middle of reading debug information.
    pub(crate) fn is_inner(&self) -> bool {
        self.level > 0
    }
}

impl Drop for Nesting {
    fn drop(&mut self) {
        NESTING.set(self.level);
    }
}
