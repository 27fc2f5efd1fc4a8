//! How many trials a search takes: ours beside the one of Go's tool, on simulated targets with known culprits.
//!
//! Not a matter of time, so the figures are the same on every machine. Ends with status 1 if a mean is over its bound,
//! the sum over all sets of m · (log2 N + 1) + 2, and 4 more.

use std::{collections::BTreeSet, process::ExitCode};

use bisect_core::search::{Options, Verdict};
use bisect_tests::{go_peer::GoPeer, simulator::Simulator};

const CHANGES: [u32; 3] = [100, 1_000, 10_000];
const SIZES_OF_SETS: [&[u32]; 5] = [&[1], &[1, 1], &[2], &[3], &[1, 2]];

fn main() -> ExitCode {
    // `cargo bench` says `--bench`; as one of `cargo test --all-targets` a few seeds show that it works.
    let seeds = if std::env::args().any(|arg| arg == "--bench") { 200 } else { 5 };
    println!("mean number over {seeds} seeds");
    println!(
        "{:>8}  {:<8}{:>8}{:>8}{:>10}{:>10}{:>8}",
        "changes", "sets", "trials", "bound", "Go trials", "Go runs", "ratio"
    );
    let mut within = true;
    for changes in CHANGES {
        for sizes in SIZES_OF_SETS {
            let row = Row::measure(changes, sizes, seeds);
            row.print();
            within &= row.ours <= row.bound;
        }
    }
    if within {
        ExitCode::SUCCESS
    } else {
        eprintln!("a mean is over its bound");
        ExitCode::FAILURE
    }
}

struct Row {
    changes: u32,
    sizes: &'static [u32],
    ours: f64,
    bound: f64,
    /// At one run a trial.
    go_trials: f64,
    /// At its default of two.
    go_runs: f64,
}

impl Row {
    fn measure(changes: u32, sizes: &'static [u32], seeds: u32) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let (ours, go_trials, go_runs) = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|worker| {
                    let seeds = (0..seeds).skip(worker).step_by(threads);
                    scope.spawn(move || seeds.map(|seed| trials(seed, changes, sizes)).fold((0, 0, 0), add))
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().expect("no search panics")).fold((0, 0, 0), add)
        });
        let mean = |sum: u32| f64::from(sum) / f64::from(seeds);
        let set = |&size: &u32| f64::from(size) * (f64::from(changes).log2() + 1.0) + 2.0;
        let bound = sizes.iter().map(set).sum::<f64>() + 4.0;
        Self { changes, sizes, ours: mean(ours), bound, go_trials: mean(go_trials), go_runs: mean(go_runs) }
    }

    fn print(&self) {
        let Self { changes, ours, bound, go_trials, go_runs, .. } = self;
        let sizes: Vec<_> = self.sizes.iter().map(ToString::to_string).collect();
        let sizes = format!("{{{}}}", sizes.join(","));
        let ratio = go_trials / ours;
        println!("{changes:>8}  {sizes:<8}{ours:>8.1}{bound:>8.1}{go_trials:>10.1}{go_runs:>10.1}{ratio:>8.2}");
    }
}

fn add(a: (u32, u32, u32), b: (u32, u32, u32)) -> (u32, u32, u32) {
    (a.0 + b.0, a.1 + b.1, a.2 + b.2)
}

/// Our trials, Go's trials, and Go's runs at two a trial. Everything must be found, by both.
fn trials(seed: u32, changes: u32, sizes: &[u32]) -> (u32, u32, u32) {
    let mut next = 0;
    let sets: Vec<BTreeSet<usize>> = sizes
        .iter()
        .map(|&size| {
            next += size as usize;
            (next - size as usize..next).collect()
        })
        .collect();
    let mut simulator = Simulator::failing_with(seed.into(), changes as usize, sets.clone());
    let found = simulator.search(Options::default());
    assert_eq!(found.verdict, Verdict::Complete);
    let [once, twice] = [1, 2].map(|count| {
        let report = simulator.search_like_go(GoPeer { count, ..GoPeer::default() }).expect("an honest target");
        assert_eq!(report.sets.len(), sets.len());
        u32::try_from(report.runs).expect("few runs")
    });
    let same = sets.iter().all(|set| found.sets.contains(set)) && found.sets.len() == sets.len();
    assert!(same, "seed {seed}: {:?} instead of {sets:?}", found.sets);
    (u32::try_from(found.runs).expect("few runs"), once, twice)
}
