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
    entropies: [f64; POINTS],
    even: [f64; POINTS],
    never: [f64; POINTS],
    always: [f64; POINTS],
    free: f64,
    gap: usize,
    ratio: f64,
    certain: f64,
    at: (usize, usize),
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
    /// least gap, in steps
    pub gap: usize,
    /// by which a gap of one step more is likelier
    pub ratio: f64,
    /// weight of the confirmation term
    pub extrinsic: f64,
    /// worth of learning the rates
    pub learn: f64,
    /// worth of what tells both rates apart
    pub contrast: f64,
    /// oracle
    pub known: Option<(f64, f64)>,
}

impl Default for Tuning {
    fn default() -> Self {
        Self { never: 0.2, always: 0.2, certain: 0.03, alike: 0.01, gap: 8, ratio: 0.95, extrinsic: 1.0, learn: 0.3, contrast: 0.5, known: None }
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
        let mut never = [0.0; POINTS];
        let mut always = [0.0; POINTS];
        let mut weight = 1.0;
        for j in tuning.gap..POINTS {
            never[j] = even[j] * weight;
            always[STEPS - j] = even[j] * weight;
            weight *= tuning.ratio;
        }
        let sum: f64 = never.iter().sum();
        let never = never.map(|w| w * tuning.never / sum);
        let always = always.map(|w| w * tuning.always / sum);
        let mut prior = Self { rates, entropies: rates.map(super::math::entropy), even, never: [0.0; POINTS], always: [0.0; POINTS], free: 1.0, gap: tuning.gap, ratio: tuning.ratio, certain: 0.0, at: (0, STEPS), alike: even.map(|weight| weight * tuning.alike) };
        let ordered = prior.weigh(&Likelihood::ONE, &Likelihood::ONE).sum;
        prior.free = (1.0 - tuning.alike - tuning.certain - tuning.never - tuning.always) / ordered;
        prior.certain = tuning.certain;
        prior.never = never;
        prior.always = always;
        if let Some((p1, p0)) = tuning.known {
            let near = |p: f64| (0..POINTS).min_by(|&a, &b| (rates[a] - p).abs().total_cmp(&(rates[b] - p).abs())).unwrap();
            prior.at = (near(p0), near(p1));
            prior.rates[prior.at.0] = p0;
            prior.rates[prior.at.1] = p1;
            prior.entropies = prior.rates.map(super::math::entropy);
            prior.certain = 1.0;
            prior.free = 0.0;
            prior.never = [0.0; POINTS];
            prior.always = [0.0; POINTS];
            prior.alike = [1e-300; POINTS];
        }
        prior
    }

    /// The sum over all pairs of rates, the one without the change less than the one with it.
    pub(super) fn weigh(&self, without: &Likelihood, with: &Likelihood) -> Weight {
        let (b, a) = (&without.values, &with.values);
        let certain = self.certain * b[self.at.0] * a[self.at.1];
        let mut weight = Weight { sum: certain, without: certain * self.rates[self.at.0], with: certain * self.rates[self.at.1], doubt_without: certain * self.entropies[self.at.0], doubt_with: certain * self.entropies[self.at.1], exponent: without.exponent + with.exponent };
        let mut never = [0.0; 3];
        let mut always = [0.0; 3];
        let mut below = [0.0; 3];
        for j in 0..POINTS {
            let (rate, entropy) = (self.rates[j], self.entropies[j]);
            let here = self.never[j] * a[j];
            never[0] += here;
            never[1] += here * rate;
            never[2] += here * entropy;
            let here = self.always[j] * b[j];
            always[0] += here;
            always[1] += here * rate;
            always[2] += here * entropy;
            below = below.map(|x| x * self.ratio);
            if let Some(i) = j.checked_sub(self.gap) {
                let here = self.even[i] * b[i];
                below[0] += here;
                below[1] += here * self.rates[i];
                below[2] += here * self.entropies[i];
                let here = self.free * self.even[j] * a[j];
                weight.sum += here * below[0];
                weight.with += here * rate * below[0];
                weight.doubt_with += here * entropy * below[0];
                weight.without += here * below[1];
                weight.doubt_without += here * below[2];
            }
        }
        weight.sum += never[0] * b[0] + always[0] * a[STEPS];
        weight.with += never[1] * b[0] + always[0] * a[STEPS];
        weight.doubt_with += never[2] * b[0];
        weight.without += always[1] * a[STEPS];
        weight.doubt_without += always[2] * a[STEPS];
        weight
    }

    /// The sum over all rates that do not depend on the change.
    pub(super) fn weigh_alike(&self, all: &Likelihood) -> Weight {
        let mut weight = Weight { sum: 0.0, without: 0.0, with: 0.0, doubt_without: 0.0, doubt_with: 0.0, exponent: all.exponent };
        for i in 0..POINTS {
            let here = self.alike[i] * all.values[i];
            weight.sum += here;
            weight.with += here * self.rates[i];
            weight.doubt_with += here * self.entropies[i];
        }
        weight.without = weight.with;
        weight.doubt_without = weight.doubt_with;
        weight
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
    pub(super) doubt_without: f64,
    pub(super) doubt_with: f64,
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
