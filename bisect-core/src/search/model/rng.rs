//! Random choices of the search, the same for the same seed.

/// `SplitMix64` (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Clone, Debug)]
pub(in crate::search) struct SeededRng(u64);

impl SeededRng {
    pub(in crate::search) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a 64-bit number; all are equally likely.
    pub(in crate::search) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns true with this probability.
    pub(in crate::search) fn happens(&mut self, probability: f64) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "53 bits of the number are exact")]
        let share = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        share < probability
    }

    /// Returns one of two equally likely sides.
    pub(in crate::search) fn coin(&mut self) -> bool {
        self.next() >> 63 == 1
    }

    /// Returns a number below `end`; each is equally likely.
    pub(in crate::search) fn below(&mut self, end: usize) -> usize {
        usize::try_from((u128::from(self.next()) * end as u128) >> 64).expect("less than `end`")
    }

    /// Shuffles items; each order is equally likely.
    pub(in crate::search) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// Returns the next result of [`coin`](Self::coin).
    pub(in crate::search) fn peek(&self) -> bool {
        self.clone().coin()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coin_is_fair_and_repeatable() {
        let heads = |seed| {
            let mut rng = SeededRng::new(seed);
            (0..10_000).filter(|_| rng.coin()).count()
        };
        assert!((4_800..5_200).contains(&heads(1)), "{}", heads(1));
        assert_eq!(heads(1), heads(1));
        assert_ne!(heads(1), heads(2));
    }
}
