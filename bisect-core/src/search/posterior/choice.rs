//! The choice of the set that is most worth a run.
//!
//! While no candidate stands out, the worth of a run is its expected information about the change per expected cost:
//! the mutual information of outcome and change. Once a candidate stands out, the worth is the expected evidence for
//! this candidate against all other hypotheses together, from runs of the candidate alone and from runs without it. If
//! the hypothesis that no candidate matters stands out, the evidence is for that one, from runs of all candidates and of
//! none.

use alloc::vec::Vec;

use super::{
    beliefs::{Belief, Beliefs, Forecast, Kind},
    candidate_set::CandidateSet,
    candidates::Candidates,
    math::{divergence, entropy, exp2},
};
use crate::search::tuning;

/// The costs of a run, by its outcome; only their ratio matters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    pub(super) failing: f64,
    pub(super) passing: f64,
}

impl Costs {
    fn of(self, failure: f64) -> f64 {
        self.passing + (self.failing - self.passing) * failure
    }
}

/// A set, and its worth in bits per cost.
#[derive(Clone, Copy, Debug)]
struct Choice {
    set: CandidateSet,
    worth: f64,
}

/// The data of a choice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chooser<'a> {
    pub(super) candidates: &'a Candidates,
    pub(super) costs: Costs,
    /// True if only prefixes can be run: the candidates are steps of a counter.
    pub(super) is_counter: bool,
}

impl Chooser<'_> {
    /// Returns the set to run next while runs of other sets are in flight.
    pub(super) fn next(self, beliefs: &Beliefs, in_flight: &[CandidateSet]) -> CandidateSet {
        let futures = self.futures(beliefs, in_flight);
        let mut sets: Vec<CandidateSet> = futures.iter().map(|(_, future)| self.best(future).set).collect();
        sets.sort_unstable();
        sets.dedup();
        if let [set] = sets[..] {
            return set;
        }
        let worth = |set: CandidateSet| {
            let of_future = |(likelihood, future): &(f64, Beliefs)| {
                let mut future = future.clone();
                future.split(self.candidates, set.prefix);
                likelihood * self.worth(future.forecast(set))
            };
            futures.iter().map(of_future).sum::<f64>()
        };
        let choices = sets.into_iter().map(|set| Choice { set, worth: worth(set) });
        choices.max_by(|a, b| a.worth.total_cmp(&b.worth)).expect("there is a future").set
    }

    /// Returns the most likely posteriors after the runs in flight, each with its probability.
    fn futures(self, beliefs: &Beliefs, in_flight: &[CandidateSet]) -> Vec<(f64, Beliefs)> {
        let mut futures: Vec<_> = [(1.0, beliefs.clone())].into();
        for set in in_flight.iter().map(|set| set.plain()) {
            let ends = futures.into_iter().flat_map(|(likelihood, mut before)| {
                before.split(self.candidates, set.prefix);
                [true, false].map(|failed| {
                    let (share, after) = before.clone().condition_on(failed, set);
                    (likelihood * share, after)
                })
            });
            futures = ends.filter(|&(likelihood, _)| likelihood > 0.0).collect();
            futures.sort_by(|a, b| b.0.total_cmp(&a.0));
            futures.truncate(tuning::MAX_FUTURES);
        }
        futures
    }

    /// Returns the best set, with nothing in flight.
    fn best(self, beliefs: &Beliefs) -> Choice {
        if let Some(leading) = beliefs.leading() {
            return self.confirmation(beliefs, leading);
        }
        // The gain minus a ratio times the cost has a maximum of 0 exactly at the best ratio of gain to cost
        // (Dinkelbach).
        let mut best = self.best_at(beliefs, 0.0);
        if self.costs.failing.total_cmp(&self.costs.passing).is_ne() {
            for _ in 0..tuning::COST_ROUNDS {
                let next = self.best_at(beliefs, best.worth);
                if next.worth <= best.worth {
                    break;
                }
                best = next;
            }
        }
        best
    }

    /// Returns the best of three kinds of sets: prefixes that end with an interval, prefixes that end within an
    /// interval at its optimum for a price in bits per unit of cost, and single candidates.
    fn best_at(self, beliefs: &Beliefs, price: f64) -> Choice {
        let of_none = beliefs.forecast(CandidateSet::prefix(0));
        let mut best = Choice { set: CandidateSet::prefix(0), worth: self.worth(of_none) };
        let mut consider = |set, forecast| {
            let worth = self.worth(forecast);
            if worth > best.worth {
                best = Choice { set, worth };
            }
        };
        let (mut begin, mut before) = (0, of_none);
        for belief in &beliefs.places {
            let change = Forecast::of_change(belief);
            if belief.end - begin > 1 && change.failure > f64::EPSILON {
                // The gain is concave within an interval. Its derivative is 0 where the log-odds of passing have this
                // value.
                let odds = exp2(change.doubt / change.failure + price * (self.costs.failing - self.costs.passing));
                let share = (1.0 / (1.0 + odds) - before.failure) / change.failure;
                if share > 0.0 && share < 1.0 {
                    let cut = self.candidates.cut_at(begin, belief.end, share);
                    let whole = self.candidates.weight(begin, belief.end);
                    for cut in [cut, (cut + 1).min(belief.end)] {
                        let share = self.candidates.weight(begin, cut) / whole;
                        consider(CandidateSet::prefix(cut), before.plus(share, change));
                    }
                }
            }
            before = before.plus(1.0, change);
            begin = belief.end;
            // The hypothesis of the same candidate together with others follows.
            if belief.kind != Kind::Alone {
                consider(CandidateSet::prefix(begin), before);
            }
        }
        for alone in beliefs.places.iter().filter(|belief| belief.kind == Kind::Alone && !self.is_counter) {
            consider(CandidateSet::alone(alone.end - 1), of_none.plus(1.0, Forecast::of_change(alone)));
        }
        best
    }

    /// Returns the set whose run is the best evidence for the hypothesis that stands out. For a candidate, this is the
    /// candidate alone, or the empty set without it; for a counter, the steps up to the candidate, or those before it.
    /// For the hypothesis that no candidate matters, this is the set of all candidates or the empty set.
    fn confirmation(self, beliefs: &Beliefs, leading: &Belief) -> Choice {
        let choice = |set: CandidateSet| {
            let forecast = beliefs.forecast(set);
            let rate = leading.rate(set);
            let of_others = (forecast.failure - leading.probability * rate) / (1.0 - leading.probability);
            let evidence = divergence(rate, of_others.clamp(0.0, 1.0)).min(tuning::MAX_EVIDENCE);
            Choice { set, worth: evidence / self.costs.of(forecast.failure.clamp(0.0, 1.0)) }
        };
        let all = self.candidates.len();
        let (with, without, preference) = match (leading.kind, leading.end) {
            (Kind::Nothing, _) => (CandidateSet::prefix(all), CandidateSet::prefix(0), 1.0),
            (_, end) if self.is_counter => {
                (CandidateSet::prefix(end), CandidateSet::prefix(end - 1), tuning::ALONE_PREFERENCE)
            }
            (_, end) => (CandidateSet::alone(end - 1), CandidateSet::prefix(0), tuning::ALONE_PREFERENCE),
        };
        let (with, without) = (choice(with), choice(without));
        if without.worth > preference * with.worth { without } else { with }
    }

    fn worth(self, forecast: Forecast) -> f64 {
        let failure = forecast.failure.clamp(0.0, 1.0);
        (entropy(failure) - forecast.doubt) / self.costs.of(failure)
    }
}
