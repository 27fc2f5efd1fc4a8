//! Several tests in one search: each gets what a search of it alone finds, and all together take few runs.

use std::{collections::BTreeSet, num::NonZeroUsize};

use bisect_core::{
    ChangeId, Field,
    search::{
        Culprit, Incomplete, Inconsistency, Observation, Options, Outcome, Question, Reason, Search, Selection, Shared,
        Step, Trial, TrialId, Unusable, Verdict,
    },
};
use proptest::{
    collection::{btree_set, vec},
    prelude::*,
};

/// A test of a simulated target, over the changes by their positions.
#[derive(Clone, Debug, Default)]
struct Test {
    /// It fails with all of one of these sets.
    fails: Vec<BTreeSet<usize>>,
    /// The changes that it comes by; all if none are given.
    reaches: Option<BTreeSet<usize>>,
    /// The first appears only where the second is enabled.
    appears_with: Vec<(usize, usize)>,
}

#[derive(Clone, Debug)]
struct Target {
    ids: Vec<ChangeId>,
    tests: Vec<Test>,
    disable: bool,
    /// Changes for which there is evidence.
    favoured: Vec<ChangeId>,
}

impl Target {
    fn new(seed: u64, changes: u64, tests: Vec<Test>) -> Self {
        let ids = (0..changes).map(|i| ChangeId::of(&[Field::U64(seed), Field::U64(i)])).collect();
        Self { ids, tests, disable: false, favoured: Vec::new() }
    }

    /// The same with one of its tests only.
    fn alone(&self, test: usize) -> Self {
        Self { tests: vec![self.tests[test].clone()], ..self.clone() }
    }

    fn observe(&self, test: usize, selection: &Selection) -> Observation {
        let Test { fails, reaches, appears_with } = &self.tests[test];
        let switched = |i: usize| (selection.contains(self.ids[i]) != selection.inverted) != self.disable;
        let mut there: BTreeSet<usize> = reaches.clone().unwrap_or_else(|| (0..self.ids.len()).collect());
        let mut hidden = 1;
        while hidden > 0 {
            let before = there.clone();
            let is_on = |i: usize| switched(i) && before.contains(&i);
            there.retain(|i| appears_with.iter().all(|&(late, first)| late != *i || is_on(first)));
            hidden = before.len() - there.len();
        }
        let on = |i: usize| switched(i) && there.contains(&i);
        let outcome = if fails.iter().any(|set| set.iter().all(|&i| on(i))) { Outcome::Fail } else { Outcome::Pass };
        let reported = there.iter().map(|&i| self.ids[i]);
        Observation { outcome, reported: reported.filter(|&id| selection.contains(id)).collect() }
    }

    /// What all tests show together.
    fn observe_all(&self, selection: &Selection) -> Observation {
        let mut all = Observation { outcome: Outcome::Pass, reported: Vec::new() };
        for test in 0..self.tests.len() {
            let Observation { outcome, reported } = self.observe(test, selection);
            all.reported.extend(reported);
            if outcome == Outcome::Fail {
                all.outcome = outcome;
            }
        }
        all
    }
}

/// What a test is seen to do, and the target, its number and the trial that make it so.
type Observe<'a> = dyn FnMut(&Target, usize, &Trial) -> Observation + 'a;

/// Searches all tests; `choices` say which of several runs in flight is over next.
fn search(target: &Target, options: Options, choices: &[usize], observe: &mut Observe<'_>) -> Search {
    let in_flight = options.in_flight.get();
    let mut search = Search::new(options);
    let mut running: Vec<Trial> = Vec::new();
    let mut choices = choices.iter().cycle();
    loop {
        for id in search.obsolete() {
            let before = running.len();
            running.retain(|trial| trial.id != id);
            assert!(running.len() < before, "it was in flight");
            (running.len()..before).for_each(|_| search.cancel(id));
        }
        let trials: BTreeSet<_> = running.iter().map(|trial| trial.id).collect();
        assert!(trials.len() <= in_flight, "no more in flight than allowed");
        assert!(search.runs() < 5000, "it goes on and on");
        match search.step() {
            Step::Run(trial) => {
                // An environment variable holds 128 KiB.
                assert!(trial.pattern().to_string().len() < 1 << 15, "the pattern is too long");
                running.push(trial);
            }
            Step::Done(_) => {
                // What was still in flight may be recorded, and changes nothing.
                for trial in running {
                    let observations = trial.tests.iter().map(|&test| target.observe(test, &trial.selection));
                    search.record_each(trial.id, observations.collect());
                }
                return search;
            }
            Step::Wait => {
                let over = running.remove(choices.next().unwrap() % running.len());
                let calibrates = matches!(over.question, Question::All | Question::None);
                if calibrates && search.tests() == 1 {
                    search.record(over.id, target.observe_all(&over.selection));
                } else {
                    let observations = over.tests.iter().map(|&test| observe(target, test, &over));
                    search.record_each(over.id, observations.collect());
                }
                if search.can_split() && target.tests.len() > 1 {
                    search.favour(target.favoured.iter().copied());
                    search.split(NonZeroUsize::new(target.tests.len()).unwrap());
                }
            }
        }
    }
}

fn honest(target: &Target, options: Options) -> Search {
    search(target, options, &[0], &mut |target, test, trial| target.observe(test, &trial.selection))
}

fn in_flight(count: usize, options: &Options) -> Options {
    Options { in_flight: NonZeroUsize::new(count).unwrap(), ..options.clone() }
}

/// The sets of a test, whichever was found first.
fn sets(found: &[Culprit]) -> BTreeSet<BTreeSet<ChangeId>> {
    found.iter().map(|culprit| culprit.changes.iter().copied().collect()).collect()
}

prop_compose! {
    fn test(n: usize)(fails in vec(btree_set(0..n, 1..4), 1..4), reaches in proptest::option::of(btree_set(0..n, n / 2..=n)),
                      appears_with in vec((0..n, 0..n), 0..3)) -> Test {
        // Whatever breaks a test is reached by it.
        let reaches = reaches.map(|reaches| &reaches | &fails.iter().flatten().copied().collect());
        Test { fails, reaches, appears_with }
    }
}

prop_compose! {
    fn target()(ids in btree_set(any::<u64>(), 2..50))
               (tests in vec(test(ids.len()), 1..10), shared in vec(any::<prop::sample::Index>(), 0..12),
                keep_apart in vec(any::<bool>(), 10), favoured in vec(any::<prop::sample::Index>(), 0..9),
                disable in any::<bool>(), ids in Just(ids)) -> Target {
        // Some share what breaks others.
        let mut tests = tests;
        for (i, shared) in shared.iter().enumerate().take(tests.len()) {
            let other = tests[shared.index(tests.len())].clone();
            tests[i].reaches = None;
            tests[i].fails = other.fails;
        }
        // Others come by nothing that breaks any other test.
        let count = tests.len();
        for (i, test) in tests.iter_mut().enumerate().filter(|&(i, _)| keep_apart[i] && i < ids.len()) {
            let own = |&change: &usize| Some(change / count * count + i).filter(|&own| own < ids.len()).unwrap_or(i);
            test.fails = test.fails.iter().map(|set| set.iter().map(own).collect()).collect();
            test.appears_with = test.appears_with.iter().map(|(late, first)| (own(late), own(first))).collect();
            test.reaches = Some((i..ids.len()).step_by(count).collect());
        }
        let ids: Vec<_> = ids.into_iter().map(ChangeId).collect();
        let favoured = favoured.iter().map(|favoured| ids[favoured.index(ids.len())]).collect();
        Target { ids, tests, disable, favoured }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
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
                prop_assert_eq!(together.verdict_of(test), alone.verdict_of(0), "test {}, {} in flight", test, count);
                prop_assert_eq!(sets(together.found_by(test)), sets(alone.found()), "test {}, {} in flight", test, count);
            }
            let shared: usize = together.culprits().iter().map(|shared| shared.tests.len()).sum();
            prop_assert_eq!(shared, alone.iter().map(|alone| alone.found().len()).sum::<usize>());
        }
    }
}

/// A target whose tests fail by one of so many culprits in turn.
fn taking_turns(seed: u64, changes: u64, tests: usize, culprits: usize) -> Target {
    let test = |i: usize| Test { fails: vec![[i % culprits].into()], ..Test::default() };
    Target::new(seed, changes, (0..tests).map(test).collect())
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
            assert_eq!((*question, &selection.forced), (Question::Exactly, &culprit.changes));
        }
        // Tests with the same culprit search alike.
        let alone = [0, 1, 2].map(|test| honest(&target.alone(test), Options::default()).runs());
        all.push((together.runs(), alone.into_iter().max().unwrap()));
    }
    println!("runs of all, and of the hardest alone: {all:?}");
    assert!(all.iter().all(|(together, hardest)| 2 * together <= 3 * hardest), "{all:?}");
}

/// A target whose tests have so many changes of their own each, one of which breaks it.
fn apart(seed: u64, changes: u64, tests: usize) -> Target {
    let total = usize::try_from(changes).unwrap() * tests;
    let test = |i: usize| Test {
        fails: vec![[i].into()],
        reaches: Some((i..total).step_by(tests).collect()),
        ..Test::default()
    };
    Target::new(seed, total as u64, (0..tests).map(test).collect())
}

#[test]
fn forty_tests_that_have_nothing_in_common_take_little_more_than_the_hardest() {
    for seed in 0..3 {
        let target = apart(seed, 1000, 40);
        let together = honest(&target, Options::default());
        assert_eq!(together.verdict(), Some(Verdict::Complete));
        for test in 0..40 {
            assert_eq!(sets(together.found_by(test)), [[target.ids[test]].into()].into());
        }
        let hardest = (0..40).map(|test| honest(&target.alone(test), Options::default()).runs()).max().unwrap();
        println!("{} runs of all, {hardest} of the hardest alone", together.runs());
        assert!(2 * together.runs() <= 3 * hardest, "{} and {hardest}", together.runs());
        let kinds: Vec<_> = (0..together.trials()).map(|trial| together.trial(TrialId(trial)).question).collect();
        let count = |question| kinds.iter().filter(|&&kind| kind == question).count();
        assert_eq!((count(Question::All), count(Question::Exactly), count(Question::Rest)), (2, 1, 1));
    }
}

#[test]
fn a_culprit_can_be_shown_without_those_of_other_tests() {
    for disable in [false, true] {
        let target = Target { disable, ..apart(4, 100, 6) };
        let search = honest(&target, Options::default());
        for (test, shared) in search.culprits().into_iter().enumerate() {
            assert_eq!(search.trial(shared.confirmed_by).selection.forced.len(), 6, "all were confirmed by one trial");
            let selection = search.alone(shared.culprit);
            let pattern = format!("{}x{:016x}", if disable { "!" } else { "" }, shared.culprit.changes[0].0);
            assert_eq!(selection.pattern().to_string(), pattern);
            assert_eq!(target.observe(shared.tests[0], &selection).outcome, Outcome::Fail, "{test}");
        }
    }
}

#[test]
fn what_is_favoured_is_found_sooner() {
    for target in [taking_turns(2, 1000, 40, 3), apart(2, 1000, 10)] {
        let favoured: Vec<_> = target.ids.iter().copied().take(30).collect();
        let runs = honest(&target, Options::default()).runs();
        let search = honest(&Target { favoured, ..target }, Options::default());
        assert_eq!(search.verdict(), Some(Verdict::Complete));
        assert!(search.runs() + 3 <= runs, "{} instead of {runs}", search.runs());
    }
}

#[test]
fn a_test_that_fails_only_in_company_is_left_alone() {
    let target = taking_turns(7, 100, 6, 2);
    let search = search(&target, Options::default(), &[0], &mut |target, test, trial| {
        let seen = target.observe(test, &trial.selection);
        if test == 4 { Observation { outcome: Outcome::Pass, ..seen } } else { seen }
    });
    assert_eq!(search.verdict_of(4), Some(&Verdict::NoDifference(Outcome::Pass)));
    assert_eq!((search.verdict(), search.undecided()), (Some(Verdict::Complete), 0), "the others can be told");
    let trials = (0..search.trials()).map(|trial| search.trial(TrialId(trial)));
    let its: Vec<_> = trials.filter(|trial| trial.tests.contains(&4)).map(|trial| trial.question).collect();
    assert_eq!(its, [Question::All]);
}

#[test]
fn tests_that_all_fail_only_in_company_leave_nothing_to_find() {
    let target = taking_turns(7, 100, 6, 2);
    let search = search(&target, Options::default(), &[0], &mut |target, test, trial| Observation {
        outcome: Outcome::Pass,
        ..target.observe(test, &trial.selection)
    });
    assert_eq!((search.verdict(), search.runs()), (Some(Verdict::NoDifference(Outcome::Pass)), 3));
}

#[test]
fn a_test_that_tells_nothing_on_its_own_is_unusable_alone() {
    let (search, _) = with_one_odd(Options::default(), &mut |seen, trial, _| match trial.question {
        Question::All => Observation { outcome: Outcome::Unresolved(Reason::Timeout), ..seen },
        _ => seen,
    });
    let unresolved = Unusable::Unresolved(Question::All, Reason::Timeout);
    assert_eq!(search.verdict_of(4), Some(&Verdict::Unusable(unresolved)));
    let (search, _) = with_one_odd(Options::default(), &mut |seen, _, _| Observation { reported: Vec::new(), ..seen });
    assert_eq!(search.verdict_of(4), Some(&Verdict::Unusable(Unusable::NoReports)));
}

/// A test that comes by what breaks another one only where one of its own changes is off, and is mended by it.
#[test]
fn a_test_that_comes_by_what_breaks_another_one_is_asked_again_on_its_own() {
    for count in [1, 4] {
        // By rank: test 0 has the first ten, test 1 the next, and so on; each is broken by its last but one, but for the
        // last test, which is broken by the very last change.
        let change = |rank: u64| ChangeId((rank << 58).reverse_bits());
        let test = |i: usize| Test {
            fails: vec![[10 * i + 8 + i / 2].into()],
            reaches: Some((10 * i..10 * i + 10).collect()),
            ..Test::default()
        };
        let tests = (0..3).map(test).collect();
        let target = Target { ids: (0..30).map(change).collect(), ..Target::new(0, 0, tests) };
        let options = in_flight(count, &Options::default());
        let mut named = Vec::new();
        let search = search(&target, options, &[0], &mut |target, test, trial| {
            if test == 0 && trial.question == Question::Exactly {
                named.push(trial.selection.forced.len());
            }
            let mut seen = target.observe(test, &trial.selection);
            let is_on = |i: usize| trial.selection.contains(target.ids[i]);
            if test == 0 && is_on(29) && !is_on(9) && !trial.selection.inverted {
                seen.outcome = Outcome::Pass;
                seen.reported.push(target.ids[29]);
            }
            seen
        });
        assert_eq!(search.verdict(), Some(Verdict::Complete), "{count} in flight");
        assert_eq!(sets(search.found_by(0)), [[target.ids[8]].into()].into());
        assert!(matches!(named[..], [2 | 3, 1]), "in company first, then not: {named:?}");
        let confirmed_by = search.found_by(0)[0].confirmed_by;
        assert_eq!(search.trial(confirmed_by).selection.forced, [target.ids[8]]);
    }
}

#[test]
fn a_hundred_and_fifty_culprits_fit_into_patterns() {
    let target = taking_turns(3, 1000, 150, 150);
    let together = honest(&target, Options::default());
    assert_eq!((together.verdict(), together.culprits().len()), (Some(Verdict::Complete), 150));
    let most_gaps = (0..together.trials()).map(|trial| together.trial(TrialId(trial)).selection.gaps.len()).max();
    assert_eq!(most_gaps, Some(63));
    // Two for each culprit, and some rounds of halving in which not every test has a part.
    assert!(together.runs() < 2 * 150 + 40, "{}", together.runs());
}

/// A search in which one of six tests misbehaves, while the others have two culprits.
fn with_one_odd(
    options: Options,
    observe: &mut dyn FnMut(Observation, &Trial, &Target) -> Observation,
) -> (Search, Target) {
    let target = taking_turns(7, 100, 6, 2);
    let search = search(&target, options, &[0], &mut |target, test, trial| {
        let seen = target.observe(test, &trial.selection);
        if test == 4 { observe(seen, trial, target) } else { seen }
    });
    for test in [0, 1, 2, 3, 5] {
        assert_eq!(search.verdict_of(test), Some(&Verdict::Complete));
        assert_eq!(sets(search.found_by(test)), [[target.ids[test % 2]].into()].into());
    }
    assert_eq!((search.verdict().as_ref(), search.undecided()), (search.verdict_of(4), 0));
    (search, target)
}

fn outcome(fails: bool) -> Outcome {
    if fails { Outcome::Fail } else { Outcome::Pass }
}

#[test]
fn a_test_that_reports_what_it_was_not_asked_for_is_unusable_alone() {
    let (search, _) =
        with_one_odd(Options::default(), &mut |seen, _, target| Observation { reported: target.ids.clone(), ..seen });
    assert!(matches!(search.verdict_of(4), Some(Verdict::Unusable(Unusable::Unasked { .. }))));
    assert!(search.found_by(4).is_empty());
}

#[test]
fn a_test_that_ignores_the_pattern_is_told_from_one_that_slips() {
    for (slips, expected) in [(false, true), (true, false)] {
        let (search, _) = with_one_odd(Options::default(), &mut |seen, trial, target| {
            let all = target.ids.iter().copied().skip(usize::from(slips && trial.question != Question::All));
            Observation { reported: all.collect(), ..seen }
        });
        let Some(Verdict::Unusable(Unusable::Unasked { ignores_pattern, changes, .. })) = search.verdict_of(4) else {
            panic!("{:?}", search.verdict_of(4))
        };
        assert_eq!((*ignores_pattern, changes.len()), (expected, 8));
    }
}

#[test]
fn a_flaky_test_is_inconsistent_alone() {
    let twice = Options { runs_per_trial: NonZeroUsize::new(2).unwrap(), ..Options::default() };
    let mut runs = 0;
    let (search, _) = with_one_odd(twice, &mut |seen, _, _| {
        runs += 1;
        Observation { outcome: outcome(runs % 2 == 0), ..seen }
    });
    let Some(Verdict::Inconsistent(Inconsistency::Runs(trial))) = search.verdict_of(4) else {
        panic!("{:?}", search.verdict_of(4))
    };
    assert!(search.trial(*trial).tests.contains(&4));
    assert_eq!((runs, search.runs()), (2, 2 * search.trials()), "it is not run any more, and the others twice each");
}

#[test]
fn a_test_that_is_not_confirmed_is_not_accused() {
    let (search, target) = with_one_odd(Options::default(), &mut |seen, trial, target| {
        // It fails with any prefix that has this one, but not with it alone.
        let fails = trial.selection.contains(target.ids[3]) && trial.question != Question::Exactly;
        let fails = fails && !trial.selection.inverted && trial.question != Question::Rest;
        Observation { outcome: outcome(fails), ..seen }
    });
    let verdict = search.verdict_of(4);
    assert!(
        matches!(verdict, Some(Verdict::Inconsistent(Inconsistency::NotConfirmed(_, set))) if set.contains(&target.ids[3])),
        "{verdict:?}"
    );
    assert!(search.found_by(4).is_empty());
}

#[test]
fn a_test_that_fails_for_good_is_not_accused() {
    for from in 0..12 {
        let mut runs = 0;
        let (search, _) = with_one_odd(Options::default(), &mut |seen, _, _| {
            runs += 1;
            Observation { outcome: if runs > from { Outcome::Fail } else { seen.outcome }, ..seen }
        });
        if search.verdict_of(4) != Some(&Verdict::Complete) {
            assert!(matches!(search.verdict_of(4), Some(Verdict::Inconsistent(_))), "{:?}", search.verdict_of(4));
            assert!(search.found_by(4).is_empty(), "{from}");
        }
    }
}

#[test]
fn runs_that_tell_nothing_are_worked_around() {
    let (search, target) = with_one_odd(Options::default(), &mut |seen, trial, target| {
        // Not without its companion, unless nothing is on.
        let on = |i: usize| trial.selection.contains(target.ids[i]) != trial.selection.inverted;
        let outcome = if on(50) && !on(60) { Outcome::Unresolved(Reason::Skip) } else { seen.outcome };
        Observation { outcome, ..seen }
    });
    assert_eq!(search.verdict_of(4), Some(&Verdict::Complete));
    assert_eq!(sets(search.found_by(4)), [[target.ids[0]].into()].into());
}

#[test]
fn a_test_that_invents_changes_without_end() {
    let (search, _) = with_one_odd(Options::default(), &mut |_, trial, _| {
        let fresh = |i: u64| ChangeId::of(&[Field::U64(trial.id.0 as u64), Field::U64(i)]);
        let invented = (0..64).map(fresh).filter(|&id| trial.selection.contains(id));
        let reported = invented.chain(trial.selection.forced.iter().copied()).collect();
        Observation { outcome: outcome(!trial.selection.inverted), reported }
    });
    assert!(matches!(search.verdict_of(4), Some(Verdict::Inconsistent(_))), "{:?}", search.verdict_of(4));
}

#[test]
fn the_limit_on_runs_holds() {
    let target = taking_turns(1, 100, 5, 2);
    let all = honest(&target, Options::default()).runs();
    for max in 2..all {
        let search = honest(&target, Options { max_runs: Some(max), ..Options::default() });
        let stopped = Verdict::Incomplete(Incomplete::MaxRuns);
        assert_eq!((search.verdict(), search.runs()), (Some(stopped.clone()), max));
        let decided = (0..5).filter(|&test| search.verdict_of(test) == Some(&Verdict::Complete)).count();
        let given_up = (0..5).filter(|&test| search.verdict_of(test) == Some(&stopped)).count();
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
    search.record(all.id, target.observe_all(&all.selection));
    start(&mut search, &mut running);
    let none = running.remove(0);
    assert_eq!((all.question, none.question), (Question::All, Question::None));
    search.record(none.id, target.observe_all(&none.selection));
    let ids = |trials: &[Trial]| trials.iter().map(|trial| trial.id).collect::<Vec<_>>();
    assert!(running.len() > 1 && search.can_split());
    search.split(NonZeroUsize::new(2).unwrap());
    assert!(!search.can_split());
    assert_eq!(search.obsolete(), ids(&running));
    // Recorded or cancelled, they change nothing.
    let late = running.remove(0);
    search.record(late.id, target.observe_all(&late.selection));
    search.cancel(running[0].id);
    assert_eq!(search.obsolete(), ids(&running[1..]));
    let begun = search.trials();
    let Step::Run(trial) = search.step() else { panic!("what each test does alone is wanted") };
    assert_eq!((trial.question, trial.tests.as_slice(), search.trials()), (Question::All, &[0, 1][..], begun + 1));
    assert_eq!(search.trial(trial.id), &trial);
}

#[test]
fn before_a_split_there_is_one_test() {
    let target = taking_turns(1, 100, 1, 1);
    let search = honest(&target, Options::default());
    assert_eq!((search.tests(), search.undecided()), (1, 0));
    assert_eq!((search.verdict_of(0).cloned(), search.found_by(0)), (search.verdict(), search.found()));
    let shared = search.culprits();
    assert_eq!((shared.len(), shared[0].tests.as_slice(), shared[0].culprit), (1, &[0][..], &search.found()[0]));
}
