//! The joint distribution of the two failure rates, on a grid.
//!
//! The points of the grid are at equal distances of angle: a rate is the squared sine of its angle. On this scale an
//! estimate from *n* runs has about the same precision everywhere, and an even weight is Jeffreys' prior, Beta(1/2,
//! 1/2). The ends of the grid are exactly 0 and 1 and have separate weights: a target that never fails without the
//! change is the usual case, not the limit of one that sometimes does.
//!
//! In contrast to closed forms (ratios of Beta functions), a grid represents the order of the two rates without extra
//! cost, allows any prior, and needs no transcendental function for a run: it multiplies the entries, and a sum over all
//! pairs of rates takes one pass. Only runs known in advance are added through logarithms: see [`Likelihood::of`].

use super::math::{count, exp2, exponent_of, log2, power_of_two};
use crate::search::tuning::{
    FULL_RATE_GAP, GAP_STEP_FACTOR, MIN_RATE_GAP, NEAR_RATES_FACTOR, PRIOR_ALWAYS_WITH, PRIOR_DETERMINISTIC,
    PRIOR_NEVER_WITHOUT, RATE_STEPS,
};

pub(super) const POINTS: usize = RATE_STEPS + 1;

/// The cosine of pi / [`RATE_STEPS`].
const COSINE: f64 = 0.998_795_456_205_172_4;

/// The weights by gap: a pair of rates has the sum of the weights of all these gaps that it reaches, each multiplied
/// with [`GAP_STEP_FACTOR`] for each step beyond that gap.
const GAPS: [(usize, f64); 2] = [(MIN_RATE_GAP, NEAR_RATES_FACTOR), (FULL_RATE_GAP, 1.0)];

/// The prior distribution of the rates.
#[derive(Clone, Debug)]
pub(super) struct Prior {
    /// The rates of the grid, in ascending order.
    rates: [f64; POINTS],
    /// Weights of single rates.
    even: [f64; POINTS],
    /// Weights of the rate with the change if the rate without it is 0.
    never: [f64; POINTS],
    /// Weights of the rate without the change if the rate with it is 1.
    always: [f64; POINTS],
    /// The factor for pairs of any two rates: it multiplies the product of their weights, the weights of [`GAPS`] and
    /// [`GAP_STEP_FACTOR`] for each step.
    free: f64,
}

impl Prior {
    pub(super) fn new() -> Self {
        let mut rates = [0.0; POINTS];
        // The recurrence of the cosines of multiples of an angle; sin² x = (1 - cos 2x) / 2.
        let (mut before, mut cosine) = (COSINE, 1.0);
        for rate in &mut rates {
            *rate = f64::midpoint(1.0, -cosine);
            (before, cosine) = (cosine, 2.0 * COSINE * cosine - before);
        }
        rates[RATE_STEPS] = 1.0;
        let mut even = [1.0; POINTS];
        even[0] = 0.5;
        even[RATE_STEPS] = 0.5;
        let even = scaled(&even, 1.0);
        let (mut never, mut always) = ([0.0; POINTS], [0.0; POINTS]);
        let mut weight = 1.0;
        for i in MIN_RATE_GAP..POINTS {
            never[i] = even[i] * weight;
            always[RATE_STEPS - i] = even[RATE_STEPS - i] * weight;
            weight *= GAP_STEP_FACTOR;
        }
        let nothing = [0.0; POINTS];
        let free = Self { rates, even, never: nothing, always: nothing, free: 1.0 };
        let pairs = free.weigh(&Likelihood::ONE, &Likelihood::ONE).sum - PRIOR_DETERMINISTIC;
        let factor = (1.0 - PRIOR_NEVER_WITHOUT - PRIOR_ALWAYS_WITH - PRIOR_DETERMINISTIC) / pairs;
        Self {
            never: scaled(&never, PRIOR_NEVER_WITHOUT),
            always: scaled(&always, PRIOR_ALWAYS_WITH),
            free: factor,
            ..free
        }
    }

    /// Returns the sum over all pairs of different rates.
    pub(super) fn weigh(&self, without: &Likelihood, with: &Likelihood) -> Weight {
        let (low, high) = (&without.values, &with.values);
        let certain = PRIOR_DETERMINISTIC * low[0] * high[RATE_STEPS];
        let (mut sum, mut of_without, mut of_with) = (certain, 0.0, certain);
        // Sums of the pairs with an end of the grid, and sums over the lower rates below the present one.
        let (mut never, mut never_rate, mut always, mut always_rate) = (0.0, 0.0, 0.0, 0.0);
        let (mut below, mut below_rate) = (0.0, 0.0);
        for i in 0..POINTS {
            let rate = self.rates[i];
            never += self.never[i] * high[i];
            never_rate += self.never[i] * high[i] * rate;
            always += self.always[i] * low[i];
            always_rate += self.always[i] * low[i] * rate;
            below *= GAP_STEP_FACTOR;
            below_rate *= GAP_STEP_FACTOR;
            for (gap, share) in GAPS {
                if let Some(lower) = i.checked_sub(gap) {
                    let here = share * self.even[lower] * low[lower];
                    below += here;
                    below_rate += here * self.rates[lower];
                }
            }
            if i >= MIN_RATE_GAP {
                let here = self.free * self.even[i] * high[i];
                sum += here * below;
                of_without += here * below_rate;
                of_with += here * rate * below;
            }
        }
        sum += never * low[0] + always * high[RATE_STEPS];
        of_without += always_rate * high[RATE_STEPS];
        of_with += never_rate * low[0] + always * high[RATE_STEPS];
        Weight { sum, without: of_without, with: of_with, exponent: without.exponent + with.exponent }
    }

    /// Returns the sum over all rates that do not depend on the change.
    pub(super) fn weigh_alike(&self, all: &Likelihood) -> Weight {
        let (mut sum, mut rate) = (0.0, 0.0);
        for i in 0..POINTS {
            let here = self.even[i] * all.values[i];
            sum += here;
            rate += here * self.rates[i];
        }
        Weight { sum, without: rate, with: rate, exponent: all.exponent }
    }

    /// Returns the unnormalised probabilities of each rate, without the change and with it, if both rates are
    /// different.
    pub(super) fn marginals(&self, without: &Likelihood, with: &Likelihood) -> [[f64; POINTS]; 2] {
        let (low, high) = (&without.values, &with.values);
        let (mut of_without, mut of_with) = ([0.0; POINTS], [0.0; POINTS]);
        let certain = PRIOR_DETERMINISTIC * low[0] * high[RATE_STEPS];
        of_without[0] += certain;
        of_with[RATE_STEPS] += certain;
        let (mut below, mut above) = (0.0, 0.0);
        for i in 0..POINTS {
            let never = self.never[i] * high[i] * low[0];
            let always = self.always[i] * low[i] * high[RATE_STEPS];
            of_without[0] += never;
            of_with[i] += never;
            of_without[i] += always;
            of_with[RATE_STEPS] += always;
            below *= GAP_STEP_FACTOR;
            above *= GAP_STEP_FACTOR;
            for (gap, share) in GAPS {
                if let Some(lower) = i.checked_sub(gap) {
                    below += share * self.even[lower] * low[lower];
                    // The same sum from the other end of the grid.
                    let higher = RATE_STEPS - lower;
                    above += share * self.even[higher] * high[higher];
                }
            }
            if i >= MIN_RATE_GAP {
                of_with[i] += self.free * self.even[i] * high[i] * below;
                let lower = RATE_STEPS - i;
                of_without[lower] += self.free * self.even[lower] * low[lower] * above;
            }
        }
        [of_without, of_with]
    }

    /// Returns the unnormalised probabilities of each rate that does not depend on the change.
    pub(super) fn marginal_alike(&self, all: &Likelihood) -> [f64; POINTS] {
        core::array::from_fn(|i| self.even[i] * all.values[i])
    }

    pub(super) fn rates(&self) -> &[f64; POINTS] {
        &self.rates
    }

    /// Returns the weight of one pair of different rates.
    #[cfg(test)]
    pub(super) fn of_pair(&self, without: usize, with: usize) -> f64 {
        let mut weight = 0.0;
        for (gap, share) in GAPS {
            if with >= without + gap {
                let farther = i32::try_from(with - without - gap).unwrap();
                weight += self.free * share * self.even[without] * self.even[with] * GAP_STEP_FACTOR.powi(farther);
            }
        }
        weight += if without == 0 { self.never[with] } else { 0.0 };
        weight += if with == RATE_STEPS { self.always[without] } else { 0.0 };
        weight + if (without, with) == (0, RATE_STEPS) { PRIOR_DETERMINISTIC } else { 0.0 }
    }

    /// Returns the weight of one rate that does not depend on the change.
    #[cfg(test)]
    pub(super) fn of_alike(&self, rate: usize) -> f64 {
        self.even[rate]
    }
}

fn scaled(weights: &[f64; POINTS], sum: f64) -> [f64; POINTS] {
    let factor = sum / weights.iter().sum::<f64>();
    weights.map(|weight| weight * factor)
}

/// The exponent of two below which the maximum of a likelihood is scaled up.
const SCALE: i32 = -200;

/// The likelihood of the observations for each rate of the grid.
#[derive(Clone, Debug)]
pub(super) struct Likelihood {
    values: [f64; POINTS],
    /// The power of two by which all values are to be multiplied.
    exponent: i32,
}

impl Likelihood {
    /// The likelihood without observations.
    pub(super) const ONE: Self = Self { values: [1.0; POINTS], exponent: 0 };

    /// Returns the likelihood of this number of passed and of failed runs. Computed from logarithms:
    /// if thousands of passed runs were multiplied in first, the values of all high rates would underflow to 0, and the
    /// failed runs after them could not restore these rates.
    pub(super) fn of(prior: &Prior, passed: usize, failed: usize) -> Self {
        let power = |rate: f64, number: usize| if number == 0 { 0.0 } else { log2(rate) * count(number) };
        let logs = prior.rates.map(|rate| power(1.0 - rate, passed) + power(rate, failed));
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        #[expect(clippy::cast_possible_truncation, reason = "at least one rate explains the runs")]
        let exponent = largest as i32;
        Self { values: logs.map(|log| exp2(log - f64::from(exponent))), exponent }
    }

    /// Takes one more run.
    pub(super) fn observe(&mut self, prior: &Prior, failed: bool) {
        let mut largest = 0.0_f64;
        for (value, rate) in self.values.iter_mut().zip(&prior.rates) {
            *value *= if failed { *rate } else { 1.0 - rate };
            largest = largest.max(*value);
        }
        if largest < power_of_two(SCALE) {
            self.values = self.values.map(|value| value * power_of_two(-SCALE));
            self.exponent += SCALE;
        }
    }

    /// Takes one more run that is equally likely to end either way.
    pub(super) fn observe_uninformative(&mut self) {
        self.exponent -= 1;
    }
}

/// Sums over rates, to be multiplied by a power of two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weight {
    /// The likelihood of the observations, weighted by the prior.
    pub(super) sum: f64,
    /// The same, times the rate without the change.
    pub(super) without: f64,
    /// The same, times the rate with the change.
    pub(super) with: f64,
    exponent: i32,
}

impl Weight {
    /// Returns the exponent of two of the sum; `None` if the sum is 0.
    pub(super) fn magnitude(&self) -> Option<i32> {
        (self.sum >= f64::MIN_POSITIVE).then(|| exponent_of(self.sum) + self.exponent)
    }

    /// Returns the factor that converts the sums to units of this power of two, which must not be less than their
    /// magnitude.
    pub(super) fn factor(&self, unit: i32) -> f64 {
        power_of_two(self.exponent.saturating_sub(unit))
    }
}
