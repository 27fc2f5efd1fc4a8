//! The places that `bisect-rustc` has examined, as it counts them among its reports.

use std::{collections::BTreeMap, iter::Sum};

/// The numbers of places in a crate, or in its macros where other crates expand them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
    /// The number of all places.
    pub(super) all: usize,
    /// The number of places that only make a difference to the borrow checker.
    pub(super) borrowing: usize,
}

/// The suffix of a crate's name in `bisect-rustc`'s counts of places in its macros.
const MACROS: &str = "'s macros";

impl Places {
    /// Parses a count of places that `bisect-rustc` writes among its reports. Also returns the name of the crate, which
    /// ends in [`MACROS`] if the count is for its macros.
    fn parse(line: &str) -> Option<(&str, Self)> {
        let rest = line.strip_prefix("bisect-rustc: ")?;
        let (all, rest) = rest.split_once(" of ")?.1.split_once(" places of ")?;
        let (place, rest) = rest.split_once(" drop ")?;
        let borrowing = rest.split_once("; of ")?.1.split_once(' ')?.0;
        let [all, borrowing] = [all, borrowing].map(|number| number.parse().ok());
        let name = place.split_once(" in ").map_or(place, |(name, _)| name);
        Some((name, Self { all: all?, borrowing: borrowing? }))
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

/// Returns true if a count with this name is for macros of a crate.
pub(super) fn is_of_macros(name: &str) -> bool {
    name.ends_with(MACROS)
}

/// Adds the counts in the text of a report file to `places`.
pub(super) fn count_places(text: &str, places: &mut BTreeMap<String, Places>) {
    for (name, found) in text.lines().filter_map(Places::parse) {
        places.entry(name.to_owned()).or_default().widen(found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted() {
        let line = "bisect-rustc: 9 of 31 places of a_b drop something elsewhere in edition 2024; of 6 more only the borrow checker can tell";
        let found = Places { all: 31, borrowing: 6 };
        assert_eq!(Places::parse(line), Some(("a_b", found)));
        let of_macros = line.replace("a_b", "a_b's macros in c");
        assert_eq!(Places::parse(&of_macros), Some(("a_b's macros", found)));
        for line in [
            "bisect-rustc: 9 of x places of a drop; of 6 more",
            "9 of 31 places of a drop; of 6 more",
            "bisect-rustc: ?",
        ] {
            assert_eq!(Places::parse(line), None, "{line}");
        }
    }
}
