//! `git_bayesect`, which searches a history for the commit from which on tests fail more often.

use std::{
    env,
    ffi::OsString,
    io,
    process::{Child, Command, Stdio},
    thread,
};

use bisect_tests::{flaky::Rates, seeds};

use crate::{
    ours::One,
    study::{Changes, RATES, cell, mean, percent, row, share},
};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/noise/bayesect.py");
/// The probabilities at which it stops: its own default, and our default.
pub(crate) const STOPS: [&str; 2] = ["0.95", "0.99"];

/// The result of one of its searches.
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) is_right: bool,
    pub(crate) runs: u32,
}

/// Compares it with our searches for one culprit. Returns true if ours take fewer runs in every row.
pub(crate) fn bayesect(all: &[Changes], rows: &[[One; 3]], seeds: u32) -> bool {
    println!("\n## git_bayesect\n");
    let Some(python) = env::var_os("BISECT_TEST_GIT_BAYESECT") else {
        println!("Not measured: `BISECT_TEST_GIT_BAYESECT` names no Python that has the package `git-bayesect`.");
        return true;
    };
    println!(
        "One culprit among as many commits. The user states which end is good, so it needs no runs there, and\n\
         it confirms nothing: all its runs are counted, and of ours those of the first table. Beside each of\n\
         its rows, for the probability at which it stops (0.95 is its own), the cheapest confidence at which\n\
         ours are right at least as often (compared as (k + ½) / (n + 1), as few seeds show less).\n"
    );
    println!("| changes | p1, p0 | stop | seeds | right | runs | ours: confidence | right | runs | confirmed |");
    println!("|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    let mut holds = true;
    for (changes, rows) in all.iter().zip(rows.chunks(RATES.len())) {
        // One of its runs takes ten milliseconds with this number of changes.
        let seeds = if changes.is_many() { seeds.div_ceil(25) } else { seeds };
        for (rates, ours) in RATES.into_iter().zip(rows) {
            let searches = searches(&python, changes, rates, seeds).unwrap_or_else(|error| panic!("{SCRIPT}: {error}"));
            for (i, stop) in STOPS.into_iter().enumerate() {
                let samples: Vec<_> = searches.iter().map(|search| search[i]).collect();
                let (right, runs) = (share(&samples, |sample| sample.is_right), mean(&samples, |sample| sample.runs));
                let as_right =
                    ours.iter().filter(|one| shown(one.samples.right(), one.samples.count()) >= shown(right, seeds));
                let best = as_right.min_by(|a, b| a.runs().total_cmp(&b.runs()));
                let beaten = best.is_some_and(|one| one.runs() < runs);
                holds &= beaten;
                let beside = best.map_or(cell("none", false) + " | | |", |one| {
                    let confirmed = one.samples.mean(|sample| sample.named);
                    let ours = cell(&format!("{:.1}", one.runs()), beaten);
                    format!("{} | {} | {ours} | {confirmed:.1}", one.claim, percent(one.samples.right()))
                });
                println!("{} {stop} | {seeds} | {} | {runs:.1} | {beside} |", row(changes, rates), percent(right));
            }
        }
    }
    holds
}

/// Returns the share that is used for comparison: half a success and half a failure are added to those of the seeds.
/// The best share of few seeds is thus lower.
fn shown(share: f64, seeds: u32) -> f64 {
    (share * f64::from(seeds) + 0.5) / (f64::from(seeds) + 1.0)
}

/// Runs one search a seed, each with all stops. The seeds are divided among one process a core.
fn searches(python: &OsString, changes: &Changes, rates: Rates, seeds: u32) -> io::Result<Vec<[Sample; 2]>> {
    let processes =
        u32::try_from(thread::available_parallelism().map_or(1, usize::from)).unwrap_or(u32::MAX).min(seeds);
    let range = seeds::seeds(seeds);
    let firsts: Vec<_> = (0..=processes).map(|process| range.start + seeds * process / processes).collect();
    let share = |range: &[u32]| {
        Command::new(python)
            .arg(SCRIPT)
            .args([changes.count.to_string(), rates.with.to_string(), rates.without.to_string()])
            .args([range[0].to_string(), (range[1] - range[0]).to_string()])
            .args(STOPS)
            .env("OPENBLAS_NUM_THREADS", "1")
            .stdout(Stdio::piped())
            .spawn()
    };
    results(firsts.windows(2).map(share).collect::<io::Result<_>>()?)
}

/// Waits for processes that print a line for each search, and returns the results of each with all stops.
pub(crate) fn results(processes: Vec<Child>) -> io::Result<Vec<[Sample; 2]>> {
    let mut searches = Vec::new();
    for process in processes {
        let output = process.wait_with_output()?;
        if !output.status.success() {
            return Err(io::Error::other(format!("it ended with {}", output.status)));
        }
        searches.extend(String::from_utf8_lossy(&output.stdout).lines().map(ends));
    }
    Ok(searches)
}

/// Parses `runs right runs right`.
fn ends(line: &str) -> [Sample; 2] {
    let numbers: Vec<u32> = line.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    [0, 2].map(|i| Sample { runs: numbers[i], is_right: numbers[i + 1] == 1 })
}
