//! Targets that tempt a search to name something innocent: flaky culprits beside reliable ones, runs that depend on the
//! run before, bursts, drift, targets that an observer changes. The bench `trust` counts the searches that do so.

use std::collections::BTreeSet;

use bisect_core::search::{Observation, Options, Outcome, Rank, Search, Step, Trial, Verdict};

use crate::flaky::{Random, changes};

/// An influence on the outcome of a run, beside its own selection.
#[derive(Clone, Debug, PartialEq)]
pub enum Manner {
    /// No influence: a run without a culprit fails at this rate.
    Independent(f64),
    /// The number of the run: these outcomes, repeated.
    Cycle(Vec<bool>),
    /// A random cycle of at most this length.
    RandomCycle(usize),
    /// The outcome of the previous run: the rates at which a run fails after a failure, and after a pass.
    PreviousOutcome(f64, f64),
    /// A run fails if the previous run had at least half of the changes on.
    PreviousHalf,
    /// A run fails if the previous run had change 0 on.
    PreviousChange,
    /// A run with change 0 on fails and removes a file if the file exists, and otherwise creates it.
    Leftover,
    /// A run with change 0 on fails, and so do this many runs after it.
    SlowRecovery(usize),
    /// Failures come in bursts: the share of runs that fail, and the mean length of a burst.
    Bursts(f64, f64),
    /// The rate of failures goes from the first to the second over this many runs.
    Drift(f64, f64, f64),
    /// Changes 0 and 1 cost time, and so does text for people; two of these together are too much.
    Deadline,
    /// The clock: the time of a run, its varying share, and the time after which runs begin to fail, or to
    /// pass again.
    Clock(f64, f64, f64),
    /// The process ID, which each run raises by one or a few, and sometimes another program: a run fails if the digit at
    /// this position of the ID in this base is 1. The base, and the position.
    ProcessId(usize, u32),
    /// Any two of the changes 0, 1 and 2: the rate at which they make a run fail.
    TwoOfThree(f64),
}

/// A target of one row.
#[derive(Clone, Debug)]
pub struct Row {
    /// The name in the table.
    pub name: &'static str,
    /// The influence on outcomes beside culprits.
    pub manner: Manner,
    /// The culprits: the number of changes of each, and the rate at which it makes a run fail.
    pub culprits: Vec<(usize, f64)>,
}

/// A target with a memory.
#[derive(Debug)]
struct World<'a> {
    row: &'a Row,
    ids: &'a [Rank],
    culprits: Vec<(BTreeSet<usize>, f64)>,
    cycle: Vec<bool>,
    random: Random,
    runs: usize,
    /// Facts about the previous run: it failed, it had at least half of the changes on, it had change 0 on.
    previous: [bool; 3],
    /// The file of an earlier run exists, or a burst is in progress.
    state: bool,
    /// The number of runs that a failure still spoils.
    spoiled: usize,
    /// The time, in the unit of the clock.
    time: f64,
    /// The process ID of the last run, and the number of processes that each run starts.
    process: usize,
    processes: usize,
}

/// The end of one search.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The sets that were named, by the numbers of their changes; those of culprits come first.
    pub named: Vec<BTreeSet<usize>>,
    /// A set was named that is no culprit, or has more changes than the culprit.
    pub names_innocent: bool,
    /// All culprits were named, and nothing else.
    pub is_right: bool,
    /// The verdict.
    pub verdict: Verdict,
    /// The number of runs of the search.
    pub runs: usize,
}

/// Numbers of changes, one of which each seed takes.
const SIZES: [usize; 12] = [2, 3, 5, 8, 13, 20, 40, 64, 90, 200, 500, 1000];

/// The rate at which another program starts between two runs.
const OTHER_PROGRAM: f64 = 0.1;

/// The limit on runs of a search.
const MAX_RUNS: usize = 3_000;

impl Row {
    /// Searches the target that this seed makes.
    #[must_use]
    pub fn search(&self, seed: u64, mut options: Options) -> Ended {
        let mut random = Random::new(seed ^ 0x7275_7374);
        let needed: usize = self.culprits.iter().map(|&(size, _)| size).sum();
        let size = SIZES[random.below(SIZES.len())]
            .max(2 * needed + 2)
            .max(if matches!(self.manner, Manner::TwoOfThree(_)) { 3 } else { 2 });
        let ids = changes(seed, size);
        // The order of hashes must be independent of the numbers of changes.
        let mut places: Vec<usize> = (0..size).collect();
        (1..size).for_each(|i| places.swap(i, random.below(i + 1)));
        let ids: Vec<Rank> = places.into_iter().map(|place| ids[place]).collect();
        let mut world = World::new(self, &ids, random);
        options.max_runs = Some(MAX_RUNS);
        options.seed = seed;
        let mut chance = Random::new(seed);
        let mut search = Search::new(options);
        let mut in_flight = Vec::new();
        let verdict = loop {
            match search.step() {
                Step::Run(trial) => {
                    let observation = world.run(&trial);
                    in_flight.push((trial.id, observation));
                }
                Step::Wait => {
                    let (id, observation) = in_flight.swap_remove(chance.below(in_flight.len()));
                    search.record(id, [observation]);
                }
                Step::Done(verdict) => break verdict,
            }
        };
        let index = |id: &Rank| ids.iter().position(|other| other == id).expect("only reported changes are named");
        let named: Vec<BTreeSet<usize>> =
            search.test(0).found().iter().map(|culprit| culprit.changes.iter().map(index).collect()).collect();
        let truth: Vec<&BTreeSet<usize>> = world.culprits.iter().map(|(set, _)| set).collect();
        let names_innocent = named.iter().any(|set| !truth.contains(&set));
        let is_right = !names_innocent && named.len() == truth.len();
        Ended { named, names_innocent, is_right, verdict, runs: search.progress().runs() }
    }
}

impl<'a> World<'a> {
    fn new(row: &'a Row, ids: &'a [Rank], mut random: Random) -> Self {
        let mut next = 0;
        let mut culprits: Vec<_> = row
            .culprits
            .iter()
            .map(|&(size, rate)| {
                next += size;
                ((next - size..next).collect(), rate)
            })
            .collect();
        match row.manner {
            Manner::PreviousChange | Manner::Leftover | Manner::SlowRecovery(_) => {
                culprits.push((BTreeSet::from([0]), 0.0));
            }
            Manner::Deadline => culprits.push((BTreeSet::from([0, 1]), 0.0)),
            Manner::TwoOfThree(_) => {
                culprits.extend([[0, 1], [0, 2], [1, 2]].map(|pair| (BTreeSet::from(pair), 0.0)));
            }
            _ => {}
        }
        let cycle = match &row.manner {
            Manner::Cycle(cycle) => cycle.clone(),
            Manner::RandomCycle(most) => {
                let length = 1 + random.below(*most);
                (0..length).map(|_| random.unit() < 0.5).collect()
            }
            _ => Vec::new(),
        };
        let state = match row.manner {
            Manner::Bursts(share, _) => random.unit() < share,
            _ => true,
        };
        let (time, process, processes) = match row.manner {
            Manner::Clock(_, _, period) => (2.0 * period * random.unit(), 0, 0),
            Manner::ProcessId(..) => (0.0, random.below(4096), 1 + random.below(3)),
            _ => (0.0, 0, 0),
        };
        let previous = [false; 3];
        Self { row, ids, culprits, cycle, random, runs: 0, previous, state, spoiled: 0, time, process, processes }
    }

    fn run(&mut self, trial: &Trial) -> Observation {
        let selection = &trial.selection;
        let on = |index: usize| selection.enables(self.ids[index]);
        let count = (0..self.ids.len()).filter(|&index| on(index)).count();
        let first = on(0);
        let broken: Vec<f64> =
            self.culprits.iter().filter(|(set, _)| set.iter().all(|&index| on(index))).map(|&(_, rate)| rate).collect();
        let slow = usize::from(on(0))
            + usize::from(self.ids.len() > 1 && on(1))
            + usize::from(trial.pattern().to_string().starts_with('v'));
        let by_culprit = broken.into_iter().any(|rate| self.random.unit() < rate);
        let of_three = (0..3.min(self.ids.len())).filter(|&index| on(index)).count();
        let failed = self.by_manner(first, slow, of_three) || by_culprit;
        self.runs += 1;
        self.previous = [failed, 2 * count >= self.ids.len(), first];
        let reported = self.ids.iter().copied().filter(|&id| selection.contains(id)).collect();
        Observation { outcome: if failed { Outcome::Fail } else { Outcome::Pass }, reported }
    }

    fn by_manner(&mut self, first: bool, slow: usize, of_three: usize) -> bool {
        let [failed, half, change] = self.previous;
        match self.row.manner {
            Manner::Independent(rate) => self.random.unit() < rate,
            Manner::Cycle(_) | Manner::RandomCycle(_) => self.cycle[self.runs % self.cycle.len()],
            Manner::PreviousOutcome(after_fail, after_pass) => {
                self.random.unit() < if failed { after_fail } else { after_pass }
            }
            Manner::PreviousHalf => half,
            Manner::PreviousChange => change,
            Manner::Leftover => {
                let fails = first && self.state;
                self.state ^= first;
                fails
            }
            Manner::SlowRecovery(length) => {
                let fails = first || self.spoiled > 0;
                self.spoiled = if first { length } else { self.spoiled.saturating_sub(1) };
                fails
            }
            Manner::Bursts(share, length) => {
                let leaves = if self.state { 1.0 / length } else { share / (1.0 - share) / length };
                self.state ^= self.random.unit() < leaves;
                self.state
            }
            Manner::Drift(from, to, over) => {
                #[expect(clippy::cast_precision_loss, reason = "few runs")]
                let share = (self.runs as f64 / over).min(1.0);
                self.random.unit() < from + (to - from) * share
            }
            Manner::Deadline => slow >= 2,
            Manner::Clock(run, varies, period) => {
                self.time += run * (1.0 + varies * (2.0 * self.random.unit() - 1.0));
                self.time / period % 2.0 >= 1.0
            }
            Manner::ProcessId(base, position) => {
                let is_other = self.random.unit() < OTHER_PROGRAM;
                self.process += self.processes + usize::from(is_other);
                self.process / base.pow(position) % base == 1
            }
            Manner::TwoOfThree(rate) => of_three >= 2 && self.random.unit() < rate,
        }
    }
}

/// Returns the rows of the bench.
#[must_use]
pub fn rows() -> Vec<Row> {
    let row = |name, manner, culprits: &[(usize, f64)]| Row { name, manner, culprits: culprits.to_vec() };
    let cycle = |text: &str| Manner::Cycle(text.chars().map(|c| c == 'F').collect());
    let alone = || Manner::Independent(0.0);
    vec![
        row("reliable {1}", alone(), &[(1, 1.0)]),
        row("reliable {1}, {1}", alone(), &[(1, 1.0), (1, 1.0)]),
        row("reliable {2}", alone(), &[(2, 1.0)]),
        row("reliable {1}, {2}, {3}", alone(), &[(1, 1.0), (2, 1.0), (3, 1.0)]),
        row("{1} at 0.5", alone(), &[(1, 0.5)]),
        row("{1} at 0.9, 0.1 without", Manner::Independent(0.1), &[(1, 0.9)]),
        row("{1} at 0.7, 0.3 without", Manner::Independent(0.3), &[(1, 0.7)]),
        row("{1} reliable, 0.3 without", Manner::Independent(0.3), &[(1, 1.0)]),
        row("{1} reliable, {1} at 0.5", alone(), &[(1, 1.0), (1, 0.5)]),
        row("{1}, {1} reliable, {1} at 0.5", alone(), &[(1, 1.0), (1, 1.0), (1, 0.5)]),
        row("{1} reliable, {1} at 0.2", alone(), &[(1, 1.0), (1, 0.2)]),
        row("{1} reliable, {1} at 0.9", alone(), &[(1, 1.0), (1, 0.9)]),
        row("{2} reliable, {1} at 0.5", alone(), &[(2, 1.0), (1, 0.5)]),
        row("{1} reliable, {2} at 0.5", alone(), &[(1, 1.0), (2, 0.5)]),
        row("nothing, 0.05", Manner::Independent(0.05), &[]),
        row("nothing, 0.1", Manner::Independent(0.1), &[]),
        row("nothing, 0.3", Manner::Independent(0.3), &[]),
        row("nothing, 0.5", Manner::Independent(0.5), &[]),
        row("nothing, 0.7", Manner::Independent(0.7), &[]),
        row("nothing, 0.9", Manner::Independent(0.9), &[]),
        row("nothing, 0.95", Manner::Independent(0.95), &[]),
        row("cycle FP", cycle("FP"), &[]),
        row("cycle FPP", cycle("FPP"), &[]),
        row("cycle FPF", cycle("FPF"), &[]),
        row("cycle FPPF", cycle("FPPF"), &[]),
        row("random cycles up to 12", Manner::RandomCycle(12), &[]),
        row("after FAIL 0.2, after pass 0.8", Manner::PreviousOutcome(0.2, 0.8), &[]),
        row("after FAIL 0.8, after pass 0.2", Manner::PreviousOutcome(0.8, 0.2), &[]),
        row("previous run had half on", Manner::PreviousHalf, &[]),
        row("previous run had change 0 on", Manner::PreviousChange, &[]),
        row("change 0 leaves a file, removes it", Manner::Leftover, &[]),
        row("change 0 spoils the next run", Manner::SlowRecovery(1), &[]),
        row("change 0 spoils the next two", Manner::SlowRecovery(2), &[]),
        row("bursts of 5, 20% of runs", Manner::Bursts(0.2, 5.0), &[]),
        row("bursts of 10, 50% of runs", Manner::Bursts(0.5, 10.0), &[]),
        row("bursts of 30, 50% of runs", Manner::Bursts(0.5, 30.0), &[]),
        row("bursts of 5, beside a {1}", Manner::Bursts(0.2, 5.0), &[(1, 1.0)]),
        row("drift 0 to 1 over 60 runs", Manner::Drift(0.0, 1.0, 60.0), &[]),
        row("drift 1 to 0 over 60 runs", Manner::Drift(1.0, 0.0, 60.0), &[]),
        row("a deadline, text costs time", Manner::Deadline, &[]),
        row("clock: 12 ms, runs of 5 ms", Manner::Clock(5.0, 0.1, 12.0), &[]),
        row("clock: 40 ms, runs of 15 ms", Manner::Clock(15.0, 0.3, 40.0), &[]),
        row("clock: 1 s, runs of 40 ms", Manner::Clock(40.0, 0.1, 1000.0), &[]),
        row("process ID, bit 0", Manner::ProcessId(2, 0), &[]),
        row("process ID, bit 1", Manner::ProcessId(2, 1), &[]),
        row("process ID, a third", Manner::ProcessId(3, 0), &[]),
        row("any 2 of 3 at 0.9", Manner::TwoOfThree(0.9), &[]),
        row("{1} at 0.3, {1} at 0.6", alone(), &[(1, 0.3), (1, 0.6)]),
        row("{1} at 0.5, 0.02 without", Manner::Independent(0.02), &[(1, 0.5)]),
    ]
}

#[cfg(test)]
#[path = "trust_tests.rs"]
mod tests;
