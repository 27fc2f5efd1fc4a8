//! Small subsets for which a condition holds.

use std::collections::BTreeSet;

/// The removal of elements from a set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reduction {
    /// The elements that are left, in their order.
    pub(super) left: Vec<usize>,
    /// The elements that were removed together, in the order of their removal.
    pub(super) removed: Vec<Vec<usize>>,
}

/// Removes elements, the last ones first, while the condition holds for the rest. The condition must hold for the whole
/// set. The first attempt removes the second half.
///
/// # Errors
/// Those of the condition.
pub(super) fn reduce<E>(
    elements: &[usize],
    holds: &mut impl FnMut(&BTreeSet<usize>) -> Result<bool, E>,
) -> Result<Reduction, E> {
    let mut reduction = Reduction { left: elements.to_vec(), removed: Vec::new() };
    loop {
        let before = reduction.left.clone();
        for half in halves(&before) {
            reduction.remove(half, holds)?;
        }
        if reduction.left.len() == before.len() || reduction.left.is_empty() {
            return Ok(reduction);
        }
    }
}

/// Returns a small subset of the elements of groups: a condition holds for the subset. It must hold for all elements
/// together. The subset is smallest if elements need only earlier ones.
///
/// Whole groups are removed first, with at most half of the `budget` questions.
///
/// # Errors
/// Those of the condition.
pub(super) fn necessary_of_groups<E>(
    groups: &[Vec<usize>],
    budget: usize,
    holds: &mut impl FnMut(&BTreeSet<usize>) -> Result<bool, E>,
) -> Result<BTreeSet<usize>, E> {
    let numbers: Vec<_> = (0..groups.len()).collect();
    let mut asked = 0;
    let of_groups = |kept: &BTreeSet<usize>| -> Vec<usize> {
        kept.iter().flat_map(|&group| groups[group].iter().copied()).collect()
    };
    let kept = necessary(&numbers, budget / 2, &mut |kept| {
        asked += 1;
        holds(&of_groups(kept).into_iter().collect())
    })?;
    necessary(&of_groups(&kept), budget - asked, holds)
}

/// Returns a small subset of `elements` for which a condition holds. An element may need only earlier ones, and the
/// condition must hold for all together.
///
/// A binary search finds the shortest prefix for which the condition holds. Its last element is necessary. The search is
/// repeated beside the necessary elements, until the condition holds for these alone. After `left` questions the
/// result is the shortest known prefix with them.
///
/// # Errors
/// Those of the condition.
fn necessary<E>(
    elements: &[usize],
    mut left: usize,
    holds: &mut impl FnMut(&BTreeSet<usize>) -> Result<bool, E>,
) -> Result<BTreeSet<usize>, E> {
    let mut necessary = BTreeSet::new();
    let mut length = elements.len();
    loop {
        let with_prefix = |length: usize| elements[..length].iter().chain(&necessary).copied().collect();
        // The condition holds with a prefix of `length`, and fails with a prefix that is shorter than `least`.
        let mut least = 0;
        while least < length && left > 0 {
            left -= 1;
            // Few elements are necessary, so the empty prefix is tried first.
            let middle = if least == 0 { 0 } else { usize::midpoint(least, length) };
            if holds(&with_prefix(middle))? { length = middle } else { least = middle + 1 }
        }
        if length == 0 || left == 0 {
            return Ok(with_prefix(length));
        }
        length -= 1;
        necessary.insert(elements[length]);
    }
}

impl Reduction {
    /// Removes a chunk, or as much of its halves as possible.
    fn remove<E>(
        &mut self,
        chunk: &[usize],
        holds: &mut impl FnMut(&BTreeSet<usize>) -> Result<bool, E>,
    ) -> Result<(), E> {
        if chunk.is_empty() {
            return Ok(());
        }
        let rest = self.left.iter().copied().filter(|element| !chunk.contains(element)).collect();
        if holds(&rest)? {
            self.left.retain(|element| !chunk.contains(element));
            self.removed.push(chunk.to_vec());
        } else if chunk.len() > 1 {
            for half in halves(chunk) {
                self.remove(half, holds)?;
            }
        }
        Ok(())
    }
}

/// Returns the halves, the second one first.
fn halves(elements: &[usize]) -> [&[usize]; 2] {
    let (first, second) = elements.split_at(elements.len() / 2);
    [second, first]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reduces elements, some of which need others, and counts the calls of the condition.
    fn reduced(count: usize, base: &[usize], needs: &[(usize, usize)]) -> (Reduction, usize) {
        let mut asked = 0;
        let elements: Vec<_> = (0..count).collect();
        let result = reduce::<()>(&elements, &mut |left| {
            asked += 1;
            Ok(base.iter().all(|element| left.contains(element))
                && needs.iter().all(|(one, other)| !left.contains(one) || left.contains(other)))
        });
        (result.unwrap(), asked)
    }

    #[test]
    fn the_elements_that_are_needed_are_left() {
        let (reduction, asked) = reduced(64, &[17], &[(17, 40), (40, 3), (50, 51)]);
        assert_eq!(reduction.left, [3, 17, 40]);
        assert_eq!(reduction.removed.iter().flatten().count(), 61);
        assert!(asked <= 64, "{asked} questions");
    }

    #[test]
    fn all_are_removed_where_none_is_needed() {
        let (reduction, _) = reduced(5, &[], &[(0, 1), (1, 0)]);
        assert!(reduction.left.is_empty());
        assert_eq!(reduction.removed.concat().len(), 5);
    }

    #[test]
    fn elements_that_need_each_other_stay_together() {
        let (reduction, _) = reduced(2, &[], &[(0, 1), (1, 0)]);
        assert_eq!(reduction, Reduction { left: vec![0, 1], removed: Vec::new() });
    }

    /// Finds the necessary elements of 64, and counts the questions.
    fn found(needed: &[usize], needs: &[(usize, usize)], left: usize) -> (Vec<usize>, usize) {
        let mut asked = 0;
        let elements: Vec<_> = (0..64).collect();
        let found = necessary::<()>(&elements, left, &mut |left| {
            asked += 1;
            Ok(needed.iter().all(|element| left.contains(element))
                && needs.iter().all(|(one, other)| !left.contains(one) || left.contains(other)))
        });
        (found.unwrap().into_iter().collect(), asked)
    }

    #[test]
    fn a_necessary_element_costs_a_binary_search() {
        assert_eq!(found(&[], &[], 60), (vec![], 1));
        assert_eq!(found(&[17], &[], 60), (vec![17], 8));
        // Those that one needs are necessary, others with needs of their own are not.
        let (elements, asked) = found(&[40], &[(40, 17), (17, 3), (50, 20)], 60);
        assert_eq!(elements, [3, 17, 40]);
        assert!(asked <= 24, "{asked} questions");
    }

    #[test]
    fn groups_that_are_not_needed_cost_few_questions() {
        let groups: Vec<Vec<usize>> = (0..8).map(|group| (8 * group..8 * (group + 1)).collect()).collect();
        let needed = [10, 11, 13, 14, 50];
        let mut asked = 0;
        let found = necessary_of_groups::<()>(&groups, 24, &mut |left| {
            asked += 1;
            Ok(needed.iter().all(|element| left.contains(element)))
        });
        let found = found.unwrap();
        assert!(needed.iter().all(|element| found.contains(element)) && asked == 24, "{found:?}, {asked} questions");
        assert!(found.iter().all(|element| [1, 6].contains(&(element / 8))), "{found:?}");
        assert_eq!(necessary_of_groups::<()>(&groups, 24, &mut |_| Ok(true)), Ok(BTreeSet::new()));
    }

    #[test]
    fn with_few_questions_too_much_is_left() {
        let (elements, asked) = found(&[10, 60], &[], 9);
        assert_eq!((elements.first(), elements.last(), asked), (Some(&0), Some(&60), 9));
        assert!(elements.contains(&10));
        assert_eq!(found(&[60], &[], 0).0, (0..64).collect::<Vec<_>>());
    }
}
