//! Removal of elements from a set for as long as a condition holds, in halves and then one by one.

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
}
