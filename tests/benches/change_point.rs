//! How many runs the search for one change takes of a flaky target, and how often it is right: on simulated targets, with
//! the same seeds each time, so the figures are the same on every machine.
//!
//! The first two runs are of everything and of nothing. The bound is 1.25 · (log2 N + log2(1/δ)) / C, where C is the capacity of
//! the channel that tells with which rate runs fail; a row that is right less often than in 1 - δ, or takes more runs on
//! average, is marked. `SEEDS=n` instead of 1,000.

use bisect_core::noise::{ChangePoint, Evidence, Part};

/// With the change, and without it.
const RATES: [(f64, f64); 6] = [(1.0, 0.0), (0.9, 0.1), (0.7, 0.3), (0.5, 0.0), (0.3, 0.0), (1.0, 0.5)];
const ONLY_NOISE: [f64; 3] = [0.05, 0.5, 0.95];
const CANDIDATES: [u32; 2] = [1_024, 65_536];
/// The chances of a wrong answer that are allowed.
const DELTAS: [f64; 3] = [0.1, 0.05, 0.01];
const MOST_RUNS: u32 = 2_000;
/// Runs of a target that is only noise.
const RUNS_OF_NOISE: u32 = 500;

fn main() {
    let seeds = std::env::var("SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    // `cargo bench` says `--bench`; as one of `cargo test --all-targets` a few seeds show that it works.
    let seeds = seeds.unwrap_or(if std::env::args().any(|arg| arg == "--bench") { 1_000 } else { 3 });
    println!("{seeds} seeds; for each δ: right, mean runs (bound), 95% take at most");
    for candidates in CANDIDATES {
        for rates in RATES {
            row(candidates, rates, seeds);
        }
    }
    println!("only noise, within {RUNS_OF_NOISE} runs: named something");
    for rate in ONLY_NOISE {
        noise(rate, seeds / 5 + 1);
    }
}

/// A search that ended, or was given up.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    runs: u32,
    right: bool,
    named: bool,
}

fn row(candidates: u32, (with, without): (f64, f64), seeds: u32) {
    let mut ends: Vec<[End; 3]> = (0..seeds).map(|seed| search(seed, candidates, with, without, MOST_RUNS)).collect();
    print!("{candidates:>6} ({with}, {without})\t");
    for (i, delta) in DELTAS.into_iter().enumerate() {
        ends.sort_by_key(|ends| ends[i]);
        let mean = ends.iter().map(|ends| f64::from(ends[i].runs)).sum::<f64>() / f64::from(seeds);
        let right = share(&ends, |ends| ends[i].right);
        let most = ends[ends.len() * 95 / 100][i].runs;
        let bound = 1.25 * (f64::from(candidates).log2() - delta.log2()) / capacity(with, without);
        let mark = if right < 1.0 - delta || mean > bound { '!' } else { ' ' };
        print!(" | δ {delta}: {:>5.1}% {mean:>6.1} ({bound:>5.1}) {most:>4}{mark}", 100.0 * right);
    }
    println!();
}

fn noise(rate: f64, seeds: u32) {
    let ends: Vec<_> = (0..seeds).map(|seed| search(seed, CANDIDATES[0], rate, rate, RUNS_OF_NOISE)).collect();
    print!("{:>6} ({rate}, {rate})\t", CANDIDATES[0]);
    for (i, delta) in DELTAS.into_iter().enumerate() {
        print!(" | δ {delta}: {:>5.1}%", 100.0 * share(&ends, |ends| ends[i].named));
    }
    println!();
}

fn share(ends: &[[End; 3]], which: impl Fn(&[End; 3]) -> bool) -> f64 {
    let count = ends.iter().filter(|ends| which(ends)).count();
    f64::from(u32::try_from(count).expect("few seeds")) / f64::from(u32::try_from(ends.len()).expect("few seeds"))
}

/// One search, which ends for each δ in turn.
fn search(seed: u32, candidates: u32, with: f64, without: f64, most: u32) -> [End; 3] {
    let mut random = Random(u64::from(seed) << 32 | u64::from(candidates));
    let all = candidates as usize;
    let change = usize::try_from(random.next() % u64::from(candidates)).expect("it is less than candidates");
    let mut search = ChangePoint::new(all, &Evidence::new());
    let mut ends = [End { runs: most, right: false, named: false }; 3];
    let mut next = 0;
    for runs in 1..=most {
        let part = match runs {
            1 => Part::below(all),
            2 => Part::below(0),
            _ => search.next(&[]),
        };
        let has_change = change < part.below || part.also == Some(change);
        search.observe(part, random.unit() < if has_change { with } else { without });
        let Some(likeliest) = search.likeliest() else { continue };
        while next < DELTAS.len() && likeliest.alone > 1.0 - DELTAS[next] {
            ends[next] = End { runs, right: likeliest.index == change, named: true };
            next += 1;
        }
        if next == DELTAS.len() {
            break;
        }
    }
    ends
}

/// How many bits a run tells at most about which of both rates it fails with.
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

    /// In [0, 1).
    fn unit(&mut self) -> f64 {
        f64::from(u32::try_from(self.next() >> 32).expect("32 bits")) / (f64::from(u32::MAX) + 1.0)
    }
}
