//! Counted decisions on some changes: after a number of them they are reversed, or a debugger stops.
//!
//! Each thread counts its own decisions, so that their numbers do not depend on how threads take turns. These decisions
//! are not cached, so that each of them is counted.

use std::{
    cell::Cell,
    sync::OnceLock,
    thread::{self, LocalKey},
};

use bisect_core::{ChangeId, protocol::names};

use super::{report, system::breakpoint};

pub(crate) use bisect_core::Occurrence;

/// A request, which is set before `main` or never.
pub(crate) struct Request {
    /// The variable with the value.
    pub(crate) variable: &'static str,
    asked: OnceLock<Occurrence>,
    /// The number of decisions of this thread so far.
    count: &'static LocalKey<Cell<u64>>,
}

/// The last decision that is not reversed.
static UNTIL: Request = Request::new(names::UNTIL, &UNTIL_COUNT);
/// The decision at which to stop.
static STOP: Request = Request::new(names::STOP, &STOP_COUNT);

/// All requests.
pub(crate) static REQUESTS: [&Request; 2] = [&UNTIL, &STOP];

thread_local! {
    static UNTIL_COUNT: Cell<u64> = const { Cell::new(0) };
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

impl Request {
    const fn new(variable: &'static str, count: &'static LocalKey<Cell<u64>>) -> Self {
        Self { variable, asked: OnceLock::new(), count }
    }

    /// Counts decisions from now on.
    pub(crate) fn set(&self, asked: Occurrence) {
        // Only the start of the process calls this, once.
        let _ = self.asked.set(asked);
    }

    fn selects(&self, id: ChangeId) -> bool {
        self.asked.get().is_some_and(|asked| asked.selects(id))
    }

    /// Counts this decision. Returns its number, and the number in the request, if the request selects it.
    fn count(&self, id: ChangeId) -> Option<(u64, u64)> {
        let asked = self.asked.get().filter(|asked| asked.selects(id))?;
        let number = self.count.get() + 1;
        self.count.set(number);
        Some((number, asked.number(thread_name)))
    }
}

/// Returns true if decisions on this change are counted.
pub(crate) fn counts(id: ChangeId) -> bool {
    REQUESTS.iter().any(|request| request.selects(id))
}

/// Returns the decision on a change: `is_on`, reversed after the limit of `BISECT_UNTIL`. Stops at the decision of
/// `BISECT_STOP`.
pub(crate) fn decide(id: ChangeId, is_on: bool) -> Decision {
    let (until, stop) = (UNTIL.count(id), STOP.count(id));
    if let Some((number, last)) = until
        && number == last
    {
        report::note(format_args!("decision {number} of thread {}", thread_name()));
    }
    if stop.is_some_and(|(number, wanted)| number == wanted) {
        breakpoint::stop();
    }
    let is_late = until.is_some_and(|(number, last)| number > last);
    Decision { is_on: is_on != is_late, is_lasting: until.is_none() && stop.is_none() }
}

/// Returns the name of this thread; empty if it has none.
fn thread_name() -> String {
    thread::current().name().unwrap_or_default().to_owned()
}
