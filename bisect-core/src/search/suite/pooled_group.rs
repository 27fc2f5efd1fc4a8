//! A pooled group: one selection that halves the suspects of as many tests as possible.
//!
//! Where several trials may be in flight, groups narrow the candidates faster than prefixes: see
//! the [proposer](crate::search::proposer). One group serves tests with different suspects: the runs in
//! flight, and the tests, divide all suspects into parts, and the group contains half of each part.

use alloc::{collections::BTreeMap, vec, vec::Vec};

use super::pool::{self, Member, Named};
use crate::search::{
    model::{rank::Rank, ranked, selection::Selection},
    proposer::parts,
    tuning,
};

/// Returns the group that tells most about the suspects of these tests, in addition to the selections `in_flight`; its
/// mode is that of `model`. `prefix` is returned if it tells as much: it narrows the candidates of sets of several
/// changes too. `None` if no test has suspects that a group with few gaps can divide.
pub(super) fn group(
    members: &[&Member<'_>],
    in_flight: &[&Selection],
    prefix: Option<&Selection>,
    model: &Selection,
) -> Option<Selection> {
    let members = compatible(members);
    let named = Named::of(&members);
    let high = members.iter().map(|member| member.high()).max()?;
    let lists = Lists::of(&members, &named)?;
    let mut cells = vec![0; lists.suspects.len()];
    for selection in in_flight {
        parts::split(&mut cells, |place| selection.contains(lists.suspects[place]));
    }
    // The suspects of different tests may alternate. Then a group that halves each list has too many gaps, and one that
    // halves all of them together has not.
    let halves = [lists.parts(&cells), cells.clone()].into_iter().filter_map(|parts| {
        let chosen = parts::half_of_each(&parts, &cells);
        let (end, gaps) = parts::selection_of(&lists.suspects, &chosen, high)?;
        Some(named.selection(end, gaps, model))
    });
    let told = halves.chain(prefix.cloned()).map(|selection| (lists.information(&cells, &selection), selection));
    let (information, best) = told.max_by_key(|(information, _)| *information)?;
    (information > 0).then_some(best)
}

/// The suspects of several tests.
struct Lists {
    /// All of them, in order.
    suspects: Vec<Rank>,
    /// For each different list of suspects, their places among all, and the number of tests that have this list.
    lists: Vec<(Vec<usize>, u64)>,
}

impl Lists {
    /// Returns the suspects of these tests that no test forces or excludes; `None` if they are too many.
    fn of(members: &[&Member<'_>], named: &Named) -> Option<Self> {
        let mut lists: Vec<(&[Rank], u64)> = Vec::new();
        for list in members.iter().map(|member| member.suspects()) {
            match lists.iter_mut().find(|(other, _)| *other == list) {
                Some((_, tests)) => *tests += 1,
                None => lists.push((list, 1)),
            }
        }
        let count: usize = lists.iter().map(|(list, _)| list.len()).sum();
        if count > tuning::MAX_CANDIDATES_FOR_GROUPS {
            return None;
        }
        let mut suspects: Vec<_> = lists.iter().flat_map(|(list, _)| *list).copied().collect();
        ranked::sort(&mut suspects);
        suspects.retain(|change| !named.names(*change));
        let places = |list: &[Rank]| list.iter().filter_map(|&change| ranked::find(&suspects, change)).collect();
        let lists = lists.into_iter().map(|(list, tests)| (places(list), tests)).collect();
        Some(Self { suspects, lists })
    }

    /// Divides each cell into the suspects of the same tests. Returns the number of the part of each suspect.
    fn parts(&self, cells: &[usize]) -> Vec<usize> {
        let mut parts = cells.to_vec();
        let mut next = parts.len();
        for (places, _) in &self.lists {
            let mut numbers = BTreeMap::new();
            for &place in places {
                parts[place] = *numbers.entry(parts[place]).or_insert_with(|| {
                    next += 1;
                    next
                });
            }
        }
        // Number the parts from 0 on.
        let mut numbers = BTreeMap::new();
        for part in &mut parts {
            let number = numbers.len();
            *part = *numbers.entry(*part).or_insert(number);
        }
        parts
    }

    /// Returns the information of a selection for all tests together, in addition to that of the cells: the sum of the
    /// probabilities that it separates two suspects of a test that are in one cell. Each test adds at most
    /// [`u32::MAX`] / 4.
    fn information(&self, cells: &[usize], selection: &Selection) -> u64 {
        let chosen: Vec<_> = self.suspects.iter().map(|&change| selection.contains(change)).collect();
        let of_list = |(places, tests): &(Vec<usize>, u64)| {
            let mut sizes: BTreeMap<usize, [u128; 2]> = BTreeMap::new();
            for &place in places {
                sizes.entry(cells[place]).or_default()[usize::from(chosen[place])] += 1;
            }
            let separated: u128 = sizes.values().map(|[out, chosen]| out * chosen).sum();
            let total = (places.len() as u128).pow(2).max(1);
            tests * u64::try_from(separated * u128::from(u32::MAX) / total).expect("it is a fraction of 32 bits")
        };
        self.lists.iter().map(of_list).sum()
    }
}

/// Returns the members that have suspects, without those whose forced and excluded changes conflict.
fn compatible<'a, 'b>(members: &[&'b Member<'a>]) -> Vec<&'b Member<'a>> {
    let members: Vec<_> = members.iter().copied().filter(|member| !member.suspects().is_empty()).collect();
    let mut groups = pool::alike(&members);
    groups.sort_by_key(|group| core::cmp::Reverse(group.len()));
    let mut together = Vec::new();
    for group in groups.into_iter().take(tuning::MAX_POOLED_GROUPS) {
        if !Named::of(&group).conflicts_with(&Named::of(&together)) {
            together.extend(group);
        }
    }
    together
}
