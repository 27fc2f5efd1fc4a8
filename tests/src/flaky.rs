//! A target that runs in this process and fails by chance, more often if all changes of a culprit are enabled. Our
//! search and that of [`go_peer`](crate::go_peer) can both search it.

use std::{collections::BTreeSet, sync::Arc};

use bisect_core::{
    ChangeId, Field, Matcher, Pattern,
    search::{Observation, Options, Outcome, Prefix, Rank, Search, Selection, Step, Verdict},
};

use crate::go_peer::{GoPeer, Report, Stuck};

/// The probabilities that a run fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// The probability if a culprit is enabled.
    pub with: f64,
    /// The probability if no culprit is enabled.
    pub without: f64,
}

impl Rates {
    /// Returns the largest number of bits by which one run can distinguish the two failure rates: the capacity of the
    /// binary asymmetric channel.
    #[must_use]
    pub fn capacity(self) -> f64 {
        (0..=10_000).map(|share| self.information(f64::from(share) / 1e4)).fold(0.0, f64::max)
    }

    /// Returns the mutual information, in bits, of a run's outcome and whether the run includes the culprit, if this share
    /// of the runs includes it.
    #[must_use]
    pub fn information(self, share: f64) -> f64 {
        entropy(share * self.with + (1.0 - share) * self.without)
            - share * entropy(self.with)
            - (1.0 - share) * entropy(self.without)
    }

    /// Returns the larger of both Kullback–Leibler divergences, in bits, between the outcomes with and without the
    /// culprit; infinite if an outcome occurs on one side only.
    #[must_use]
    pub fn divergence(self) -> f64 {
        let divergence = |p: f64, q: f64| -> f64 {
            [(p, q), (1.0 - p, 1.0 - q)].iter().filter(|(p, _)| *p > 0.0).map(|(p, q)| p * (p / q).log2()).sum()
        };
        divergence(self.with, self.without).max(divergence(self.without, self.with))
    }
}

/// Returns the entropy, in bits, of an event with this probability.
#[must_use]
pub fn entropy(probability: f64) -> f64 {
    [probability, 1.0 - probability].iter().filter(|&&p| p > 0.0).map(|p| -p * p.log2()).sum()
}

/// `SplitMix64`: the same numbers from the same seed, everywhere.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Returns the generator with this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        f64::from(u32::try_from(self.next() >> 32).expect("32 bits")) / (f64::from(u32::MAX) + 1.0)
    }

    /// Returns a number below `end`; all are equally likely.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from((u128::from(self.next()) * end as u128) >> 64).expect("less than a usize")
    }
}

/// Returns this number of changes, in the order of their hashes.
#[must_use]
pub fn changes(seed: u64, count: usize) -> Arc<[Rank]> {
    let mut ids: Vec<_> =
        (0..count as u64).map(|i| Rank::of(ChangeId::of(&[Field::U64(seed), Field::U64(i)]))).collect();
    ids.sort_unstable();
    ids.into()
}

/// The simulated target. It enables what a pattern enables and reports what the pattern selects.
#[derive(Clone, Debug)]
pub struct FlakyTarget {
    /// The changes, in order.
    ids: Arc<[Rank]>,
    culprits: Vec<BTreeSet<Rank>>,
    rates: Rates,
    random: Random,
    /// The last pattern as text, true if it enables a culprit, and the IDs that it makes the target report.
    last: Option<(String, bool, Vec<u64>)>,
}

/// The answer of our search.
#[derive(Clone, Debug)]
pub struct Found {
    /// The end of the search.
    pub verdict: Verdict,
    /// The culprits.
    pub sets: Vec<BTreeSet<Rank>>,
    /// The number of runs of the search.
    pub runs: usize,
    /// The runs until the first culprit, if one was found.
    pub first: Option<First>,
}

/// Numbers of runs until the first culprit is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct First {
    /// The runs before its confirmation. The last runs confirm it if each is of exactly this culprit or is one that can
    /// be compared with that: of none, of all changes before it, or of all others.
    pub searched: usize,
    /// All runs.
    pub named: usize,
}

impl FlakyTarget {
    /// Returns a target of these changes, which are in order, with culprits of these sizes that `seed` selects.
    #[must_use]
    pub fn new(seed: u64, ids: Arc<[Rank]>, sizes: &[usize], rates: Rates) -> Self {
        let mut random = Random::new(seed);
        let mut chosen = BTreeSet::new();
        let culprits = sizes
            .iter()
            .map(|&size| {
                let mut culprit = BTreeSet::new();
                while culprit.len() < size {
                    let id = ids[random.below(ids.len())];
                    if chosen.insert(id) {
                        culprit.insert(id);
                    }
                }
                culprit
            })
            .collect();
        Self { ids, culprits, rates, random, last: None }
    }

    /// Returns the changes to find.
    #[must_use]
    pub fn culprits(&self) -> &[BTreeSet<Rank>] {
        &self.culprits
    }

    /// Returns true if these are the culprits, in any order, and nothing else.
    #[must_use]
    pub fn has_exactly(&self, found: &[BTreeSet<Rank>]) -> bool {
        found.len() == self.culprits.len() && self.culprits.iter().all(|culprit| found.contains(culprit))
    }

    /// Returns true if one of these changes is in no culprit.
    pub fn is_any_innocent<'a>(&self, mut named: impl Iterator<Item = &'a Rank>) -> bool {
        named.any(|id| !self.culprits.iter().any(|culprit| culprit.contains(id)))
    }

    /// Runs the target once.
    pub fn run(&mut self, selection: &Selection) -> Observation {
        let is_broken = self.is_broken(|change| selection.enables(change));
        let reported = self.selected(selection);
        let outcome = if self.fails(is_broken) { Outcome::Fail } else { Outcome::Pass };
        Observation { outcome, reported }
    }

    /// Returns the changes of a selection, in order. Changes are many and selections small, so no change is tested one
    /// by one.
    fn selected(&self, selection: &Selection) -> Vec<Rank> {
        let below = |cut: Rank| self.ids.partition_point(|&change| change < cut);
        let end = match selection.prefix {
            Prefix::Below(cut) => below(cut),
            Prefix::All => self.ids.len(),
        };
        let mut selected = self.ids[..end].to_vec();
        for gap in &selection.gaps {
            selected.retain(|change| !gap.contains(change));
        }
        // Changes that are named one by one override the prefix.
        for id in selection.forced.iter().chain(&selection.excluded) {
            match (selected.binary_search(id), selection.contains(*id)) {
                (Err(at), true) => selected.insert(at, *id),
                (Ok(at), false) => drop(selected.remove(at)),
                _ => {}
            }
        }
        selected
    }

    /// Runs the target once. Returns true for a success, and the reported IDs.
    ///
    /// # Panics
    /// If the pattern is malformed or empty: no search may send it.
    pub fn run_pattern(&mut self, pattern: &str) -> (bool, Vec<u64>) {
        if self.last.as_ref().is_none_or(|(last, ..)| last != pattern) {
            let parsed: Pattern = pattern.parse().unwrap_or_else(|error| panic!("pattern {pattern:?}: {error}"));
            let matcher = Matcher::new(&parsed).expect("a search sends no empty pattern");
            let reported = self
                .ids
                .iter()
                .map(|change| change.id())
                .filter(|&id| matcher.should_report(id))
                .map(|id| id.0)
                .collect();
            self.last =
                Some((pattern.to_owned(), self.is_broken(|change| matcher.should_enable(change.id())), reported));
        }
        let (_, is_broken, reported) = self.last.clone().expect("just set");
        (!self.fails(is_broken), reported)
    }

    fn is_broken(&self, is_on: impl Fn(Rank) -> bool) -> bool {
        self.culprits.iter().any(|culprit| culprit.iter().all(|&id| is_on(id)))
    }

    fn fails(&mut self, is_broken: bool) -> bool {
        self.random.unit() < if is_broken { self.rates.with } else { self.rates.without }
    }

    /// Searches the target with our engine, one run at a time.
    pub fn search(&mut self, options: Options) -> Found {
        let mut search = Search::new(options);
        let (mut first, mut selections) = (None, Vec::new());
        let verdict = loop {
            match search.step() {
                Step::Run(trial) => {
                    search.record(trial.id, [self.run(&trial.selection)]);
                    if first.is_none() {
                        selections.push(trial.selection);
                        first = search.test(0).found().first().map(|culprit| {
                            let culprit = culprit.changes.iter().copied().collect();
                            let confirming = |selection: &&Selection| confirms(selection, &culprit, &self.ids);
                            let confirmation = selections.iter().rev().take_while(confirming).count();
                            First { searched: selections.len() - confirmation, named: selections.len() }
                        });
                    }
                }
                Step::Wait => unreachable!("every run is recorded at once"),
                Step::Done(verdict) => break verdict,
            }
        };
        let sets = search.test(0).found().iter().map(|culprit| culprit.changes.iter().copied().collect()).collect();
        Found { verdict, sets, runs: search.progress().runs(), first }
    }

    /// Searches the target with the peer. Returns what it reported, and the reason if it gave up.
    pub fn search_like_go(&mut self, peer: GoPeer) -> (Report, Option<Stuck>) {
        peer.search_until_stuck(|pattern| self.run_pattern(pattern))
    }
}

/// Returns true if a run with this selection can confirm a culprit among these changes: it is of changes of the culprit
/// only, of all changes before it beside these or not, of all but changes of the culprit, or of none.
fn confirms(selection: &Selection, culprit: &BTreeSet<Rank>, ids: &[Rank]) -> bool {
    if selection.inverted {
        return selection.prefix == Prefix::All;
    }
    let has_no_other = selection.forced.iter().all(|id| culprit.contains(id));
    let lowest = culprit.first().expect("a culprit has a change");
    has_no_other
        && match selection.prefix {
            Prefix::NONE => true,
            Prefix::Below(end) => ids.partition_point(|id| *id < end) == ids.partition_point(|id| id < lowest),
            Prefix::All => culprit.iter().any(|id| selection.excluded.contains(id)),
        }
}

#[cfg(test)]
#[path = "flaky_tests.rs"]
mod tests;
