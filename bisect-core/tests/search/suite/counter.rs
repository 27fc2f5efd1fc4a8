//! Several tests over the steps of a counter, which takes all steps up to one, whatever a selection names.

use std::{collections::BTreeSet, num::NonZeroUsize};

use bisect_core::search::{Noise, Observation, Options, Order, Outcome, Reason, Search, Selection, Step, Verdict};

use crate::flaky::Flaky;

/// The number of steps.
const STEPS: usize = 100;

/// Searches tests with several trials in flight; `outcome` returns that of a test after a number of steps.
fn search(tests: usize, in_flight: usize, mut outcome: impl FnMut(usize, usize) -> Outcome) -> Search {
    let in_flight = NonZeroUsize::new(in_flight).unwrap();
    let noise = Noise::Suspected(0.99);
    let mut search = Search::new(Options { order: Order::Counter, noise, in_flight, ..Options::default() });
    let limit = |selection: &Selection| selection.counter_limit(STEPS);
    let mut running = Vec::new();
    loop {
        for id in search.obsolete() {
            running.retain(|trial: &bisect_core::search::Trial| trial.id != id);
            search.cancel(id);
        }
        match search.step() {
            Step::Run(trial) => running.push(trial),
            Step::Done(_) => return search,
            Step::Wait => {
                let trial = running.remove(0);
                let steps = limit(&trial.selection);
                let is_split = search.progress().tests() > 1;
                let mut observe = |test: usize| {
                    let outcomes: Vec<_> = if is_split {
                        vec![outcome(test, steps)]
                    } else {
                        (0..tests).map(|test| outcome(test, steps)).collect()
                    };
                    let failed = outcomes.iter().find(|&&outcome| outcome == Outcome::Fail);
                    let outcome = *failed.unwrap_or(&outcomes[0]);
                    Observation { outcome, reported: trial.selection.selected(steps).collect() }
                };
                let observations: Vec<_> = trial.tests.iter().map(|&test| observe(test)).collect();
                search.record(trial.id, observations);
                if search.can_split() {
                    search.split(NonZeroUsize::new(tests).unwrap());
                }
            }
        }
    }
}

/// Returns the culprits of a test.
fn found(search: &Search, test: usize) -> BTreeSet<Vec<usize>> {
    let found = search.test(test).found().iter();
    found.map(|culprit| culprit.changes.iter().map(|change| change.index()).collect()).collect()
}

#[test]
fn each_test_has_its_own_first_step() {
    for firsts in [&[4, 8][..], &[8, 4], &[0, 99], &[50, 50], &[10, 20, 30, 40, 90], &[7, 7, 63, 64, 0]] {
        for in_flight in [1, 4] {
            let outcome = |test: usize, steps| if steps > firsts[test] { Outcome::Fail } else { Outcome::Pass };
            let search = search(firsts.len(), in_flight, outcome);
            for (test, &first) in firsts.iter().enumerate() {
                assert_eq!(found(&search, test), [vec![first]].into(), "{firsts:?} {in_flight} in flight, test {test}");
                assert_eq!(search.test(test).verdict(), Some(&Verdict::Complete), "{firsts:?}");
            }
        }
    }
}

#[test]
fn steps_without_a_result_are_gone_around() {
    let outcome = |test: usize, steps: usize| match steps {
        30 | 61 | 62 => Outcome::Unresolved(Reason::Build),
        _ if steps > [20, 80][test] => Outcome::Fail,
        _ => Outcome::Pass,
    };
    let search = search(2, 1, outcome);
    assert_eq!([found(&search, 0), found(&search, 1)], [[vec![20]].into(), [vec![80]].into()]);
}

#[test]
fn a_flaky_test_beside_a_reliable_one_is_found() {
    for seed in 1..=5 {
        let mut random = Flaky::new(seed, 2, &[&[0]], (0.5, 0.0));
        let outcome = |test: usize, steps: usize| match test {
            0 if steps > 33 => Outcome::Fail,
            1 if steps > 66 && random.random() < 0.6 => Outcome::Fail,
            _ => Outcome::Pass,
        };
        let search = search(2, 1, outcome);
        assert_eq!(found(&search, 0), [vec![33]].into(), "{seed}");
        assert!(search.test(1).found().is_empty() || found(&search, 1) == [vec![66]].into(), "{seed}");
    }
}
