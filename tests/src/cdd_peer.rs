//! Counter-based delta debugging, to compare with: the tests that it makes on a target that runs in this process.
//!
//! From its description: Zhang, Xu, Tian, Cheng and Sun, "Toward a Better Understanding of Probabilistic Delta
//! Debugging", 2024, section V.

use std::f64::consts::E;

/// The probability that an element is needed, before the first round: the default of its authors.
const FIRST_PROBABILITY: f64 = 0.1;

/// Returns the elements that are left, and the number of tests. `fails` returns true if the target still fails with
/// these elements, as it does with all.
pub fn reduce(elements: usize, mut fails: impl FnMut(&[usize]) -> bool) -> (Vec<usize>, usize) {
    let mut left: Vec<usize> = (0..elements).collect();
    let mut tests = 0;
    for round in 0.. {
        let size = size_of_subsets(round);
        let mut next = 0;
        while next < left.len() {
            let end = (next + size).min(left.len());
            let without = [&left[..next], &left[end..]].concat();
            tests += 1;
            if fails(&without) {
                left = without;
            } else {
                next = end;
            }
        }
        if size == 1 {
            break;
        }
    }
    (left, tests)
}

/// Returns the number of elements that are removed together in a round: it maximizes the expected number that the test
/// removes, if each is needed with a probability that grows in each round.
fn size_of_subsets(round: i32) -> usize {
    let needed = FIRST_PROBABILITY / (1.0 - 1.0 / E).powi(round);
    let removed = |size: usize| size as f64 * (1.0 - needed).max(0.0).powi(i32::try_from(size).unwrap_or(i32::MAX));
    (1..=elements_at_most()).max_by(|&one, &other| removed(one).total_cmp(&removed(other))).unwrap_or(1)
}

/// Returns more than the largest size: that of the first round.
fn elements_at_most() -> usize {
    (1.0 / FIRST_PROBABILITY) as usize + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subsets_shrink_as_in_the_description() {
        let sizes: Vec<_> = (0..6).map(size_of_subsets).collect();
        assert_eq!(sizes[0], 10.min(sizes[0]));
        assert!(sizes.is_sorted_by(|one, next| one >= next) && sizes.last() == Some(&1), "{sizes:?}");
    }

    #[test]
    fn what_is_needed_is_left() {
        let needed = [3, 40, 41, 99];
        let (left, tests) = reduce(100, |kept| needed.iter().all(|element| kept.contains(element)));
        assert_eq!(left, needed);
        assert!(tests > 20, "{tests}");
    }
}
