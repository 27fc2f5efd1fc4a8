//! Random searches: targets of all kinds and habits, options, orders of answers, and calls between them.

use std::{collections::BTreeSet, env, num::NonZeroUsize};

use bisect_core::search::{
    Mode, Noise, Observation, Options, Order, Outcome, Question, Rank, Reason, Search, Selection, Step, Trial,
};

/// Number of searches, unless `LOCKSTEP_SEARCHES` says otherwise.
const SEARCHES: u64 = 400;

/// Number of steps after which a search is no longer of interest.
const MAX_STEPS: usize = 600;

/// Random numbers, by the algorithm `SplitMix64`.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below this one.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).expect("it is below a `usize`")
    }

    /// Returns true once in this number of calls.
    fn once_in(&mut self, calls: usize) -> bool {
        self.below(calls) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn set(&mut self, size: usize, below: usize) -> BTreeSet<usize> {
        (0..size).map(|_| self.below(below)).collect()
    }
}

/// One of several tests.
struct Test {
    fails: Vec<BTreeSet<usize>>,
    /// The changes that the test does not reach.
    unreached: BTreeSet<usize>,
    /// The percentages of runs that fail with a culprit, and without one.
    rates: (usize, usize),
}

/// The ways in which a target may misbehave.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Habit {
    /// The target is only its changes.
    None,
    /// Each outcome depends on the run before.
    CarriesOver,
    /// Every nth run fails.
    Cycle(usize),
    /// The target fails always, from this run on.
    Breaks(usize),
    /// The target reports changes that it was not asked for, now and then.
    Slips,
    /// The target reports all changes, whatever the pattern.
    IgnoresPattern,
    /// The target reports new changes in every run.
    Invents,
    /// Runs are unresolved now and then.
    Stumbles,
}

struct Target {
    ranks: Vec<Rank>,
    order: Order,
    tests: Vec<Test>,
    /// Pairs of which the first change appears only where the second is switched.
    appears_with: Vec<(usize, usize)>,
    /// Pairs of which the first change does not appear where the second is switched.
    hidden_by: Vec<(usize, usize)>,
    /// Pairs that make a run unresolved if the first change is switched and the second is not.
    unresolved: Vec<(usize, usize)>,
    disable: bool,
    habit: Habit,
    runs: usize,
    before: Selection,
}

impl Target {
    fn new(random: &mut Random) -> Self {
        let order = random.pick(&[Order::ByHash, Order::ByHash, Order::Given, Order::Counter]);
        let count = match random.below(10) {
            0 => 1 + random.below(3),
            1..6 => 2 + random.below(20),
            6..9 => 20 + random.below(60),
            _ => 100 + random.below(200),
        };
        let mut ranks: Vec<_> = match order {
            Order::ByHash => (0..count).map(|_| Rank(random.next())).collect(),
            Order::Given | Order::Counter => (0..count).map(Rank::at).collect(),
        };
        ranks.sort_unstable();
        ranks.dedup();
        let count = ranks.len();
        let tests = random.pick(&[1, 1, 2, 3, 6]);
        let is_dense = random.once_in(8);
        let is_flaky = random.once_in(3);
        let of_test = |_| {
            let sets = if is_dense { count / 3 } else { random.below(3) } + 1;
            let fails: Vec<_> = match (is_dense, random.once_in(2)) {
                (true, true) => vec![random.set(sets, count)],
                (true, false) => (0..sets).map(|_| random.set(1, count)).collect(),
                _ => (0..sets)
                    .map(|_| {
                        let size = random.pick(&[1, 1, 2, 3]);
                        random.set(size, count)
                    })
                    .collect(),
            };
            let unreached = if random.once_in(3) { random.set(count / 2, count) } else { BTreeSet::new() };
            let rates = if is_flaky && random.once_in(2) {
                random.pick(&[(90, 10), (50, 0), (70, 30), (20, 0), (100, 60), (50, 50), (95, 0)])
            } else {
                (100, 0)
            };
            Test { fails, unreached, rates }
        };
        let tests = (0..tests).map(of_test).collect();
        let mut pairs = |once_in: usize| {
            let pairs = if random.once_in(once_in) { 1 + random.below(4) } else { 0 };
            (0..pairs).map(|_| (random.below(count), random.below(count))).collect::<Vec<_>>()
        };
        let (appears_with, hidden_by, unresolved) = (pairs(4), pairs(6), pairs(4));
        let disable = random.once_in(3);
        let habit = match random.below(24) {
            0 | 1 => Habit::CarriesOver,
            2 => Habit::Cycle(2 + random.below(3)),
            3 => Habit::Breaks(random.below(20)),
            4 => Habit::Slips,
            5 => Habit::IgnoresPattern,
            6 => Habit::Invents,
            7 | 8 => Habit::Stumbles,
            _ => Habit::None,
        };
        let before = Selection { inverted: true, ..Selection::all() };
        Self { ranks, order, tests, appears_with, hidden_by, unresolved, disable, habit, runs: 0, before }
    }

    /// Returns the outcomes of tests, and the changes that each reports.
    fn observe(&mut self, tests: &[usize], selection: &Selection, random: &mut Random) -> Vec<Observation> {
        self.runs += 1;
        let observations = tests.iter().map(|&test| self.observe_test(test, selection, random)).collect();
        self.before = selection.clone();
        observations
    }

    /// Returns the result of all tests together.
    fn observe_all(&mut self, selection: &Selection, random: &mut Random) -> Observation {
        let all: Vec<_> = (0..self.tests.len()).collect();
        let seen = self.observe(&all, selection, random);
        let outcome = seen.iter().find(|seen| seen.outcome == Outcome::Fail).unwrap_or(&seen[0]).outcome;
        Observation { outcome, reported: seen.into_iter().flat_map(|seen| seen.reported).collect() }
    }

    fn observe_test(&self, test: usize, selection: &Selection, random: &mut Random) -> Observation {
        let count = self.ranks.len();
        let Test { fails, unreached, rates } = &self.tests[test];
        let switched = |i: usize| {
            let is_on = match self.order {
                Order::Counter => i < selection.counter_limit(count),
                Order::ByHash | Order::Given => selection.enables(self.ranks[i]),
            };
            is_on != self.disable
        };
        let is_there = |i: usize| {
            !unreached.contains(&i)
                && self.appears_with.iter().all(|&(late, first)| late != i || switched(first))
                && self.hidden_by.iter().all(|&(hidden, by)| hidden != i || !switched(by))
        };
        let on = |i: usize| switched(i) && is_there(i);
        let (all, none) = ((0..count).all(switched), !(0..count).any(switched));
        let has_culprit = fails.iter().any(|set| set.iter().all(|&i| on(i)));
        let mut fails = random.below(100) < if has_culprit { rates.0 } else { rates.1 };
        match self.habit {
            Habit::CarriesOver => fails ^= self.before.enables(self.ranks[0]) && self.runs > 2,
            Habit::Cycle(length) => fails = self.runs.is_multiple_of(length),
            Habit::Breaks(from) => fails |= self.runs > from,
            _ => {}
        }
        let stumbles = self.habit == Habit::Stumbles && random.once_in(6);
        let is_unresolved = self.unresolved.iter().any(|&(with, without)| on(with) && !on(without));
        let outcome = if !all && !none && is_unresolved || stumbles {
            Outcome::Unresolved(random.pick(&[Reason::Build, Reason::Timeout, Reason::Skip]))
        } else if fails {
            Outcome::Fail
        } else {
            Outcome::Pass
        };
        let ignores = self.habit == Habit::IgnoresPattern && !selection.inverted
            || self.habit == Habit::Slips && random.once_in(20);
        let there = (0..count).filter(|&i| is_there(i)).map(|i| self.ranks[i]);
        let mut reported: Vec<_> = there.filter(|&change| ignores || selection.contains(change)).collect();
        if self.habit == Habit::Invents {
            let invented = (0..4).map(|_| Rank(random.next())).filter(|&change| selection.contains(change));
            reported.extend(invented.collect::<Vec<_>>());
        }
        Observation { outcome, reported }
    }
}

fn options(target: &Target, random: &mut Random) -> Options {
    let mut limit = |once_in, below: usize| {
        if random.once_in(once_in) { NonZeroUsize::new(1 + random.below(below)) } else { None }
    };
    let (max_sets, max_set_size, max_runs) = (limit(6, 3), limit(6, 3), limit(6, 60));
    let noise = random.pick(&[
        Noise::Refused,
        Noise::Suspected(0.99),
        Noise::Suspected(0.99),
        Noise::Suspected(0.9),
        Noise::Expected(0.99),
        Noise::Expected(0.9),
    ]);
    let is_expected = matches!(noise, Noise::Expected(_));
    Options {
        order: target.order,
        direction: if random.once_in(10) { Some(random.pick(&[Mode::Enable, Mode::Disable])) } else { None },
        in_flight: NonZeroUsize::new(random.pick(&[1, 1, 2, 4, 16])).unwrap(),
        favours: random.once_in(6),
        // A noisy search makes one run per trial.
        runs_per_trial: NonZeroUsize::new(if !is_expected && random.once_in(8) { 2 } else { 1 }).unwrap(),
        noise,
        seed: random.next(),
        max_sets,
        max_set_size,
        max_runs: max_runs.map(NonZeroUsize::get),
    }
}

/// Makes a random call that may come at any time.
fn interfere(search: &mut Search, target: &mut Target, running: &mut Vec<Trial>, random: &mut Random) {
    match random.below(12) {
        0 if !running.is_empty() => {
            let trial = running.remove(random.below(running.len()));
            search.cancel(trial.id);
        }
        1 => search.set_in_flight(NonZeroUsize::new(random.pick(&[1, 2, 4, 16])).unwrap()),
        2 => {
            let groups = (0..=random.below(3)).map(|_| random.set(4, target.ranks.len()));
            let groups: Vec<Vec<_>> =
                groups.map(|group| group.into_iter().map(|i| target.ranks[i]).collect()).collect();
            search.favour(groups);
        }
        3 => search.count_run(),
        4 => search.set_costs(random.pick(&[1.0, 2.0, 3.5]), 1.0),
        5 if search.can_split() => search.recheck_failing_end(),
        6 if random.once_in(6) => search.switch_to_noisy(random.below(search.progress().tests())),
        7 if !running.is_empty() => {
            let trial = running[random.below(running.len())].clone();
            let seen = target.observe(&[0], &trial.selection, random).remove(0);
            search.record_extra_execution(trial.id, &seen);
        }
        8 if search.can_split() => search.split(NonZeroUsize::new(target.tests.len()).unwrap()),
        _ => {}
    }
}

/// Makes one random search by both engines, which compare each step.
fn search(seed: u64) {
    let mut random = Random(seed);
    let mut target = Target::new(&mut random);
    let options = options(&target, &mut random);
    let interference = random.pick(&[usize::MAX, usize::MAX, 20, 5]);
    let mut search = Search::new(options);
    let mut running: Vec<Trial> = Vec::new();
    for _ in 0..MAX_STEPS {
        for id in search.obsolete() {
            if random.once_in(8) {
                continue;
            }
            let before = running.len();
            running.retain(|trial| trial.id != id);
            (running.len()..before).for_each(|_| search.cancel(id));
        }
        if random.once_in(interference) {
            interfere(&mut search, &mut target, &mut running, &mut random);
        }
        let record = match search.step() {
            Step::Run(trial) => {
                running.push(trial);
                random.once_in(8)
            }
            Step::Wait => true,
            Step::Done(_) => break,
        };
        if record && !running.is_empty() {
            let over = running.remove(random.below(running.len()));
            observe(&mut search, &mut target, &over, &mut random);
            if search.can_split() && target.tests.len() > 1 && !random.once_in(4) {
                search.split(NonZeroUsize::new(target.tests.len()).unwrap());
            }
        }
    }
    // Late results.
    for over in running {
        observe(&mut search, &mut target, &over, &mut random);
    }
    let _ = search.step();
}

fn observe(search: &mut Search, target: &mut Target, over: &Trial, random: &mut Random) {
    let is_end = matches!(over.question, Question::AllOn | Question::AllOff);
    let seen = if over.tests == [0] && (search.progress().tests() == 1 || is_end) {
        vec![target.observe_all(&over.selection, random)]
    } else {
        target.observe(&over.tests, &over.selection, random)
    };
    search.record(over.id, seen);
}

fn searches() -> u64 {
    env::var("LOCKSTEP_SEARCHES").map_or(SEARCHES, |searches| searches.parse().expect("a number of searches"))
}

/// Makes every fourth search, from this one on.
fn every_fourth(from: u64) {
    for seed in (from..searches()).step_by(4) {
        if let Err(panic) = std::panic::catch_unwind(|| search(seed)) {
            eprintln!("search {seed}");
            std::panic::resume_unwind(panic);
        }
    }
}

#[test]
fn random_searches_0() {
    every_fourth(0);
}

#[test]
fn random_searches_1() {
    every_fourth(1);
}

#[test]
fn random_searches_2() {
    every_fourth(2);
}

#[test]
fn random_searches_3() {
    every_fourth(3);
}
