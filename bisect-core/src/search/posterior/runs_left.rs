//! The forecast of the number of runs left.

use super::{
    beliefs::{Beliefs, Kind},
    math::{count, divergence, entropy, exp2, log2},
};
use crate::search::tuning;

/// Estimates the runs until the error probability of a candidate is down to `doubt`. Runs of prefixes carry at most the
/// capacity of the channel each about the index of the candidate; runs of the candidate alone carry at most the
/// divergence of both rates. Each interval has its own rates.
pub(super) fn runs_left(beliefs: &Beliefs, doubt: f64) -> f64 {
    let (mut begin, mut bits, mut search, mut confirm, mut whole) = (0, 0.0, 0.0, 0.0, 0.0);
    for belief in &beliefs.places {
        if belief.probability > 0.0 {
            let places = if belief.kind == Kind::Either { count(belief.end - begin) } else { 1.0 };
            bits += belief.probability * (log2(places) - log2(belief.probability));
            search += belief.probability
                / capacity(belief.without, belief.with).clamp(tuning::MIN_FORECAST_BITS, tuning::MAX_FORECAST_BITS);
            let evidence =
                divergence(belief.with, belief.without.max(tuning::MIN_FORECAST_BITS)).max(tuning::MIN_FORECAST_BITS);
            confirm += belief.probability / evidence;
            whole += belief.probability;
        }
        begin = belief.end;
    }
    if whole <= 0.0 {
        return 0.0;
    }
    let bits = (bits / whole + log2(whole)).max(0.0);
    bits * search / whole - log2(doubt) * confirm / whole
}

/// Returns the maximum information, in bits, that one run carries about which of both rates it fails with.
fn capacity(without: f64, with: f64) -> f64 {
    let (failure, doubt) = (with - without, entropy(with) - entropy(without));
    if failure < 1e-6 {
        return 0.0;
    }
    let rate = 1.0 / (1.0 + exp2(doubt / failure));
    let share = (rate - without) / failure;
    entropy(rate) - entropy(without) - share * doubt
}
