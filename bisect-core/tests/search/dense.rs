//! Targets with many culprits: the search changes over to groups, and stays right.

use std::{collections::BTreeSet, slice};

use crate::{
    in_flight::{Target, cases},
    simulator::{Finished, Run, change, search},
};
use bisect_core::{
    Field,
    search::{Mode, Observation, Options, Order, Outcome, Rank, Verdict},
};
use proptest::{
    collection::{btree_set, vec},
    prelude::*,
};

/// Searches a target of these changes that fails if one of the sets is switched completely.
fn run(ids: &[Rank], sets: &[BTreeSet<usize>], order: Order, mode: Mode, most: usize) -> Finished {
    search(Options { order, ..Options::default() }, most, |run: Run<'_>| {
        let switched = |&i: &usize| run.enabled(ids[i]) == (mode == Mode::Enable);
        let fails = sets.iter().any(|set| set.iter().all(switched));
        let outcome = if fails { Outcome::Fail } else { Outcome::Pass };
        Observation { outcome, reported: run.reported(ids.iter().copied()) }
    })
}

/// Returns the ranks of sets of indices.
fn ranks(ids: &[Rank], sets: &[BTreeSet<usize>]) -> BTreeSet<BTreeSet<Rank>> {
    sets.iter().map(|set| set.iter().map(|&i| ids[i]).collect()).collect()
}

prop_compose! {
    /// Some of 20 to 200 changes: as one set, or each as a set of its own, or all but two so, and these two as a pair.
    fn case()(ids in btree_set(any::<u64>(), 20..200))
             (chosen in btree_set(0..ids.len(), 3..=ids.len() / 2), kind in 0..3, given in any::<bool>(), ids in Just(ids))
             -> (Vec<Rank>, Vec<BTreeSet<usize>>, Order) {
        let ids = ids.into_iter().enumerate().map(|(i, id)| if given { Rank::at(i) } else { Rank(id) }).collect();
        let mut singles: Vec<_> = chosen.iter().map(|&i| BTreeSet::from([i])).collect();
        let sets = match kind {
            0 => vec![chosen],
            1 => singles,
            _ => {
                let pair = singles.remove(singles.len() / 2).into_iter().chain(singles.remove(0)).collect();
                singles.into_iter().chain([pair]).collect()
            }
        };
        (ids, sets, if given { Order::Given } else { Order::ByHash })
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn all_culprits_are_found((ids, sets, order) in case(), disable: bool) {
        let mode = if disable { Mode::Disable } else { Mode::Enable };
        let finished = run(&ids, &sets, order, mode, 3 * ids.len() + 40);
        prop_assert_eq!(&finished.verdict, &Verdict::Complete);
        prop_assert_eq!(finished.sets().into_iter().collect::<BTreeSet<_>>(), ranks(&ids, &sets));
    }

    #[test]
    #[ignore = "slow: CI runs it"]
    fn the_answer_does_not_depend_on_how_many_are_in_flight(
        (ids, sets, _) in case(), disable: bool, choices in vec(any::<usize>(), 8),
    ) {
        let target = Target { ids, fails: sets, disable, ..Target::default() };
        target.expect_the_same(&[2, 4, 16], &choices)?;
    }

    #[test]
    #[ignore = "slow: CI runs it"]
    fn nor_where_runs_are_unresolved_or_hide_changes(
        (ids, sets, _) in case(), appears in (0..20_usize, 0..20_usize), unresolved in (0..20_usize, 0..20_usize),
        choices in vec(any::<usize>(), 8),
    ) {
        let target = Target { ids, fails: sets, appears_with: vec![appears], unresolved: vec![unresolved], ..Target::default() };
        target.expect_the_same(&[4], &choices)?;
    }
}

#[test]
fn many_culprits_take_few_runs_more_than_one_for_each_change() {
    for count in [20, 60, 80, 100] {
        let ids: Vec<_> = (0..200_u64).map(|i| change(&[Field::U64(i)])).collect();
        let chosen: BTreeSet<usize> = (0..count).collect();
        let each = chosen.iter().map(|&i| BTreeSet::from([i])).collect();
        for sets in [vec![chosen], each] {
            // Everything, nothing, each change, the set, the rest, and a search for the first one.
            let finished = run(&ids, &sets, Order::ByHash, Mode::Enable, 200 + 4 + 2 * 8);
            assert_eq!(finished.sets().into_iter().collect::<BTreeSet<_>>(), ranks(&ids, &sets));
        }
    }
}

#[test]
fn a_single_change_at_an_end_takes_no_more_runs_than_another() {
    let ids: Vec<_> = (0..1000).map(Rank::at).collect();
    for culprit in [0, 1, 500, 998, 999] {
        let finished = run(&ids, &[BTreeSet::from([culprit])], Order::Given, Mode::Enable, 15);
        assert_eq!(finished.sets(), [BTreeSet::from([ids[culprit]])]);
    }
    // A pair at one end is not taken for many changes for long.
    for pair in [[0, 999], [998, 999], [0, 1], [400, 999]] {
        let set = BTreeSet::from(pair);
        let finished = run(&ids, slice::from_ref(&set), Order::Given, Mode::Enable, 40);
        assert_eq!(finished.sets().into_iter().collect::<BTreeSet<_>>(), ranks(&ids, &[set]));
    }
}

#[test]
fn needed_changes_that_stand_together_take_one_run_each() {
    let ids: Vec<_> = (0..2000).map(Rank::at).collect();
    for starts in [[100, 700, 1500], [0, 8, 1992], [300, 1000, 1040], [1970, 1980, 1992], [0, 1, 2]] {
        let set: BTreeSet<usize> = starts.into_iter().flat_map(|start| start..start + 8).collect();
        // Both ends, the set and the rest; four binary searches: for the first change found in each cluster, and for the second
        // one in the first cluster; two runs at the end of each cluster.
        let most = 4 + set.len() + 4 * 11 + 3 * 2;
        let finished = run(&ids, slice::from_ref(&set), Order::Given, Mode::Enable, most);
        assert_eq!(finished.sets().into_iter().collect::<BTreeSet<_>>(), ranks(&ids, &[set]));
    }
    // The same number, anywhere: 243 runs before clusters were looked for.
    let set: BTreeSet<usize> = (0..24).map(|i| (i * 389 + 7) % 2000).collect();
    let finished = run(&ids, slice::from_ref(&set), Order::Given, Mode::Enable, 243);
    assert_eq!(finished.sets().into_iter().collect::<BTreeSet<_>>(), ranks(&ids, &[set]));
}

#[test]
fn the_answer_does_not_depend_on_the_cuts_that_pass_beside_a_hidden_change() {
    // Change 0 appears only with change 5, so its prefix passes. Only several runs in flight run that prefix. If it
    // counted, change 1 would be one culprit of two changes examined, which starts no sweep. With one run at a time it
    // is one of one.
    let target = Target {
        ids: (0..96).map(Rank::at).collect(),
        fails: [0, 1, 6].map(|culprit| BTreeSet::from([culprit])).into(),
        appears_with: vec![(0, 5)],
        unresolved: vec![(11, 5)],
        ..Target::default()
    };
    target.expect_the_same(&[4], &[3, 0, 0, 11, 0, 9, 9, 4]).unwrap();
}
