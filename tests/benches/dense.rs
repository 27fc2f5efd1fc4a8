//! The number of trials of a search where many changes are culprits, compared with counter-based delta debugging (CDD).
//!
//! *One set*: the target fails if all *m* changes are enabled. *Clusters*: the same, and the changes form three groups of
//! neighbours. *Each*: it fails if any of *m* changes is. *N* + 4: each
//! change alone, everything, nothing, the set alone and the rest. *Limit*: the same without the trials of single
//! changes, and log2 of the number of sets of *m* changes. *CDD* (Zhang, Xu, Tian, Cheng and Sun, 2024) finds one set:
//! for *each*, it is repeated without the changes that it has found, until the rest passes. *Runs* are those that the
//! driver makes by default. Its checks are *m* + 4 for a set, one more at 8 of its changes, at 16, and so on, and 3 for
//! each culprit after the first: they cost more than the search does.
//!
//! A search that takes log2 *N* + 4 trials for one culprit makes log2 *N* trials, each of half of the candidates,
//! before it names a first culprit. If half of the changes are culprits, the outcomes of these trials are predictable.
//! After that, each change takes one trial. So such a search takes about *N* + 4 + log2 *N* trials.
//!
//! Time is not measured, so the figures are the same on every machine. Ends with status 1 if a mean is above that of
//! CDD, or above *N* + 4 + 2 log2 *N*. `SEEDS=n` sets the number of seeds (20),
//! `SEED=n` the first one (0).

#![expect(clippy::cast_precision_loss, reason = "the numbers are small")]

use std::{collections::BTreeSet, process::ExitCode};

use bisect_core::search::{Noise, Options, Verdict};
use bisect_tests::{
    cdd_peer, details,
    seeds::{number_of_seeds, seeds},
    simulator::Simulator,
};

const CHANGES: [usize; 2] = [1_000, 100];
/// The number of changes up to which runs are counted too: with checks, the search itself takes time.
const MOST_WITH_RUNS: usize = 100;
/// The numbers of changes and of needed changes in the rows with clusters.
const CLUSTERED: [usize; 2] = [2_000, 24];
/// The shares of changes that are culprits, in thousandths.
const SHARES: [usize; 11] = [1, 3, 10, 30, 100, 200, 300, 350, 400, 450, 500];

fn main() -> ExitCode {
    let number = number_of_seeds(20, 1);
    println!("Decides when a search takes many changes for culprits, and the size of its groups: trials stay below");
    println!(
        "CDD's, and below N + 4 + 2 log2 N. Mean number over {number} seeds; *m* culprits as one set, in clusters, or each alone.\n"
    );
    let mut within = true;
    let [clustered, needed] = CLUSTERED;
    for changes in CHANGES {
        if changes != CHANGES[0] {
            for kind in [Kind::OneSet, Kind::Clusters] {
                within &= row(clustered, needed, kind, number);
            }
            details::begin();
        }
        println!(
            "{:>8} {:>6} {:>5}  {:<8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>9}",
            "changes", "share", "m", "culprits", "trials", "most", "limit", "N + 4", "CDD", "runs"
        );
        for share in SHARES {
            let count = changes * share / 1000;
            if count > 0 {
                for kind in [Kind::OneSet, Kind::Each] {
                    within &= row(changes, count, kind, number);
                }
            }
        }
    }
    if within {
        ExitCode::SUCCESS
    } else {
        eprintln!("a search takes too many trials");
        ExitCode::FAILURE
    }
}

/// The ways in which the changes make the target fail.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    OneSet,
    Clusters,
    Each,
}

fn row(changes: usize, count: usize, kind: Kind, number: u32) -> bool {
    let results: Vec<_> = seeds(number).map(|seed| search(u64::from(seed), changes, count, kind)).collect();
    let mean =
        |of: fn(&Counts) -> usize| results.iter().map(|counts| of(counts) as f64).sum::<f64>() / f64::from(number);
    let (trials, runs, cdd) =
        (mean(|counts| counts.trials), mean(|counts| counts.runs.unwrap_or(0)), mean(|counts| counts.cdd));
    let most = results.iter().map(|counts| counts.trials).max().unwrap_or(0);
    let limit = 4.0 + log2_of_sets(changes, count);
    let name = match kind {
        Kind::OneSet => "one set",
        Kind::Clusters => "clusters",
        Kind::Each => "each",
    };
    println!(
        "{changes:>8} {:>6.3} {count:>5}  {name:<8}{trials:>8.1}{most:>8}{limit:>8.1}{:>8}{cdd:>8.1}{:>9}",
        count as f64 / changes as f64,
        changes + 4,
        if changes <= MOST_WITH_RUNS { format!("{runs:.1}") } else { "–".to_owned() }
    );
    trials <= cdd && trials <= (changes + 4) as f64 + 2.0 * (changes as f64).log2()
}

struct Counts {
    trials: usize,
    runs: Option<usize>,
    cdd: usize,
}

/// Returns the numbers for one target. Both searches must find everything.
fn search(seed: u64, changes: usize, count: usize, kind: Kind) -> Counts {
    let order = order(seed, changes);
    let places = places_of_culprits(&order, count, kind);
    let culprit_changes = places.iter().map(|&place| order[place]);
    let sets: Vec<BTreeSet<usize>> = match kind {
        Kind::OneSet | Kind::Clusters => vec![culprit_changes.collect()],
        Kind::Each => culprit_changes.map(|change| BTreeSet::from([change])).collect(),
    };
    let mut simulator = Simulator::failing_with(seed, changes, sets.clone());
    let mut runs_of = |noise| {
        let found = simulator.search(Options { noise, ..Options::default() });
        assert_eq!(found.verdict, Verdict::Complete);
        let same = sets.iter().all(|set| found.sets.contains(set)) && found.sets.len() == sets.len();
        assert!(same, "seed {seed}: {:?} instead of {sets:?}", found.sets);
        found.runs
    };
    let trials = runs_of(Noise::Refused);
    let runs = (changes <= MOST_WITH_RUNS).then(|| runs_of(Noise::Suspected(0.99)));
    Counts { trials, runs, cdd: reduce(changes, places, kind) }
}

/// Returns the number of tests of CDD, whose elements are the changes in the order of their hashes. The culprits are in these
/// places.
fn reduce(changes: usize, needed: BTreeSet<usize>, kind: Kind) -> usize {
    if kind != Kind::Each {
        let (left, tests) = cdd_peer::reduce(changes, |kept| {
            let kept: BTreeSet<_> = kept.iter().collect();
            needed.iter().all(|place| kept.contains(place))
        });
        assert_eq!(left.len(), needed.len());
        return tests;
    }
    let mut culprits = needed;
    let mut rest: Vec<usize> = (0..changes).collect();
    let mut tests = 1;
    while !culprits.is_empty() {
        let (left, more) =
            cdd_peer::reduce(rest.len(), |kept| kept.iter().any(|&place| culprits.contains(&rest[place])));
        // Does the rest still fail?
        tests += more + 1;
        let found = rest.remove(left[0]);
        assert!(culprits.remove(&found) && left.len() == 1);
    }
    tests
}

/// Returns the changes in the order of their hashes, which is that of the search.
fn order(seed: u64, changes: usize) -> Vec<usize> {
    let ids = Simulator::new(seed, changes, Box::new(|_| false));
    let mut order: Vec<usize> = (0..changes).collect();
    order.sort_by_key(|&change| ids.id(change).0.reverse_bits());
    order
}

/// Returns the places of the culprits in the order. It is random, so its first items serve as random numbers, too.
fn places_of_culprits(order: &[usize], count: usize, kind: Kind) -> BTreeSet<usize> {
    if kind != Kind::Clusters {
        return (0..order.len()).filter(|&place| order[place] < count).collect();
    }
    let size = count.div_ceil(3);
    let mut places = BTreeSet::new();
    for start in order.iter().copied().filter(|start| start + size <= order.len()) {
        if places.len() == count {
            break;
        }
        let cluster = start..start + size.min(count - places.len());
        // Beside another one, it would be part of that one.
        if places.range(start.saturating_sub(1)..=cluster.end).next().is_none() {
            places.extend(cluster);
        }
    }
    places
}

fn log2_of_sets(changes: usize, count: usize) -> f64 {
    (0..count).map(|i| ((changes - i) as f64 / (count - i) as f64).log2()).sum()
}
