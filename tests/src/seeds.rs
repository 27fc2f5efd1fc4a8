//! The seeds that a bench of numbers of runs tries.

use std::{env, ops::Range};

/// Returns the value of `SEEDS`, else the number for a bench. As part of `cargo test --all-targets`, a few seeds show
/// that the bench works.
#[must_use]
pub fn number_of_seeds(of_bench: u32, of_test: u32) -> u32 {
    // `cargo bench` passes `--bench`.
    let default = if env::args().any(|arg| arg == "--bench") { of_bench } else { of_test };
    env::var("SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(default)
}

/// Returns this number of seeds. The first one is the value of `SEED`, else 0.
///
/// # Panics
/// If `SEED` is not a number, or the last seed has more than 32 bits.
#[must_use]
pub fn seeds(number: u32) -> Range<u32> {
    let first = env::var("SEED").map_or(0, |seed| seed.parse().expect("SEED is a number below 2^32"));
    first..first.checked_add(number).expect("SEED + SEEDS is below 2^32")
}
