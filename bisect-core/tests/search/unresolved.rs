//! Flaky targets some of whose runs tell nothing.

use bisect_core::search::{
    Incomplete, Noise, Observation, Options, Order, Outcome, Prefix, Rank, Reason, Search, Step, Verdict,
};

use crate::flaky::{Flaky, expecting, found};

#[test]
fn a_selection_that_does_not_tell_is_gone_around() {
    let mut target = Flaky::new(3, 100, &[&[60]], (0.8, 0.0));
    let mut search = Search::new(expecting(0.99));
    let cut = 1 << 63;
    while let Step::Run(trial) = search.step() {
        assert!(search.progress().runs() < 500, "it does not end");
        let mut observation = target.run(&trial);
        if trial.selection.prefix == Prefix::Below(Rank(cut)) {
            observation.outcome = Outcome::Unresolved(Reason::Build);
        }
        search.record(trial.id, [observation]);
    }
    assert_eq!(found(&search), target.expected());
}

#[test]
fn a_failure_of_another_kind_that_hides_most_passes_delays_a_search_but_does_not_stop_it() {
    // Where the culprit is off, another check fails three times out of five, which tells nothing.
    for seed in 1..=20 {
        let mut target = Flaky::new(seed, 66, &[&[20]], (0.95, 0.05));
        let mut other = Flaky::new(seed + 100, 66, &[], (0.0, 0.6));
        let mut search = Search::new(Options { seed, ..expecting(0.95) });
        while let Step::Run(trial) = search.step() {
            assert!(search.progress().runs() < 400, "it does not end: {seed}, {:?}", trial.selection);
            let mut observation = target.run(&trial);
            if observation.outcome == Outcome::Pass && other.run(&trial).outcome == Outcome::Fail {
                observation.outcome = Outcome::Unresolved(Reason::Skip);
            }
            search.record(trial.id, [observation]);
        }
        assert_eq!(found(&search), target.expected(), "{seed} {:?}", search.verdict());
    }
}

/// Searches 100 steps of a flaky counter, which fails with this probability from step 41 on, and gives no result after
/// these numbers of steps.
fn counter(seed: u64, rates: (f64, f64), untestable: &[usize]) -> Search {
    let mut random = Flaky::new(seed, 2, &[&[0]], rates);
    let noise = Noise::Expected(0.99);
    let mut search = Search::new(Options { order: Order::Counter, noise, seed, ..Options::default() });
    while let Step::Run(trial) = search.step() {
        assert!(search.progress().runs() < 700, "it does not end: {seed} {untestable:?} {:?}", trial.selection);
        let steps = trial.selection.counter_limit(100);
        let fails = random.random() < if steps > 40 { rates.0 } else { rates.1 };
        let outcome = match fails {
            _ if untestable.contains(&steps) => Outcome::Unresolved(Reason::Build),
            true => Outcome::Fail,
            false => Outcome::Pass,
        };
        search.record(trial.id, [Observation { outcome, reported: trial.selection.selected(steps).collect() }]);
    }
    search
}

#[test]
fn untestable_steps_of_a_flaky_counter_do_not_delay_it() {
    let found = |search: &Search| search.culprits()[0].culprit.changes.clone();
    let unresolved = Some(Verdict::Incomplete(Incomplete::Unresolved(Reason::Build)));
    for (seed, rates) in (1..=10).zip([(0.9, 0.1), (0.4, 0.0)].into_iter().cycle()) {
        // Not beside the culprit.
        let search = counter(seed, rates, &[10, 25, 26, 34, 35, 37, 44, 50, 62, 63, 75]);
        assert_eq!((found(&search), search.verdict()), (vec![Rank(40)], Some(Verdict::Complete)), "{seed}");
        // Without the culprit, and with it: the first step that is known to fail is named.
        for (untestable, named) in [(&[38, 39, 40][..], 40), (&[41, 42], 42), (&[40, 41, 42], 42)] {
            let search = counter(seed, rates, untestable);
            let expected = (vec![Rank(named)], unresolved.clone());
            assert_eq!((found(&search), search.verdict()), expected, "{seed} {untestable:?}");
        }
    }
}
