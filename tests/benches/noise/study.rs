//! Many searches on simulated targets, and statistics about them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

use bisect_core::search::{Options, Rank, Verdict};
use bisect_tests::{
    flaky::{self, FlakyTarget, Rates, entropy},
    seeds,
};

/// The failure rates with a culprit, and without.
pub(crate) const RATES: [Rates; 6] =
    [rates(1.0, 0.0), rates(0.9, 0.1), rates(0.7, 0.3), rates(0.5, 0.0), rates(0.3, 0.0), rates(1.0, 0.5)];

pub(crate) const fn rates(with: f64, without: f64) -> Rates {
    Rates { with, without }
}

/// The candidates of a search.
#[derive(Debug)]
pub(crate) struct Changes {
    pub(crate) count: u32,
    /// Sets of hashes that the seeds share.
    ids: Vec<Arc<[Rank]>>,
}

impl Changes {
    pub(crate) fn new(count: u32) -> Self {
        Self { count, ids: (0..16).map(|seed| flaky::changes(seed, count as usize)).collect() }
    }

    /// Returns true if runs take long enough that fewer seeds are used.
    pub(crate) fn is_many(&self) -> bool {
        self.count > 10_000
    }

    /// Returns a target of these changes with culprits of these sizes.
    pub(crate) fn target(&self, seed: u32, sizes: &[usize], rates: Rates) -> FlakyTarget {
        let ids = &self.ids[seed as usize % self.ids.len()];
        FlakyTarget::new(u64::from(seed) << 32 | u64::from(self.count), ids.clone(), sizes, rates)
    }
}

/// Returns the number of changes and the rates, as the first two cells of a row.
pub(crate) fn row(changes: &Changes, Rates { with, without }: Rates) -> String {
    format!("| {} | {with}, {without} |", thousands(changes.count))
}

pub(crate) fn thousands(number: u32) -> String {
    format!("{},{:03}", number / 1_000, number % 1_000)
}

/// Returns the least number of runs for this probability of a wrong answer: log2 of the number of changes plus log2 of
/// 1 / `wrong`, over the capacity of one run in bits.
pub(crate) fn least_runs(changes: &Changes, rates: Rates, wrong: f64) -> f64 {
    (f64::from(changes.count).log2() - wrong.log2()) / rates.capacity()
}

/// Returns a lower limit for the mean runs of a search that names the right change with probability `right`, and any
/// change with at most `innocent` if none matters. The text of the table has the proof.
pub(crate) fn least_until_named(changes: &Changes, rates: Rates, right: f64, innocent: f64) -> f64 {
    (right * (f64::from(changes.count).log2() - innocent.log2()) - entropy(right)) / rates.capacity()
}

/// Returns a figure as a cell, marked if it is beyond its bound.
pub(crate) fn cell(text: &str, holds: bool) -> String {
    if holds { text.to_owned() } else { format!("**{text} ✗**") }
}

pub(crate) fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// Returns the shares that are right, wrong, and neither, in percent.
pub(crate) fn thirds(right: f64, wrong: f64) -> String {
    // The last share may come out as -0.
    let [right, wrong, neither] = [right, wrong, (1.0 - right - wrong).abs()].map(|share| 100.0 * share);
    format!("{right:.0} / {wrong:.0} / {neither:.0}")
}

/// The result of a search for culprits of these sizes.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// Exactly the true culprits are named.
    pub(crate) is_right: bool,
    pub(crate) names_any: bool,
    /// A set is named that is no culprit.
    pub(crate) is_wrong: bool,
    pub(crate) verdict: Verdict,
    /// The number of runs until the first culprit, without its confirmation.
    pub(crate) searched: u32,
    /// The number of runs until the first culprit, with its confirmation.
    pub(crate) named: u32,
    /// The number of runs until the search was over.
    pub(crate) all: u32,
}

impl Sample {
    pub(crate) fn new(target: &mut FlakyTarget, options: Options) -> Self {
        let found = target.search(options);
        let few = |runs: usize| u32::try_from(runs).expect("few runs");
        Self {
            is_right: target.has_exactly(&found.sets),
            names_any: !found.sets.is_empty(),
            is_wrong: found.sets.iter().any(|set| !target.culprits().contains(set)),
            searched: few(found.first.map_or(found.runs, |first| first.searched)),
            named: few(found.first.map_or(found.runs, |first| first.named)),
            all: few(found.runs),
            verdict: found.verdict,
        }
    }
}

/// The samples of one row.
#[derive(Debug)]
pub(crate) struct Samples(Vec<Sample>);

impl Samples {
    /// Runs one search a seed.
    pub(crate) fn take(changes: &Changes, sizes: &[usize], rates: Rates, options: &Options, seeds: u32) -> Self {
        Self(each_seed(seeds, |seed| Sample::new(&mut changes.target(seed, sizes, rates), options.clone())))
    }

    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.0.len()).expect("few samples")
    }

    pub(crate) fn share(&self, which: impl Fn(&Sample) -> bool) -> f64 {
        share(&self.0, which)
    }

    pub(crate) fn right(&self) -> f64 {
        self.share(|sample| sample.is_right)
    }

    pub(crate) fn mean(&self, of: impl Fn(&Sample) -> u32) -> f64 {
        mean(&self.0, of)
    }

    /// Returns the figure that 95% of the searches do not exceed.
    pub(crate) fn most(&self, of: impl Fn(&Sample) -> u32) -> u32 {
        let mut all: Vec<_> = self.0.iter().map(of).collect();
        all.sort_unstable();
        all[(all.len() * 95).div_ceil(100) - 1]
    }
}

pub(crate) fn share<T>(samples: &[T], which: impl Fn(&T) -> bool) -> f64 {
    mean(samples, |sample| which(sample).into())
}

pub(crate) fn mean<T>(samples: &[T], of: impl Fn(&T) -> u32) -> f64 {
    let count = u32::try_from(samples.len()).expect("few samples");
    samples.iter().map(|sample| f64::from(of(sample))).sum::<f64>() / f64::from(count)
}

/// Returns the results of the same work for this number of seeds, on all cores; in no order.
pub(crate) fn each_seed<T: Send>(number: u32, work: impl Fn(u32) -> T + Sync) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let range = seeds::seeds(number);
    let next = AtomicU32::new(range.start);
    thread::scope(|scope| {
        let worker = || {
            let seeds =
                std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed)).take_while(|seed| range.contains(seed));
            seeds.map(&work).collect::<Vec<_>>()
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no search panics")).collect()
    })
}
