//! Several tests in one search: each gets what a search of it alone finds, and all together take few runs.

use std::{collections::BTreeSet, num::NonZeroUsize};

use bisect_core::{
    ChangeId, Field,
    search::{
        Culprit, Inconsistency, Observation, Options, Outcome, Question, Reason, Search, Selection, Step, Trial,
        Unusable, Verdict,
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
}

impl Target {
    fn new(seed: u64, changes: u64, tests: Vec<Test>) -> Self {
        let ids = (0..changes).map(|i| ChangeId::of(&[Field::U64(seed), Field::U64(i)])).collect();
        Self { ids, tests, disable: false }
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
            let ended = running.iter().position(|trial| trial.id == id).expect("it was in flight");
            running.remove(ended);
            search.cancel(id);
        }
        assert!(running.len() <= in_flight, "no more in flight than allowed");
        assert!(search.runs() < 5000, "it goes on and on");
        match search.step() {
            Step::Run(trial) => {
                assert!(trial.selection.gaps.len() <= 64);
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
                if calibrates {
                    search.record(over.id, target.observe_all(&over.selection));
                } else {
                    let observations = over.tests.iter().map(|&test| observe(target, test, &over));
                    search.record_each(over.id, observations.collect());
                }
                if search.can_split() && target.tests.len() > 1 {
                    search.split(NonZeroUsize::new(target.tests.len()).unwrap());
                }
            }
        }
    }
}

fn honest(target: &Target, options: Options) -> Search {
    search(target, options, &[0], &mut |target, test, trial| target.observe(test, &trial.selection))
}

fn in_flight(count: usize) -> Options {
    Options { in_flight: NonZeroUsize::new(count).unwrap(), ..Options::default() }
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
    fn target()(ids in btree_set(any::<u64>(), 2..60))
               (tests in vec(test(ids.len()), 1..12), shared in vec(any::<prop::sample::Index>(), 0..12),
                disable in any::<bool>(), ids in Just(ids)) -> Target {
        // Some share what breaks others.
        let mut tests = tests;
        for (i, shared) in shared.iter().enumerate().take(tests.len()) {
            let other = tests[shared.index(tests.len())].clone();
            tests[i].reaches = None;
            tests[i].fails = other.fails;
        }
        Target { ids: ids.into_iter().map(ChangeId).collect(), tests, disable }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn each_test_gets_what_a_search_of_it_alone_finds(mut target in target(), choices in vec(any::<usize>(), 8)) {
        // A test that cannot fail makes no search of its own.
        let fails = |test: usize| honest(&target.alone(test), Options::default()).can_split();
        let tests = (0..target.tests.len()).filter(|&test| fails(test)).map(|test| target.tests[test].clone()).collect();
        target.tests = tests;
        prop_assume!(target.tests.len() > 1);
        let alone: Vec<_> = (0..target.tests.len()).map(|test| honest(&target.alone(test), Options::default())).collect();
        for count in [1, 2, 4, 16] {
            let together = search(&target, in_flight(count), &choices, &mut |target, test, trial| {
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

/// 40 tests and 3 culprits; what each search takes.
fn runs(seed: u64, changes: u64, tests: usize, culprits: usize, reach: Option<usize>) -> (usize, usize, usize) {
    let mut random = seed;
    let mut next = move |below: usize| {
        random = ChangeId::of(&[Field::U64(random)]).0;
        usize::try_from(random % below as u64).unwrap()
    };
    let test = |i: usize| {
        let culprit = i % culprits;
        let reaches = reach.map(|count| (1..count).map(|_| next(changes as usize)).chain([culprit]).collect());
        Test { fails: vec![[culprit].into()], reaches, ..Test::default() }
    };
    let target = Target::new(seed, changes, (0..tests).map(test).collect());
    let together = honest(&target, Options::default());
    assert_eq!(together.verdict(), Some(Verdict::Complete));
    assert_eq!(together.culprits().len(), culprits);
    let single = |test| honest(&target.alone(test), Options::default()).runs();
    let singles: Vec<_> = (0..tests).map(single).collect();
    (together.runs(), *singles.iter().max().unwrap(), singles.iter().sum())
}

#[test]
fn forty_tests_with_three_culprits() {
    for (changes, tests, culprits, reach) in
        [(1000, 40, 3, None), (1000, 40, 3, Some(25)), (1000, 200, 10, None), (1000, 200, 10, Some(25))]
    {
        let all: Vec<_> = (0..10).map(|seed| runs(seed, changes, tests, culprits, reach)).collect();
        println!("{all:?}");
        println!("{}", all.iter().map(|x| x.0).sum::<usize>() as f64 / 10.);
    }
}
