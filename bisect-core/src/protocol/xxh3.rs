//! XXH3, 64 bits: a hash whose bits are all equally well distributed, in constants and at run time.
//!
//! The crate `xxhash-rust` has two implementations of the same function. The one for constants takes four to ten times
//! as long at run time (256 bytes: 164 ns instead of 24 ns), and has no hasher for input in parts. So both are used.

/// The hash of an input that comes in parts, with the seed 0. It does not allocate.
pub(crate) use xxhash_rust::xxh3::Xxh3Default as Hasher;
/// Returns the hash of bytes with a seed, like [`hash`], and is faster. It cannot be called in constants.
pub use xxhash_rust::xxh3::xxh3_64_with_seed as run_time_hash;

/// Returns the hash of `bytes`, also in constants; each seed makes a different hash function.
#[inline]
#[must_use]
pub const fn hash(bytes: &[u8], seed: u64) -> u64 {
    xxhash_rust::const_xxh3::xxh3_64_with_seed(bytes, seed)
}
