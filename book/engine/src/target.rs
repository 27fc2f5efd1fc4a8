//! A target with planted culprits, and its search.

use std::collections::BTreeSet;

use bisect_core::search::{Noise, Observation, Options, Order, Outcome, Rank, Search, Step, Trial, Verdict};

/// The confidence of answers about flaky targets: that of the driver.
const CONFIDENCE: f64 = 0.99;

/// A planted target in the middle of its search.
#[derive(Debug)]
pub(crate) struct Target {
    changes: usize,
    /// The sets of changes that make it fail.
    planted: Vec<BTreeSet<usize>>,
    /// The share of runs that fail among those in which a planted set is enabled, in percent.
    percent: u32,
    search: Search,
    /// The state of the generator of chances.
    random: u64,
    last: Option<(Trial, Outcome, bool)>,
}

impl Target {
    pub(crate) fn new(changes: usize, percent: u32, seed: u64) -> Self {
        let options = Options { order: Order::Given, noise: Noise::Suspected(CONFIDENCE), seed, ..Options::default() };
        let random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Self { changes, planted: Vec::new(), percent, search: Search::new(options), random, last: None }
    }

    /// Adds a change to a planted set.
    pub(crate) fn plant(&mut self, culprit: usize, change: usize) {
        if change < self.changes {
            let missing = (culprit + 1).saturating_sub(self.planted.len());
            self.planted.extend(std::iter::repeat_n(BTreeSet::new(), missing));
            self.planted[culprit].insert(change);
        }
    }

    /// Makes the next run. Returns false if the search has ended.
    pub(crate) fn step(&mut self) -> bool {
        let Step::Run(trial) = self.search.step() else { return false };
        let is_on = |change: &usize| trial.selection.enables(Rank::at(*change));
        let is_bad = self.planted.iter().any(|set| !set.is_empty() && set.iter().all(is_on));
        let outcome = if is_bad && self.chance() { Outcome::Fail } else { Outcome::Pass };
        let reported = (0..self.changes).map(Rank::at).filter(|&change| trial.selection.contains(change)).collect();
        let repeats = self.search.trial_state(trial.id).repeats().is_some();
        self.search.record(trial.id, [Observation { outcome, reported }]);
        self.last = Some((trial, outcome, repeats));
        true
    }

    /// Returns true in the planted share of calls (xorshift).
    fn chance(&mut self) -> bool {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 32) % 100 < self.percent.into()
    }

    pub(crate) fn failed(&self) -> bool {
        self.last.as_ref().is_some_and(|(_, outcome, _)| *outcome == Outcome::Fail)
    }

    pub(crate) fn question(&self) -> usize {
        self.last.as_ref().map_or(0, |(trial, ..)| trial.question as usize)
    }

    pub(crate) fn repeats(&self) -> bool {
        self.last.as_ref().is_some_and(|(_, _, repeats)| *repeats)
    }

    pub(crate) fn enabled(&self, change: usize) -> bool {
        self.last.as_ref().is_some_and(|(trial, ..)| trial.selection.enables(Rank::at(change)))
    }

    pub(crate) fn is_noisy(&self) -> bool {
        self.search.test(0).is_noisy()
    }

    pub(crate) fn likelihood(&self, change: usize) -> f64 {
        let Some(estimate) = self.search.test(0).estimate() else { return 0.0 };
        let Some(place) = estimate.places.iter().find(|place| place.positions.contains(&change)) else { return 0.0 };
        let count = u32::try_from(place.positions.len()).unwrap_or(u32::MAX);
        100.0 * place.probability / f64::from(count)
    }

    pub(crate) fn culprit(&self, change: usize) -> usize {
        let found = self.search.test(0).found();
        found.iter().position(|culprit| culprit.changes.contains(&Rank::at(change))).map_or(0, |index| index + 1)
    }

    pub(crate) fn verdict(&self) -> u32 {
        match self.search.verdict() {
            None => 0,
            Some(Verdict::Complete) => 1,
            Some(_) => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn searched(percent: u32, planted: &[&[usize]]) -> Target {
        let mut target = Target::new(32, percent, 5);
        for (culprit, set) in planted.iter().enumerate() {
            set.iter().for_each(|&change| target.plant(culprit, change));
        }
        while target.step() {}
        target
    }

    #[test]
    fn a_flaky_culprit_is_found() {
        let target = searched(60, &[&[21]]);
        assert!(target.is_noisy());
        assert_eq!(target.verdict(), 1);
        let found: Vec<_> = (0..32).filter(|&change| target.culprit(change) > 0).collect();
        assert_eq!(found, [21]);
    }

    #[test]
    fn nothing_is_found_where_nothing_is_planted() {
        let target = searched(100, &[]);
        assert_eq!(target.verdict(), 2);
        assert!((0..32).all(|change| target.culprit(change) == 0));
    }
}
