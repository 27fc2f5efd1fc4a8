//! The list of warnings.

use std::collections::BTreeMap;

use crate::{Minute, Reading, Shared};

/// The kind of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Heavy rain. The amount is in tenths of a millimetre.
    Cloudburst,
    /// A river at the mark or above. The level is in tenths of a centimetre.
    HighWater,
}

/// The list of warnings, which drives sirens and telephones.
#[derive(Debug, Default)]
pub struct Warnings {
    list: Shared<BTreeMap<(Minute, Kind), u32>>,
}

impl Warnings {
    /// Adds a warning, from either gauge.
    pub fn raise(&self, kind: Kind, reading: Reading) {
        self.list.update(|list| {
            list.insert((reading.minute, kind), reading.tenths);
        });
    }

    /// Returns all warnings in the order of time, each with the amount that the gauge reported.
    #[must_use]
    pub fn list(&self) -> BTreeMap<(Minute, Kind), u32> {
        self.list.get()
    }
}
