//! How often runs fail: what is believed of the two rates, on a grid.
//!
//! The grid has its points at equal distances of angle: a rate is the squared sine of its angle. On that scale an
//! estimate from *n* runs is about as sharp everywhere, and an even weight is Jeffreys' prior, Beta(1/2, 1/2). Its ends
//! are exactly 0 and 1, which have weights of their own: a target that never fails without the change is no limit of
//! one that does now and then, but the usual case.
//!
//! Against closed forms (products of Beta functions) a grid has the order of the two rates for nothing, any prior, and no
//! transcendental function: evidence is a product of table entries, and a sum over all pairs of rates is one pass.

use super::math::{exponent_of, power_of_two};

/// How many steps the grid has.
const STEPS: usize = 64;
pub(super) const POINTS: usize = STEPS + 1;

/// The cosine of pi / [`STEPS`].
const COSINE: f64 = 0.998_795_456_205_172_4;

/// A likelihood is scaled up when its maximum is below 2 to this power.
const SCALE: i32 = -200;

/// What is believed before the first run.
#[derive(Clone, Debug)]
pub(super) struct Prior {
    /// The rates of the grid, ascending.
    rates: [f64; POINTS],
    /// The weight of each as the rate without the change.
    without: [f64; POINTS],
    /// The weight of each as the rate with it.
    with: [f64; POINTS],
    /// Beside the product of both: never without, always with.
    certain: f64,
    /// The weight of each as the one rate of a target that does not depend on the change.
    alike: [f64; POINTS],
}

/// Parts of the prior that have probabilities of their own.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    /// It never fails without the change.
    pub never: f64,
    /// It always fails with it.
    pub always: f64,
    /// Both.
    pub certain: f64,
    /// Neither matters: the rates are the same.
    pub alike: f64,
    /// weight of the confirmation term
    pub extrinsic: f64,
}

impl Default for Tuning {
    fn default() -> Self {
        Self { never: 0.3, always: 0.3, certain: 0.3, alike: 0.2, extrinsic: 1.0 }
    }
}

impl Prior {
    pub(super) fn new(tuning: Tuning) -> Self {
        let mut rates = [0.0; POINTS];
        // The cosines of multiples of an angle; sin² x = (1 - cos 2x) / 2.
        let (mut before, mut cosine) = (COSINE, 1.0);
        for rate in &mut rates {
            *rate = f64::midpoint(1.0, -cosine).max(0.0);
            (before, cosine) = (cosine, 2.0 * COSINE * cosine - before);
        }
        rates[STEPS] = 1.0;
        let even = 1.0 / f64::from(u32::try_from(STEPS).expect("it is small"));
        let mut even = [even; POINTS];
        even[0] /= 2.0;
        even[STEPS] /= 2.0;
        let mut without = even.map(|weight| weight * (1.0 - tuning.never));
        without[0] += tuning.never;
        without[STEPS] = 0.0;
        let mut with = even.map(|weight| weight * (1.0 - tuning.always));
        with[STEPS] += tuning.always;
        with[0] = 0.0;
        let mut prior = Self { rates, without, with, certain: 0.0, alike: even.map(|weight| weight * tuning.alike) };
        let ordered = prior.weigh(&Likelihood::ONE, &Likelihood::ONE).sum;
        let factor = (1.0 - tuning.alike - tuning.certain) / ordered;
        prior.without = prior.without.map(|weight| weight * factor);
        prior.certain = tuning.certain;
        prior
    }

    /// The sum over all pairs of rates, the one without the change less than the one with it.
    pub(super) fn weigh(&self, without: &Likelihood, with: &Likelihood) -> Weight {
        let certain = self.certain * without.values[0] * with.values[STEPS];
        let mut weight = Weight {
            sum: certain,
            without: 0.0,
            with: certain,
            exponent: without.exponent + with.exponent,
        };
        let (mut below, mut below_of_rate) = (0.0, 0.0);
        for i in 0..POINTS {
            let rate = self.rates[i];
            let here = self.with[i] * with.values[i];
            weight.sum += here * below;
            weight.with += here * rate * below;
            weight.without += here * below_of_rate;
            let here = self.without[i] * without.values[i];
            below += here;
            below_of_rate += here * rate;
        }
        weight
    }

    /// The sum over all rates that do not depend on the change.
    pub(super) fn weigh_alike(&self, all: &Likelihood) -> Weight {
        let mut weight = Weight { sum: 0.0, without: 0.0, with: 0.0, exponent: all.exponent };
        for i in 0..POINTS {
            let here = self.alike[i] * all.values[i];
            weight.sum += here;
            weight.with += here * self.rates[i];
        }
        weight.without = weight.with;
        weight
    }

    /// Adds to each rate, with and without, its part of [`weigh`](Self::weigh)'s sum times a factor.
    pub(super) fn marginals(
        &self,
        (without, with): (&Likelihood, &Likelihood),
        factor: f64,
        (of_without, of_with): (&mut [f64; POINTS], &mut [f64; POINTS]),
    ) {
        let certain = factor * self.certain * without.values[0] * with.values[STEPS];
        of_without[0] += certain;
        of_with[STEPS] += certain;
        let (mut below, mut above) = (0.0, 0.0);
        for i in 0..POINTS {
            of_with[i] += factor * self.with[i] * with.values[i] * below;
            below += self.without[i] * without.values[i];
        }
        for i in (0..POINTS).rev() {
            of_without[i] += factor * self.without[i] * without.values[i] * above;
            above += self.with[i] * with.values[i];
        }
    }

    pub(super) fn rates(&self) -> &[f64; POINTS] {
        &self.rates
    }
}

/// How likely what was observed is, for each rate of the grid.
#[derive(Clone, Debug)]
pub(super) struct Likelihood {
    values: [f64; POINTS],
    /// The power of two that all values are to be multiplied with.
    exponent: i32,
}

impl Likelihood {
    /// That of nothing observed.
    pub(super) const ONE: Self = Self { values: [1.0; POINTS], exponent: 0 };

    /// Takes one run more.
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
}

/// A sum over rates, to be multiplied with a power of two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weight {
    /// The likelihood of what was observed.
    pub(super) sum: f64,
    /// The same, times the rate without the change.
    pub(super) without: f64,
    /// The same, times the rate with it.
    pub(super) with: f64,
    pub(super) exponent: i32,
}

impl Weight {
    /// The power of two that it is about.
    pub(super) fn magnitude(&self) -> Option<i32> {
        (self.sum >= f64::MIN_POSITIVE).then(|| exponent_of(self.sum) + self.exponent)
    }

    /// What to multiply the sums with, for them to be in units of this power of two.
    pub(super) fn factor(&self, unit: i32) -> f64 {
        // In two steps, as the product may be in the range of numbers where a factor is not.
        power_of_two((self.exponent - unit).clamp(-2000, 1000))
    }
}
