//! How long it may still take.

use super::{
    beliefs::{Beliefs, Kind},
    candidates::Candidates,
    math::{divergence, entropy, exp2, log2},
};

/// The runs until a candidate is so likely: those of prefixes tell at most the capacity of the channel each about the place,
/// and those of the candidate by itself the divergence of both rates.
pub(super) fn runs_left(candidates: &Candidates, beliefs: &Beliefs, confidence: f64) -> f64 {
    let (mut begin, mut bits, mut without, mut with, mut whole) = (0, 0.0, 0.0, 0.0, 0.0);
    for belief in &beliefs.places {
        if belief.probability > 0.0 {
            let weight = if belief.kind == Kind::Either { candidates.weight(begin, belief.end) } else { 1.0 };
            bits += belief.probability * (log2(weight) - log2(belief.probability));
            without += belief.probability * belief.without;
            with += belief.probability * belief.with;
            whole += belief.probability;
        }
        begin = belief.end;
    }
    if whole <= 0.0 {
        return 0.0;
    }
    let bits = bits / whole + log2(whole);
    let (without, with) = (without / whole, with / whole);
    let last = divergence(with, without.max(1e-3)).max(1e-9);
    bits.max(0.0) / capacity(without, with).max(1e-9) - log2(1.0 - confidence) / last
}

/// How many bits a run tells at most about which of both rates it fails with.
fn capacity(without: f64, with: f64) -> f64 {
    let (failure, doubt) = (with - without, entropy(with) - entropy(without));
    if failure < 1e-6 {
        return 0.0;
    }
    let rate = 1.0 / (1.0 + exp2(doubt / failure));
    let share = (rate - without) / failure;
    entropy(rate) - entropy(without) - share * doubt
}
