//! Each test gets the result of a search for it alone, and all together take few runs.

use std::num::NonZeroUsize;

use bisect_core::search::{
    Incomplete, Options, Order, Outcome, Question, Rank, Search, Shared, Step, Trial, TrialId, Verdict,
};
use proptest::{
    collection::{btree_set, vec},
    prelude::*,
};

use super::{Target, Test, apart, honest, in_flight, search, sets, taking_turns};

prop_compose! {
    fn test(n: usize)(fails in vec(btree_set(0..n, 1..4), 1..4), reaches in proptest::option::of(btree_set(0..n, n / 2..=n)),
                      appears_with in vec((0..n, 0..n), 0..3)) -> Test {
        // A test reaches every change that breaks it.
        let reaches = reaches.map(|reaches| &reaches | &fails.iter().flatten().copied().collect());
        Test { fails, reaches, appears_with }
    }
}

prop_compose! {
    fn target()(ids in btree_set(any::<u64>(), 2..50))
               (tests in vec(test(ids.len()), 1..10), shared in vec(any::<prop::sample::Index>(), 0..12),
                keep_apart in vec(any::<bool>(), 10), favoured in vec(any::<prop::sample::Index>(), 0..9),
                disable in any::<bool>(), ids in Just(ids)) -> Target {
        // Some tests reach changes that break others.
        let mut tests = tests;
        for (i, shared) in shared.iter().enumerate().take(tests.len()) {
            let other = tests[shared.index(tests.len())].clone();
            tests[i].reaches = None;
            tests[i].fails = other.fails;
        }
        // Other tests reach no change that breaks another test.
        let count = tests.len();
        for (i, test) in tests.iter_mut().enumerate().filter(|&(i, _)| keep_apart[i] && i < ids.len()) {
            let own = |&change: &usize| Some(change / count * count + i).filter(|&own| own < ids.len()).unwrap_or(i);
            test.fails = test.fails.iter().map(|set| set.iter().map(own).collect()).collect();
            test.appears_with = test.appears_with.iter().map(|(late, first)| (own(late), own(first))).collect();
            test.reaches = Some((i..ids.len()).step_by(count).collect());
        }
        let ids: Vec<_> = ids.into_iter().map(Rank).collect();
        let favoured = favoured.iter().map(|favoured| ids[favoured.index(ids.len())]).collect();
        Target { ids, tests, disable, favoured }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "slow: CI runs it"]
    fn each_test_gets_what_a_search_of_it_alone_finds(
        mut target in target(), choices in vec(any::<usize>(), 8), max_sets in 0..12_usize, max_set_size in 0..12_usize,
    ) {
        let limit = |max: usize| NonZeroUsize::new(max).filter(|max| max.get() < 4);
        let options =
            Options { max_sets: limit(max_sets), max_set_size: limit(max_set_size), ..Options::default() };
        // A test that cannot fail makes no search of its own.
        let fails = |test: usize| honest(&target.alone(test), Options::default()).can_split();
        let tests = (0..target.tests.len()).filter(|&test| fails(test)).map(|test| target.tests[test].clone()).collect();
        target.tests = tests;
        prop_assume!(target.tests.len() > 1);
        let alone: Vec<_> = (0..target.tests.len()).map(|test| honest(&target.alone(test), options.clone())).collect();
        for count in [1, 2, 4, 16] {
            let together = search(&target, in_flight(count, &options), &choices, &mut |target, test, trial| {
                target.observe(test, &trial.selection)
            });
            for (test, alone) in alone.iter().enumerate() {
                prop_assert_eq!(together.test(test).verdict(), alone.test(0).verdict(), "test {}, {} in flight", test, count);
                prop_assert_eq!(sets(together.test(test).found()), sets(alone.test(0).found()), "test {}, {} in flight", test, count);
            }
            let shared: usize = together.culprits().iter().map(|shared| shared.tests.len()).sum();
            prop_assert_eq!(shared, alone.iter().map(|alone| alone.test(0).found().len()).sum::<usize>());
        }
    }
}

#[test]
fn forty_tests_with_three_culprits_take_little_more_than_the_hardest() {
    let mut all = Vec::new();
    for seed in 0..10 {
        let target = taking_turns(seed, 1000, 40, 3);
        let together = honest(&target, Options::default());
        assert_eq!(together.verdict(), Some(Verdict::Complete));
        let culprits = together.culprits();
        let mut tests: Vec<_> = culprits.iter().map(|shared| shared.tests.clone()).collect();
        tests.sort();
        assert_eq!(tests, [0, 1, 2].map(|first| (first..40).step_by(3).collect::<Vec<_>>()));
        for Shared { culprit, confirmed_by, .. } in culprits {
            let Trial { question, selection, .. } = together.trial(confirmed_by);
            assert_eq!((*question, &selection.forced), (Question::FoundAlone, &culprit.changes));
        }
        // Tests with the same culprit have the same searches.
        let alone = [0, 1, 2].map(|test| honest(&target.alone(test), Options::default()).progress().runs());
        all.push((together.progress().runs(), alone.into_iter().max().unwrap()));
    }
    println!("runs of all, and of the hardest alone: {all:?}");
    assert!(all.iter().all(|(together, hardest)| 2 * together <= 3 * hardest), "{all:?}");
}

#[test]
fn a_change_can_be_both_found_and_avoided() {
    for seed in 50..60 {
        let odd = Test {
            fails: vec![[2, 3, 4].into(), [5].into(), [0, 1, 6].into()],
            appears_with: vec![(5, 4)],
            ..Test::default()
        };
        let target = Target::new(seed, 24, vec![Test { fails: vec![[0].into()], ..Test::default() }, odd]);
        let options = Options { max_set_size: NonZeroUsize::new(2), ..Options::default() };
        let together = honest(&target, options.clone());
        let alone = honest(&target.alone(1), options);
        assert_eq!(together.test(1).verdict(), Some(&Verdict::Incomplete(Incomplete::MaxSetSize)));
        assert_eq!(sets(together.test(1).found()), sets(alone.test(0).found()));
    }
}

#[test]
fn forty_tests_that_have_nothing_in_common_take_little_more_than_the_hardest() {
    for seed in 0..3 {
        let target = apart(seed, 1000, 40);
        let together = honest(&target, Options::default());
        assert_eq!(together.verdict(), Some(Verdict::Complete));
        for test in 0..40 {
            assert_eq!(sets(together.test(test).found()), [[target.ids[test]].into()].into());
        }
        let hardest =
            (0..40).map(|test| honest(&target.alone(test), Options::default()).progress().runs()).max().unwrap();
        println!("{} runs of all, {hardest} of the hardest alone", together.progress().runs());
        assert!(2 * together.progress().runs() <= 3 * hardest, "{} and {hardest}", together.progress().runs());
        let kinds: Vec<_> =
            (0..together.progress().trials()).map(|trial| together.trial(TrialId(trial)).question).collect();
        let count = |question| kinds.iter().filter(|&&kind| kind == question).count();
        assert_eq!((count(Question::AllOn), count(Question::FoundAlone), count(Question::AllButFound)), (2, 1, 1));
    }
}

#[test]
fn a_culprit_can_be_shown_without_those_of_other_tests() {
    for disable in [false, true] {
        let target = Target { disable, ..apart(4, 100, 6) };
        let search = honest(&target, Options::default());
        for (test, shared) in search.culprits().into_iter().enumerate() {
            assert_eq!(search.trial(shared.confirmed_by).selection.forced.len(), 6, "all were confirmed by one trial");
            let selection = shared.culprit.selection();
            let pattern =
                format!("{}x{:016x}", if disable { "!" } else { "" }, Order::ByHash.id(shared.culprit.changes[0]).0);
            assert_eq!(selection.pattern().to_string(), pattern);
            assert_eq!(target.observe(shared.tests[0], &selection).outcome, Outcome::Fail, "{test}");
        }
    }
}

#[test]
fn what_is_favoured_is_found_sooner() {
    for target in [taking_turns(2, 1000, 40, 3), apart(2, 1000, 10)] {
        let favoured: Vec<_> = target.ids.iter().copied().take(30).collect();
        let runs = honest(&target, Options::default()).progress().runs();
        let search = honest(&Target { favoured, ..target }, Options::default());
        assert_eq!(search.verdict(), Some(Verdict::Complete));
        assert!(search.progress().runs() + 3 <= runs, "{} instead of {runs}", search.progress().runs());
    }
}

#[test]
fn a_hundred_and_fifty_culprits_fit_into_patterns() {
    let target = taking_turns(3, 1000, 150, 150);
    let together = honest(&target, Options::default());
    assert_eq!((together.verdict(), together.culprits().len()), (Some(Verdict::Complete), 150));
    let most_gaps =
        (0..together.progress().trials()).map(|trial| together.trial(TrialId(trial)).selection.gaps.len()).max();
    assert_eq!(most_gaps, Some(63));
    // Two runs for each culprit, and some rounds of halving in which not every test takes part.
    assert!(together.progress().runs() < 2 * 150 + 40, "{}", together.progress().runs());
}

#[test]
fn the_limit_on_runs_holds() {
    let target = taking_turns(1, 100, 5, 2);
    let all = honest(&target, Options::default()).progress().runs();
    for max in 2..all {
        let search = honest(&target, Options { max_runs: Some(max), ..Options::default() });
        let stopped = Verdict::Incomplete(Incomplete::MaxRuns);
        assert_eq!((search.verdict(), search.progress().runs()), (Some(stopped.clone()), max));
        let decided = (0..5).filter(|&test| search.test(test).verdict() == Some(&Verdict::Complete)).count();
        let given_up = (0..5).filter(|&test| search.test(test).verdict() == Some(&stopped)).count();
        assert_eq!(decided + given_up, 5);
    }
    assert_eq!(
        honest(&target, Options { max_runs: Some(all), ..Options::default() }).verdict(),
        Some(Verdict::Complete)
    );
}

#[test]
fn what_is_in_flight_when_a_search_is_split_is_obsolete() {
    let target = taking_turns(1, 100, 2, 2);
    let mut search = Search::new(in_flight(6, &Options::default()));
    let mut running = Vec::new();
    let start = |search: &mut Search, running: &mut Vec<Trial>| {
        while let Step::Run(trial) = search.step() {
            running.push(trial);
        }
    };
    start(&mut search, &mut running);
    assert!(!search.can_split());
    let all = running.remove(0);
    search.record(all.id, [target.observe_all(&all.selection)]);
    start(&mut search, &mut running);
    let none = running.remove(0);
    assert_eq!((all.question, none.question), (Question::AllOn, Question::AllOff));
    search.record(none.id, [target.observe_all(&none.selection)]);
    let ids = |trials: &[Trial]| trials.iter().map(|trial| trial.id).collect::<Vec<_>>();
    assert!(running.len() > 1 && search.can_split());
    search.split(NonZeroUsize::new(2).unwrap());
    assert!(!search.can_split());
    assert_eq!(search.obsolete(), ids(&running));
    // Late results, recorded or cancelled, change nothing.
    let late = running.remove(0);
    search.record(late.id, [target.observe_all(&late.selection)]);
    search.cancel(running[0].id);
    assert_eq!(search.obsolete(), ids(&running[1..]));
    let begun = search.progress().trials();
    let Step::Run(trial) = search.step() else { panic!("what each test does alone is wanted") };
    assert_eq!(
        (trial.question, trial.tests.as_slice(), search.progress().trials()),
        (Question::AllOn, &[0, 1][..], begun + 1)
    );
    assert_eq!(search.trial(trial.id), &trial);
}

#[test]
fn before_a_split_there_is_one_test() {
    let target = taking_turns(1, 100, 1, 1);
    let search = honest(&target, Options::default());
    assert_eq!((search.progress().tests(), search.progress().undecided()), (1, 0));
    assert_eq!((search.test(0).verdict().cloned(), search.test(0).found()), (search.verdict(), search.test(0).found()));
    let shared = search.culprits();
    assert_eq!(
        (shared.len(), shared[0].tests.as_slice(), shared[0].culprit),
        (1, &[0][..], &search.test(0).found()[0])
    );
}

/// Returns the number of rounds of a search in which all trials take the same time.
fn rounds(target: &Target, in_flight: usize) -> usize {
    let mut search = Search::new(self::in_flight(in_flight, &Options::default()));
    for round in 0.. {
        let mut running = Vec::new();
        while let Step::Run(trial) = search.step() {
            running.push(trial);
        }
        if running.is_empty() {
            return round;
        }
        let is_first = round == 0;
        for trial in running {
            let observations = if is_first {
                vec![target.observe_all(&trial.selection)]
            } else {
                trial.tests.iter().map(|&test| target.observe(test, &trial.selection)).collect()
            };
            search.record(trial.id, observations);
        }
        if is_first {
            search.split(NonZeroUsize::new(target.tests.len()).unwrap());
        }
    }
    unreachable!("every search ends")
}

#[test]
fn groups_serve_all_tests_at_once() {
    for seed in 0..10 {
        // The ends, each test alone, ten groups, and the proof.
        assert_eq!(rounds(&taking_turns(seed, 1000, 40, 3), 16), 4, "seed {seed}");
    }
}
