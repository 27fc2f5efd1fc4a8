//! Flaky targets of the simulator fail as often as their rates say, and report like other targets.

use super::*;
use bisect_core::search::Noise;

const ALWAYS: Rates = Rates { with: 1.0, without: 0.0 };

/// Returns the share of failing runs of a target of 100 changes, in percent.
fn failing(selection: &Selection, rates: Rates) -> f64 {
    let mut target = FlakyTarget::new(1, changes(1, 100), &[1, 2], rates);
    let fails = |_: &u32| target.run(selection).outcome == Outcome::Fail;
    f64::from(u32::try_from((0..10_000).filter(fails).count()).unwrap()) / 100.0
}

#[test]
fn it_fails_as_often_as_its_rates_say() {
    let all = Selection::all();
    let none = Selection { inverted: true, ..all.clone() };
    for (with, without) in [(1.0, 0.0), (0.7, 0.3), (0.5, 0.5)] {
        let rates = Rates { with, without };
        assert!((failing(&all, rates) - 100.0 * with).abs() < 2.0, "{rates:?}: {}", failing(&all, rates));
        assert!((failing(&none, rates) - 100.0 * without).abs() < 2.0, "{rates:?}: {}", failing(&none, rates));
    }
}

#[test]
fn it_reports_what_is_selected() {
    let ids = changes(2, 100);
    let mut target = FlakyTarget::new(2, ids.clone(), &[1], ALWAYS);
    let gap = ids[10]..ids[20];
    for prefix in [Prefix::NONE, Prefix::Below(ids[50]), Prefix::All] {
        for gaps in [Vec::new(), vec![gap.clone()]] {
            let forced = vec![ids[70], ids[15], ids[3], ids[60]];
            let excluded = vec![ids[60], ids[4], ids[90]];
            let selection = Selection { prefix, gaps, forced, excluded, ..Selection::all() };
            let expected: Vec<_> = ids.iter().copied().filter(|&id| selection.contains(id)).collect();
            assert_eq!(target.run(&selection).reported, expected);
            let (_, as_text) = target.run_pattern(&selection.pattern().to_string());
            assert_eq!(as_text, expected.iter().map(|rank| rank.id().0).collect::<Vec<_>>());
        }
    }
}

#[test]
fn without_chance_both_searches_find_everything() {
    for seed in 0..50 {
        let mut target = FlakyTarget::new(seed, changes(seed, 300), &[1, 2], ALWAYS);
        let found = target.search(Options::default());
        assert!(target.has_exactly(&found.sets), "seed {seed}: {found:?}");
        // Where no chance is expected, a culprit is named when the next one is searched already.
        let found = target.search(Options { noise: Noise::Suspected(0.99), ..Options::default() });
        assert!(target.has_exactly(&found.sets), "seed {seed}: {found:?}");
        let first = found.first.expect("something is found");
        // The search halves eight or nine times. If the last cut is directly before the culprit, that run counts as
        // confirming.
        assert!((2 + 7..first.named).contains(&first.searched) && first.named < found.runs, "seed {seed}: {found:?}");
        let (report, stuck) = target.search_like_go(GoPeer::default());
        let named: BTreeSet<_> =
            report.sets.iter().flat_map(|set| &set.ids).map(|&id| Rank::of(ChangeId(id))).collect();
        assert_eq!((named.len(), stuck), (3, None), "seed {seed}");
        assert!(!target.is_any_innocent(named.iter()), "seed {seed}");
    }
}

#[test]
fn only_some_selections_confirm_a_culprit() {
    let ids = changes(2, 100);
    let culprit = BTreeSet::from([ids[50]]);
    let exactly = |forced: &[usize]| Selection {
        prefix: Prefix::NONE,
        forced: forced.iter().map(|&index| ids[index]).collect(),
        ..Selection::all()
    };
    let below = |index: usize| Selection { prefix: Prefix::Below(ids[index]), ..Selection::all() };
    let but = |index: usize| Selection { excluded: vec![ids[index]], ..Selection::all() };
    let none = Selection { inverted: true, ..Selection::all() };
    for selection in [exactly(&[50]), exactly(&[]), none, below(50), but(50)] {
        assert!(confirms(&selection, &culprit, &ids), "{selection:?}");
    }
    for selection in [exactly(&[49]), exactly(&[49, 50]), below(51), below(49), but(49), Selection::all()] {
        assert!(!confirms(&selection, &culprit, &ids), "{selection:?}");
    }
}

#[test]
fn a_seed_says_everything() {
    let search = |seed| {
        let rates = Rates { with: 0.7, without: 0.3 };
        let mut target = FlakyTarget::new(seed, changes(0, 300), &[1], rates);
        let found = target.search(Options::default());
        (target.culprits().to_vec(), found.runs, found.sets, target.search_like_go(GoPeer::default()))
    };
    assert_eq!(search(1), search(1));
    assert!((2..20).any(|seed| search(seed) != search(1)));
}

#[test]
fn the_channel_tells_what_it_can() {
    assert!((ALWAYS.capacity() - 1.0).abs() < 1e-9);
    assert!((Rates { with: 0.9, without: 0.1 }.capacity() - 0.531).abs() < 1e-3);
    assert!((Rates { with: 0.0, without: 0.5 }.capacity() - 0.3219).abs() < 1e-3);
    assert!(Rates { with: 0.4, without: 0.4 }.capacity().abs() < 1e-9);
}

/// Checks that a search continues after 500 runs once a culprit is found. With these seeds it once stopped after the
/// first culprit.
#[test]
fn each_culprit_raises_the_number_of_runs_before_giving_up() {
    let rates = Rates { with: 0.7, without: 0.3 };
    let ids = changes(0, 1024);
    for seed in [70, 102] {
        let mut target = FlakyTarget::new(seed, ids.clone(), &[1, 1], rates);
        let found = target.search(Options { noise: Noise::Expected(0.99), ..Options::default() });
        assert!(found.runs > 500 && target.has_exactly(&found.sets), "seed {seed}: {found:?}");
    }
}
