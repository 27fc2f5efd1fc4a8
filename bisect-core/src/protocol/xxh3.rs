//! XXH3, 64 bits: a hash whose bits are all equally well distributed, in constants and at run time.
//!
//! Every program with a toggle compiles this module, so it is not a dependency. It is the part of XXH3 that IDs need,
//! without processor-specific instructions. The hash values are fixed; the tests compare them with another
//! implementation.

/// The bytes that are mixed with the input, from the definition of XXH3.
const SECRET: [u8; 192] = [
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c, 0xde, 0xd4, 0x6d,
    0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f, 0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0,
    0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21, 0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0,
    0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c, 0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b,
    0x1b, 0x53, 0x2e, 0xa3, 0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac,
    0xd8, 0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d, 0x8a, 0x51,
    0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64, 0xea, 0xc5, 0xac, 0x83, 0x34,
    0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb, 0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49,
    0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e, 0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8,
    0xd1, 0x7a, 0xd0, 0x31, 0xce, 0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b,
    0x40, 0x7e,
];

const PRIME32_1: u64 = 0x9e37_79b1;
const PRIME32_2: u64 = 0x85eb_ca77;
const PRIME32_3: u64 = 0xc2b2_ae3d;
const PRIME64_1: u64 = 0x9e37_79b1_85eb_ca87;
const PRIME64_2: u64 = 0xc2b2_ae3d_27d4_eb4f;
const PRIME64_3: u64 = 0x1656_67b1_9e37_79f9;
const PRIME64_4: u64 = 0x85eb_ca77_c2b2_ae63;
const PRIME64_5: u64 = 0x27d4_eb2f_1656_67c5;
const PRIME_MX1: u64 = 0x1656_6791_9e37_79f9;
const PRIME_MX2: u64 = 0x9fb2_1c65_1e98_df25;

/// Number of bytes of a long input that one step takes.
const STRIPE: usize = 64;
/// Number of bytes by which the secret's offset grows from one stripe of a block to the next.
const SECRET_STEP: usize = 8;
/// Number of stripes in a block, after which the lanes are scrambled.
const BLOCK: usize = (SECRET.len() - STRIPE) / SECRET_STEP;
/// The longest input without lanes.
const LONGEST_WITHOUT_LANES: usize = 240;

/// Returns the hash of `bytes`; each seed makes a different hash function.
#[inline]
#[must_use]
pub const fn hash(bytes: &[u8], seed: u64) -> u64 {
    match bytes.len() {
        0 => finish_as_xxh64(seed ^ word(&SECRET, 56) ^ word(&SECRET, 64)),
        1..=3 => hash_1_to_3(bytes, seed),
        4..=8 => hash_4_to_8(bytes, seed),
        9..=16 => hash_9_to_16(bytes, seed),
        17..=128 => hash_17_to_128(bytes, seed),
        129..=LONGEST_WITHOUT_LANES => hash_129_to_240(bytes, seed),
        _ => hash_long(bytes, seed),
    }
}

const fn hash_1_to_3(bytes: &[u8], seed: u64) -> u64 {
    let len = bytes.len();
    let (first, middle, last) = (bytes[0] as u64, bytes[len / 2] as u64, bytes[len - 1] as u64);
    let combined = first << 16 | middle << 24 | last | (len as u64) << 8;
    finish_as_xxh64(combined ^ (half(&SECRET, 0) ^ half(&SECRET, 4)).wrapping_add(seed))
}

#[allow(clippy::cast_possible_truncation, reason = "the lower half of the seed")]
const fn hash_4_to_8(bytes: &[u8], seed: u64) -> u64 {
    let len = bytes.len();
    let seed = seed ^ ((seed as u32).swap_bytes() as u64) << 32;
    let both = half(bytes, len - 4).wrapping_add(half(bytes, 0) << 32);
    let mut hash = both ^ (word(&SECRET, 8) ^ word(&SECRET, 16)).wrapping_sub(seed);
    hash ^= hash.rotate_left(49) ^ hash.rotate_left(24);
    hash = hash.wrapping_mul(PRIME_MX2);
    hash ^= (hash >> 35).wrapping_add(len as u64);
    hash = hash.wrapping_mul(PRIME_MX2);
    hash ^ hash >> 28
}

const fn hash_9_to_16(bytes: &[u8], seed: u64) -> u64 {
    let len = bytes.len();
    let low = word(bytes, 0) ^ (word(&SECRET, 24) ^ word(&SECRET, 32)).wrapping_add(seed);
    let high = word(bytes, len - 8) ^ (word(&SECRET, 40) ^ word(&SECRET, 48)).wrapping_sub(seed);
    finish((len as u64).wrapping_add(low.swap_bytes()).wrapping_add(high).wrapping_add(folded(low, high)))
}

const fn hash_17_to_128(bytes: &[u8], seed: u64) -> u64 {
    let len = bytes.len();
    let mut hash = (len as u64).wrapping_mul(PRIME64_1);
    // From both ends to the middle.
    let mut pair = (len - 1) / 32;
    loop {
        hash = hash.wrapping_add(mixed(bytes, 16 * pair, 32 * pair, seed)).wrapping_add(mixed(
            bytes,
            len - 16 * (pair + 1),
            32 * pair + 16,
            seed,
        ));
        if pair == 0 {
            return finish(hash);
        }
        pair -= 1;
    }
}

const fn hash_129_to_240(bytes: &[u8], seed: u64) -> u64 {
    let len = bytes.len();
    let mut hash = (len as u64).wrapping_mul(PRIME64_1);
    let mut part = 0;
    while part < 8 {
        hash = hash.wrapping_add(mixed(bytes, 16 * part, 16 * part, seed));
        part += 1;
    }
    hash = finish(hash);
    while part < len / 16 {
        hash = hash.wrapping_add(mixed(bytes, 16 * part, 16 * (part - 8) + 3, seed));
        part += 1;
    }
    finish(hash.wrapping_add(mixed(bytes, len - 16, 119, seed)))
}

#[inline(never)]
const fn hash_long(bytes: &[u8], seed: u64) -> u64 {
    let mut lanes = Lanes::new(seed);
    let mut at = 0;
    while at + STRIPE < bytes.len() {
        lanes.add(bytes, at);
        at += STRIPE;
    }
    lanes.finish(bytes, bytes.len() - STRIPE, bytes.len() as u64)
}

/// The state of the hash of a long input.
#[derive(Clone, Copy)]
struct Lanes {
    /// One value for each lane.
    values: [u64; 8],
    secret: [u8; SECRET.len()],
    /// Number of stripes of the current block so far.
    stripes: usize,
}

impl Lanes {
    const fn new(seed: u64) -> Self {
        let mut secret = SECRET;
        let mut at = 0;
        while at < SECRET.len() && seed != 0 {
            put(&mut secret, at, word(&SECRET, at).wrapping_add(seed));
            put(&mut secret, at + 8, word(&SECRET, at + 8).wrapping_sub(seed));
            at += 16;
        }
        let values = [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1];
        Self { values, secret, stripes: 0 }
    }

    /// Adds the stripe at this position, which is not the last one.
    const fn add(&mut self, bytes: &[u8], at: usize) {
        self.accumulate(bytes, at, SECRET_STEP * self.stripes);
        self.stripes += 1;
        if self.stripes == BLOCK {
            self.stripes = 0;
            self.scramble();
        }
    }

    const fn accumulate(&mut self, bytes: &[u8], at: usize, secret_at: usize) {
        let (_, stripe) = bytes.split_at(at);
        let (_, secret) = self.secret.split_at(secret_at);
        let mut lane = 0;
        while lane < 8 {
            let value = word(stripe, 8 * lane);
            let keyed = value ^ word(secret, 8 * lane);
            self.values[lane ^ 1] = self.values[lane ^ 1].wrapping_add(value);
            self.values[lane] = self.values[lane].wrapping_add((keyed & 0xffff_ffff).wrapping_mul(keyed >> 32));
            lane += 1;
        }
    }

    const fn scramble(&mut self) {
        let mut lane = 0;
        while lane < 8 {
            let value = self.values[lane];
            let keyed = value ^ value >> 47 ^ word(&self.secret, SECRET.len() - STRIPE + 8 * lane);
            self.values[lane] = keyed.wrapping_mul(PRIME32_1);
            lane += 1;
        }
    }

    /// Returns the hash, given the last stripe, which may overlap the stripe before.
    const fn finish(mut self, bytes: &[u8], at: usize, len: u64) -> u64 {
        self.accumulate(bytes, at, SECRET.len() - STRIPE - 7);
        let mut hash = len.wrapping_mul(PRIME64_1);
        let mut lane = 0;
        while lane < 8 {
            let low = self.values[lane] ^ word(&self.secret, 11 + 8 * lane);
            let high = self.values[lane + 1] ^ word(&self.secret, 11 + 8 * lane + 8);
            hash = hash.wrapping_add(folded(low, high));
            lane += 2;
        }
        finish(hash)
    }
}

/// A hasher of an input that comes in parts, with the seed 0.
#[derive(Clone)]
pub(crate) struct Hasher {
    /// The whole input while it is short; then its end.
    buffer: [u8; BUFFER],
    /// Number of bytes of the buffer that are not in `lanes` yet. In a long input, the bytes after them in the buffer
    /// precede them in the input.
    filled: usize,
    lanes: Lanes,
    len: u64,
}

/// Size of the buffer in bytes: whole stripes, and more than the longest input without lanes.
const BUFFER: usize = 4 * STRIPE;

impl Hasher {
    pub(crate) const fn new() -> Self {
        Self { buffer: [0; BUFFER], filled: 0, lanes: Lanes::new(0), len: 0 }
    }

    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        self.len += bytes.len() as u64;
        while !bytes.is_empty() {
            // The buffer's stripes go into the lanes only when more input follows, because the last stripe is added
            // differently.
            if self.filled == BUFFER {
                (0..BUFFER).step_by(STRIPE).for_each(|at| self.lanes.add(&self.buffer, at));
                self.filled = 0;
            }
            let (part, rest) = bytes.split_at(bytes.len().min(BUFFER - self.filled));
            self.buffer[self.filled..][..part.len()].copy_from_slice(part);
            self.filled += part.len();
            bytes = rest;
        }
    }

    pub(crate) fn finish(&self) -> u64 {
        if self.len <= LONGEST_WITHOUT_LANES as u64 {
            return hash(&self.buffer[..self.filled], 0);
        }
        let mut lanes = self.lanes;
        let mut at = 0;
        while at + STRIPE < self.filled {
            lanes.add(&self.buffer, at);
            at += STRIPE;
        }
        let mut last = [0; STRIPE];
        let new = self.filled.min(STRIPE);
        let (before, end) = last.split_at_mut(STRIPE - new);
        before.copy_from_slice(&self.buffer[BUFFER - before.len()..]);
        end.copy_from_slice(&self.buffer[self.filled - new..self.filled]);
        lanes.finish(&last, 0, self.len)
    }
}

/// Mixes sixteen bytes of the input with sixteen bytes of the secret.
const fn mixed(bytes: &[u8], at: usize, secret_at: usize, seed: u64) -> u64 {
    let low = word(bytes, at) ^ word(&SECRET, secret_at).wrapping_add(seed);
    let high = word(bytes, at + 8) ^ word(&SECRET, secret_at + 8).wrapping_sub(seed);
    folded(low, high)
}

/// Multiplies to 128 bits and combines both halves.
#[allow(clippy::cast_possible_truncation, reason = "its two halves")]
const fn folded(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

const fn finish(hash: u64) -> u64 {
    let hash = (hash ^ hash >> 37).wrapping_mul(PRIME_MX1);
    hash ^ hash >> 32
}

const fn finish_as_xxh64(hash: u64) -> u64 {
    let hash = (hash ^ hash >> 33).wrapping_mul(PRIME64_2);
    let hash = (hash ^ hash >> 29).wrapping_mul(PRIME64_3);
    hash ^ hash >> 32
}

/// Reads eight bytes, least significant first.
const fn word(bytes: &[u8], at: usize) -> u64 {
    match bytes.split_at(at).1.first_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => panic!("there are as many bytes"),
    }
}

/// Reads four bytes, least significant first.
const fn half(bytes: &[u8], at: usize) -> u64 {
    match bytes.split_at(at).1.first_chunk() {
        Some(half) => u32::from_le_bytes(*half) as u64,
        None => panic!("there are as many bytes"),
    }
}

const fn put(bytes: &mut [u8], at: usize, word: u64) {
    match bytes.split_at_mut(at).1.first_chunk_mut() {
        Some(place) => *place = word.to_le_bytes(),
        None => panic!("there are as many bytes"),
    }
}

#[cfg(test)]
#[path = "xxh3_tests.rs"]
mod tests;
