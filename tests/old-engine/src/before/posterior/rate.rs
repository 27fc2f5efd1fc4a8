//! The estimate of a failure rate.

use super::rate_grid::POINTS;

/// The probability of a rate that may lie below the lower bound, and of one that may lie above the upper bound.
const TAIL: f64 = 0.025;

/// The estimate of a failure rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// The posterior mean.
    pub mean: f64,
    /// The lower bound: the rate is below it with a probability of at most 2.5%.
    pub low: f64,
    /// The upper bound: the rate is above it with a probability of at most 2.5%.
    pub high: f64,
}

impl Rate {
    /// Returns the mean and the bounds of rates with these weights.
    pub(super) fn summary(rates: &[f64; POINTS], weights: &[f64; POINTS]) -> Self {
        let whole: f64 = weights.iter().sum();
        let mean = weights.iter().zip(rates).map(|(weight, rate)| weight * rate).sum::<f64>() / whole;
        // The outermost rate with at most `TAIL` of the weight beyond it.
        let bound = |mut points: &mut dyn Iterator<Item = usize>| {
            let mut sum = 0.0;
            let bound = Iterator::find(&mut points, |&i| {
                sum += weights[i];
                sum > TAIL * whole
            });
            bound.map_or(mean, |i| rates[i])
        };
        Self { mean, low: bound(&mut (0..POINTS)), high: bound(&mut (0..POINTS).rev()) }
    }
}
