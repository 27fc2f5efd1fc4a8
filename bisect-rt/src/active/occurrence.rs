//! Counted decisions on some changes: after a number of them they are reversed, or a debugger stops.
//!
//! Each thread counts its own decisions, so that their numbers do not depend on how threads take turns. These decisions
//! are not cached, so that each of them is counted.

use std::{
    cell::Cell,
    thread::{self, LocalKey},
};

use bisect_core::ChangeId;

use super::{
    config::{self, Occurrence},
    report,
    system::breakpoint,
};

thread_local! {
    /// The number of decisions of this thread that `BISECT_UNTIL` selects.
    static UNTIL_COUNT: Cell<u64> = const { Cell::new(0) };
    /// The number of decisions of this thread that `BISECT_STOP` selects.
    static STOP_COUNT: Cell<u64> = const { Cell::new(0) };
}

/// A decision.
#[derive(Clone, Copy)]
pub(crate) struct Decision {
    /// True if the change is on.
    pub(crate) is_on: bool,
    /// True if later decisions on this change are the same, and may be cached.
    pub(crate) is_lasting: bool,
}

/// Returns true if decisions on this change are counted.
pub(crate) fn counts(id: ChangeId) -> bool {
    config::current().is_some_and(|config| [&config.until, &config.stop].into_iter().flatten().any(|o| o.selects(id)))
}

/// Returns the decision on a change: `is_on`, reversed after the limit of `BISECT_UNTIL`. Stops at the decision of
/// `BISECT_STOP`.
pub(crate) fn decide(id: ChangeId, is_on: bool) -> Decision {
    if counts(id) { decide_counted(id, is_on) } else { Decision { is_on, is_lasting: true } }
}

/// Counts this decision for `BISECT_UNTIL` and `BISECT_STOP`, where they select the change, and acts on its number: it
/// is reported at the limit, reversed after the limit, and stops the program at the decision of `BISECT_STOP`. The
/// result is not lasting, because the next decision has another number.
#[cold]
#[inline(never)]
fn decide_counted(id: ChangeId, mut is_on: bool) -> Decision {
    let asked = config::current();
    let asked = |of: fn(&'static config::ProcessConfig) -> &'static Option<Occurrence>| {
        asked.and_then(|config| of(config).as_ref()).filter(|asked| asked.selects(id))
    };
    if let Some(until) = asked(|config| &config.until) {
        let (number, last) = (count(&UNTIL_COUNT), until.number(thread_name));
        if number == last {
            report::note(format_args!("decision {number} of thread {}", thread_name()));
        }
        is_on ^= number > last;
    }
    if let Some(stop) = asked(|config| &config.stop)
        && count(&STOP_COUNT) == stop.number(thread_name)
    {
        breakpoint::stop();
    }
    Decision { is_on, is_lasting: false }
}

/// Counts a decision of this thread. Returns its number, from 1.
fn count(decisions: &'static LocalKey<Cell<u64>>) -> u64 {
    decisions.set(decisions.get() + 1);
    decisions.get()
}

/// Returns the name of this thread; empty if it has none.
fn thread_name() -> String {
    thread::current().name().unwrap_or_default().to_owned()
}
