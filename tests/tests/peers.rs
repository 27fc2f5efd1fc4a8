//! Our search and that of Go's tool name the same culprits, on targets simulated in this process.

use std::collections::BTreeSet;

use bisect_core::{
    ChangeId,
    search::{Inconsistency, Options, Outcome, Unusable, Verdict},
};
use bisect_tests::{
    go_peer::{GoPeer, Stuck},
    simulator::{Manners, Simulator},
};

fn set<const N: usize>(indices: [usize; N]) -> BTreeSet<usize> {
    indices.into()
}

/// Returns the culprits that Go's search finds, as indices.
fn like_go(simulator: &mut Simulator) -> BTreeSet<BTreeSet<usize>> {
    let report = simulator.search_like_go(GoPeer::default()).unwrap();
    assert!(report.sets.iter().all(|set| set.confirmed));
    report.sets.iter().map(|set| simulator.indices(set.ids.iter().copied().map(ChangeId))).collect()
}

#[test]
fn disjoint_sets_are_found_by_both() {
    for seed in 0..50 {
        let sets = vec![set([0]), set([1, 2]), set([3, 4, 5]), set([6])];
        let mut simulator = Simulator::failing_with(seed, 300, sets.clone());
        let ours = simulator.search(Options::default());
        assert_eq!(ours.verdict, Verdict::Complete, "seed {seed}");
        let expected: BTreeSet<_> = sets.into_iter().collect();
        assert_eq!(ours.sets.into_iter().collect::<BTreeSet<_>>(), expected, "seed {seed}");
        assert_eq!(like_go(&mut simulator), expected, "seed {seed}");
    }
}

#[test]
fn disabled_changes_are_found_by_both() {
    for seed in 0..50 {
        let mut simulator = Simulator::new(seed, 100, Box::new(|on| !on(7) && !on(8) || !on(9)));
        let expected = [set([7, 8]), set([9])].into();
        let ours = simulator.search(Options::default());
        assert_eq!(ours.sets.into_iter().collect::<BTreeSet<_>>(), expected, "seed {seed}");
        assert_eq!(like_go(&mut simulator), expected, "seed {seed}");
    }
}

#[test]
fn without_a_difference_neither_finds_anything() {
    for (fails, outcome) in [(false, Outcome::Pass), (true, Outcome::Fail)] {
        let mut simulator = Simulator::new(0, 10, Box::new(move |_| fails));
        assert_eq!(simulator.search(Options::default()).verdict, Verdict::NoDifference(outcome));
        assert_eq!(simulator.search_like_go(GoPeer::default()), Err(Stuck::NoDifference { success: !fails }));
    }
}

/// Compares both searches on targets that lie: Go's tool trusts them, ours does not.
#[test]
fn hostile_targets_get_no_false_culprit_from_ours() {
    for seed in 0..20 {
        let target = || Simulator::failing_with(seed, 100, vec![set([3])]);
        let hostile = |manners| {
            let found = target().with(manners).search(Options::default());
            assert_eq!(found.sets, [], "{manners:?}, seed {seed}");
            found.verdict
        };
        for manners in [Manners::IgnoresPattern, Manners::ReportsEverything] {
            let verdict = hostile(manners);
            let Verdict::Unusable(Unusable::Unasked { ignores_pattern: true, .. }) = verdict else {
                panic!("{manners:?}: {verdict:?}");
            };
        }
        assert_eq!(hostile(Manners::Silent), Verdict::Unusable(Unusable::NoReports));
        let verdict = hostile(Manners::BreaksAt(3));
        let Verdict::Inconsistent(how) = &verdict else { panic!("seed {seed}: {verdict:?}") };
        assert!(matches!(how, Inconsistency::NotConfirmed(..) | Inconsistency::BaseFails(..)), "seed {seed}: {how:?}");
        // Our search confirms without text, so the same pattern with text is no other experiment.
        let found = target().with(Manners::PassesWhenWatched).search(Options::default());
        assert_eq!((found.verdict, found.sets), (Verdict::Complete, vec![set([3])]), "seed {seed}");
        let accused = target().with(Manners::PassesWhenWatched).search_like_go(GoPeer::default()).unwrap();
        assert!(!accused.sets[0].confirmed);
    }
}
