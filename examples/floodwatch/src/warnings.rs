//! What people should know.

use std::collections::BTreeMap;

use crate::{Minute, Reading, Shared};

/// What a warning is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It rains hard, in tenths of a millimetre.
    Cloudburst,
    /// The river has reached the mark, in tenths of a centimetre.
    HighWater,
}

/// The list that sirens and telephones are driven by.
#[derive(Debug, Default)]
pub struct Warnings {
    list: Shared<BTreeMap<(Minute, Kind), u32>>,
}

impl Warnings {
    /// Adds one, from either gauge.
    pub fn raise(&self, kind: Kind, reading: Reading) {
        self.list.update(|list| {
            list.insert((reading.minute, kind), reading.tenths);
        });
    }

    /// All of them, in the order of time, each with what the gauge said.
    #[must_use]
    pub fn list(&self) -> BTreeMap<(Minute, Kind), u32> {
        self.list.get()
    }
}
