//! The cost of unknown rates: bits that a mixture of all rates spends on outcomes, beyond those that the true rate needs.

use std::iter;

use crate::flaky::Rates;

/// Returns the runs that a search takes whose posterior is Jeffreys' mixture, given its runs with known rates: the bits
/// that the mixture spends on both rates cost runs at the capacity. Runs select the culprit as often as the capacity
/// requires.
#[must_use]
pub fn with_jeffreys_mixture(known: f64, rates: Rates) -> f64 {
    let share = rates.best_share();
    let bits = |runs: f64| redundancy(share * runs, rates.with) + redundancy((1.0 - share) * runs, rates.without);
    let step = |runs: f64| known + bits(runs) / rates.capacity();
    // Each step shortens the distance to the solution by the derivative of `bits`, divided by the capacity: about 1/3.
    (0..50).fold(known, |runs, _| step(runs))
}

/// Returns the redundancy for a number of runs that need not be whole.
fn redundancy(runs: f64, rate: f64) -> f64 {
    let (whole, part) = (runs.floor(), runs.fract());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of runs is small")]
    let whole = whole as usize;
    (1.0 - part) * of_mixture(whole, rate) + part * of_mixture(whole + 1, rate)
}

/// Returns the expected number of bits by which the mixture of Krichevsky and Trofimov, whose prior is Jeffreys',
/// exceeds the optimal code for the outcomes of these runs.
fn of_mixture(runs: usize, rate: f64) -> f64 {
    let logs_of_products = |first: f64| -> Vec<f64> {
        let factors = iter::successors(Some(first), |factor| Some(factor + 1.0)).map(f64::ln);
        iter::once(0.0).chain(factors.scan(0.0, |sum, log| Some((*sum += log, *sum).1))).take(runs + 1).collect()
    };
    let (factorials, halves) = (logs_of_products(1.0), logs_of_products(0.5));
    // 0 · ln 0 is 0.
    let power = |rate: f64, exponent: usize| (0..exponent).map(|_| rate.ln()).sum::<f64>();
    let bits = |fail: usize| {
        let pass = runs - fail;
        let true_rate = power(rate, fail) + power(1.0 - rate, pass);
        let mixture = halves[fail] + halves[pass] - factorials[runs];
        let probability = (factorials[runs] - factorials[fail] - factorials[pass] + true_rate).exp();
        if probability > 0.0 { probability * (true_rate - mixture) } else { 0.0 }
    };
    (0..=runs).map(bits).sum::<f64>() / 2_f64.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_redundancy_is_that_of_the_definition() {
        // The mixture gives 1/2 to the first outcome, and 3/8 to two equal ones.
        let near = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-9, "{value}, not {expected}");
        near(redundancy(1.0, 0.0), 1.0);
        near(redundancy(2.0, 1.0), (8.0_f64 / 3.0).log2());
        near(redundancy(1.5, 0.0), f64::midpoint(1.0, (8.0_f64 / 3.0).log2()));
    }
}
