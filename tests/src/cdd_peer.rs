//! Counter-based delta debugging, to compare with: the tests that it makes on a target that runs in this process.
//!
//! From its description: Zhang, Xu, Tian, Cheng and Sun, "Toward a Better Understanding of Probabilistic Delta
//! Debugging", 2024, section V.

use std::f64::consts::E;

/// The probability that an element is needed, before the first round: the default of its authors.
const FIRST_PROBABILITY: f64 = 0.1;

/// The size of the subsets of the first round.
const LARGEST_SUBSET: i32 = 10;

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

/// Returns the number of elements that are removed together in a round: it maximizes the expected number that a test
/// removes, if each element is needed with a probability that grows in each round.
fn size_of_subsets(round: i32) -> usize {
    let needed = (FIRST_PROBABILITY / (1.0 - 1.0 / E).powi(round)).min(1.0);
    let removed = |size: i32| f64::from(size) * (1.0 - needed).powi(size);
    let best = (1..=LARGEST_SUBSET).max_by(|&one, &other| removed(one).total_cmp(&removed(other)));
    best.and_then(|size| usize::try_from(size).ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subsets_shrink_as_in_the_description() {
        let sizes: Vec<_> = (0..6).map(size_of_subsets).collect();
        assert_eq!(sizes, [10, 6, 3, 2, 1, 1]);
    }

    #[test]
    fn what_is_needed_is_left() {
        let needed = [3, 40, 41, 99];
        let (left, tests) = reduce(100, |kept| needed.iter().all(|element| kept.contains(element)));
        assert_eq!(left, needed);
        assert!(tests > 20, "{tests}");
    }
}
