//! Decisions that are counted, one by one: those on a culprit, of which one is to be found or to be looked at.
//!
//! A decision on such a change is not remembered, so that each of them comes here.

use std::sync::{
    OnceLock,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use bisect_core::ChangeId;

use super::system::breakpoint;

pub(crate) use bisect_core::Occurrence;

/// The request, which is set before `main` or never.
static ASKED: OnceLock<Occurrence> = OnceLock::new();

/// The number of decisions so far, on all changes that the request selects, in all threads.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// A decision.
#[derive(Clone, Copy)]
pub(crate) struct Decision {
    /// True if the change is on.
    pub(crate) is_on: bool,
    /// True if later decisions on this change are the same, and may be remembered.
    pub(crate) is_lasting: bool,
}

/// Counts the decisions that the request selects from now on.
pub(crate) fn set(asked: Occurrence) {
    // Only the start of the process calls this, once.
    let _ = ASKED.set(asked);
}

/// Returns true if decisions on this change are counted.
pub(crate) fn counts(id: ChangeId) -> bool {
    ASKED.get().is_some_and(|asked| asked.selects(id))
}

/// Decides on a change that is on if `is_on`, unless this decision comes too late. Stops in the debugger if it is the
/// one to look at.
pub(crate) fn decide(id: ChangeId, is_on: bool) -> Decision {
    let Some(asked) = ASKED.get().filter(|asked| asked.selects(id)) else {
        return Decision { is_on, is_lasting: true };
    };
    let number = COUNT.fetch_add(1, Relaxed) + 1;
    if asked.stops_at(number) {
        breakpoint::stop();
    }
    Decision { is_on: is_on == asked.is_within(number), is_lasting: false }
}
