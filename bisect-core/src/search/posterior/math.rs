//! The few real functions that `core` lacks without `std`.
//!
//! They use basic operations only, so they return the same bits on every platform, and a search is reproducible
//! everywhere.

use core::f64::consts::{LN_2, SQRT_2};

const MANTISSA_BITS: u32 = f64::MANTISSA_DIGITS - 1;
const BIAS: i32 = f64::MAX_EXP - 1;

/// Returns 2 to an integer power; 0 and infinity outside the range of normal numbers.
#[allow(clippy::cast_sign_loss, reason = "clamped to what is not negative")]
pub(in crate::search) const fn power_of_two(exponent: i32) -> f64 {
    if exponent < f64::MIN_EXP {
        return 0.0;
    }
    if exponent > BIAS {
        return f64::INFINITY;
    }
    f64::from_bits(((exponent + BIAS) as u64) << MANTISSA_BITS)
}

/// Returns the floor of log2 of a normal positive number.
#[allow(clippy::cast_possible_truncation, reason = "an exponent has 11 bits")]
pub(super) const fn exponent_of(x: f64) -> i32 {
    (x.to_bits() >> MANTISSA_BITS) as i32 - BIAS
}

/// Returns log2 of a normal positive number, to about 1e-15; minus infinity for 0 and for numbers below the normal
/// range.
pub(super) fn log2(x: f64) -> f64 {
    if x < f64::MIN_POSITIVE {
        return f64::NEG_INFINITY;
    }
    let mut exponent = exponent_of(x);
    let mut mantissa = x * power_of_two(-exponent / 2) * power_of_two(-exponent - -exponent / 2);
    if mantissa > SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    // ln m = 2 artanh((m - 1) / (m + 1)), a series in the square of at most 0.0295.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let series = (0..=10).rev().fold(0.0, |sum, k| sum * square + 1.0 / f64::from(2 * k + 1));
    f64::from(exponent) + 2.0 / LN_2 * s * series
}

/// Returns 2 to any power, with a relative error of about 1e-15; 0 and infinity outside the range of normal numbers.
#[allow(clippy::cast_possible_truncation, reason = "clamped to what fits")]
pub(super) fn exp2(x: f64) -> f64 {
    let whole = (x.clamp(-2000.0, 2000.0) + if x < 0.0 { -0.5 } else { 0.5 }) as i32;
    let rest = (x.clamp(-2000.0, 2000.0) - f64::from(whole)) * LN_2;
    // A Taylor series, for at most half a power of two.
    let series = (1..=14).rev().fold(1.0, |sum, k| 1.0 + rest / f64::from(k) * sum);
    series * power_of_two(whole)
}

/// Returns a count as a float; above 2^53 it is rounded.
#[allow(clippy::cast_precision_loss, reason = "that many are only weighed")]
pub(in crate::search) const fn count(number: usize) -> f64 {
    number as f64
}

/// Returns the entropy, in bits, of an event of this probability.
pub(in crate::search) fn entropy(p: f64) -> f64 {
    let term = |p: f64| if p > 0.0 { -p * log2(p) } else { 0.0 };
    term(p) + term(1.0 - p)
}

/// Returns the average evidence, in bits per event, by which events of probability `p` distinguish `p` from `q`
/// (Kullback and Leibler).
pub(super) fn divergence(p: f64, q: f64) -> f64 {
    let term = |p: f64, q: f64| if p > 0.0 { p * (log2(p) - log2(q)) } else { 0.0 };
    term(p, q) + term(1.0 - p, 1.0 - q)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use proptest::prelude::*;

    use super::*;

    fn close(ours: f64, theirs: f64) -> bool {
        (ours - theirs).abs() <= 1e-12 * theirs.abs().max(1e-3)
    }

    #[test]
    fn powers_of_two_are_exact() {
        for exponent in f64::MIN_EXP..f64::MAX_EXP {
            assert!(power_of_two(exponent).log2().to_bits() == f64::from(exponent).to_bits());
            assert_eq!(exponent_of(power_of_two(exponent)), exponent);
        }
        assert!(power_of_two(-5000).to_bits() == 0 && power_of_two(5000).is_infinite());
        assert!(log2(0.0) < f64::MIN && exp2(f64::NEG_INFINITY).to_bits() == 0);
    }

    #[test]
    fn entropy_and_divergence_are_what_they_are_called() {
        assert!(close(entropy(0.5), 1.0) && close(entropy(0.1), 0.468_995_593_589_281_2));
        assert!(entropy(0.0).to_bits() == 0 && entropy(1.0).to_bits() == 0);
        assert!(close(divergence(0.5, 0.25), 0.207_518_749_639_421_9) && close(divergence(0.3, 0.3) + 1.0, 1.0));
        assert!(divergence(0.5, 0.0).is_infinite());
    }

    proptest! {
        #[test]
        fn they_are_those_of_std(bits in f64::MIN_POSITIVE.to_bits()..f64::MAX.to_bits(), near in 0.5..2.0, x in -1000.0..1000.0) {
            for x in [f64::from_bits(bits), near] {
                prop_assert!(close(log2(x), x.log2()), "log2({x}) = {}", log2(x));
            }
            prop_assert!((exp2(x) / x.exp2() - 1.0).abs() < 1e-12, "exp2({x}) = {}", exp2(x));
        }
    }
}
