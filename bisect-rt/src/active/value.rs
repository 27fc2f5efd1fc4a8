//! Hashes of the values that toggles are keyed by.

use std::hash::{Hash, Hasher};

use bisect_core::protocol::xxh3;

/// Returns the hash of a value. It is the same in every run of a program if the value's `Hash` is.
#[inline]
pub fn hash<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = ValueHasher(0);
    value.hash(&mut hasher);
    hasher.0
}

/// A hasher that chains the writes through the seed: it has no buffer and no state except the hash so far. A value of
/// two writes differs from a value whose single write has the same bytes.
struct ValueHasher(u64);

impl Hasher for ValueHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3::run_time_hash(bytes, self.0);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn values_are_told_apart() {
        let hashes = [hash(&0_u32), hash(&1_u32), hash(&0_u64), hash("a"), hash("b"), hash(&("a", "b")), hash("ab")];
        for (i, a) in hashes.iter().enumerate() {
            assert!(hashes[..i].iter().all(|b| a != b), "{i}: {hashes:x?}");
        }
        assert_eq!(hash("a"), hash(&String::from("a")));
    }
}
