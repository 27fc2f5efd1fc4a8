//! A change point under noise: which candidate is it, if runs with it fail more often than those without, but not always?
//!
//! Candidates are numbered from 0 in their order. A run of a *cut* has all candidates before the cut; it fails at one rate if the change is
//! among them, and at a lower one if not. Neither rate is known.

mod beliefs;
mod candidates;
mod math;
mod rates;

use alloc::{vec, vec::Vec};

use beliefs::{Belief, Chooser, Costs};
use candidates::Candidates;
use rates::{Likelihood, Prior, Weight};

pub use rates::Tuning;

/// What is known of one change among many.
#[derive(Clone, Debug)]
pub struct ChangePoint {
    candidates: Candidates,
    prior: Prior,
    costs: Costs,
    extrinsic: f64,
    learn: f64,
    contrast: f64,
    rate_alike: f64,
    /// The intervals between cuts that were run, in order.
    intervals: Vec<Interval>,
    /// Of all runs, as if none depended on the change.
    alike: Likelihood,
    /// What follows from these.
    beliefs: Vec<Belief>,
    /// How likely it is that nothing depends on the change.
    only_noise: f64,
    /// How likely each interval is with something that does.
    explained: Vec<f64>,
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

impl ChangePoint {
    /// One among so many candidates, each as likely as any other.
    #[must_use]
    pub fn new(candidates: usize, tuning: Tuning) -> Self {
        Self::among(Candidates::Even(candidates), tuning)
    }

    /// One among candidates of these weights.
    #[must_use]
    pub fn weighted(weights: impl IntoIterator<Item = f64>, tuning: Tuning) -> Self {
        Self::among(Candidates::weighted(weights), tuning)
    }

    fn among(candidates: Candidates, tuning: Tuning) -> Self {
        assert!(candidates.len() > 0, "there is a candidate");
        let first = Interval { end: candidates.len(), without: Likelihood::ONE, with: Likelihood::ONE };
        let mut this = Self {
            candidates,
            prior: Prior::new(tuning),
            costs: Costs { failing: 1.0, passing: 1.0 },
            extrinsic: tuning.extrinsic,
            learn: tuning.learn,
            contrast: tuning.contrast,
            rate_alike: 0.5,
            intervals: vec![first],
            alike: Likelihood::ONE,
            beliefs: Vec::new(),
            only_noise: 0.0,
            explained: Vec::new(),
        };
        this.conclude();
        this
    }

    /// Takes what a run of a cut showed.
    pub fn observe(&mut self, cut: usize, failed: bool) {
        self.split(cut);
        self.alike.observe(&self.prior, failed);
        for interval in &mut self.intervals {
            let side = if interval.end <= cut { &mut interval.with } else { &mut interval.without };
            side.observe(&self.prior, failed);
        }
        self.conclude();
    }

    fn split(&mut self, cut: usize) {
        assert!(cut <= self.candidates.len(), "a cut is at most the number of candidates");
        let index = self.intervals.partition_point(|interval| interval.end < cut);
        if cut > 0 && self.intervals[index].end != cut {
            let below = Interval { end: cut, ..self.intervals[index].clone() };
            self.intervals.insert(index, below);
        }
    }

    fn conclude(&mut self) {
        let mut begin = 0;
        let weights: Vec<(f64, Weight)> = self.intervals.iter().map(|interval| {
            let weight = self.candidates.weight(begin, interval.end);
            begin = interval.end;
            (weight, self.prior.weigh(&interval.without, &interval.with))
        }).collect();
        let alike = self.prior.weigh_alike(&self.alike);
        let magnitudes = weights.iter().filter_map(|(_, weight)| weight.magnitude());
        let unit = magnitudes.chain(alike.magnitude()).max().expect("something explains what was observed");
        let alike_factor = alike.factor(unit);
        let (mut total, mut total_alike) = (0.0, 0.0);
        self.beliefs.clear();
        self.explained.clear();
        for (interval, (prior, weight)) in self.intervals.iter().zip(&weights) {
            let factor = weight.factor(unit);
            let sum = weight.sum * factor + alike.sum * alike_factor;
            let belief = if sum > 0.0 { Belief {
                end: interval.end,
                probability: prior * sum,
                without: (weight.without * factor + alike.without * alike_factor) / sum,
                with: (weight.with * factor + alike.with * alike_factor) / sum,
                doubt_without: (weight.doubt_without * factor + alike.doubt_without * alike_factor) / sum,
                doubt_with: (weight.doubt_with * factor + alike.doubt_with * alike_factor) / sum,
            } } else { Belief { end: interval.end, probability: 0.0, without: 0.5, with: 0.5, doubt_with: 1.0, doubt_without: 1.0 } };
            self.explained.push(prior * weight.sum * factor);
            self.beliefs.push(belief);
            total += belief.probability;
            total_alike += prior * alike.sum * alike_factor;
        }
        for belief in &mut self.beliefs {
            belief.probability /= total;
            belief.doubt_with = belief.doubt_with * self.learn + math::entropy(belief.with) * (1.0 - self.learn);
            belief.doubt_without = belief.doubt_without * self.learn + math::entropy(belief.without) * (1.0 - self.learn);
        }
        for explained in &mut self.explained {
            *explained /= total;
        }
        self.only_noise = total_alike / total;
        self.rate_alike = alike.with / alike.sum;
    }

    /// The cut to run next.
    #[must_use]
    pub fn next(&self) -> usize {
        let chooser = Chooser { candidates: &self.candidates, beliefs: &self.beliefs, costs: self.costs, extrinsic: self.extrinsic, contrast: self.contrast, alike: self.rate_alike };
        chooser.best().cut
    }

    /// The candidate that is most likely the change, among those told apart from both neighbours, and how likely it is.
    #[must_use]
    pub fn likeliest(&self) -> Option<(usize, f64)> {
        let mut begin = 0;
        let mut best: Option<(usize, f64)> = None;
        for (interval, &probability) in self.intervals.iter().zip(&self.explained) {
            if interval.end - begin == 1 && best.is_none_or(|(_, most)| probability > most) {
                best = Some((begin, probability));
            }
            begin = interval.end;
        }
        best
    }

    /// How likely it is that runs fail as often with the change as without.
    #[must_use]
    pub fn only_noise(&self) -> f64 {
        self.only_noise
    }

    /// debug
    pub fn debug(&self) -> (f64, f64, f64, f64) {
        let mut e = 0.0; let (mut a, mut b) = (0.0, 0.0); let mut begin = 0;
        for x in &self.beliefs { if x.probability > 0.0 { e -= x.probability * (math::log2(x.probability) - math::log2((x.end - begin) as f64)); a += x.probability * x.without; b += x.probability * x.with; } begin = x.end; }
        (e, a, b, self.only_noise)
    }

    /// debug
    pub fn pieces(&self) -> Vec<(f64, usize, usize, f64, f64)> {
        let mut begin = 0;
        let mut all: Vec<_> = self.beliefs.iter().map(|x| { let p = (x.probability, begin, x.end, x.without, x.with); begin = x.end; p }).collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        all.truncate(9);
        all
    }
}
