//! Changes of a given order, which have no hash: items of a list, steps of a counter, commits.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    num::NonZeroUsize,
};

use bisect_core::search::{
    Mode, Noise, Observation, Options, Order, Outcome, Prefix, Rank, Search, Selection, Step, Unusable, Verdict,
};

use crate::flaky::Flaky;

fn options() -> Options {
    Options { order: Order::Given, noise: Noise::Suspected(0.99), ..Options::default() }
}

/// Searches `count` changes; `fails` decides if a run with a selection fails.
fn search(options: Options, count: usize, fails: impl Fn(&Selection) -> bool) -> (Search, Verdict) {
    let mut search = Search::new(options);
    loop {
        match search.step() {
            Step::Run(trial) => {
                let outcome = if fails(&trial.selection) { Outcome::Fail } else { Outcome::Pass };
                let reported = trial.selection.selected(count).collect();
                search.record(trial.id, [Observation { outcome, reported }]);
            }
            Step::Wait => panic!("nothing is in flight, yet the search waits"),
            Step::Done(verdict) => return (search, verdict),
        }
    }
}

fn sets(search: &Search) -> BTreeSet<BTreeSet<usize>> {
    let set = |changes: &[Rank]| changes.iter().map(|change| change.index()).collect();
    search.test(0).found().iter().map(|culprit| set(&culprit.changes)).collect()
}

#[test]
fn items_of_a_list_are_found_by_their_indices() {
    for wanted in [vec![vec![0]], vec![vec![9_999]], vec![vec![1], vec![2]], vec![vec![17, 4_321]]] {
        let expected: BTreeSet<BTreeSet<usize>> = wanted.iter().map(|set| set.iter().copied().collect()).collect();
        let fails = |selection: &Selection| {
            let on: BTreeSet<_> = selection.enabled(10_000).collect();
            expected.iter().any(|set| set.is_subset(&on))
        };
        let (search, verdict) = search(options(), 10_000, fails);
        assert_eq!((verdict, sets(&search)), (Verdict::Complete, expected.clone()));
        let changes: usize = expected.iter().map(BTreeSet::len).sum();
        // One bisection for each change; then the checks, and the search of the rest.
        assert!(
            search.progress().runs() <= changes * 15 + expected.len() * 8 + 4,
            "{} runs for {expected:?}",
            search.progress().runs()
        );
    }
}

#[test]
fn a_counter_stops_at_the_first_step_that_fails() {
    for first in [0, 1, 63, 64, 998] {
        let options = Options { order: Order::Counter, max_sets: Some(NonZeroUsize::MIN), ..options() };
        let fails = |selection: &Selection| selection.counter_limit(999) > first;
        let (search, _) = search(options, 999, fails);
        assert_eq!(sets(&search), [[first].into()].into());
    }
}

#[test]
fn a_counter_of_a_million_steps_takes_few_trials() {
    let options = Options { order: Order::Counter, max_sets: Some(NonZeroUsize::MIN), ..options() };
    let count = 1_000_000;
    let (search, _) = search(options, count, |selection| selection.counter_limit(count) > 654_320);
    assert_eq!(sets(&search), [[654_320].into()].into());
    // log2 N + 1, and 4.
    assert!(search.progress().trials() <= count.ilog2() as usize + 1 + 4, "{} trials", search.progress().trials());
}

#[test]
fn prefixes_are_told_from_other_selections() {
    let cut = |cut: usize| Selection { prefix: Prefix::Below(Rank::at(cut)), ..Selection::all() };
    assert_eq!(Selection::all().enabled_prefix(5), Some(5));
    assert_eq!(Selection { inverted: true, ..Selection::all() }.enabled_prefix(5), Some(0));
    assert_eq!((cut(3).enabled_prefix(5), cut(3).counter_limit(5)), (Some(3), 3));
    let without = Selection { excluded: vec![Rank::at(1)], ..cut(3) };
    assert_eq!((without.enabled_prefix(5), without.counter_limit(5)), (None, 1));
    let alone = Selection { forced: vec![Rank::at(3)], ..cut(0) };
    assert_eq!((alone.enabled_prefix(5), alone.counter_limit(5)), (None, 4));
    let rest = Selection { inverted: true, ..cut(3) };
    assert_eq!((rest.enabled_prefix(5), rest.counter_limit(5)), (None, 2), "the last three are left out");
    let alone = Selection { inverted: true, ..alone };
    assert_eq!((alone.counter_limit(5), alone.mirrored(5).enabled_prefix(5)), (1, None), "and those after it");
}

#[test]
fn a_mirrored_selection_has_the_reverse_order() {
    let (count, below) = (6, |end| Prefix::Below(Rank(end)));
    let ranks = |ranks: &[u64]| ranks.iter().map(|&rank| Rank(rank)).collect::<Vec<_>>();
    let gaps = vec![Rank(1)..Rank(2), Rank(3)..Rank(4)];
    for prefix in (0..=7).map(below).chain([Prefix::All]) {
        for (gaps, forced, excluded) in [
            (vec![], vec![], vec![]),
            (gaps.clone(), vec![], vec![]),
            (vec![], vec![5, 0], vec![2]),
            (gaps.clone(), vec![3], vec![0]),
        ] {
            let gaps: Vec<_> = if prefix == Prefix::NONE { Vec::new() } else { gaps };
            let (forced, excluded) = (ranks(&forced), ranks(&excluded));
            let selection = Selection { prefix, gaps, forced, excluded, inverted: true };
            let mirrored = selection.mirrored(count);
            for index in 0..count {
                let (here, there) = (Rank::at(index), Rank::at(count - 1 - index));
                assert_eq!(selection.contains(here), mirrored.contains(there), "{selection:?} {mirrored:?} {index}");
            }
            assert_eq!(mirrored.mirrored(count).counter_limit(count), selection.counter_limit(count), "{selection:?}");
            let are_apart = mirrored.gaps.windows(2).all(|pair| pair[0].end < pair[1].start);
            assert!(are_apart && mirrored.gaps.iter().all(|gap| gap.start < gap.end), "{selection:?} {mirrored:?}");
        }
    }
}

#[test]
fn the_step_of_a_flaky_counter_is_found() {
    for (with, without) in [(0.5, 0.0), (0.3, 0.0), (0.9, 0.1), (1.0, 0.4)] {
        for (seed, first) in [(1, 0), (2, 39), (3, 63), (4, 57), (5, 20)] {
            let random = RefCell::new(Flaky::new(seed, 2, &[&[0]], (with, without)));
            let options = Options { order: Order::Counter, noise: Noise::Expected(0.99), seed, ..options() };
            let fails = |selection: &Selection| {
                let limit = selection.counter_limit(64);
                random.borrow_mut().random() < if limit > first { with } else { without }
            };
            let (search, verdict) = search(options, 64, fails);
            let expected: BTreeSet<BTreeSet<usize>> = [[first].into()].into();
            assert_eq!((verdict, sets(&search)), (Verdict::Complete, expected), "{with} {without} {seed}");
            assert!(search.progress().runs() < 400, "{} runs, {with} {without} {seed}", search.progress().runs());
        }
    }
}

#[test]
fn a_counter_is_searched_in_reverse() {
    for first in [0, 1, 62, 63] {
        let options = Options { order: Order::Counter, ..options() };
        // The target passes from the step after `first` on. Ranks are in the reverse order.
        let (search, verdict) = search(options, 64, |selection| selection.counter_limit(64) <= first);
        assert_eq!((verdict, sets(&search)), (Verdict::Complete, [[63 - first].into()].into()));
        assert_eq!(search.test(0).found()[0].mode, Mode::Disable);
        assert!(search.progress().runs() <= 18, "{} runs", search.progress().runs());
    }
}

#[test]
fn a_flaky_counter_is_searched_in_reverse() {
    for (seed, first) in [(1, 0), (2, 39), (3, 63), (4, 57), (5, 20)] {
        let random = RefCell::new(Flaky::new(seed, 2, &[&[0]], (0.5, 0.0)));
        let options = Options { order: Order::Counter, noise: Noise::Expected(0.99), seed, ..options() };
        let fails = |selection: &Selection| {
            random.borrow_mut().random() < if selection.counter_limit(64) <= first { 0.5 } else { 0.0 }
        };
        let (search, verdict) = search(options, 64, fails);
        assert_eq!((verdict, sets(&search)), (Verdict::Complete, [[63 - first].into()].into()), "{seed}");
        assert!(search.progress().runs() < 400, "{} runs, {seed}", search.progress().runs());
    }
}

#[test]
fn a_direction_that_is_asked_for_is_the_only_one() {
    for (asked, fails_with_all) in [(Mode::Enable, false), (Mode::Disable, true)] {
        for (seed, order) in (0..20).zip([Order::Counter, Order::Given].into_iter().cycle()) {
            let options = Options { order, direction: Some(asked), seed, ..options() };
            let fails = |selection: &Selection| (selection.enabled(9).count() > 0) == fails_with_all;
            let (search, verdict) = search(options, 9, fails);
            let shown = if fails_with_all { Mode::Enable } else { Mode::Disable };
            assert_eq!(verdict, Verdict::Unusable(Unusable::Reversed(shown)));
            assert_eq!(search.progress().runs(), 4, "both ends, and twice again the unexpected one");
        }
    }
}

#[test]
fn a_counter_that_begins_in_reverse_by_chance_is_searched() {
    let random = RefCell::new(Flaky::new(7, 2, &[&[0]], (0.9, 0.1)));
    let runs = Cell::new(0);
    let fails = |selection: &Selection| {
        runs.set(runs.get() + 1);
        let limit = selection.counter_limit(64);
        let chance = random.borrow_mut().random();
        match runs.get() {
            1 => false,
            2 => true,
            _ => chance < if limit >= 20 { 0.9 } else { 0.1 },
        }
    };
    let (search, verdict) = search(Options { order: Order::Counter, ..options() }, 64, fails);
    assert_eq!((verdict, sets(&search)), (Verdict::Complete, [[19].into()].into()));
}
