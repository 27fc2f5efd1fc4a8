//! The number of seeds that a bench of numbers of runs tries.

use std::env;

/// Returns the value of `SEEDS`, else the number for a bench. As part of `cargo test --all-targets`, a few seeds show
/// that the bench works.
#[must_use]
pub fn number_of_seeds(of_bench: u32, of_test: u32) -> u32 {
    // `cargo bench` passes `--bench`.
    let default = if env::args().any(|arg| arg == "--bench") { of_bench } else { of_test };
    env::var("SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(default)
}
