//! Hypotheses about the changes that are needed next, and those among them that explain all runs.
//!
//! A hypothesis assumes that all forced changes are switched, and says what else is needed: nothing, one change, both of
//! two, or either of two. Where there are more pairs than can be listed, a sample stands for all of them.

use alloc::{vec, vec::Vec};

use super::parts::switches;
use crate::search::{
    ledger::{Entry, Ledger},
    model::{mode::Mode, rank::Rank, ranked, rng::SeededRng, selection::Selection, trial::Outcome},
    posterior::math,
    sequential::{Bracket, Procedure},
    tuning,
};

/// The way in which the changes of a hypothesis make the target fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combination {
    /// The target fails if all of them are switched.
    All,
    /// The target fails if one of them is switched.
    Any,
}

/// A few changes, as indices of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hypothesis {
    pub(super) combination: Combination,
    pair: [u32; 2],
    size: usize,
    /// The prior probability up to a factor that is the same for all; of a sampled pair, also that of the pairs for which
    /// it stands.
    pub(super) weight: f64,
}

impl Hypothesis {
    /// Returns the changes.
    pub(super) fn members(&self) -> impl Iterator<Item = usize> + '_ {
        self.pair[..self.size].iter().map(|&index| index as usize)
    }

    /// Returns the only change, if it is one.
    pub(super) fn single(&self) -> Option<usize> {
        (self.size == 1).then_some(self.pair[0] as usize)
    }

    /// Returns true if a run fails in which these changes are switched.
    pub(super) fn fails(&self, is_switched: &[bool]) -> bool {
        let mut switched = self.members().map(|index| is_switched[index]);
        match self.combination {
            Combination::All => switched.all(|is_switched| is_switched),
            Combination::Any => switched.any(|is_switched| is_switched),
        }
    }
}

/// The changes that may be needed, and the runs that tell something about them.
pub(super) struct RunEvidence<'a> {
    mode: Mode,
    /// The changes, in order.
    changes: &'a [Rank],
    /// Number of changes that are forced.
    forced: usize,
    failed: Vec<&'a Selection>,
    passed: Vec<&'a Selection>,
}

impl<'a> RunEvidence<'a> {
    /// Collects the ended runs that switch all forced changes. Failed runs with an excluded change are left out: that change
    /// may be the cause.
    pub(super) fn new(procedure: &Procedure, changes: &'a [Rank], forced: &[Rank], ledger: &'a Ledger) -> Self {
        let (mode, excluded) = (procedure.mode(), procedure.excluded());
        let has_excluded = |run: &Selection| excluded.iter().any(|&change| switches(mode, run, change));
        let has_forced = |run: &Selection| forced.iter().all(|&change| switches(mode, run, change));
        let ended = || ledger.iter().filter(|entry| entry.agree(0) && has_forced(&entry.trial.selection));
        let with = |outcome: Outcome| {
            let has_outcome = move |entry: &&Entry| entry.outcomes().first() == Some(&outcome);
            ended().filter(has_outcome).map(|entry| &entry.trial.selection)
        };
        let failed = with(Outcome::Fail).filter(|run| !has_excluded(run)).collect();
        let passed = with(Outcome::Pass).collect();
        Self { mode, changes, forced: forced.len(), failed, passed }
    }

    /// Returns the hypotheses that explain all runs; of many pairs, a sample. Without `with_pairs`, there are no pairs.
    pub(super) fn hypotheses(&self, bracket: &Bracket, with_pairs: bool) -> Vec<Hypothesis> {
        let mut hypotheses = Vec::new();
        if self.forced > 0 && self.passed.is_empty() {
            let weight = self.prior(Combination::All, 0);
            hypotheses.push(Hypothesis { combination: Combination::All, pair: [0; 2], size: 0, weight });
        }
        hypotheses.extend(self.singles(bracket));
        let mut rng = SeededRng::new((self.failed.len() + self.passed.len()) as u64);
        for combination in [Combination::All, Combination::Any].into_iter().filter(|_| with_pairs) {
            hypotheses.extend(self.pairs(combination, &mut rng));
        }
        hypotheses
    }

    /// Returns the weight of all other explanations together. Each run halves it: they predict both outcomes alike.
    pub(super) fn weight_of_others(&self) -> f64 {
        let runs = i32::try_from(self.failed.len() + self.passed.len()).unwrap_or(i32::MAX);
        tuning::PRIOR_OF_OTHER / self.sets(self.forced) * math::power_of_two(-runs)
    }

    /// Returns the number of sets of this size.
    fn sets(&self, size: usize) -> f64 {
        let all = self.changes.len() + self.forced;
        let ratios = (0..size).map(|place| math::count(all.saturating_sub(place).max(1)) / math::count(place + 1));
        ratios.product()
    }

    /// Returns the prior weight of one combination of this number of changes, with the forced ones: those of the same size
    /// weigh the same.
    fn prior(&self, combination: Combination, changes: usize) -> f64 {
        let size = self.forced + changes;
        let of_size = match combination {
            Combination::All => tuning::PRIOR_OF_SIZE[size.clamp(1, tuning::PRIOR_OF_SIZE.len()) - 1],
            Combination::Any if self.forced == 0 => tuning::PRIOR_OF_EITHER,
            Combination::Any => tuning::PRIOR_OF_SET_OR_SINGLE,
        };
        of_size / self.sets(size)
    }

    /// Returns the single changes that explain all runs. An average candidate has the prior weight.
    fn singles(&self, bracket: &Bracket) -> impl Iterator<Item = Hypothesis> {
        let prior = self.prior(Combination::All, 1) * math::count(bracket.candidates().len());
        let explains = |change: Rank| {
            self.failed.iter().all(|run| switches(self.mode, run, change))
                && !self.passed.iter().any(|run| switches(self.mode, run, change))
        };
        let likely =
            bracket.candidates().iter().zip(bracket.likelihoods()).filter(move |&(&change, _)| explains(change));
        likely.filter_map(move |(&change, likelihood)| {
            let index = u32::try_from(ranked::find(self.changes, change)?).ok()?;
            let weight = prior * likelihood;
            Some(Hypothesis { combination: Combination::All, pair: [index; 2], size: 1, weight })
        })
    }

    /// Returns the pairs of one combination that explain all runs, or a sample of them.
    fn pairs(&self, combination: Combination, rng: &mut SeededRng) -> Vec<Hypothesis> {
        let members = PairMembers::new(self, combination);
        let all = members.count_of_pairs();
        let (pairs, share) =
            if all <= tuning::MAX_PAIRS_EXAMINED { members.listed_pairs() } else { members.random_pairs(rng) };
        let weight = self.prior(combination, 2) / share;
        pairs.into_iter().map(|pair| Hypothesis { combination, pair, size: 2, weight }).collect()
    }
}

/// The changes that may be in a pair of one combination.
struct PairMembers {
    indices: Vec<u32>,
    /// For each change, a bit set of the runs that it explains, of those that one of both changes has to explain.
    explained: Vec<Vec<u64>>,
    /// The words of all these runs.
    all: Vec<u64>,
}

impl PairMembers {
    fn new(evidence: &RunEvidence<'_>, combination: Combination) -> Self {
        // A failing run switches both changes of a set, and a passing one leaves out one of them. Of two changes that each
        // suffice, a passing run leaves out both, and a failing one switches one of them.
        let (for_both, for_one, is_switched) = match combination {
            Combination::All => (&evidence.failed, &evidence.passed, true),
            Combination::Any => (&evidence.passed, &evidence.failed, false),
        };
        let has = |run: &Selection, index: u32| switches(evidence.mode, run, evidence.changes[index as usize]);
        let count = u32::try_from(evidence.changes.len()).unwrap_or(0);
        let indices: Vec<_> =
            (0..count).filter(|&index| for_both.iter().all(|run| has(run, index) == is_switched)).collect();
        let words = |explains: &dyn Fn(&Selection) -> bool| {
            let mut words = vec![0; for_one.len().div_ceil(64)];
            for (number, _) in for_one.iter().enumerate().filter(|(_, run)| explains(run)) {
                words[number / 64] |= 1 << (number % 64);
            }
            words
        };
        let explained = indices.iter().map(|&index| words(&|run| has(run, index) != is_switched)).collect();
        Self { indices, explained, all: words(&|_| true) }
    }

    /// Returns the number of pairs.
    fn count_of_pairs(&self) -> usize {
        self.indices.len() * self.indices.len().saturating_sub(1) / 2
    }

    /// Returns true if two changes explain all runs together.
    fn explain(&self, one: usize, other: usize) -> bool {
        let both = self.explained[one].iter().zip(&self.explained[other]);
        both.zip(&self.all).all(|((one, other), all)| one | other == *all)
    }

    /// Returns an even sample of the pairs that explain all runs, and the share of them that it has.
    fn listed_pairs(&self) -> (Vec<[u32; 2]>, f64) {
        let mut found = Vec::new();
        for one in 0..self.indices.len() {
            let others = (one + 1..self.indices.len()).filter(|&other| self.explain(one, other));
            found.extend(others.map(|other| [self.indices[one], self.indices[other]]));
        }
        let count = found.len();
        let step = count.div_ceil(tuning::MAX_PAIRS_SAMPLED).max(1);
        let sample: Vec<_> = found.into_iter().step_by(step).collect();
        let share = math::count(sample.len()) / math::count(count.max(1));
        (sample, share)
    }

    /// Returns random pairs that explain all runs, and the share of all pairs that was tried.
    fn random_pairs(&self, rng: &mut SeededRng) -> (Vec<[u32; 2]>, f64) {
        let (mut tried, mut found) = (0, Vec::new());
        while tried < tuning::MAX_PAIRS_EXAMINED && found.len() < tuning::MAX_PAIRS_SAMPLED {
            tried += 1;
            let (one, other) = (rng.below(self.indices.len()), rng.below(self.indices.len()));
            // Each pair in one of its two orders.
            if one < other && self.explain(one, other) {
                found.push([self.indices[one], self.indices[other]]);
            }
        }
        let drawn_from = math::count(self.indices.len()) * math::count(self.indices.len());
        (found, math::count(tried) / drawn_from)
    }
}
