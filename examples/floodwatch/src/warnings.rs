//! What people should know.

use crate::{Minute, Shared};

/// What a warning is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Much rain in a minute.
    Cloudburst,
    /// Much rain in an hour.
    HeavyRain,
    /// The river has reached the mark.
    HighWater,
    /// The river has risen fast within an hour.
    FastRise,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// When it was so.
    pub minute: Minute,
    /// What it is about.
    pub kind: Kind,
    /// How much, with its unit.
    pub amount: String,
}

/// The list that sirens and telephones are driven by.
#[derive(Debug, Default)]
pub struct Warnings {
    list: Shared<Vec<Warning>>,
}

impl Warnings {
    /// Adds one, from either gauge.
    pub fn raise(&self, warning: Warning) {
        self.list.update(|list| list.push(warning));
    }

    /// All of them, in the order in which they were raised.
    #[must_use]
    pub fn list(&self) -> Vec<Warning> {
        self.list.get()
    }
}
