//! The promises for flaky targets, and the number of runs: on simulated targets, ours compared with peers.
//!
//! The seeds are the same each time, so the figures are the same on every machine. The tables are Markdown, for
//! BENCHMARKS.md. A figure beyond its bound is marked; then the bench ends with status 1. `SEEDS=n` sets the number of
//! seeds (1,000), `SEED=n` the first one (0); `ONLY=NAME` selects a part: `one` (with the tables of confidences and of
//! `git-bayesect`), `known`, `rounds`, `several`, `default`, `noise`, `reliable`, `go` or `commits`. If `BISECT_TEST_GIT_BAYESECT` names a Python that has the package `git-bayesect`, that searches the same problems.

mod bayesect;
mod commits;
mod go;
mod limits;
mod ours;
mod study;

use std::{env, process::ExitCode};

use study::Changes;

fn main() -> ExitCode {
    // `cargo bench` passes `--bench`; as part of `cargo test --all-targets`, few seeds suffice to show that it works.
    let is_bench = env::args().any(|arg| arg == "--bench");
    let seeds = env::var("SEEDS").ok().map(|seeds| seeds.parse().expect("SEEDS is a number"));
    let seeds: u32 = seeds.unwrap_or(if is_bench { 1_000 } else { 2 }).max(1);
    let only = env::var("ONLY").ok();
    let is_wanted = |table: &str| only.as_ref().is_none_or(|only| only == table);
    let changes = [1_024, 65_536].map(Changes::new);
    let few_seeds = seeds.div_ceil(5);
    let mut holds = true;
    if is_wanted("one") {
        let (rows, is_kept) = ours::one_culprit(&changes, seeds);
        ours::calibration(&changes, &rows);
        holds &= is_kept & bayesect::bayesect(&changes, &rows, seeds);
    }
    if is_wanted("known") {
        limits::known_rates(&changes, seeds);
    }
    if is_wanted("rounds") {
        limits::rounds(&changes[0], few_seeds);
    }
    if is_wanted("several") {
        holds &= ours::several(&changes, seeds);
    }
    if is_wanted("default") {
        ours::by_default(&changes, few_seeds);
    }
    if is_wanted("noise") {
        holds &= ours::noise(&changes[0], seeds);
    }
    if is_wanted("reliable") {
        holds &= ours::deterministic(&changes, few_seeds);
    }
    if is_wanted("go") {
        go::go(&changes, few_seeds);
    }
    if is_wanted("commits") {
        holds &= commits::commits(seeds);
    }
    // Results of few seeds prove nothing.
    if holds || !is_bench {
        ExitCode::SUCCESS
    } else {
        eprintln!("a figure is beyond its bound");
        ExitCode::FAILURE
    }
}
