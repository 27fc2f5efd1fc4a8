//! The compiled form of a pattern: what a target asks at each change.

use alloc::boxed::Box;

use crate::{ChangeId, Pattern, Term};

/// Answers the two questions of the protocol. Where there is no matcher nobody is bisecting: every change is at its
/// default and nothing is reported.
#[derive(Clone, Debug)]
pub struct Matcher {
    verbose: bool,
    inverted: bool,
    /// In the order of the pattern; the last that matches decides.
    conditions: Box<[Condition]>,
}

#[derive(Clone, Copy, Debug)]
struct Condition {
    mask: u64,
    bits: u64,
    selects: bool,
}

impl Matcher {
    /// The matcher of a pattern; `None` for the empty one.
    #[must_use]
    pub fn new(pattern: &Pattern) -> Option<Self> {
        if pattern.is_empty() {
            return None;
        }
        let condition = |term: &Term| match *term {
            Term::Add(suffix) => Condition { mask: suffix.mask(), bits: suffix.bits(), selects: true },
            Term::Remove(suffix) => Condition { mask: suffix.mask(), bits: suffix.bits(), selects: false },
        };
        Some(Self {
            verbose: pattern.verbose,
            inverted: pattern.inverted,
            conditions: pattern.terms().iter().map(condition).collect(),
        })
    }

    /// Whether reports are for people and carry text, not only the marker.
    #[must_use]
    pub fn verbose(&self) -> bool {
        self.verbose
    }

    /// Whether the change is to be on.
    #[must_use]
    pub fn should_enable(&self, id: ChangeId) -> bool {
        self.should_report(id) != self.inverted
    }

    /// Whether the change is to be reported: the pattern selects it.
    #[must_use]
    pub fn should_report(&self, id: ChangeId) -> bool {
        let deciding = self.conditions.iter().rev().find(|condition| id.0 & condition.mask == condition.bits);
        deciding.is_some_and(|condition| condition.selects)
    }
}
