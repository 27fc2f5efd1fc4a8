//! The keys of remembered decisions: hashes that distinguish the changes of this process.
//!
//! A fingerprint is computed anew for every decision. For a stack, this happens while its addresses are found one after
//! the other. XXH3 needs all addresses at once and would begin after the last one; a fingerprint is then finished. It
//! multiplies to 128 bits and adds the halves without carry, as wyhash does. This leaves no pattern in the keys that
//! addresses could cause.

#![allow(clippy::inline_always, reason = "it is interleaved with what finds the words")]

/// The multipliers: odd, with as many zeros as ones. No other property matters.
const MULTIPLIERS: [u64; 3] = [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03, 0x8ebc_6af0_9c88_c6e3];

/// The hash of the words so far.
#[derive(Clone, Copy)]
pub(crate) struct Fingerprint {
    /// Two lanes that take turns, so that one need not wait for the other.
    lanes: [u64; 2],
}

impl Fingerprint {
    /// Begins the fingerprint of a change of `owner`, for a value if there is one.
    #[inline(always)]
    pub(crate) fn new(owner: u64, value: Option<u64>) -> Self {
        // `None` starts differently from any value: the start for a value's hash is not predictable.
        let start = value.map_or(MULTIPLIERS[2], |value| folded(value ^ MULTIPLIERS[0], MULTIPLIERS[1]));
        Self { lanes: [owner, start] }
    }

    /// Adds one word.
    #[inline(always)]
    pub(crate) fn add(&mut self, word: u64) {
        let [next, other] = self.lanes;
        self.lanes = [other, folded(next ^ word, MULTIPLIERS[0])];
    }

    /// Returns the hash, all of whose bits are equally good.
    #[inline(always)]
    pub(crate) fn key(self) -> u64 {
        let [a, b] = self.lanes;
        folded(folded(a, MULTIPLIERS[1]) ^ b, MULTIPLIERS[2])
    }
}

#[inline(always)]
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    #[allow(clippy::cast_possible_truncation, reason = "its two halves")]
    let halves = (product as u64, (product >> 64) as u64);
    halves.0 ^ halves.1
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Returns the key of these addresses, which resemble those of a program: near each other, and few.
    fn key(words: &[u64]) -> u64 {
        let mut fingerprint = Fingerprint::new(0x5555_5555_4321, None);
        for word in words {
            fingerprint.add(0x5555_5555_0000 + word * 5);
        }
        fingerprint.key()
    }

    #[test]
    #[cfg_attr(miri, ignore = "it is slow")]
    fn stacks_are_told_apart() {
        // These are all stacks of up to 9 frames from 4 places, in every order.
        let mut stacks: Vec<Vec<u64>> = vec![vec![]];
        let mut start = 0;
        for _ in 0..9 {
            let end = stacks.len();
            for stack in start..end {
                for place in 0..4 {
                    let mut longer = stacks[stack].clone();
                    longer.push(place);
                    stacks.push(longer);
                }
            }
            start = end;
        }
        let keys: HashSet<u64> = stacks.iter().map(|stack| key(stack)).collect();
        assert_eq!(keys.len(), stacks.len());
        // The table takes the upper bits for its buckets and leaves out the lowest two. No value of these bits may
        // repeat more often than by chance: each occurs 15 times on average, with a deviation of 4.
        for shift in [0, 2, 24, 50] {
            let mut counts = vec![0_u32; 1 << 14];
            for stack in &stacks {
                counts[usize::try_from(key(stack) >> shift & 0x3fff).unwrap()] += 1;
            }
            let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
            let mean = stacks.len() >> 14;
            assert!(u64::from(*most) < 3 * mean as u64, "{least} to {most} around {mean}, from bit {shift}");
        }
    }

    #[test]
    fn the_rest_is_part_of_the_key_too() {
        let key = |owner, value| Fingerprint::new(owner, value).key();
        let keys = [key(1, None), key(2, None), key(1, Some(0)), key(1, Some(1)), key(2, Some(1))];
        assert_eq!(HashSet::from(keys).len(), keys.len());
    }
}
