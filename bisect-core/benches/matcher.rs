//! The time of one decision under patterns of many terms.
//!
//! ```text
//! cargo bench -p bisect-core --bench matcher
//! ```
//! *single*: the terms are whole IDs. *mixed*: they have 12 to 64 bits, as those of groups have.
//!
//! With a binary search for each length of the terms, *single* took 11.4, 18.1, 25.0, 31.2, 39.0 and 73.4 ns in these
//! rows, and *mixed* 11.5, 20.7, 96.2, 218.4, 484.6 and 568.3 ns.
#![allow(missing_docs)]

use std::{env, hint::black_box, time::Instant};

use bisect_core::{ChangeId, Matcher, Pattern, Suffix};

/// Nanoseconds of a decision that are allowed.
const BOUND: f64 = 30.0;

/// The decisions of one measurement.
const DECISIONS: u32 = 1 << 16;

/// The fastest of these many measurements counts.
const MEASUREMENTS: usize = 20;

/// Returns a number for each `n` that looks random (the finalizer of `SplitMix64`).
fn hash(n: u64) -> u64 {
    let mut bits = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// Returns the nanoseconds of one decision. Half of the decisions are about IDs that a term selects.
fn time(terms: u64, length: impl Fn(u64) -> u32) -> f64 {
    let suffixes = (0..terms).map(|n| Suffix::new(hash(n), length(n)));
    let matcher = Matcher::new(&Pattern::new(suffixes, [])).expect("there are terms");
    let ids: Vec<_> = (0..u64::from(DECISIONS)).map(|n| ChangeId(hash(hash(n) % (2 * terms)))).collect();
    let measure = |_| {
        let begun = Instant::now();
        let selected = ids.iter().filter(|&&id| matcher.should_enable(black_box(id))).count();
        black_box(selected);
        begun.elapsed().as_secs_f64() * 1e9 / f64::from(DECISIONS)
    };
    (0..MEASUREMENTS).map(measure).fold(f64::INFINITY, f64::min)
}

fn main() {
    if !env::args().any(|argument| argument == "--bench") {
        println!("only as a bench: cargo bench -p bisect-core --bench matcher");
        return;
    }
    println!("Decides the form of a compiled pattern: the time of one decision, not counting what the runtime");
    println!("does around it, at most {BOUND} ns. *single*: terms of whole IDs; *mixed*: of 12 to 64 bits, as in");
    println!("groups.\n");
    println!("| terms | single, ns | mixed, ns |\n|---:|---:|---:|");
    let mut is_within = true;
    for terms in [1, 10, 100, 1_000, 10_000, 100_000] {
        let (single, mixed) = (time(terms, |_| 64), time(terms, |n| 12 + (hash(n) % 53) as u32));
        println!("| {terms} | {single:.1} | {mixed:.1} |");
        is_within &= terms > 10_000 || single.max(mixed) <= BOUND;
    }
    assert!(is_within, "a decision takes longer than {BOUND} ns");
}
