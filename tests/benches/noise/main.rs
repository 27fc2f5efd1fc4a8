//! The promises for flaky targets, and the number of runs: on simulated targets, ours compared with peers.
//!
//! The seeds are the same each time, so the figures are the same on every machine. The tables are Markdown, for
//! BENCHMARKS.md. A figure beyond its bound is marked; then the bench ends with status 1. `SEEDS=n` sets the number of
//! seeds (1,000); `ONLY=commits` selects the last table. If `BISECT_TEST_GIT_BAYESECT` names a Python that has the
//! package `git-bayesect`, that searches the same problems.

mod bayesect;
mod commits;
mod go;
mod ours;
mod study;

use std::{env, process::ExitCode};

use study::Changes;

fn main() -> ExitCode {
    // `cargo bench` passes `--bench`; as part of `cargo test --all-targets`, few seeds suffice to show that it works.
    let is_bench = env::args().any(|arg| arg == "--bench");
    let seeds = env::var("SEEDS").ok().map(|seeds| seeds.parse().expect("SEEDS is a number"));
    let seeds: u32 = seeds.unwrap_or(if is_bench { 1_000 } else { 2 }).max(1);
    if env::var_os("ONLY").is_some_and(|only| only == "commits") {
        return if commits::commits(seeds) { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let changes = [1_024, 65_536].map(Changes::new);
    let (rows, mut holds) = ours::one_culprit(&changes, seeds);
    ours::calibration(&changes, &rows);
    holds &= ours::several(&changes, seeds);
    ours::by_default(&changes, seeds.div_ceil(5));
    holds &= ours::noise(&changes[0], seeds);
    holds &= ours::deterministic(&changes, seeds.div_ceil(5));
    go::go(&changes, seeds.div_ceil(5));
    holds &= bayesect::bayesect(&changes, &rows, seeds);
    holds &= commits::commits(seeds);
    // Results of few seeds prove nothing.
    if holds || !is_bench {
        ExitCode::SUCCESS
    } else {
        eprintln!("a figure is beyond its bound");
        ExitCode::FAILURE
    }
}
