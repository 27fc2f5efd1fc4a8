//! The posterior of a change among many candidates, given runs that are not reliable.
//!
//! A run *with* the change fails at one rate, a run *without* it at a lower rate; both rates are unknown. Candidates
//! have an order, and a run is of a [`CandidateSet`]: the candidates before a cut, or one. The change is one candidate
//! alone, or the last of several that are needed together, or no candidate. [`ChangePoint`] keeps the probability of
//! each hypothesis, and chooses the set to run next.
//!
//! ```
//! use bisect_core::search::posterior::{ChangePoint, Evidence};
//!
//! // The change is number 700; every tenth run misleads.
//! let mut search = ChangePoint::new(1000, &Evidence::new());
//! let mut runs = 0;
//! let found = loop {
//!     if let Some(candidate) = search.found(0.99) {
//!         break candidate.index;
//!     }
//!     let set = search.next(&[]);
//!     runs += 1;
//!     search.observe(set, (700 < set.prefix || set.plus == Some(700)) != (runs % 10 == 0));
//! };
//! assert_eq!(found, 700);
//! assert!(runs < 60);
//! ```
//!
//! # Method
//! Horstein (1963) and Burnashev and Zigangirov (1974) show that, for known rates, runs of prefixes under noise find a
//! change at the rate of a channel's capacity. Karp and Kleinberg (2007) and Waeber, Frazier and Henderson ("Bisection
//! search with noisy responses", 2013) treat the same search for other noise. Henderson and others ("Flake Aware
//! Culprit Finding", 2023) find culprits of flaky tests in this way, with one known rate. In `git_bayesect` both rates
//! are unknown, with Beta priors. Here both rates are on a grid, in their order, with extra prior weight for the most
//! likely special cases (see `rate_grid`). Only intervals between cuts that were run are kept, so that the work does
//! not depend on the number of candidates.

mod beliefs;
mod candidate_set;
mod candidates;
mod choice;
mod evidence;
mod interval;
pub(in crate::search) mod math;
mod rate;
mod rate_grid;
mod runs_left;
#[cfg(test)]
mod tests;

use alloc::{collections::BTreeMap, vec, vec::Vec};
use core::ops::Range;

use crate::search::tuning;
use beliefs::{Belief, Beliefs, Kind};
pub use candidate_set::CandidateSet;
use candidates::Candidates;
use choice::{Chooser, Costs};
pub use evidence::Evidence;
use interval::Interval;
pub use rate::Rate;
use rate_grid::{Likelihood, POINTS, Prior, Weight};

/// The posterior of one change among many candidates.
#[derive(Clone, Debug)]
pub struct ChangePoint {
    candidates: Candidates,
    prior: Prior,
    /// The prior probability that no candidate matters.
    prior_nothing: f64,
    /// True if the candidates are steps of a counter: then no run is of one candidate alone.
    is_counter: bool,
    costs: Costs,
    /// The intervals between cuts that were run, in order.
    intervals: Vec<Interval>,
    nothing: Nothing,
    beliefs: Beliefs,
    /// The probability that the change is in each interval and matters.
    matters: Vec<Matters>,
    /// For each candidate: the number of failed runs of the candidate alone, plus the number of passed runs of all
    /// candidates before it.
    confirmations: BTreeMap<usize, usize>,
}

/// The likelihoods of the rates if no candidate matters.
#[derive(Clone, Debug)]
struct Nothing {
    /// All runs, except prior runs that are known to be with another change.
    without: Likelihood,
    /// Those prior runs. Without prior runs, there is only one rate.
    with: Option<Likelihood>,
}

/// The probability that the change is in an interval, by kind.
#[derive(Clone, Copy, Debug)]
struct Matters {
    alone: f64,
    in_company: f64,
}

/// A candidate, and the probability that it is the change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The index among the candidates, from 0.
    pub index: usize,
    /// The probability that this is the change and suffices, together with the forced changes.
    pub alone: f64,
    /// The probability that this is the last of several changes that are needed together.
    pub in_company: f64,
}

impl Candidate {
    /// Returns the probability that this is the change: that runs with this candidate fail more often than runs without
    /// it, and that no other candidate is the change.
    #[must_use]
    pub fn probability(&self) -> f64 {
        self.alone + self.in_company
    }
}

impl ChangePoint {
    /// Returns the posterior for this number of candidates, each as likely as any other.
    ///
    /// # Panics
    /// If there is no candidate.
    #[must_use]
    pub fn new(candidates: usize, known: &Evidence) -> Self {
        Self::among(Candidates::Even(candidates), known)
    }

    /// Returns the posterior for candidates of these weights, which are prior probabilities up to a common factor.
    ///
    /// # Panics
    /// If there is no candidate, or if a weight or their sum is not a positive number.
    #[must_use]
    pub fn weighted(weights: impl IntoIterator<Item = f64>, known: &Evidence) -> Self {
        Self::among(Candidates::weighted(weights), known)
    }

    fn among(candidates: Candidates, known: &Evidence) -> Self {
        assert!(candidates.len() > 0, "there is no candidate");
        let prior = Prior::new();
        let [without, with] = known.likelihoods(&prior);
        let nothing = Nothing { without: without.clone(), with: (!known.is_empty()).then(|| with.clone()) };
        let unknown = Belief { end: 0, kind: Kind::Nothing, probability: 0.0, without: 0.0, with: 0.0 };
        let mut this = Self {
            intervals: vec![Interval::new(candidates.len(), without, with)],
            candidates,
            prior,
            prior_nothing: if known.is_empty() { tuning::PRIOR_NOTHING } else { tuning::PRIOR_NOTHING_FURTHER },
            is_counter: false,
            costs: Costs { failing: 1.0, passing: 1.0 },
            nothing,
            beliefs: Beliefs { places: Vec::new(), nothing: unknown },
            matters: Vec::new(),
            confirmations: BTreeMap::new(),
        };
        this.conclude();
        this
    }

    /// Sets the costs of a failing run and of a passing run, for instance in seconds; by default both are the same.
    ///
    /// # Panics
    /// If a cost is not a positive number.
    pub fn set_costs(&mut self, failing: f64, passing: f64) {
        assert!(failing.is_finite() && failing > 0.0 && passing.is_finite() && passing > 0.0, "costs are positive");
        self.costs = Costs { failing, passing };
    }

    /// Sets the prior probability that no candidate matters; the default is 0.4, or 0.7 if there are prior runs.
    ///
    /// # Panics
    /// If this is not a probability below 1.
    pub fn set_prior_of_nothing(&mut self, prior: f64) {
        assert!((0.0..1.0).contains(&prior), "nothing is less than certain");
        self.prior_nothing = prior;
        self.conclude();
    }

    /// Treats the candidates as steps of a counter: a run of a step includes all steps before it. A step that suffices
    /// alone and one that needs earlier steps cannot be distinguished, so the former is assumed.
    pub fn set_counter(&mut self) {
        self.is_counter = true;
        self.conclude();
    }

    /// Takes the result of a run of a set.
    ///
    /// # Panics
    /// If the set has more candidates than there are.
    pub fn observe(&mut self, set: CandidateSet, failed: bool) {
        let set = if self.is_counter { set.counted() } else { set.plain() };
        let end = set.plus.map_or(set.prefix, |plus| plus + 1);
        assert!(end <= self.candidates.len(), "there are {} candidates, not {end}", self.candidates.len());
        set.cuts().for_each(|cut| self.split(cut));
        for interval in &mut self.intervals {
            interval.observe(&self.prior, set, failed);
        }
        self.nothing.without.observe(&self.prior, failed);
        let confirmed = match set {
            CandidateSet { prefix: 0, plus: Some(candidate), minus: None } => failed.then_some(candidate),
            CandidateSet { prefix: 1, plus: None, minus: None } if failed => Some(0),
            CandidateSet { prefix, plus: None, minus: None } => (!failed).then_some(prefix),
            CandidateSet { .. } => None,
        };
        if let Some(candidate) = confirmed {
            *self.confirmations.entry(candidate).or_default() += 1;
        }
        self.conclude();
    }

    /// Splits the interval that contains a cut, so that an interval ends there.
    fn split(&mut self, cut: usize) {
        let index = self.intervals.partition_point(|interval| interval.end < cut);
        if cut > 0 && self.intervals[index].end != cut {
            self.intervals.insert(index, self.intervals[index].until(cut));
        }
    }

    /// Updates the posterior from all observations.
    fn conclude(&mut self) {
        let weights: Vec<_> = self.intervals.iter().map(|interval| interval.weigh(&self.prior)).collect();
        let nothing = match &self.nothing {
            Nothing { without, with: Some(with) } => self.prior.weigh(without, with),
            Nothing { without, with: None } => self.prior.weigh_alike(without),
        };
        let magnitudes = weights.iter().flatten().chain([&nothing]).filter_map(Weight::magnitude);
        let unit = magnitudes.max().expect("a rate between 0 and 1 explains anything");
        let something = (1.0 - self.prior_nothing) / self.candidates.weight(0, self.candidates.len());
        let in_company_share = if self.is_counter { 0.0 } else { 1.0 - tuning::PRIOR_ALONE };
        let mut begin = 0;
        self.beliefs.places.clear();
        self.matters.clear();
        for (interval, [alone, in_company]) in self.intervals.iter().zip(&weights) {
            let end = interval.end;
            // No candidate is before the first one, so the first one cannot be the last of several.
            let share = self.candidates.weight(begin.max(1).min(end), end) * in_company_share;
            let matters = Matters {
                alone: something * (self.candidates.weight(begin, end) - share) * alone.sum * alone.factor(unit),
                in_company: something * share * in_company.sum * in_company.factor(unit),
            };
            if end - begin == 1 {
                self.beliefs.places.push(belief(end, Kind::Alone, matters.alone, alone));
                self.beliefs.places.push(belief(end, Kind::InCompany, matters.in_company, in_company));
            } else {
                self.beliefs.places.push(belief(end, Kind::Either, matters.alone + matters.in_company, alone));
            }
            self.matters.push(matters);
            begin = end;
        }
        let probability = self.prior_nothing * nothing.sum * nothing.factor(unit);
        self.beliefs.nothing = belief(0, Kind::Nothing, probability, &nothing);
        let total = probability + self.matters.iter().map(|matters| matters.alone + matters.in_company).sum::<f64>();
        self.beliefs.nothing.probability /= total;
        self.beliefs.places.iter_mut().for_each(|belief| belief.probability /= total);
        for matters in &mut self.matters {
            matters.alone /= total;
            matters.in_company /= total;
        }
    }

    /// Returns the set to run next, the one that is most worth its cost, while runs of these sets are in flight.
    ///
    /// The set is a prefix, or a candidate that stands out, alone. The empty and the full prefix serve to estimate the
    /// rates, and to test that no candidate matters.
    #[must_use]
    pub fn next(&self, in_flight: &[CandidateSet]) -> CandidateSet {
        let chooser = Chooser { candidates: &self.candidates, costs: self.costs, is_counter: self.is_counter };
        let set = chooser.next(&self.beliefs, in_flight);
        // The prefix of one candidate is also the first candidate alone.
        if set == CandidateSet::prefix(1) { CandidateSet::alone(0) } else { set }
    }

    /// Returns the candidate to be named, if one candidate is the change, alone, with at least this probability for all
    /// values of the rates. For that, the posterior probability must be higher than `confidence`, and enough runs of
    /// the candidate alone, or of those before it, must confirm it.
    #[must_use]
    pub fn found(&self, confidence: f64) -> Option<Candidate> {
        let doubt = doubt(confidence);
        let confirmations = |candidate: &Candidate| self.confirmations.get(&candidate.index).copied().unwrap_or(0);
        let found = |candidate: &Candidate| {
            candidate.alone > 1.0 - doubt && confirmations(candidate) >= tuning::MIN_CONFIRMATIONS
        };
        self.likeliest().filter(found)
    }

    /// Returns the most likely of the candidates that runs have separated from all others; `None` if there is none yet.
    #[must_use]
    pub fn likeliest(&self) -> Option<Candidate> {
        self.single().max_by(|a, b| a.probability().total_cmp(&b.probability()))
    }

    /// Returns all candidates that runs have separated from all others, the most likely first.
    #[must_use]
    pub fn suspects(&self) -> Vec<Candidate> {
        let mut suspects: Vec<_> = self.single().collect();
        suspects.sort_by(|a, b| b.probability().total_cmp(&a.probability()));
        suspects
    }

    /// Returns the intervals of candidates between cuts that were run, in order, each with the probability that the
    /// change is in it.
    pub fn places(&self) -> impl Iterator<Item = (Range<usize>, f64)> {
        self.ranges().zip(&self.matters).map(|(range, matters)| (range, matters.alone + matters.in_company))
    }

    fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let begins = core::iter::once(0).chain(self.intervals.iter().map(|interval| interval.end));
        begins.zip(&self.intervals).map(|(begin, interval)| begin..interval.end)
    }

    fn single(&self) -> impl Iterator<Item = Candidate> {
        let single = self.ranges().zip(&self.matters).filter(|(range, _)| range.len() == 1);
        single.map(|(range, &Matters { alone, in_company })| Candidate { index: range.start, alone, in_company })
    }

    /// Returns the probability that no candidate matters: that runs of all candidates fail at the same rate as runs of
    /// none. If there are prior runs, this is the rate of those without the change.
    #[must_use]
    pub fn probability_of_nothing(&self) -> f64 {
        self.beliefs.nothing.probability
    }

    /// Returns the probability that this candidate is the change, alone or together with others.
    pub(crate) fn probability_of(&self, candidate: Option<usize>, is_alone: bool) -> f64 {
        let found = self.single().find(|single| candidate == Some(single.index));
        found.map_or(0.0, |found| if is_alone { found.alone } else { found.in_company })
    }

    /// Returns the joint probability that this candidate is not the change of this kind, and that a run of this set has
    /// this outcome.
    pub(crate) fn joint_surprise(
        &self,
        candidate: Option<usize>,
        is_alone: bool,
        set: CandidateSet,
        failed: bool,
    ) -> f64 {
        let set = set.plain();
        let kind = if is_alone { Kind::Alone } else { Kind::InCompany };
        let is_other = |belief: &&Belief| belief.kind != kind || candidate.is_none_or(|index| belief.end != index + 1);
        let beliefs = self.beliefs.places.iter().chain([&self.beliefs.nothing]).filter(is_other);
        let ends_so = |rate: f64| if failed { rate } else { 1.0 - rate };
        beliefs.map(|belief| belief.probability * ends_so(belief.rate(set))).sum()
    }

    /// Returns the estimated failure rates without the change and with it. As far as no candidate matters, they are
    /// equal, unless there are prior runs.
    #[must_use]
    pub fn rates(&self) -> [Rate; 2] {
        let mut sums = [[0.0; POINTS]; 2];
        let mut add = |probability: f64, marginals: [[f64; POINTS]; 2]| {
            for (sum, marginal) in sums.iter_mut().zip(marginals) {
                let whole: f64 = marginal.iter().sum();
                if probability > 0.0 && whole > 0.0 {
                    sum.iter_mut().zip(marginal).for_each(|(sum, of_rate)| *sum += probability * of_rate / whole);
                }
            }
        };
        for (interval, matters) in self.intervals.iter().zip(&self.matters) {
            let [alone, in_company] = interval.sides();
            if core::ptr::eq(alone, in_company) {
                add(matters.alone + matters.in_company, self.prior.marginals(&alone[0], &alone[1]));
            } else {
                add(matters.alone, self.prior.marginals(&alone[0], &alone[1]));
                add(matters.in_company, self.prior.marginals(&in_company[0], &in_company[1]));
            }
        }
        let of_nothing = match &self.nothing {
            Nothing { without, with: Some(with) } => self.prior.marginals(without, with),
            Nothing { without, with: None } => [self.prior.marginal_alike(without); 2],
        };
        add(self.probability_of_nothing(), of_nothing);
        sums.map(|weights| Rate::summary(self.prior.rates(), &weights))
    }

    /// Returns the estimated failure rate if no candidate matters: one rate for all sets. Prior runs that are known to be
    /// with another change are ignored.
    #[must_use]
    pub fn rate_if_nothing(&self) -> Rate {
        Rate::summary(self.prior.rates(), &self.prior.marginal_alike(&self.nothing.without))
    }

    /// Estimates the mean number of runs until a candidate is [`found`](Self::found). The first estimates may be wrong
    /// by a factor of 3.
    #[must_use]
    pub fn runs_left(&self, confidence: f64) -> f64 {
        runs_left::runs_left(&self.beliefs, doubt(confidence))
    }
}

/// Returns the error probability below which a candidate is named with this confidence.
fn doubt(confidence: f64) -> f64 {
    math::exp2(tuning::CONFIDENCE_EXPONENT * math::log2(1.0 - confidence))
}

fn belief(end: usize, kind: Kind, probability: f64, weight: &Weight) -> Belief {
    let rate = |sum: f64| if weight.sum > 0.0 { (sum / weight.sum).clamp(0.0, 1.0) } else { 0.5 };
    Belief { end, kind, probability, without: rate(weight.without), with: rate(weight.with) }
}
