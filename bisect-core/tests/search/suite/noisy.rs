//! Tests with random outcomes among reliable ones: seeded, so that every search is reproducible.

use std::{collections::BTreeSet, num::NonZeroUsize};

use bisect_core::search::{
    Inconsistency, Noise, Observation, Options, Outcome, Question, Rank, Search, Step, Trial, TrialId, Verdict,
};

use super::{Target, Test, apart, honest, in_flight, search, sets, taking_turns};

const SUSPECTED: Noise = Noise::Suspected(0.99);
const EXPECTED: Noise = Noise::Expected(0.99);

fn with(noise: Noise) -> Options {
    Options { noise, ..Options::default() }
}

/// Returns a uniform number in [0, 1) (`SplitMix64`).
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    f64::from(u32::try_from((z ^ (z >> 31)) >> 32).unwrap()) / (f64::from(u32::MAX) + 1.0)
}

/// Searches a target of which these tests fail at one rate with their culprits, and at another rate without.
fn search_flaky(seed: u64, target: &Target, options: Options, flaky: &[usize], (p1, p0): (f64, f64)) -> Search {
    let mut state = seed;
    search(target, options, &[1, 0], &mut |target, test, trial| {
        let shown = target.observe(test, &trial.selection);
        if !flaky.contains(&test) {
            return shown;
        }
        let rate = if shown.outcome == Outcome::Fail { p1 } else { p0 };
        let outcome = if random(&mut state) < rate { Outcome::Fail } else { Outcome::Pass };
        Observation { outcome, ..shown }
    })
}

/// Returns two targets of three tests with a culprit each: one with common changes, one with separate changes.
fn three(seed: u64) -> [Target; 2] {
    [taking_turns(seed, 200, 3, 3), apart(seed, 100, 3)]
}

fn expected(target: &Target, test: usize) -> BTreeSet<BTreeSet<Rank>> {
    target.tests[test].fails.iter().map(|set| set.iter().map(|&i| target.ids[i]).collect()).collect()
}

fn is_right(search: &Search, target: &Target, test: usize) -> bool {
    search.test(test).verdict() == Some(&Verdict::Complete) && sets(search.test(test).found()) == expected(target, test)
}

#[test]
fn one_that_fails_now_and_then_is_found_among_others() {
    for (rates, least, least_noisy) in [((0.9, 0.1), 22, 4), ((0.5, 0.0), 13, 12), ((1.0, 0.5), 26, 24)] {
        let (mut right, mut noisy) = (0, 0);
        for seed in 0..15 {
            for target in three(seed) {
                let search = search_flaky(seed, &target, with(SUSPECTED), &[2], rates);
                assert!([0, 1].iter().all(|&test| is_right(&search, &target, test)), "{seed}, {rates:?}");
                assert!(![0, 1].iter().any(|&test| search.test(test).is_noisy()));
                right += usize::from(is_right(&search, &target, 2));
                noisy += usize::from(search.test(2).is_noisy());
                let is_sure = search.test(2).is_noisy() && !search.test(2).found().is_empty();
                assert_eq!(search.test(2).certainty(0).is_some(), is_sure, "of what was believed nothing is left");
            }
        }
        println!("{rates:?}: {right} right, {noisy} of 30 under noise");
        assert!(right >= least && noisy >= least_noisy, "{right} right, {noisy} of 30 under noise at {rates:?}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn each_is_found_with_the_confidence_asked_for() {
    for rates in [(0.9, 0.1), (0.5, 0.0), (1.0, 0.5)] {
        for seed in 0..10 {
            for target in three(seed) {
                for count in [1, 4] {
                    let options = in_flight(count, &with(EXPECTED));
                    let search = search_flaky(seed, &target, options, &[1, 2], rates);
                    for test in 0..3 {
                        assert!(is_right(&search, &target, test), "{test} of {seed}, {rates:?}, {count} in flight");
                        // The tests share the allowed probability of an error.
                        assert!(search.test(test).certainty(0).unwrap().confidence > 1.0 - 0.01 / 3.0);
                    }
                }
            }
        }
    }
}

#[test]
fn one_that_is_only_noise_ends_as_that_alone() {
    for seed in 0..10 {
        for target in three(seed) {
            let search = search_flaky(seed, &target, with(EXPECTED), &[1], (0.5, 0.5));
            assert_eq!(search.test(1).verdict(), Some(&Verdict::Inconsistent(Inconsistency::Noise)), "{seed}");
            assert_eq!((search.test(1).found(), search.verdict().as_ref()), (&[][..], search.test(1).verdict()));
            assert!(is_right(&search, &target, 0) && is_right(&search, &target, 2), "{seed}");
            let estimate = search.test(1).estimate().unwrap();
            assert!(estimate.nothing > 0.9 && (0.35..0.65).contains(&estimate.with.mean), "{estimate:?}");
        }
    }
}

#[test]
fn one_that_fails_only_at_first_is_not_taken_for_a_set_of_all_changes() {
    let target = taking_turns(3, 1000, 2, 2);
    let search = search(&target, with(SUSPECTED), &[0], &mut |target, test, trial| {
        let is_first = trial.id < TrialId(3);
        let shown = target.observe(test, &trial.selection);
        let outcome = if is_first { Outcome::Fail } else { Outcome::Pass };
        if test == 1 { Observation { outcome, ..shown } } else { shown }
    });
    assert!(is_right(&search, &target, 0));
    assert_eq!(search.test(1).verdict(), Some(&Verdict::Inconsistent(Inconsistency::Noise)));
    assert!(search.progress().runs() < 300, "{} runs", search.progress().runs());
}

#[test]
fn nothing_is_run_again_and_again_while_a_test_is_checked() {
    let target = taking_turns(3, 1000, 2, 2);
    let mut search = Search::new(in_flight(2, &with(SUSPECTED)));
    let mut running: Vec<Trial> = Vec::new();
    let (mut beside, mut has_failed) = (0, false);
    loop {
        for id in search.obsolete() {
            running.retain(|trial| trial.id != id);
            search.cancel(id);
        }
        match search.step() {
            Step::Run(trial) => running.push(trial),
            Step::Done(_) => break,
            Step::Wait if search.progress().tests() == 1 => {
                let trial = running.remove(0);
                search.record(trial.id, [target.observe_all(&trial.selection)]);
                if search.can_split() {
                    search.split(NonZeroUsize::new(2).unwrap());
                }
            }
            Step::Wait => {
                // The check of the failing end ends last.
                let over = running.iter().position(|trial| trial.question != Question::AllOn);
                let has_check = running.iter().any(|trial| trial.question == Question::AllOn);
                beside = if over.is_some() && has_check && !search.test(1).is_noisy() { beside + 1 } else { 0 };
                assert!(beside < 20, "{beside} runs beside one check");
                let trial = running.remove(over.unwrap_or(0));
                let is_first = trial.question == Question::AllOn && !std::mem::replace(&mut has_failed, true);
                let observe = |&test: &usize| {
                    let shown = target.observe(test, &trial.selection);
                    let outcome = if is_first { Outcome::Fail } else { Outcome::Pass };
                    if test == 1 { Observation { outcome, ..shown } } else { shown }
                };
                search.record(trial.id, trial.tests.iter().map(observe));
            }
        }
    }
}

#[test]
fn one_that_is_known_to_contradict_itself_is_not_believed_from_the_start() {
    for seed in 0..10 {
        let target = taking_turns(seed, 200, 3, 3);
        let (mut state, mut search) = (seed, Search::new(with(SUSPECTED)));
        while let Step::Run(trial) = search.step() {
            if search.progress().tests() == 1 {
                search.record(trial.id, [target.observe_all(&trial.selection)]);
                if search.can_split() {
                    search.split(NonZeroUsize::new(3).unwrap());
                    search.switch_to_noisy(2);
                }
                continue;
            }
            let observe = |&test: &usize| {
                let seen = target.observe(test, &trial.selection);
                let fails = seen.outcome == Outcome::Fail && (test != 2 || random(&mut state) < 0.5);
                Observation { outcome: if fails { Outcome::Fail } else { Outcome::Pass }, ..seen }
            };
            search.record(trial.id, trial.tests.iter().map(observe));
        }
        assert!((0..3).all(|test| is_right(&search, &target, test)), "{seed}");
        let its_own = (0..search.progress().trials())
            .map(|trial| search.trial(TrialId(trial)))
            .filter(|trial| trial.tests == [2]);
        assert!(its_own.count() > 30, "nobody else is run for it");
    }
}

#[test]
fn those_that_share_a_culprit_share_its_search() {
    let runs = |tests: usize| {
        let runs = (0..5).map(|seed| {
            let target = taking_turns(seed, 200, tests, 1);
            let all: Vec<_> = (0..tests).collect();
            let search = search_flaky(seed, &target, with(EXPECTED), &all, (0.7, 0.0));
            assert!((0..tests).all(|test| is_right(&search, &target, test)), "{seed}");
            search.progress().runs()
        });
        runs.sum::<usize>()
    };
    let (two, eight) = (runs(2), runs(8));
    assert!(eight < 2 * two, "{eight} runs of eight tests, {two} of two");
}

#[test]
fn reliable_tests_cost_only_so_many_runs_more() {
    for seed in 0..5 {
        let pairs = Test { fails: vec![[3, 70].into(), [50].into()], ..Test::default() };
        let of_pairs = Target { tests: vec![pairs.clone(), Test::default(), pairs], ..taking_turns(seed, 100, 3, 3) };
        for mut target in [taking_turns(seed, 200, 6, 3), apart(seed, 100, 4), of_pairs] {
            for disable in [false, true] {
                for count in [1, 3] {
                    target.disable = disable;
                    let plain = honest(&target, in_flight(count, &Options::default()));
                    let checked = honest(&target, in_flight(count, &with(SUSPECTED)));
                    assert_eq!(checked.verdict(), plain.verdict());
                    for test in 0..target.tests.len() {
                        assert_eq!(sets(checked.test(test).found()), sets(plain.test(test).found()));
                        assert!(!checked.test(test).is_noisy());
                    }
                    // One run checks each test on its own. Before a culprit is named, the checks of at most one test
                    // are not shared: 5 and 3 runs for culprits of one change, 6 for a pair.
                    let culprits = plain.culprits().len();
                    let most = plain.progress().runs() + if count == 1 { 1 } else { 3 } + 6 * culprits;
                    assert!(
                        checked.progress().runs() <= most,
                        "{} and {} runs",
                        checked.progress().runs(),
                        plain.progress().runs()
                    );
                }
            }
        }
    }
}

#[test]
fn runs_are_shared_fairly_at_a_limit() {
    let target = taking_turns(3, 1000, 3, 3);
    for max in [20, 60, 90] {
        let options = Options { max_runs: Some(max), ..with(EXPECTED) };
        let search = search_flaky(3, &target, options, &[0, 1, 2], (0.5, 0.3));
        assert_eq!(search.progress().runs(), max);
        let undecided = (0..3).filter(|&test| search.test(test).verdict() != Some(&Verdict::Complete)).count();
        assert!(undecided > 0 && search.progress().undecided() == 0, "{undecided}");
    }
    // Reliable tests and a noisy one take turns.
    let options = Options { max_runs: Some(24), ..with(SUSPECTED) };
    let mut state = 3;
    let search = search(&taking_turns(3, 1000, 3, 3), options, &[0], &mut |target, test, trial| {
        let seen = target.observe(test, &trial.selection);
        let fails = match test {
            // It fails at the end at which it passed together with the others.
            2 => trial.question == Question::AllOff || random(&mut state) < 0.5,
            _ => seen.outcome == Outcome::Fail,
        };
        Observation { outcome: if fails { Outcome::Fail } else { Outcome::Pass }, ..seen }
    });
    let trials = (0..search.progress().trials()).map(|trial| search.trial(TrialId(trial)));
    let its_own = trials.filter(|trial| trial.tests == [2]).count();
    assert!(search.test(2).is_noisy() && (8..=12).contains(&its_own), "{its_own} of {}", search.progress().runs());
}

#[test]
fn one_that_fails_only_in_company_is_seen_once_more() {
    let mut target = taking_turns(7, 100, 6, 2);
    target.disable = true;
    let search = search(&target, with(SUSPECTED), &[0], &mut |target, test, trial| {
        let seen = target.observe(test, &trial.selection);
        if test == 4 { Observation { outcome: Outcome::Pass, ..seen } } else { seen }
    });
    assert_eq!(search.test(4).verdict(), Some(&Verdict::NoDifference(Outcome::Pass)));
    assert_eq!(
        (search.verdict(), search.progress().undecided()),
        (Some(Verdict::Complete), 0),
        "the others can be told"
    );
    let trials = (0..search.progress().trials()).map(|trial| search.trial(TrialId(trial)));
    let its: Vec<_> = trials.filter(|trial| trial.tests.contains(&4)).map(|trial| trial.question).collect();
    assert_eq!(
        its,
        [Question::AllOff, Question::AllOff],
        "where disabled changes break it, that is the end that fails"
    );
}

#[test]
fn a_search_under_noise_is_split_with_its_trials() {
    let target = taking_turns(2, 100, 2, 2);
    let mut search = Search::new(in_flight(4, &with(EXPECTED)));
    let mut running = Vec::new();
    while !search.can_split() {
        while let Step::Run(trial) = search.step() {
            running.push(trial);
        }
        let over = running.remove(0);
        search.record(over.id, [target.observe_all(&over.selection)]);
    }
    let (begun, changes) = (search.progress().trials(), search.progress().changes());
    search.split(NonZeroUsize::new(2).unwrap());
    let ids = |running: &[Trial]| running.iter().map(|trial| trial.id).collect::<Vec<_>>();
    assert!(
        !running.is_empty() && search.test(0).is_noisy() && search.test(1).is_noisy() && !search.progress().is_noisy()
    );
    assert_eq!(
        (search.obsolete(), search.progress().trials(), search.progress().changes()),
        (ids(&running), begun, changes)
    );
    let late = running.remove(0);
    search.record(late.id, [target.observe_all(&late.selection)]);
    search.cancel(running[0].id);
    assert_eq!((search.obsolete(), search.trial(late.id)), (ids(&running[1..]), &late));
    let Step::Run(trial) = search.step() else { panic!("each test is to be seen on its own") };
    assert_eq!((trial.question, trial.tests.as_slice(), trial.id.0), (Question::AllOn, &[0, 1][..], begun));
}

#[test]
fn a_test_that_only_flips_coins_hardly_ever_gets_a_culprit() {
    for (rates, most) in [((0.5, 0.5), 2), ((0.3, 0.3), 2), ((0.5, 0.0), 2), ((0.9, 0.0), 2)] {
        let mut wrong = 0;
        for seed in 0..60 {
            let target = taking_turns(seed, 200, 3, 3);
            let search = search_flaky(seed, &target, Options { seed, ..with(SUSPECTED) }, &[2], rates);
            let named = sets(search.test(2).found());
            let truth = if rates.0 > rates.1 { expected(&target, 2) } else { BTreeSet::new() };
            wrong += usize::from(!named.is_subset(&truth));
        }
        println!("{rates:?}: {wrong} of 60 wrong");
        assert!(wrong <= most, "{wrong} of 60 at {rates:?}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_test_that_hardly_ever_fails_on_its_own_comes_to_an_end() {
    for seed in 0..40 {
        let target = taking_turns(seed, 21, 3, 3);
        let mut search = Search::new(Options { seed, max_runs: Some(2_000), ..with(SUSPECTED) });
        let mut failures = seed % 4 + 1;
        while let Step::Run(trial) = search.step() {
            if search.progress().tests() == 1 {
                search.record(trial.id, [target.observe_all(&trial.selection)]);
                if search.can_split() {
                    search.split(NonZeroUsize::new(3).unwrap());
                    search.switch_to_noisy(2);
                }
                continue;
            }
            let mut observe = |&test: &usize| {
                let seen = target.observe(test, &trial.selection);
                if test == 2 && seen.outcome == Outcome::Fail && failures == 0 {
                    return Observation { outcome: Outcome::Pass, ..seen };
                }
                failures -= u64::from(test == 2 && seen.outcome == Outcome::Fail);
                seen
            };
            let observations = trial.tests.iter().map(&mut observe);
            search.record(trial.id, observations);
        }
        assert!(search.test(2).found().is_empty());
        assert!(search.progress().runs() < 700, "seed {seed}: {} runs", search.progress().runs());
    }
}

/// A test that prepares something for its later runs, and reaches few changes.
#[test]
fn a_test_that_stops_failing_comes_to_an_end() {
    for (seed, reached) in (0..12).flat_map(|seed| [1, 2, 3, 5, 21].map(|reached| (seed, reached))) {
        let mut failures = seed % 3;
        let target = taking_turns(seed, 21, 3, 3);
        let mut search = Search::new(Options { seed, max_runs: Some(3_000), ..with(SUSPECTED) });
        let mut own = Vec::new();
        while let Step::Run(trial) = search.step() {
            if search.progress().tests() == 1 {
                let seen = target.observe_all(&trial.selection);
                own.extend(seen.reported.iter().copied().filter(|_| trial.question == Question::AllOn).take(reached));
                search.record(trial.id, [seen]);
                if search.can_split() {
                    search.split(NonZeroUsize::new(3).unwrap());
                    search.switch_to_noisy(2);
                }
                continue;
            }
            let mut observe = |&test: &usize| {
                let mut seen = target.observe(test, &trial.selection);
                if test == 2 {
                    seen.reported.retain(|change| own.contains(change));
                    seen.outcome = if failures > 0 { Outcome::Fail } else { Outcome::Pass };
                    failures = failures.saturating_sub(1);
                }
                seen
            };
            let observations = trial.tests.iter().map(&mut observe);
            search.record(trial.id, observations);
        }
        assert!(search.test(2).found().is_empty());
        let runs = search.progress().runs();
        assert!(runs < 700, "seed {seed}, {reached} changes: {runs} runs");
    }
}
