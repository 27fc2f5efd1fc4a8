//! The number of runs that the search for one change takes on a flaky target, and the share of right answers. The
//! targets are simulated with the same seeds each time, so the figures are the same on every machine.
//!
//! The first two runs are of everything and of nothing. The bound is 1.25 · (log2 N + log2(1/δ)) / C, where C is the
//! capacity of the channel that distinguishes the two failure rates. Runs are given three times, as shares of the
//! bound: without the confirmation, which is the last runs in a row of the change by itself and of those before it or
//! none; without the last runs in a row of the change by itself only; and all. A search that is neither right nor wrong
//! was given up, because nothing seemed to matter or after 3,000 runs. A row that is right less often than in 1 - δ is
//! marked, and so is a share above 1. `SEEDS=n` sets the number of seeds (1,000), `FIRST=n` the first one; `FRESH=1`
//! uses rates that no constant was chosen by.

use std::ops::Range;

use bisect_core::search::posterior::{Candidate, CandidateSet, ChangePoint, Evidence};

/// The failure rates with the change, and without it.
const RATES: [(f64, f64); 6] = [(1.0, 0.0), (0.9, 0.1), (0.7, 0.3), (0.5, 0.0), (0.3, 0.0), (1.0, 0.5)];
const FRESH: [(f64, f64); 5] = [(0.8, 0.4), (0.2, 0.05), (0.6, 0.4), (0.95, 0.5), (0.2, 0.0)];
const ONLY_NOISE: [f64; 5] = [0.05, 0.3, 0.5, 0.7, 0.95];
const CANDIDATES: [u32; 2] = [1_024, 65_536];
/// The allowed probabilities of a wrong answer.
const DELTAS: [f64; 3] = [0.1, 0.05, 0.01];
const MOST_RUNS: u32 = 3_000;
/// The number of runs of a target that is only noise.
const RUNS_OF_NOISE: u32 = 1_000;

fn main() {
    let number = |name| std::env::var(name).ok().and_then(|number| number.parse().ok());
    // `cargo bench` passes `--bench`; as part of `cargo test --all-targets`, few seeds suffice to show that it works.
    let seeds = number("SEEDS").unwrap_or(if std::env::args().any(|arg| arg == "--bench") { 1_000 } else { 3 });
    let first = number("FIRST").unwrap_or(0);
    let seeds = first..first + seeds;
    let fresh = number("FRESH").is_some();
    println!("seeds {seeds:?}; for each δ: right, wrong, runs as shares of the bound, mean of all, 95% take at most");
    let start = std::time::Instant::now();
    let mut runs = 0;
    for candidates in CANDIDATES {
        for &rates in if fresh { &FRESH[..] } else { &RATES } {
            runs += row(candidates, rates, seeds.clone());
        }
    }
    println!("{:.0} us for each of {runs} runs", start.elapsed().as_secs_f64() * 1e6 / f64::from(runs));
    println!(
        "only noise, within {RUNS_OF_NOISE} runs or until nothing is likelier than 0.99: named something; until then"
    );
    for rate in ONLY_NOISE {
        noise(rate, seeds.clone());
    }
}

/// A search that ended, or was given up.
#[derive(Clone, Copy)]
struct End {
    runs: u32,
    /// The last runs in a row of the change by itself.
    alone: u32,
    /// The last runs in a row of the change by itself, of those before it or of none.
    confirming: u32,
    named: Option<bool>,
}

fn row(candidates: u32, (with, without): (f64, f64), seeds: Range<u32>) -> u32 {
    let ends: Vec<_> = seeds.map(|seed| search(seed, candidates, with, without, MOST_RUNS).0).collect();
    print!("{candidates:>6} {:<10}", format!("({with}, {without})"));
    for (i, delta) in DELTAS.into_iter().enumerate() {
        let bound = 1.25 * (f64::from(candidates).log2() - delta.log2()) / capacity(with, without);
        let mean = |of: &dyn Fn(&End) -> u32| mean(ends.iter().map(|ends| of(&ends[i])));
        let right = mean(&|end| u32::from(end.named == Some(true)));
        let wrong = mean(&|end| u32::from(end.named == Some(false)));
        let mut all: Vec<u32> = ends.iter().map(|ends| ends[i].runs).collect();
        all.sort_unstable();
        let mark = |bad: bool| if bad { '!' } else { ' ' };
        print!(" | δ {delta}: {:5.1}% {:4.1}%{}", 100.0 * right, 100.0 * wrong, mark(right < 1.0 - delta));
        for runs in [mean(&|end| end.runs - end.confirming), mean(&|end| end.runs - end.alone), mean(&|end| end.runs)] {
            print!(" {:.2}{}", runs / bound, mark(runs > bound));
        }
        print!(" {:6.1} {:4}", mean(&|end| end.runs), all[all.len() * 95 / 100]);
    }
    println!();
    ends.iter().map(|ends| ends[DELTAS.len() - 1].runs).sum()
}

fn noise(rate: f64, seeds: Range<u32>) {
    let searches: Vec<_> = seeds.map(|seed| search(seed, CANDIDATES[0], rate, rate, RUNS_OF_NOISE)).collect();
    print!("{:>6} {:<10}", CANDIDATES[0], format!("({rate}, {rate})"));
    for (i, delta) in DELTAS.into_iter().enumerate() {
        let named = mean(searches.iter().map(|(ends, _)| u32::from(ends[i].named.is_some())));
        print!(" | δ {delta}: {:5.1}%", 100.0 * named);
    }
    println!(" | {:.0}", mean(searches.iter().map(|&(_, runs)| runs)));
}

fn mean(numbers: impl ExactSizeIterator<Item = u32>) -> f64 {
    let number = u32::try_from(numbers.len()).expect("few seeds");
    numbers.map(f64::from).sum::<f64>() / f64::from(number)
}

/// Runs one search, which ends for each δ in turn, or when it is known that nothing matters. Returns these ends and the
/// number of all runs.
fn search(seed: u32, candidates: u32, with: f64, without: f64, most: u32) -> ([End; 3], u32) {
    let mut random = Random(u64::from(seed) << 32 | u64::from(candidates));
    let all = candidates as usize;
    let change = usize::try_from(random.next() % u64::from(candidates)).expect("it is less than candidates");
    let mut search = ChangePoint::new(all, &Evidence::new());
    let mut ends = [End { runs: most, alone: 0, confirming: 0, named: None }; 3];
    let mut parts = Vec::new();
    let mut next = 0;
    for runs in 1..=most {
        let set = match runs {
            1 => CandidateSet::prefix(all),
            2 => CandidateSet::prefix(0),
            _ => search.next(&[]),
        };
        parts.push(set);
        let has_change = change < set.prefix || set.plus == Some(change);
        search.observe(set, random.unit() < if has_change { with } else { without });
        while let Some(&delta) = DELTAS.get(next)
            && let Some(Candidate { index, .. }) = search.found(1.0 - delta)
        {
            let last = |of: &[CandidateSet]| {
                let last = parts.iter().rev().take_while(|set| of.contains(set));
                u32::try_from(last.count()).expect("few runs")
            };
            let alone = last(&[CandidateSet::alone(index)]);
            let confirming = last(&[CandidateSet::alone(index), CandidateSet::prefix(index), CandidateSet::prefix(0)]);
            ends[next] = End { runs, alone, confirming, named: Some(index == change) };
            next += 1;
        }
        if next == DELTAS.len() || search.probability_of_nothing() > 0.99 {
            return (ends, runs);
        }
    }
    (ends, most)
}

/// Returns the largest number of bits by which one run can distinguish the two failure rates.
fn capacity(with: f64, without: f64) -> f64 {
    let entropy = |p: f64| -> f64 { [p, 1.0 - p].iter().filter(|&&p| p > 0.0).map(|p| -p * p.log2()).sum() };
    let of = |share: f64| {
        entropy(share * with + (1.0 - share) * without) - share * entropy(with) - (1.0 - share) * entropy(without)
    };
    (0..=10_000).map(|i| of(f64::from(i) / 1e4)).fold(0.0, f64::max)
}

/// `SplitMix64`.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number in [0, 1).
    fn unit(&mut self) -> f64 {
        f64::from(u32::try_from(self.next() >> 32).expect("32 bits")) / (f64::from(u32::MAX) + 1.0)
    }
}
