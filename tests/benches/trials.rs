//! The number of trials and runs of a search: ours compared with that of Go's tool, on simulated targets with known
//! culprits.
//!
//! Trials are the engine's questions in a mode that trusts each run. *Runs* are those that the driver makes by default,
//! including the repeated runs that detect a flaky target. Go's tool makes two runs a trial by default, or one with
//! `-count=1`; the ratios are its runs divided by ours.
//!
//! *Limit*: log2 of the number of possible answers, and the trials whose answers add no information about the changes: two
//! at the ends, and for each set of *m* changes *m* trials of changes alone and one of the rest.
//!
//! The last four columns are rounds, if all runs take the same time: with 4 and with 16 runs in flight where each run is
//! trusted, and then (*whole*) with the runs that the driver makes by default, which also detect a flaky target. The
//! rounds of a whole search are the time that a user waits, in runs.
//!
//! Time is not measured, so the figures are the same on every machine. Ends with status 1 if a mean exceeds its limit by
//! more than 1.5 trials. A search that is at the limit for one change cannot be there for a set of several.
//! `SEEDS=n` sets the number of seeds (200), `SEED=n` the first one (0).
//!
//! # Limits that no search reaches
//! Why {1,1}, {2} and {3} are above their limits. A search of one change among N = 2^k takes k + 4 trials only if each
//! of its first k trials halves the changes that can still be the only culprit. For sets of two or three these trials
//! then say most if each one is a prefix: its outcomes tell the last needed change (for {1,1}, the first culprit),
//! whose entropy is log2 N minus 0.28 bits for two and 0.62 for three, with N large (the density of the largest of m
//! uniform numbers is m x^(m-1)). For N of 4 and 8, trying all adaptive choices of any sets shows that nothing is
//! better: 0.54 and 0.39 bits are lost for two, 1.19 and 0.84 for three. So {1,1} and {2} take 0.28 above the limit:
//! 25.2 and 24.2 of 1,000. {3} takes 0.62, and 0.28 for its second change if a pair is to take no more: 34.2.
//!
//! Why one change of 1,000 takes 18 runs on average, and not 17. A search does not know whether its target is reliable.
//! With a given seed, each reliable target with one culprit has exactly one sequence of outcomes, at the end of which
//! the culprit is named. Sequences of different targets differ, and none is the beginning of another. Each of N changes
//! can make the target fail when it is enabled, or when it is disabled: 2N sequences. A target that fails at random in
//! half of its runs follows a given sequence of length l with probability 2^-l. Then an innocent change is named. If n
//! is the mean length, the 2N probabilities add up to at least 2N / 2^n, because 2^-l is convex. The bench `trust`
//! allows 1%, so n is at least log2(2N / 0.01): 14.3 runs for 100 changes, 17.6 for 1,000 and 20.9 for 10,000. With
//! three checks instead of four, 2.6% of the searches of that target name a change.
//!
//! Without groups for pairs of changes, {2} of 1,000 takes 9.0 rounds with `-j 4` and 5.8 with `-j 16`, and {1,1} takes
//! 9.7 and 5.7.

use std::{collections::BTreeSet, num::NonZeroUsize, process::ExitCode};

use bisect_core::search::{Noise, Options, Verdict};
use bisect_tests::{
    go_peer::GoPeer,
    seeds::{number_of_seeds, seeds},
    simulator::Simulator,
};

/// Numbers of changes. For each, the searches; each is given by the sizes of the sets that it is to find.
const ROWS: [(u32, &[&[u32]]); 4] =
    [(100, &SIZES_OF_SETS), (1_000, &SIZES_OF_SETS), (5_000, &[&[2]]), (10_000, &SIZES_OF_SETS)];
/// The most trials by which a mean may exceed the limit.
const MOST_ABOVE_LIMIT: f64 = 1.5;
const SIZES_OF_SETS: [&[u32]; 5] = [&[1], &[1, 1], &[2], &[3], &[1, 2]];

fn main() -> ExitCode {
    let number = number_of_seeds(200, 5);
    println!("Decides the numbers of the search of reliable targets. Mean number over {number} seeds; limits that");
    println!(
        "no search reaches: tests/benches/trials.rs. The last four columns: rounds, if all runs take the same time,"
    );
    println!("first of the trials, then of the whole search, with the runs that detect a flaky target.\n");
    println!(
        "{:>8}  {:<8}{:>8}{:>8}{:>8}{:>10}{:>9}{:>8}{:>8}{:>7}{:>7}{:>13}{:>13}",
        "changes",
        "sets",
        "trials",
        "limit",
        "runs",
        "Go, of 1",
        "Go, of 2",
        "ratio",
        "ratio",
        "-j 4",
        "-j 16",
        "whole -j 4",
        "whole -j 16"
    );
    let mut within = true;
    for (changes, sets) in ROWS {
        for sizes in sets {
            let row = Row::measure(changes, sizes, number);
            row.print();
            within &= row.ours <= row.limit + MOST_ABOVE_LIMIT;
        }
    }
    if within {
        ExitCode::SUCCESS
    } else {
        eprintln!("a mean is too far above its limit");
        ExitCode::FAILURE
    }
}

struct Row {
    changes: u32,
    sizes: &'static [u32],
    ours: f64,
    limit: f64,
    /// The runs that the driver makes by default.
    runs: f64,
    /// Go's runs at one run a trial.
    go_once: f64,
    /// Go's runs at its default of two runs a trial.
    go_twice: f64,
    /// The rounds with 4 and with 16 runs in flight where each run is trusted, and then those of a whole search.
    rounds: [f64; 4],
}

impl Row {
    fn measure(changes: u32, sizes: &'static [u32], number: u32) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let [ours, runs, go_once, go_twice, rounds @ ..] = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|worker| {
                    let seeds = seeds(number).skip(worker).step_by(threads);
                    scope.spawn(move || seeds.map(|seed| trials(seed, changes, sizes)).fold([0; 8], add))
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().expect("no search panics")).fold([0; 8], add)
        })
        .map(|sum: u32| f64::from(sum) / f64::from(number));
        Self { changes, sizes, ours, limit: limit(changes, sizes), runs, go_once, go_twice, rounds }
    }

    fn print(&self) {
        let Self { changes, ours, limit, runs, go_once, go_twice, rounds, .. } = self;
        let [four, sixteen, whole_four, whole_sixteen] = rounds;
        let sizes: Vec<_> = self.sizes.iter().map(ToString::to_string).collect();
        let sizes = format!("{{{}}}", sizes.join(","));
        let [once, twice] = [go_once, go_twice].map(|go| go / runs);
        println!(
            "{changes:>8}  {sizes:<8}{ours:>8.1}{limit:>8.1}{runs:>8.1}{go_once:>10.1}{go_twice:>9.1}{once:>8.2}{twice:>8.2}{four:>7.1}{sixteen:>7.1}{whole_four:>13.1}{whole_sixteen:>13.1}"
        );
    }
}

/// Returns the least number of trials: see the module.
fn limit(changes: u32, sizes: &[u32]) -> f64 {
    let mut left = changes;
    let mut limit = 2.0;
    for &size in sizes {
        for i in 0..size {
            limit += (f64::from(left) / f64::from(i + 1)).log2();
            left -= 1;
        }
        limit += f64::from(size + 1);
    }
    // Sets of the same size have no order.
    let alike = |size: u32| sizes.iter().map(|&other| u32::from(other == size)).sum::<u32>();
    limit - (1..=3).flat_map(|size| 1..=alike(size)).map(|i| f64::from(i).log2()).sum::<f64>()
}

fn add(a: [u32; 8], b: [u32; 8]) -> [u32; 8] {
    std::array::from_fn(|i| a[i] + b[i])
}

/// Returns our trials and runs, Go's runs at one and at two a trial, and our rounds with 4 and with 16 runs in flight, of
/// trials and whole. All searches must find everything.
fn trials(seed: u32, changes: u32, sizes: &[u32]) -> [u32; 8] {
    let mut next = 0;
    let sets: Vec<BTreeSet<usize>> = sizes
        .iter()
        .map(|&size| {
            next += size as usize;
            (next - size as usize..next).collect()
        })
        .collect();
    let mut simulator = Simulator::failing_with(seed.into(), changes as usize, sets.clone());
    let mut search = |options| {
        let found = simulator.search(options);
        assert_eq!(found.verdict, Verdict::Complete);
        let same = sets.iter().all(|set| found.sets.contains(set)) && found.sets.len() == sets.len();
        assert!(same, "seed {seed}: {:?} instead of {sets:?}", found.sets);
        found
    };
    let number = |count: usize| u32::try_from(count).expect("few runs");
    let [trials, runs] = [Noise::Refused, Noise::Suspected(0.99)]
        .map(|noise| number(search(Options { noise, ..Options::default() }).runs));
    let modes = [(4, Noise::Refused), (16, Noise::Refused), (4, Noise::Suspected(0.99)), (16, Noise::Suspected(0.99))];
    let [four, sixteen, whole_four, whole_sixteen] = modes.map(|(in_flight, noise)| {
        let in_flight = NonZeroUsize::new(in_flight).expect("not 0");
        number(search(Options { in_flight, noise, ..Options::default() }).rounds)
    });
    let [once, twice] = [1, 2].map(|count| {
        let report = simulator.search_like_go(GoPeer { count, ..GoPeer::default() }).expect("an honest target");
        assert_eq!(report.sets.len(), sets.len());
        number(report.runs)
    });
    [trials, runs, once, twice, four, sixteen, whole_four, whole_sixteen]
}
