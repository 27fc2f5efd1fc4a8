//! What is believed of each interval of candidates.

use alloc::vec::Vec;

use super::{candidate_set::CandidateSet, candidates::Candidates, math::entropy};
use crate::search::tuning;

/// How the change is one of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Alone: runs of it by itself are with the change.
    Alone,
    /// In company: others before it are needed.
    InCompany,
    /// Either; the interval has several candidates, none of which was run by itself.
    Either,
    /// Not at all: no candidate matters.
    Nothing,
}

/// What is believed if the change is in an interval, between two cuts; its candidates are equally well supported by what was
/// observed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Belief {
    /// The cut where the interval ends; it begins where the one before ends.
    pub(super) end: usize,
    pub(super) kind: Kind,
    /// How likely that is.
    pub(super) probability: f64,
    /// How often runs fail without the change.
    pub(super) without: f64,
    /// How often they fail with it.
    pub(super) with: f64,
}

impl Belief {
    /// How often runs of a part fail. The interval lies on one side of its cut.
    pub(super) fn rate(&self, set: CandidateSet) -> f64 {
        let before = self.kind != Kind::Nothing && set.has_before(self.end);
        let itself = self.kind == Kind::Alone && set.plus.is_some_and(|plus| plus + 1 == self.end);
        if before || itself { self.with } else { self.without }
    }
}

/// How a run of a part may end.
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

    /// What a run has more that is with the change, if that is where it is believed to be.
    pub(super) fn of_change(belief: &Belief) -> Self {
        Self {
            failure: belief.probability * (belief.with - belief.without),
            doubt: belief.probability * (entropy(belief.with) - entropy(belief.without)),
        }
    }
}

/// All intervals, in order: one of several candidates once, one of a single candidate for both kinds.
#[derive(Clone, Debug)]
pub(super) struct Beliefs {
    pub(super) places: Vec<Belief>,
    pub(super) nothing: Belief,
}

impl Beliefs {
    fn all_mut(&mut self) -> impl Iterator<Item = &mut Belief> {
        self.places.iter_mut().chain([&mut self.nothing])
    }

    /// The candidate that stands out.
    pub(super) fn suspect(&self) -> Option<&Belief> {
        let least = tuning::STAND_OUT_SHARE * (1.0 - self.nothing.probability);
        let alone = self.places.iter().filter(|belief| belief.kind == Kind::Alone);
        let likeliest = alone.max_by(|a, b| a.probability.total_cmp(&b.probability));
        likeliest.filter(|belief| belief.probability > least && belief.probability < 1.0)
    }

    /// Makes a cut one at which an interval ends.
    pub(super) fn split(&mut self, candidates: &Candidates, cut: usize) {
        let index = self.places.partition_point(|belief| belief.end < cut);
        let Some(&whole) = self.places.get(index).filter(|belief| cut > 0 && belief.end != cut) else { return };
        let begin = index.checked_sub(1).map_or(0, |before| self.places[before].end);
        let share = candidates.weight(begin, cut) / candidates.weight(begin, whole.end);
        self.places[index].probability = whole.probability * (1.0 - share);
        self.places.insert(index, Belief { end: cut, probability: whole.probability * share, ..whole });
    }

    /// How a run of a part may end whose cut is where an interval ends.
    pub(super) fn forecast(&self, set: CandidateSet) -> Forecast {
        self.places.iter().chain([&self.nothing]).fold(Forecast::default(), |sum, belief| {
            let rate = belief.rate(set);
            sum.plus(belief.probability, Forecast { failure: rate, doubt: entropy(rate) })
        })
    }

    /// How likely it is that a run ends so, and what would be believed then; the rates are taken for known. Its cut is
    /// where an interval ends.
    pub(super) fn condition_on(mut self, failed: bool, set: CandidateSet) -> (f64, Self) {
        let mut sum = 0.0;
        for belief in self.all_mut() {
            let rate = belief.rate(set);
            belief.probability *= if failed { rate } else { 1.0 - rate };
            sum += belief.probability;
        }
        for belief in self.all_mut() {
            belief.probability /= sum;
        }
        (sum, self)
    }
}
