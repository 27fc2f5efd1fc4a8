//! Choices of a search for a moment: all moments stand for a search, and those up to one for an evaluation at that one.

use bisect_core::search::{Prefix, Rank, Selection};

use super::spec::Choice;

/// Returns the selection of a search.
pub(crate) fn search() -> Selection {
    Selection::all()
}

/// Returns the selection of an evaluation at a moment.
pub(crate) fn at(moment: u64) -> Selection {
    Selection { prefix: Prefix::Below(Rank(moment)), ..Selection::all() }
}

/// Returns the selection of an evaluation at a moment that describes this one and the one before.
pub(crate) fn describe(moment: u64) -> Selection {
    Selection { forced: vec![Rank(moment)], ..at(moment) }
}

/// Returns the selection of a stop at a moment, in a debugger.
pub(crate) fn stop_at(moment: u64) -> Selection {
    Selection { inverted: true, ..at(moment) }
}

/// Returns the moment that a choice stands for; `None` for a search.
pub(crate) fn moment_of(choice: &Choice) -> Option<u64> {
    match choice {
        Choice::Positions(Selection { prefix: Prefix::Below(end), .. }) => Some(end.0),
        Choice::Positions(_) | Choice::Hashes(_) => None,
    }
}

/// Returns true if a choice stands for a stop in a debugger.
pub(crate) fn is_stop(choice: &Choice) -> bool {
    matches!(choice, Choice::Positions(Selection { inverted: true, .. }))
}

/// Returns true if a choice stands for an evaluation that describes moments.
pub(crate) fn is_described(choice: &Choice) -> bool {
    matches!(choice, Choice::Positions(Selection { forced, .. }) if !forced.is_empty())
}
