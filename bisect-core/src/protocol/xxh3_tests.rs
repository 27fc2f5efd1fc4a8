//! Comparison of XXH3 with another implementation.

use alloc::vec::Vec;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{Hasher, hash};

/// Returns bytes without a pattern, enough for several blocks.
fn bytes() -> Vec<u8> {
    let word = |n: u64| xxh3_64_with_seed(&n.to_le_bytes(), 1).to_le_bytes();
    (0..420).flat_map(word).collect()
}

const SEEDS: [u64; 5] = [0, 1, 0x0123_4567_89ab_cdef, 1 << 63, u64::MAX];

#[test]
fn every_length_and_seed_has_the_hash_of_the_definition() {
    let bytes = bytes();
    // All lengths that end in another stripe of the first blocks, and some longer ones.
    for len in (0..1100).chain((1100..=bytes.len()).step_by(61)) {
        for seed in SEEDS {
            let bytes = &bytes[..len];
            assert_eq!(hash(bytes, seed), xxh3_64_with_seed(bytes, seed), "{len} bytes, seed {seed:#x}");
        }
    }
}

#[test]
fn parts_have_the_hash_of_the_whole() {
    let bytes = bytes();
    for len in (0..=bytes.len()).step_by(61).chain([240, 241, 255, 256, 257, 320, 1024, 1025, 2048]) {
        for part in [1, 8, 63, 64, 65, 200, 256, 257, 1000, len.max(1)] {
            let mut hasher = Hasher::new();
            bytes[..len].chunks(part).for_each(|part| hasher.update(part));
            let expected = xxh3_64_with_seed(&bytes[..len], 0);
            assert_eq!(hasher.finish(), expected, "{len} bytes, {part} at a time");
            assert_eq!(hasher.finish(), expected, "once more");
        }
    }
}

#[test]
fn constants_have_the_same_hashes() {
    const SHORT: u64 = hash(b"newsort", 0);
    const LONG: u64 = hash(&[7; 3000], 5);
    assert_eq!(SHORT, xxh3_64_with_seed(b"newsort", 0));
    assert_eq!(LONG, xxh3_64_with_seed(&[7; 3000], 5));
}
