//! The decisions that the expansions of the macros ask for: is a change on?

use std::{
    panic::Location,
    sync::atomic::Ordering::{Acquire, Relaxed, Release},
};

use super::{
    config::{self, Setting},
    fingerprint::Fingerprint,
    memory,
    nesting::Nesting,
    toggle::{Default, Place, Toggle, state},
};

impl Toggle {
    /// Returns true if this site is on; `None` if it is not bisected.
    #[inline]
    pub fn site(&'static self) -> Option<bool> {
        match self.state.load(Acquire) {
            state::OFF => Some(false),
            state::ON => Some(true),
            state::AT_DEFAULT => None,
            _ => self.first_of_site(),
        }
    }

    #[cold]
    #[inline(never)]
    fn first_of_site(&'static self) -> Option<bool> {
        if let Known::Decision(decision) = self.known() {
            return decision;
        }
        let nesting = Nesting::enter()?;
        let id = self.id(&self.place, None);
        let decision =
            memory::first(&nesting, self, id, &mut |text| text.line(format_args!("{}", self.title(&self.place))))?;
        if decision.is_lasting {
            // Only now, after the report, may other threads act on the decision.
            self.state.store(if decision.is_on { state::ON } else { state::OFF }, Release);
        }
        Some(decision.is_on)
    }

    // The functions below are cold for the callers' sake: the code around an inactive point must be short.

    /// Returns true if this site is on for the value with this hash; `None` if it is not bisected.
    #[cold]
    #[inline(never)]
    pub fn keyed_site(&'static self, value: u64) -> Option<bool> {
        match self.known() {
            Known::Decision(decision) => decision,
            Known::Depends => self.at(self.place, self.address(), Some(value)),
        }
    }

    /// Returns true if this toggle is on for its caller; `None` if it is not bisected.
    #[cold]
    #[inline(never)]
    pub fn caller(&'static self, caller: &'static Location<'static>, value: Option<u64>) -> Option<bool> {
        match self.known() {
            Known::Decision(decision) => decision,
            Known::Depends => self.at(caller.into(), &raw const *caller as u64, value),
        }
    }

    /// Returns true if this toggle is on for the call stack; `None` if it is not bisected.
    ///
    /// This is never inlined: the frame of its caller, the toggled function, must be the first one beyond the frame of
    /// this function.
    #[cfg(feature = "stacks")]
    #[cold]
    #[inline(never)]
    pub fn stack(&'static self, value: Option<u64>) -> Option<bool> {
        match self.known() {
            Known::Decision(decision) => decision,
            Known::Depends => crate::active::stack::decide(self, value),
        }
    }

    /// Returns the decision for a place, which `address` identifies in this process.
    fn at(&'static self, place: Place, address: u64, value: Option<u64>) -> Option<bool> {
        let mut fingerprint = Fingerprint::new(self.address(), value);
        fingerprint.add(address);
        let key = fingerprint.key();
        memory::seen(key).or_else(|| self.first_at(&place, value, key))
    }

    #[cold]
    #[inline(never)]
    fn first_at(&'static self, place: &Place, value: Option<u64>, key: u64) -> Option<bool> {
        let nesting = Nesting::enter()?;
        memory::first_of_key(&nesting, self, key, self.id(place, value), &mut |text| {
            text.line(format_args!("{}", self.title(place)));
        })
    }

    /// Returns the part of the decision that is the same for all changes. Looks up a new toggle.
    #[inline]
    fn known(&self) -> Known {
        match self.state.load(Acquire) {
            state::ON => Known::Decision(Some(true)),
            state::OFF => Known::Decision(Some(false)),
            state::AT_DEFAULT => Known::Decision(None),
            state::DEPENDS => Known::Depends,
            _ => self.resolve_or_count(),
        }
    }

    /// Counts and returns the decision of a setting, or looks up a new toggle. A search calls this only for new
    /// toggles.
    #[cold]
    #[inline(never)]
    fn resolve_or_count(&self) -> Known {
        match self.state.load(Acquire) {
            state::COUNTED_ON => self.counted(true),
            state::COUNTED_OFF => self.counted(false),
            _ => self.resolve(),
        }
    }

    fn resolve(&self) -> Known {
        let (state, known) = match config::setting(self.name) {
            Setting::Default => (state::AT_DEFAULT, Known::Decision(None)),
            Setting::Fixed(true) if matches!(self.default, Default::On) => (state::ON, Known::Decision(Some(true))),
            Setting::Fixed(true) => (state::COUNTED_ON, self.counted(true)),
            Setting::Fixed(false) => (state::COUNTED_OFF, self.counted(false)),
            Setting::Search(_) => (state::DEPENDS, Known::Depends),
        };
        self.state.store(state, Release);
        known
    }

    /// Counts a decision that a setting makes.
    fn counted(&self, decision: bool) -> Known {
        self.count.fetch_add(1, Relaxed);
        Known::Decision(Some(decision))
    }
}

/// The part of a toggle's decision that is the same for all changes.
enum Known {
    /// The decision; `None` if this toggle is not bisected.
    Decision(Option<bool>),
    /// Each change has its own decision.
    Depends,
}
