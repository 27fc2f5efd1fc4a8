//! The posterior of each interval of candidates.

use alloc::vec::Vec;

use super::{candidate_set::CandidateSet, candidates::Candidates, math::entropy};
use crate::search::tuning;

/// The way in which the change is in an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The change suffices alone: a run of the change alone counts as a run with the change.
    Alone,
    /// The change needs other changes before it.
    InCompany,
    /// Alone or together with others; the interval has several candidates, none of which was run alone.
    Either,
    /// No candidate matters.
    Nothing,
}

/// The hypothesis that the change is in an interval, between two cuts. The observations support all candidates of the
/// interval equally.
#[derive(Clone, Copy, Debug)]
pub(super) struct Belief {
    /// The cut at the end of the interval, which begins at the end of the interval before.
    pub(super) end: usize,
    pub(super) kind: Kind,
    /// The probability of the hypothesis.
    pub(super) probability: f64,
    /// The expected failure rate without the change.
    pub(super) without: f64,
    /// The expected failure rate with the change.
    pub(super) with: f64,
}

impl Belief {
    /// Returns the failure rate of runs of a set under this hypothesis. The interval must be on one side of the set's
    /// cut.
    pub(super) fn rate(&self, set: CandidateSet) -> f64 {
        let before = self.kind != Kind::Nothing && set.has_before(self.end);
        let itself = self.kind == Kind::Alone && set.plus.is_some_and(|plus| plus + 1 == self.end);
        if before || itself { self.with } else { self.without }
    }
}

/// The forecast of a run of a set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Forecast {
    /// The probability of a failure.
    pub(super) failure: f64,
    /// The entropy of the outcome that would remain if the change were known: a conditional entropy.
    pub(super) doubt: f64,
}

impl Forecast {
    pub(super) fn plus(self, share: f64, other: Forecast) -> Self {
        Self { failure: self.failure + share * other.failure, doubt: self.doubt + share * other.doubt }
    }

    /// Returns the difference that a hypothesis makes to a forecast if the run is with its change.
    pub(super) fn of_change(belief: &Belief) -> Self {
        Self {
            failure: belief.probability * (belief.with - belief.without),
            doubt: belief.probability * (entropy(belief.with) - entropy(belief.without)),
        }
    }
}

/// The hypotheses for all intervals, in order: one for an interval of several candidates, one for each kind for a
/// single candidate.
#[derive(Clone, Debug)]
pub(super) struct Beliefs {
    pub(super) places: Vec<Belief>,
    pub(super) nothing: Belief,
}

impl Beliefs {
    fn all_mut(&mut self) -> impl Iterator<Item = &mut Belief> {
        self.places.iter_mut().chain([&mut self.nothing])
    }

    /// Returns the likelier of two hypotheses, if either stands out: that of the candidate that stands out, and
    /// [`Kind::Nothing`] from [`tuning::STAND_OUT_NOTHING`] on.
    pub(super) fn leading(&self) -> Option<&Belief> {
        let nothing = Some(&self.nothing).filter(|nothing| nothing.probability >= tuning::STAND_OUT_NOTHING);
        let candidates = [self.suspect(), nothing].into_iter().flatten().filter(|belief| belief.probability < 1.0);
        candidates.max_by(|a, b| a.probability.total_cmp(&b.probability))
    }

    /// Returns the hypothesis of the candidate that stands out, if one does.
    pub(super) fn suspect(&self) -> Option<&Belief> {
        let least = tuning::STAND_OUT_SHARE * (1.0 - self.nothing.probability);
        let alone = self.places.iter().filter(|belief| belief.kind == Kind::Alone);
        let likeliest = alone.max_by(|a, b| a.probability.total_cmp(&b.probability));
        likeliest.filter(|belief| belief.probability > least && belief.probability < 1.0)
    }

    /// Splits the interval that contains a cut, so that an interval ends there.
    pub(super) fn split(&mut self, candidates: &Candidates, cut: usize) {
        let index = self.places.partition_point(|belief| belief.end < cut);
        let Some(&whole) = self.places.get(index).filter(|belief| cut > 0 && belief.end != cut) else { return };
        let begin = index.checked_sub(1).map_or(0, |before| self.places[before].end);
        let share = candidates.weight(begin, cut) / candidates.weight(begin, whole.end);
        self.places[index].probability = whole.probability * (1.0 - share);
        self.places.insert(index, Belief { end: cut, probability: whole.probability * share, ..whole });
    }

    /// Returns the forecast of a run of a set. An interval must end at the set's cut.
    pub(super) fn forecast(&self, set: CandidateSet) -> Forecast {
        self.places.iter().chain([&self.nothing]).fold(Forecast::default(), |sum, belief| {
            let rate = belief.rate(set);
            sum.plus(belief.probability, Forecast { failure: rate, doubt: entropy(rate) })
        })
    }

    /// Returns the probability of this outcome, and the posterior given this outcome, with the rates taken as known. An
    /// interval must end at the set's cut.
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
