//! The number of trials and runs of a search: ours compared with that of Go's tool, on simulated targets with known
//! culprits.
//!
//! Trials are the engine's questions in a mode that trusts each run. *Runs* are those that the driver makes by default,
//! including the repeated runs that detect a flaky target. Go's tool makes two runs a trial by default, or one with
//! `-count=1`; the ratios are its runs divided by ours.
//!
//! Time is not measured, so the figures are the same on every machine. Ends with status 1 if a mean is over its bound:
//! the sum over all sets of m · (log2 N + 1) + 2, and 4 more. `SEEDS=n` sets the number of seeds (200).

use std::{collections::BTreeSet, process::ExitCode};

use bisect_core::search::{Noise, Options, Verdict};
use bisect_tests::{go_peer::GoPeer, seeds::number_of_seeds, simulator::Simulator};

const CHANGES: [u32; 3] = [100, 1_000, 10_000];
const SIZES_OF_SETS: [&[u32]; 5] = [&[1], &[1, 1], &[2], &[3], &[1, 2]];

fn main() -> ExitCode {
    let seeds = number_of_seeds(200, 5);
    println!("mean number over {seeds} seeds");
    println!(
        "{:>8}  {:<8}{:>8}{:>8}{:>8}{:>10}{:>9}{:>8}{:>8}",
        "changes", "sets", "trials", "bound", "runs", "Go, of 1", "Go, of 2", "ratio", "ratio"
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
    /// The runs that the driver makes by default.
    runs: f64,
    /// Go's runs at one run a trial.
    go_once: f64,
    /// Go's runs at its default of two runs a trial.
    go_twice: f64,
}

impl Row {
    fn measure(changes: u32, sizes: &'static [u32], seeds: u32) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let [ours, runs, go_once, go_twice] = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|worker| {
                    let seeds = (0..seeds).skip(worker).step_by(threads);
                    scope.spawn(move || seeds.map(|seed| trials(seed, changes, sizes)).fold([0; 4], add))
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().expect("no search panics")).fold([0; 4], add)
        })
        .map(|sum: u32| f64::from(sum) / f64::from(seeds));
        let set = |&size: &u32| f64::from(size) * (f64::from(changes).log2() + 1.0) + 2.0;
        let bound = sizes.iter().map(set).sum::<f64>() + 4.0;
        Self { changes, sizes, ours, bound, runs, go_once, go_twice }
    }

    fn print(&self) {
        let Self { changes, ours, bound, runs, go_once, go_twice, .. } = self;
        let sizes: Vec<_> = self.sizes.iter().map(ToString::to_string).collect();
        let sizes = format!("{{{}}}", sizes.join(","));
        let [once, twice] = [go_once, go_twice].map(|go| go / runs);
        println!(
            "{changes:>8}  {sizes:<8}{ours:>8.1}{bound:>8.1}{runs:>8.1}{go_once:>10.1}{go_twice:>9.1}{once:>8.2}{twice:>8.2}"
        );
    }
}

fn add(a: [u32; 4], b: [u32; 4]) -> [u32; 4] {
    std::array::from_fn(|i| a[i] + b[i])
}

/// Returns our trials and runs, and Go's runs at one and at two a trial. Both searches must find everything.
fn trials(seed: u32, changes: u32, sizes: &[u32]) -> [u32; 4] {
    let mut next = 0;
    let sets: Vec<BTreeSet<usize>> = sizes
        .iter()
        .map(|&size| {
            next += size as usize;
            (next - size as usize..next).collect()
        })
        .collect();
    let mut simulator = Simulator::failing_with(seed.into(), changes as usize, sets.clone());
    let [trials, runs] = [Noise::Refused, Noise::Suspected(0.99)].map(|noise| {
        let found = simulator.search(Options { noise, ..Options::default() });
        assert_eq!(found.verdict, Verdict::Complete);
        let same = sets.iter().all(|set| found.sets.contains(set)) && found.sets.len() == sets.len();
        assert!(same, "seed {seed}: {:?} instead of {sets:?}", found.sets);
        u32::try_from(found.runs).expect("few runs")
    });
    let [once, twice] = [1, 2].map(|count| {
        let report = simulator.search_like_go(GoPeer { count, ..GoPeer::default() }).expect("an honest target");
        assert_eq!(report.sets.len(), sets.len());
        u32::try_from(report.runs).expect("few runs")
    });
    [trials, runs, once, twice]
}
