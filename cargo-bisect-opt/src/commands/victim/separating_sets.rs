//! A few sets that separate numbers: for any two numbers, one set contains the first and not the second.

/// Returns sets of the numbers below `count`, as few as possible: for any two numbers, one set contains the first and
/// not the second.
///
/// Each number gets a word of bits, half of them ones. Words with equally many ones differ in both directions. By
/// Sperner's theorem, no shorter words would do.
pub(super) fn separating_sets(count: usize) -> Vec<Vec<usize>> {
    let (mut bits, mut words) = (0, 1);
    while words < count {
        bits += 1;
        words = middle_binomial(bits);
    }
    let mut sets = vec![Vec::new(); bits];
    let mut word = (1_usize << (bits / 2)) - 1;
    for number in 0..count {
        for (_, set) in sets.iter_mut().enumerate().filter(|(bit, _)| word >> bit & 1 == 1) {
            set.push(number);
        }
        word = if bits == 0 { 0 } else { next_with_as_many_ones(word) };
    }
    // The highest bit divides the numbers into a front and a back part: tests with one subject are often neighbours.
    sets.reverse();
    sets
}

/// Returns the number of words of this length of which half of the bits, rounded down, are ones.
fn middle_binomial(bits: usize) -> usize {
    (0..bits / 2).fold(1, |product, at| product * (bits - at) / (at + 1))
}

/// Returns the next larger number with as many ones among its bits.
fn next_with_as_many_ones(word: usize) -> usize {
    let lowest = word & word.wrapping_neg();
    let carried = word + lowest;
    carried | ((carried ^ word) / lowest) >> 2
}

#[cfg(test)]
mod tests {
    use super::separating_sets;

    #[test]
    fn each_number_is_in_a_set_without_each_other_one() {
        for count in 0..260 {
            let sets = separating_sets(count);
            // For each number, a bit for each set that contains it.
            let mut sets_of = vec![0_u32; count];
            for (index, set) in sets.iter().enumerate() {
                for &number in set {
                    sets_of[number] |= 1 << index;
                }
            }
            for one in 0..count {
                for other in (0..count).filter(|&other| other != one) {
                    assert!(sets_of[one] & !sets_of[other] != 0, "{count}: {one} without {other}");
                }
            }
            assert!(sets.iter().all(|set| !set.is_empty() && set.len() < count && set.is_sorted()), "{count}");
        }
    }

    #[test]
    fn there_are_few_sets() {
        let counts = [0, 1, 2, 3, 6, 7, 20, 100, 1000, 10_000, 100_000];
        assert_eq!(counts.map(|count| separating_sets(count).len()), [0, 0, 2, 3, 4, 5, 6, 9, 13, 16, 20]);
    }
}
