//! A hash table that can be walked.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

use bisect_rt::bisect_toggle;

/// FNV-1a, a fixed hash that many programs use for speed. The hash of std has another key in every process. A test that
/// depends on the order would then fail only in some runs.
#[derive(Debug)]
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Values by name.
#[derive(Debug)]
pub struct Table<V> {
    map: HashMap<String, V, BuildHasherDefault<Fnv>>,
}

impl<V> Default for Table<V> {
    fn default() -> Self {
        Self { map: HashMap::default() }
    }
}

impl<V> Table<V> {
    /// Returns the value of a name.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut V> {
        self.map.get_mut(name)
    }

    /// Sets the value of a name.
    pub fn insert(&mut self, name: &str, value: V) {
        self.map.insert(name.to_owned(), value);
    }

    /// Removes a name and its value.
    pub fn remove(&mut self, name: &str) {
        self.map.remove(name);
    }

    /// Returns the number of names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Returns true if there are no names.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Returns all names with their values, in the order of the map.
    #[must_use]
    #[bisect_toggle("hashorder", off = Self::sorted_entries, by = "caller")]
    pub fn entries(&self) -> Vec<(&str, &V)> {
        self.map.iter().map(|(name, value)| (name.as_str(), value)).collect()
    }

    /// Returns the same as `entries`, in the order of the names, as `entries` did before the release.
    fn sorted_entries(&self) -> Vec<(&str, &V)> {
        let mut entries: Vec<_> = self.map.iter().map(|(name, value)| (name.as_str(), value)).collect();
        entries.sort_unstable_by_key(|&(name, _)| name);
        entries
    }
}
