//! The seed of all random choices of the driver, which makes a search repeatable.

use std::{
    fmt,
    hash::{BuildHasher, Hasher, RandomState},
};

use bisect_core::{ChangeId, Field};
use serde::{Deserialize, Serialize, Serializer};

/// The limit of seeds: every reader of JSON keeps integers below it exactly.
const SEED_LIMIT: u64 = 1 << 53;

/// The seed of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Seed(u64);

impl Seed {
    /// Draws a random seed.
    pub(crate) fn draw() -> Self {
        Self(random_number() % SEED_LIMIT)
    }

    /// Parses the value of `--seed`.
    ///
    /// # Errors
    /// If the text is no seed.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let number = text.parse().ok().filter(|&number| number < SEED_LIMIT);
        number.map(Self).ok_or_else(|| "a seed is a whole number below 2^53".to_owned())
    }

    /// Returns the seed of the search engine.
    pub(crate) fn of_search(self) -> u64 {
        self.0
    }

    /// Returns a pseudorandom number for an execution of the target, which depends on seed, run and execution only.
    pub(crate) fn number(self, run: usize, execution: usize) -> u64 {
        let [run, execution] = [run, execution].map(|n| Field::U64(n as u64));
        ChangeId::of(&[Field::Str("execution"), Field::U64(self.0), run, execution]).0
    }
}

/// Returns a random number, which no seed repeats.
pub(crate) fn random_number() -> u64 {
    // The standard library's only random numbers are the keys of a hash map's hasher.
    RandomState::new().build_hasher().finish()
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Seed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn seeds_are_numbers_that_json_can_carry() {
        for text in ["0", "42", "9007199254740991"] {
            assert_eq!(Seed::parse(text).unwrap().to_string(), text);
        }
        for text in ["9007199254740992", "-1", "1.5", "x", ""] {
            assert!(Seed::parse(text).is_err(), "{text}");
        }
        assert!((0..100).all(|_| Seed::draw().0 < SEED_LIMIT));
        assert_ne!(Seed::draw(), Seed::draw());
    }

    #[test]
    fn numbers_depend_on_seed_run_and_execution_only() {
        let all = || (0..3).flat_map(|seed| (0..3).flat_map(move |run| (0..3).map(move |i| Seed(seed).number(run, i))));
        assert!(all().eq(all()));
        assert_eq!(all().collect::<BTreeSet<_>>().len(), 27);
    }
}
