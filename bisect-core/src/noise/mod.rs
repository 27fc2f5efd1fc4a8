//! A change among many, found by runs that are not reliable.
//!
//! A run *with* the change fails at one rate and a run *without* it at a lower one; neither rate is known. Candidates have an
//! order, and a run is of a *cut*: with all candidates before it. [`ChangePoint`] keeps how likely each candidate is the
//! change and says which cut to run next; it does no I/O, and takes what runs show in any order.
//!
//! ```
//! use bisect_core::noise::ChangePoint;
//!
//! // The change is number 700; every tenth run misleads.
//! let mut search = ChangePoint::new(1000);
//! let mut runs = 0;
//! let found = loop {
//!     match search.likeliest() {
//!         Some(candidate) if candidate.probability > 0.99 => break candidate.index,
//!         _ => {}
//!     }
//!     let cut = search.next(&[]);
//!     runs += 1;
//!     search.observe(cut, (700 < cut) != (runs % 10 == 0));
//! };
//! assert_eq!(found, 700);
//! assert!(runs < 60);
//! ```
//!
//! # Method
//! That runs of prefixes under noise find a change at the rate of a channel's capacity is due to Horstein (1963) and
//! Burnashev and Zigangirov (1974), for known rates; Karp and Kleinberg (2007) and Waeber, Frazier and Henderson ("Bisection
//! search with noisy responses", 2013) treat the same search for other noise. That culprits of flaky tests can be found so
//! is due to Henderson and others ("Flake Aware Culprit Finding", 2023), with one known rate; `git_bayesect` has both rates
//! unknown, with Beta priors. Here both are on a grid, in their order, with the likeliest special cases (see `rates`), and only
//! intervals between cuts that were run are kept, so that the work does not depend on the number of candidates.

mod beliefs;
mod candidates;
mod choice;
mod math;
mod rates;
#[cfg(test)]
mod tests;

use alloc::{vec, vec::Vec};

use beliefs::{Belief, Beliefs};
use candidates::Candidates;
use choice::{Chooser, Costs};
use rates::{Likelihood, POINTS, Prior};

/// What is known of one change among many.
#[derive(Clone, Debug)]
pub struct ChangePoint {
    candidates: Candidates,
    prior: Prior,
    costs: Costs,
    /// Between cuts that were run, in order.
    intervals: Vec<Interval>,
    /// Of all runs, if none depends on the change.
    alike: Likelihood,
    beliefs: Beliefs,
    /// How likely the change is in each interval and matters.
    matters: Vec<f64>,
}

/// Candidates that no run has told apart.
#[derive(Clone, Debug)]
struct Interval {
    /// The cut where it ends.
    end: usize,
    /// Of the runs without the change, if it is one of these.
    without: Likelihood,
    /// Of the runs with it.
    with: Likelihood,
}

/// One that may be the change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Its place among the candidates, from 0.
    pub index: usize,
    /// How likely it is the change: that runs with it fail more often, and that it is this one.
    pub probability: f64,
}

/// How often runs fail, as far as is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// The mean of what is believed.
    pub mean: f64,
    /// It is lower than this with a probability of at most 2.5%.
    pub low: f64,
    /// It is higher than this with a probability of at most 2.5%.
    pub high: f64,
}

impl ChangePoint {
    /// One change among so many candidates, each as likely as any other.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn new(candidates: usize) -> Self {
        Self::among(Candidates::Even(candidates))
    }

    /// One change among candidates of these weights: how likely each is, up to a common factor.
    ///
    /// # Panics
    /// If there is none, or if a weight or their sum is not a positive number.
    #[must_use]
    pub fn weighted(weights: impl IntoIterator<Item = f64>) -> Self {
        Self::among(Candidates::weighted(weights))
    }

    fn among(candidates: Candidates) -> Self {
        assert!(candidates.len() > 0, "there is no candidate");
        let mut this = Self {
            intervals: vec![Interval { end: candidates.len(), without: Likelihood::ONE, with: Likelihood::ONE }],
            candidates,
            prior: Prior::new(),
            costs: Costs { failing: 1.0, passing: 1.0 },
            alike: Likelihood::ONE,
            beliefs: Beliefs(Vec::new()),
            matters: Vec::new(),
        };
        this.conclude();
        this
    }

    /// Sets what a failing run and a passing one cost, for instance in seconds; at first both cost the same.
    ///
    /// # Panics
    /// If a cost is not a positive number.
    pub fn set_costs(&mut self, failing: f64, passing: f64) {
        assert!(failing.is_finite() && failing > 0.0 && passing.is_finite() && passing > 0.0, "costs are positive");
        self.costs = Costs { failing, passing };
    }

    /// Takes what a run with all candidates before a cut showed.
    ///
    /// # Panics
    /// If there are not so many candidates.
    pub fn observe(&mut self, cut: usize, failed: bool) {
        assert!(cut <= self.candidates.len(), "there are {} candidates, not {cut}", self.candidates.len());
        let index = self.intervals.partition_point(|interval| interval.end < cut);
        if cut > 0 && self.intervals[index].end != cut {
            self.intervals.insert(index, Interval { end: cut, ..self.intervals[index].clone() });
        }
        for interval in &mut self.intervals {
            let side = if interval.end <= cut { &mut interval.with } else { &mut interval.without };
            side.observe(&self.prior, failed);
        }
        self.alike.observe(&self.prior, failed);
        self.conclude();
    }

    /// Works out what follows from all that was observed.
    fn conclude(&mut self) {
        let weigh = |interval: &Interval| self.prior.weigh(&interval.without, &interval.with);
        let weights: Vec<_> = self.intervals.iter().map(weigh).collect();
        let alike = self.prior.weigh_alike(&self.alike);
        let magnitudes = weights.iter().chain([&alike]).filter_map(rates::Weight::magnitude);
        let unit = magnitudes.max().expect("a rate between 0 and 1 explains anything");
        let (mut begin, mut total) = (0, 0.0);
        self.beliefs.0.clear();
        self.matters.clear();
        let of_alike = alike.factor(unit);
        for (interval, weight) in self.intervals.iter().zip(&weights) {
            let factor = weight.factor(unit);
            let mix = |differ: f64, same: f64| differ * factor + same * of_alike;
            let sum = mix(weight.sum, alike.sum);
            let rate = |differ, same| if sum > 0.0 { (mix(differ, same) / sum).clamp(0.0, 1.0) } else { 0.5 };
            let prior = self.candidates.weight(begin, interval.end);
            self.beliefs.0.push(Belief {
                end: interval.end,
                probability: prior * sum,
                without: rate(weight.without, alike.without),
                with: rate(weight.with, alike.with),
            });
            self.matters.push(prior * weight.sum * factor);
            total += prior * sum;
            begin = interval.end;
        }
        for (belief, matters) in self.beliefs.0.iter_mut().zip(&mut self.matters) {
            belief.probability /= total;
            *matters /= total;
        }
    }

    /// The cut to run next, most worth its cost, if runs of these cuts are in flight.
    ///
    /// It may be 0 or the number of candidates: such a run tells of the rates.
    #[must_use]
    pub fn next(&self, in_flight: &[usize]) -> usize {
        Chooser { candidates: &self.candidates, costs: self.costs }.next(&self.beliefs, in_flight)
    }

    /// The likeliest of the candidates that runs have told apart from all others; none if there are no such yet.
    #[must_use]
    pub fn likeliest(&self) -> Option<Candidate> {
        self.single().max_by(|a, b| a.probability.total_cmp(&b.probability))
    }

    /// All candidates that runs have told apart from all others, the likeliest first.
    #[must_use]
    pub fn suspects(&self) -> Vec<Candidate> {
        let mut suspects: Vec<_> = self.single().collect();
        suspects.sort_by(|a, b| b.probability.total_cmp(&a.probability));
        suspects
    }

    fn single(&self) -> impl Iterator<Item = Candidate> {
        let begins = core::iter::once(0).chain(self.intervals.iter().map(|interval| interval.end));
        let intervals = begins.zip(&self.intervals).zip(&self.matters);
        let single = intervals.filter(|((begin, interval), _)| interval.end - begin == 1);
        single.map(|((index, _), &probability)| Candidate { index, probability })
    }

    /// How likely it is that runs fail as often without the change as with it.
    #[must_use]
    pub fn only_noise(&self) -> f64 {
        (1.0 - self.matters.iter().sum::<f64>()).max(0.0)
    }

    /// How often runs fail without the change and with it, if it matters at all.
    #[must_use]
    pub fn rates(&self) -> [Rate; 2] {
        let mut sums = [[0.0; POINTS]; 2];
        for (interval, matters) in self.intervals.iter().zip(&self.matters) {
            let marginals = self.prior.marginals(&interval.without, &interval.with);
            for (sum, marginal) in sums.iter_mut().zip(marginals) {
                let whole: f64 = marginal.iter().sum();
                if whole > 0.0 {
                    sum.iter_mut().zip(marginal).for_each(|(sum, part)| *sum += matters * part / whole);
                }
            }
        }
        sums.map(|sum| self.summary(&sum))
    }

    fn summary(&self, weights: &[f64; POINTS]) -> Rate {
        let rates = self.prior.rates();
        let whole: f64 = weights.iter().sum();
        let mean = weights.iter().zip(rates).map(|(weight, rate)| weight * rate).sum::<f64>() / whole;
        // The outermost rate that no more than 2.5% are beyond.
        let end = |mut places: &mut dyn Iterator<Item = usize>| {
            let mut sum = 0.0;
            let end = Iterator::find(&mut places, |&i| {
                sum += weights[i];
                sum > 0.025 * whole
            });
            end.map_or(mean, |i| rates[i])
        };
        Rate { mean, low: end(&mut (0..POINTS)), high: end(&mut (0..POINTS).rev()) }
    }
}
