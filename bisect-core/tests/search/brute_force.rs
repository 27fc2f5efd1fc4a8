//! The search against brute force: every formula over few changes is decided by trying all sets.

use std::collections::BTreeSet;

use crate::simulator::{Finished, Run, search};
use bisect_core::search::{Mode, Observation, Options, Order, Outcome, Rank, Verdict};
use proptest::{
    collection::{btree_set, vec},
    prelude::*,
};

/// Sets of indices; a target fails if all changes of one set are on.
type Formula = Vec<BTreeSet<usize>>;

fn fails(formula: &Formula, switched: &BTreeSet<Rank>, ids: &[Rank]) -> bool {
    formula.iter().any(|set| set.iter().all(|&i| switched.contains(&ids[i])))
}

fn run(formula: &Formula, ids: &[Rank], order: Order, mode: Mode) -> Finished {
    let sum: usize = formula.iter().map(BTreeSet::len).sum();
    let bound = 4 + sum * (ids.len().next_power_of_two().ilog2() as usize + 1) + 2 * formula.len();
    search(Options { order, ..Options::default() }, bound, |run: Run<'_>| {
        let switched = ids.iter().copied().filter(|&id| run.enabled(id) == (mode == Mode::Enable)).collect();
        let outcome = if fails(formula, &switched, ids) { Outcome::Fail } else { Outcome::Pass };
        Observation { outcome, reported: run.reported(ids.iter().copied()) }
    })
}

prop_compose! {
    fn case()(ids in btree_set(any::<u64>(), 1..9), close in any::<bool>())
             (formula in vec(btree_set(0..ids.len(), 1..=ids.len().min(4)), 1..4), ids in Just(ids), close in Just(close))
             -> (Vec<Rank>, Formula) {
        // IDs that differ only in their highest bits need the longest patterns.
        let ids = ids.into_iter().enumerate().map(|(i, id)| if close { (i as u64) << 60 | 5 } else { id });
        (ids.map(Rank).collect(), formula)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    #[test]
    fn monotone_formulas_are_solved((ids, formula) in case(), given: bool, disable: bool) {
        let order = if given { Order::Given } else { Order::ByHash };
        let mode = if disable { Mode::Disable } else { Mode::Enable };
        let finished = run(&formula, &ids, order, mode);
        prop_assert_eq!(&finished.verdict, &Verdict::Complete);
        let mut left: BTreeSet<Rank> = ids.iter().copied().collect();
        for (culprit, set) in finished.search.test(0).found().iter().zip(finished.sets()) {
            prop_assert_eq!(culprit.mode, mode);
            prop_assert!(fails(&formula, &set, &ids), "every set fails");
            for id in &set {
                let mut smaller = set.clone();
                smaller.remove(id);
                prop_assert!(!fails(&formula, &smaller, &ids), "no smaller set fails");
                prop_assert!(left.remove(id), "sets are disjoint");
            }
        }
        prop_assert!(!fails(&formula, &left, &ids), "with all sets left out nothing fails");
    }
}
