//! Numbers of places, which `bisect-rustc` writes among its reports.

use std::{collections::BTreeMap, iter::Sum};

use serde::{Deserialize, Serialize};

use crate::report::key_values::KeyValues;

/// The crate that wrote the counted places.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Writer {
    name: String,
    /// True if another crate is compiled, which expands macros of this one.
    pub(super) is_expanded_elsewhere: bool,
}

/// The numbers of places in a crate, or in its macros where other crates expand them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Places {
    /// The number of all places.
    pub(super) all: usize,
    /// The number of places that only make a difference to the borrow checker.
    pub(super) borrowing: usize,
}

impl Places {
    /// Parses the counts of a crate's places, which `bisect-rustc` writes among its reports.
    fn parse(line: &str) -> Option<(Writer, Self)> {
        let pairs = KeyValues::parse(line.strip_prefix("bisect-rustc: ")?)?;
        let writer =
            Writer { name: pairs.get("crate")?.to_owned(), is_expanded_elsewhere: pairs.get("expanded-in").is_some() };
        let borrowing = pairs.parsed::<usize>("scopes")?.checked_add(pairs.parsed("captures")?)?;
        Some((writer, Self { all: pairs.parsed("places")?, borrowing }))
    }

    /// Raises the numbers to those of `other`. A library and its tests are one crate, and macros are the same wherever
    /// they are expanded: the maximum counts.
    pub(super) fn widen(&mut self, other: Self) {
        *self = Self { all: self.all.max(other.all), borrowing: self.borrowing.max(other.borrowing) };
    }
}

impl Sum for Places {
    fn sum<I: Iterator<Item = Self>>(places: I) -> Self {
        places
            .fold(Self::default(), |sum, one| Self { all: sum.all + one.all, borrowing: sum.borrowing + one.borrowing })
    }
}

/// Adds the counts in the text of a report file to `places`.
pub(super) fn count_places(text: &str, places: &mut BTreeMap<Writer, Places>) {
    for (writer, found) in text.lines().filter_map(Places::parse) {
        places.entry(writer).or_default().widen(found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted() {
        let line = "bisect-rustc: crate=a_b edition=2024 places=31 drops=9 scopes=4 captures=2";
        let found = Places { all: 31, borrowing: 6 };
        let writer = |is_expanded_elsewhere| Writer { name: "a_b".to_owned(), is_expanded_elsewhere };
        assert_eq!(Places::parse(line), Some((writer(false), found)));
        let of_macros = line.replace("a_b", "a_b expanded-in=c");
        assert_eq!(Places::parse(&of_macros), Some((writer(true), found)));
        let without_edition = line.replace(" edition=2024", "");
        assert_eq!(Places::parse(&without_edition), Some((writer(false), found)));
        for line in [
            "bisect-rustc: crate=a places=x drops=9 scopes=4 captures=2",
            "bisect-rustc: crate=a places=31 drops=9 scopes=-4 captures=2",
            "bisect-rustc: crate=a places=31 drops=9 captures=2",
            "bisect-rustc: crate=a places=31 drops=9 scopes=4",
            "bisect-rustc: places=31 drops=9 scopes=4 captures=2",
            "bisect-rustc: crate=a places=31 drops=9 scopes=4 captures=2, 3",
            "crate=a places=31 drops=9 scopes=4 captures=2",
            "bisect-rustc: ?",
        ] {
            assert_eq!(Places::parse(line), None, "{line}");
        }
    }
}
