//! Many failing tests at once: the runs of one search for all compared with a search for each, on simulated targets.
//!
//! Time is not measured, so the figures are the same on every machine. Ends with status 1 if, for any seed, the runs
//! exceed the row's bound, in percent of the runs that the hardest test takes in a search of its own. `SEEDS=n` sets the
//! number of seeds (20), `SEED=n` the first one (0).

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroUsize,
    process::ExitCode,
};

use bisect_core::{
    ChangeId, Field, Matcher, Pattern,
    search::{Observation, Options, Order, Outcome, Rank, Search, Trial, Verdict},
};
use bisect_tests::{
    rounds::search_in_rounds,
    seeds::{number_of_seeds, seeds},
};

const ROWS: [Row; 13] = [
    Row { name: "40 tests, 3 culprits", ..ROW },
    Row { name: "of 10,000 changes", changes: 10_000, ..ROW },
    Row { name: "each reaches 25 of them", reach: Reach::Drawn(25), bound: 200, ..ROW },
    Row { name: "200 tests, 10 culprits", tests: 200, culprits: 10, bound: 250, ..ROW },
    Row { name: "one is a pair", pairs: 1, bound: 200, ..ROW },
    Row { name: "all are pairs", pairs: 3, bound: 250, ..ROW },
    Row { name: "one test has two", with_two: 1, ..ROW },
    Row { name: "half of them have two", with_two: 20, bound: 200, ..ROW },
    OWN,
    Row { name: "200 such tests", tests: 200, culprits: 200, ..OWN },
    Row { name: "one of 40 is a pair", pairs: 1, bound: 200, ..OWN },
    Row { name: "five are pairs", pairs: 5, bound: 400, ..OWN },
    Row { name: "half of them have two", with_two: 20, bound: 800, ..OWN },
];

/// 40 tests with 3 culprits, each of one change, among 1,000 that all tests reach.
const ROW: Row =
    Row { name: "", tests: 40, changes: 1000, culprits: 3, pairs: 0, with_two: 0, reach: Reach::All, bound: 150 };

/// 40 tests that each have 1,000 changes and a culprit of their own, as if the test were part of every call stack.
const OWN: Row = Row { name: "40 tests, 1,000 own each", culprits: 40, reach: Reach::Own, ..ROW };

fn main() -> ExitCode {
    let number = number_of_seeds(20, 2);
    println!(
        "Decides that one search serves all failing tests: runs, mean over {number} seeds, and their bound in percent"
    );
    println!(
        "of the hardest test's. The last three columns: rounds of that search, with this number of runs at once.\n"
    );
    println!(
        "{:<24}{:>10}{:>10}{:>10}{:>9}{:>8}{:>8}{:>8}{:>8}",
        "", "separate", "hardest", "together", "at most", "bound", "1", "4", "16"
    );
    let mut within = true;
    for row in ROWS {
        within &= row.measure(number);
    }
    if within {
        ExitCode::SUCCESS
    } else {
        eprintln!("a search of all tests takes more runs than its bound allows");
        ExitCode::FAILURE
    }
}

#[derive(Clone, Copy)]
struct Row {
    name: &'static str,
    tests: usize,
    changes: usize,
    culprits: usize,
    /// The number of culprits that are two changes.
    pairs: usize,
    /// The number of tests that have two culprits.
    with_two: usize,
    reach: Reach,
    /// The limit on runs, in percent of those of the hardest test.
    bound: usize,
}

/// The changes that a test reaches.
#[derive(Clone, Copy)]
enum Reach {
    All,
    /// This number of random changes, and the test's culprits.
    Drawn(usize),
    /// Changes that no other test reaches.
    Own,
}

/// The numbers of runs with one seed.
struct Taken {
    separate: usize,
    hardest: usize,
    together: usize,
    rounds: [usize; 3],
}

impl Row {
    fn measure(self, number: u32) -> bool {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let taken: Vec<Taken> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|worker| {
                    let seeds = seeds(number).skip(worker).step_by(threads);
                    scope.spawn(move || seeds.map(|seed| self.search(seed.into())).collect::<Vec<_>>())
                })
                .collect();
            workers.into_iter().flat_map(|worker| worker.join().expect("no search panics")).collect()
        });
        let mean = |figure: &dyn Fn(&Taken) -> usize| {
            let sum: usize = taken.iter().map(figure).sum();
            f64::from(u32::try_from(sum).expect("few runs")) / f64::from(u32::try_from(taken.len()).expect("few seeds"))
        };
        let most = taken.iter().map(|taken| taken.together).max().unwrap_or(0);
        let [one, four, sixteen] = [0, 1, 2].map(|i| mean(&|taken| taken.rounds[i]));
        println!(
            "{:<24}{:>10.1}{:>10.1}{:>10.1}{most:>9}{:>7}%{one:>8.1}{four:>8.1}{sixteen:>8.1}",
            self.name,
            mean(&|taken| taken.separate),
            mean(&|taken| taken.hardest),
            mean(&|taken| taken.together),
            self.bound,
        );
        taken.iter().all(|taken| taken.together * 100 <= taken.hardest * self.bound)
    }

    fn search(self, seed: u64) -> Taken {
        let target = self.target(seed);
        // Searches for equal tests are equal, so one is enough.
        let mut known = BTreeMap::new();
        let alone: Vec<usize> = target
            .tests
            .iter()
            .map(|test| {
                *known.entry(test).or_insert_with(|| target.alone(test).search(NonZeroUsize::MIN).0.progress().runs())
            })
            .collect();
        let [one, four, sixteen] = [1, 4, 16].map(|n| target.search(NonZeroUsize::new(n).expect("it is not 0")));
        Taken {
            separate: alone.iter().sum(),
            hardest: alone.into_iter().max().unwrap_or(0),
            together: one.0.progress().runs(),
            rounds: [one.1, four.1, sixteen.1],
        }
    }

    fn target(self, seed: u64) -> Target {
        // Culprit `i` is the change `i`, or a pair with the change `culprits + i`.
        let culprit =
            |i: usize| -> BTreeSet<usize> { if i < self.pairs { [i, self.culprits + i].into() } else { [i].into() } };
        let changes = if let Reach::Own = self.reach { self.changes * self.tests } else { self.changes };
        let test = |i: usize| {
            let has_two = i < self.with_two;
            let (mut fails, second) = match self.reach {
                Reach::Own => (vec![culprit(i)], [2 * self.tests + i].into()),
                _ => (vec![culprit(i % self.culprits)], culprit((i + 1 + i / self.culprits % 2) % self.culprits)),
            };
            fails.extend(has_two.then_some(second));
            let draw = |n: u64| hash(&[seed, i as u64, n]).0 % changes as u64;
            let reach = match self.reach {
                Reach::All => None,
                Reach::Drawn(count) => {
                    let drawn = (1..count as u64).map(|n| usize::try_from(draw(n)).expect("it is a change"));
                    Some(drawn.chain(fails.iter().flatten().copied()).collect())
                }
                Reach::Own => Some((i..changes).step_by(self.tests).collect()),
            };
            Test { fails, reach }
        };
        Target {
            ids: (0..changes as u64).map(|i| hash(&[seed, i])).collect(),
            tests: (0..self.tests).map(test).collect(),
        }
    }
}

fn hash(numbers: &[u64]) -> ChangeId {
    ChangeId::of(&numbers.iter().map(|&n| Field::U64(n)).collect::<Vec<_>>())
}

struct Target {
    ids: Vec<ChangeId>,
    tests: Vec<Test>,
}

/// A test, which fails with all changes of one of its sets.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Test {
    fails: Vec<BTreeSet<usize>>,
    /// The changes that the test reaches; `None` means all.
    reach: Option<BTreeSet<usize>>,
}

impl Target {
    fn alone(&self, test: &Test) -> Self {
        Self { ids: self.ids.clone(), tests: vec![test.clone()] }
    }

    /// Searches all tests. Returns the search, and the rounds that it takes if all runs take the same time.
    fn search(&self, in_flight: NonZeroUsize) -> (Search, usize) {
        let mut search = Search::new(Options { in_flight, ..Options::default() });
        let (verdict, rounds) = search_in_rounds(&mut search, |search, trial| self.run(search, &trial));
        self.check(&search, &verdict);
        (search, rounds)
    }

    /// Runs each of the trial's tests, or all together before the search is split into several.
    fn run(&self, search: &mut Search, trial: &Trial) {
        let pattern: Pattern = trial.pattern().to_string().parse().expect("it is written as it is read");
        let matcher = Matcher::new(&pattern).expect("a search sends no empty pattern");
        if search.progress().tests() > 1 {
            let observations = trial.tests.iter().map(|&test| self.observe(&self.tests[test], &matcher));
            search.record(trial.id, observations);
            return;
        }
        let each = self.tests.iter().map(|test| self.observe(test, &matcher));
        let all = each.reduce(|mut all, test| {
            all.reported.extend(test.reported);
            Observation { outcome: if test.outcome == Outcome::Fail { Outcome::Fail } else { all.outcome }, ..all }
        });
        search.record(trial.id, [all.expect("there are tests")]);
        if self.tests.len() > 1 && search.can_split() {
            search.split(NonZeroUsize::new(self.tests.len()).expect("there are tests"));
        }
    }

    fn observe(&self, Test { fails, reach }: &Test, matcher: &Matcher) -> Observation {
        let on = |&i: &usize| matcher.should_enable(self.ids[i]);
        let reported = |i: &usize| matcher.should_report(self.ids[*i]);
        let ids = |positions: &mut dyn Iterator<Item = usize>| {
            positions.filter(reported).map(|i| Rank::of(self.ids[i])).collect::<Vec<_>>()
        };
        Observation {
            outcome: if fails.iter().any(|set| set.iter().all(on)) { Outcome::Fail } else { Outcome::Pass },
            reported: match reach {
                Some(reach) => ids(&mut reach.iter().copied()),
                None => ids(&mut (0..self.ids.len())),
            },
        }
    }

    /// Checks that every test has its sets, and no others.
    fn check(&self, search: &Search, verdict: &Verdict) {
        assert_eq!(*verdict, Verdict::Complete);
        for (number, test) in self.tests.iter().enumerate() {
            let set = |set: &BTreeSet<usize>| set.iter().map(|&i| self.ids[i]).collect::<BTreeSet<_>>();
            let expected: BTreeSet<_> = test.fails.iter().map(set).collect();
            let found = search.test(number).found().iter().map(|culprit| culprit.ids(Order::ByHash).collect());
            assert_eq!(found.collect::<BTreeSet<BTreeSet<_>>>(), expected);
        }
    }
}
