//! What is believed of each interval of candidates.

use alloc::vec::Vec;

use super::{candidates::Candidates, math::entropy};

/// Candidates between two cuts, all of which are equally well supported by what was observed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Belief {
    /// The cut where they end; they begin where those before end.
    pub(super) end: usize,
    /// How likely the change is one of them.
    pub(super) probability: f64,
    /// How often runs fail without the change, if it is.
    pub(super) without: f64,
    /// How often they fail with it.
    pub(super) with: f64,
}

impl Belief {
    /// How often runs of a cut fail.
    pub(super) fn rate(&self, cut: usize) -> f64 {
        if self.end <= cut { self.with } else { self.without }
    }
}

/// How a run of a cut may end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Forecast {
    /// The chance that it fails.
    pub(super) failure: f64,
    /// The entropy of how it ends that would be left if the change were known.
    pub(super) doubt: f64,
}

impl Forecast {
    pub(super) fn plus(self, share: f64, other: Forecast) -> Self {
        Self { failure: self.failure + share * other.failure, doubt: self.doubt + share * other.doubt }
    }
}

/// All intervals, in order.
#[derive(Clone, Debug)]
pub(super) struct Beliefs(pub(super) Vec<Belief>);

impl Beliefs {
    /// Makes a cut one at which an interval ends.
    pub(super) fn split(&mut self, candidates: &Candidates, cut: usize) {
        let index = self.0.partition_point(|belief| belief.end < cut);
        let Some(&whole) = self.0.get(index).filter(|belief| cut > 0 && belief.end != cut) else { return };
        let begin = index.checked_sub(1).map_or(0, |before| self.0[before].end);
        let share = candidates.weight(begin, cut) / candidates.weight(begin, whole.end);
        self.0[index].probability = whole.probability * (1.0 - share);
        self.0.insert(index, Belief { end: cut, probability: whole.probability * share, ..whole });
    }

    /// How a run may end whose cut is where an interval ends.
    pub(super) fn forecast(&self, cut: usize) -> Forecast {
        self.0.iter().fold(Forecast::default(), |sum, belief| {
            let rate = belief.rate(cut);
            sum.plus(belief.probability, Forecast { failure: rate, doubt: entropy(rate) })
        })
    }

    /// How likely it is that a run ends so, and what would be believed then; the rates are taken for known. Its cut is
    /// where an interval ends.
    pub(super) fn if_it(mut self, failed: bool, cut: usize) -> (f64, Self) {
        let mut sum = 0.0;
        for belief in &mut self.0 {
            let rate = belief.rate(cut);
            belief.probability *= if failed { rate } else { 1.0 - rate };
            sum += belief.probability;
        }
        for belief in &mut self.0 {
            belief.probability /= sum;
        }
        (sum, self)
    }
}
