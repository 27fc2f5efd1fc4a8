//! Groups of updates that need each other: each group is one change. Groups that need others follow them.
//!
//! A need of one update for another is an order, not a tie. A version that refuses an old version of another package
//! follows its update in the search. An update that a run adds takes along what it needs; one that a run leaves out
//! takes along what needs it. Only updates that need each other are one change, for example if one without the other
//! would link a native library twice.

use std::collections::BTreeSet;

/// Changes: groups of updates, in an order in which each follows those that it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UpdateGroups {
    groups: Vec<Vec<usize>>,
    /// The groups that each group needs, directly and indirectly.
    needs: Vec<BTreeSet<usize>>,
}

impl UpdateGroups {
    /// Groups updates by their direct needs.
    pub(super) fn new(direct: &[BTreeSet<usize>]) -> Self {
        let reach = |start: usize| {
            let (mut reached, mut open) = (BTreeSet::new(), vec![start]);
            while let Some(update) = open.pop() {
                open.extend(direct[update].iter().copied().filter(|&next| reached.insert(next)));
            }
            reached
        };
        let reached: Vec<_> = (0..direct.len()).map(reach).collect();
        let (mut groups, mut group_of) = (Vec::<Vec<usize>>::new(), vec![None; direct.len()]);
        for update in 0..direct.len() {
            // Depth first: what it needs is placed before. Needs of needs are among `reached`, smallest first.
            let mut pending: Vec<_> = reached[update].iter().copied().chain([update]).collect();
            pending.sort_by_key(|&other| (reached[other].len(), other));
            for other in pending {
                if group_of[other].is_none() {
                    let is_tied = |&next: &usize| {
                        next == other || reached[other].contains(&next) && reached[next].contains(&other)
                    };
                    let group: Vec<_> = (0..direct.len()).filter(is_tied).collect();
                    for &member in &group {
                        group_of[member] = Some(groups.len());
                    }
                    groups.push(group);
                }
            }
        }
        let needs = groups.iter().enumerate().map(|(index, group)| {
            let needed = group.iter().flat_map(|&update| &reached[update]).filter_map(|&update| group_of[update]);
            needed.filter(|&needed| needed != index).collect()
        });
        let needs = needs.collect();
        Self { groups, needs }
    }

    /// Returns the updates of each change.
    pub(super) fn groups(&self) -> &[Vec<usize>] {
        &self.groups
    }

    /// Returns changes with all that they need.
    pub(super) fn with_needs(&self, changes: &BTreeSet<usize>) -> BTreeSet<usize> {
        changes.iter().flat_map(|&change| self.needs[change].iter().copied().chain([change])).collect()
    }

    /// Returns changes with all that need them.
    pub(super) fn with_dependents(&self, changes: &BTreeSet<usize>) -> BTreeSet<usize> {
        let needs_one = |&change: &usize| changes.contains(&change) || !self.needs[change].is_disjoint(changes);
        (0..self.groups.len()).filter(needs_one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(needs: &[&[usize]]) -> UpdateGroups {
        UpdateGroups::new(&needs.iter().map(|needed| needed.iter().copied().collect()).collect::<Vec<_>>())
    }

    #[test]
    fn updates_that_need_each_other_are_one_change() {
        // 0 and 2 pin each other; 1 needs 2; 3 is free.
        let groups = groups(&[&[2], &[2], &[0], &[]]);
        assert_eq!(groups.groups(), [vec![0, 2], vec![1], vec![3]]);
        assert_eq!(groups.with_needs(&[1].into()), [0, 1].into());
        assert_eq!(groups.with_dependents(&[0].into()), [0, 1].into());
        assert_eq!(groups.with_dependents(&[2].into()), [2].into());
    }

    #[test]
    fn a_need_is_an_order_and_not_a_tie() {
        let groups = groups(&[&[1], &[3], &[], &[]]);
        assert_eq!(groups.groups(), [vec![3], vec![1], vec![0], vec![2]]);
        assert_eq!(groups.with_needs(&[2].into()), [0, 1, 2].into());
        assert_eq!(groups.with_dependents(&[1].into()), [1, 2].into());
    }
}
