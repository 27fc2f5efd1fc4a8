//! What is believed of each interval of candidates, and which cut that makes worth a run.
//!
//! The worth of a run is what it is expected to tell about which candidate it is, for its expected cost. It is the
//! extrinsic Jensen–Shannon divergence (Naghshvar, Javidi, Wigger, "Extrinsic Jensen–Shannon divergence: applications to
//! variable-length coding", 2015): as long as no candidate stands out that is the mutual information of outcome and
//! candidate; once one does, it is the evidence that decides between it and the others.

use alloc::vec::Vec;

use super::{
    candidates::Candidates,
    math::{divergence, entropy, exp2},
};

/// From this probability on a candidate stands out.
const STANDS_OUT: f64 = 0.02;

/// An interval of candidates between two cuts that were run, all of which are equally well supported by what was observed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Belief {
    /// The cut where it ends; it begins where the one before ends.
    pub(super) end: usize,
    /// How likely the change is in it.
    pub(super) probability: f64,
    /// How often runs fail without the change, if it is in it.
    pub(super) without: f64,
    /// How often runs fail with the change, if it is in it.
    pub(super) with: f64,
    pub(super) doubt_without: f64,
    pub(super) doubt_with: f64,
}

/// What a run is expected to cost, by how it ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    pub(super) failing: f64,
    pub(super) passing: f64,
}

impl Costs {
    fn expected(self, failure: f64) -> f64 {
        self.passing + (self.failing - self.passing) * failure
    }
}

/// The chance of failure at a cut, and the part of it that the candidate explains.
#[derive(Clone, Copy, Debug)]
struct Forecast {
    failure: f64,
    /// The entropy of the outcome once the candidate is known.
    doubt: f64,
}

/// A candidate that stands out: a single one between two cuts.
#[derive(Clone, Copy, Debug)]
struct Suspect {
    belief: Belief,
}

/// The cut most worth a run, and its worth: bits for the cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Best {
    pub(super) cut: usize,
    pub(super) worth: f64,
}

#[derive(Debug)]
pub(super) struct Chooser<'a> {
    pub(super) candidates: &'a Candidates,
    pub(super) beliefs: &'a [Belief],
    pub(super) costs: Costs,
    pub(super) extrinsic: f64,
    pub(super) contrast: f64,
    pub(super) alike: f64,
}

impl Chooser<'_> {
    pub(super) fn best(&self) -> Best {
        // Dinkelbach: the best ratio is where the gain less ratio times cost has its maximum, at 0.
        let mut best = self.pass(0.0);
        if (self.costs.failing - self.costs.passing).abs() > 1e-9 * self.costs.failing.max(self.costs.passing) {
            for _ in 0..3 {
                let next = self.pass(best.worth);
                if next.worth <= best.worth {
                    break;
                }
                best = next;
            }
        }
        best
    }

    fn pass(&self, ratio: f64) -> Best {
        let suspects: Vec<_> = self.suspects();
        let mut best = Best { cut: 0, worth: -1.0 };
        let mut consider = |cut: usize, forecast: Forecast| {
            let worth = self.worth(cut, forecast, &suspects);
            if worth > best.worth {
                best = Best { cut, worth };
            }
        };
        let mut at = Forecast { failure: 0.0, doubt: 0.0 };
        for belief in self.beliefs {
            at.failure += belief.probability * belief.without;
            at.doubt += belief.probability * (belief.doubt_without - self.contrast * divergence(belief.without, self.alike));
        }
        consider(0, at);
        let mut begin = 0;
        for belief in self.beliefs {
            let slope = belief.probability * (belief.with - belief.without);
            let doubt = belief.probability * (belief.doubt_with - belief.doubt_without - self.contrast * (divergence(belief.with, self.alike) - divergence(belief.without, self.alike)));
            let after = Forecast { failure: at.failure + slope, doubt: at.doubt + doubt };
            if belief.end - begin > 1 && slope > 1e-12 {
                // Within an interval the gain is concave, and flat where the log-odds of passing are this.
                let odds = exp2(doubt / slope + ratio * (self.costs.failing - self.costs.passing));
                let share = (1.0 / (1.0 + odds) - at.failure) / slope;
                if share > 0.0 && share < 1.0 {
                    let cut = self.candidates.cut_at(begin, belief.end, share);
                    for cut in [cut, cut + 1] {
                        let share = self.candidates.weight(begin, cut) / self.candidates.weight(begin, belief.end);
                        consider(cut, Forecast {
                            failure: at.failure + share * slope,
                            doubt: at.doubt + share * doubt,
                        });
                    }
                }
            }
            consider(belief.end, after);
            at = after;
            begin = belief.end;
        }
        best
    }

    fn suspects(&self) -> Vec<Suspect> {
        let mut begin = 0;
        let mut suspects = Vec::new();
        for belief in self.beliefs {
            if belief.end - begin == 1 && belief.probability > STANDS_OUT && self.extrinsic > 0.0 {
                suspects.push(Suspect { belief: *belief });
            }
            begin = belief.end;
        }
        suspects
    }

    fn worth(&self, cut: usize, forecast: Forecast, suspects: &[Suspect]) -> f64 {
        let failure = forecast.failure.clamp(0.0, 1.0);
        let mut gain = entropy(failure) - forecast.doubt;
        for Suspect { belief } in suspects {
            let rate = if belief.end <= cut { belief.with } else { belief.without };
            let others = ((failure - belief.probability * rate) / (1.0 - belief.probability)).clamp(0.0, 1.0);
            // The rate may differ from all others' by so much that one run decides: worth a lot, but no more.
            let extra = (divergence(rate, others) - divergence(rate, failure)).min(64.0);
            gain += self.extrinsic * belief.probability * extra;
        }
        gain / self.costs.expected(failure)
    }
}
