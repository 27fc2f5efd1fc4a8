//! How many runs the search for one change takes of a flaky target, and how often it is right.
use std::process::ExitCode;

use bisect_core::noise::{ChangePoint, Tuning};

const RATES: [(f64, f64); 10] = [(1.0, 0.0), (0.9, 0.1), (0.7, 0.3), (0.5, 0.0), (0.3, 0.0), (1.0, 0.5), (0.5, 0.5), (0.2, 0.2), (0.05, 0.05), (0.95, 0.95)];
const DELTAS: [f64; 3] = [0.1, 0.05, 0.01];

struct Rng(u64);
impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn h(p: f64) -> f64 {
    let t = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
    t(p) + t(1.0 - p)
}
fn capacity(p1: f64, p0: f64) -> f64 {
    (0..=100_000).map(|i| { let w = i as f64 / 1e5; h(w * p1 + (1.0 - w) * p0) - w * h(p1) - (1.0 - w) * h(p0) }).fold(0.0, f64::max)
}
fn var(name: &str, default: f64) -> f64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn main() -> ExitCode {
    let seeds = var("SEEDS", 200.0) as u64;
    let d = Tuning::default();
    let tuning = Tuning { never: var("NEVER", d.never), always: var("ALWAYS", d.always), certain: var("CERTAIN", d.certain), alike: var("ALIKE", d.alike), extrinsic: var("EXTRINSIC", d.extrinsic), gap: var("GAP", d.gap as f64) as usize, ratio: var("RATIO", d.ratio), learn: var("LEARN", d.learn), contrast: var("CONTRAST", d.contrast), known: None };
    let oracle = var("ORACLE", 0.0);
    let ends = var("ENDS", 1.0) as usize;
    let only = var("ROW", -1.0);
    println!("{tuning:?}");
    for n in [1024usize, 65536] {
        if var("N", n as f64) as usize != n { continue; }
        for (row, (p1, p0)) in RATES.into_iter().enumerate() {
            if only >= 0.0 && only as usize != row || only < 0.0 && row > 5 { continue; }
            let start = std::time::Instant::now();
            let tuning = Tuning { known: (var("KNOWN", 0.0) > 0.0).then_some((p1, p0)), ..tuning };
            let mut results = vec![Vec::new(); 3];
            let mut total = 0usize; let mut eff = 0.0; let mut imb = 0.0;
            for seed in 0..seeds {
                let mut rng = Rng(seed.wrapping_mul(1_000_003) + row as u64 * 7919 + n as u64);
                let culprit = (rng.next() % n as u64) as usize;
                let mut cp = ChangePoint::new(n, tuning);
                let known = Tuning { known: Some((p1, p0)), ..tuning };
                let mut guide = (oracle == 1.0).then(|| ChangePoint::new(n, known)); if oracle == 2.0 { guide = Some(cp); cp = ChangePoint::new(n, known); }
                let mut runs = 0; let mut history: Vec<(usize, bool)> = Vec::new();
                let mut level = 0; let mut types = [0.0, 0.0];
                while level < 3 && runs < var("MAX", 5000.0) as usize {
                    if oracle == 3.0 { let d = cp.debug(); let mut g = ChangePoint::new(n, Tuning { known: Some((d.2.max(d.1 + 0.05), d.1)), ..tuning }); for &(c, f) in &history { g.observe(c, f); } guide = Some(g); }
 let cut = if runs < 2 * ends { if runs % 2 == 0 { n } else { 0 } } else { guide.as_ref().unwrap_or(&cp).next() };
                    let failed = rng.unit() < if culprit < cut { p1 } else { p0 };
                    cp.observe(cut, failed); history.push((cut, failed)); if let Some(guide) = &mut guide { guide.observe(cut, failed); } types[usize::from(culprit < cut)] += 1.0;
                    runs += 1;
                    if var("TRACE", -1.0) == seed as f64 && runs % 10 == 0 { for p in cp.pieces() { println!("     {:.3} {:>5}..{:<5} {:.2} {:.2}", p.0, p.1 as i64 - culprit as i64, p.2 as i64 - culprit as i64, p.3, p.4); } let d = cp.debug(); let rel = cut as i64 - culprit as i64; println!("{runs:>4} cut {rel:>6} {} bits {:.2} p0 {:.2} p1 {:.2} noise {:.2} best {:?}", u8::from(failed), d.0, d.1, d.2, d.3, cp.likeliest().map(|(k, p)| (k as i64 - culprit as i64, (p * 1000.0).round() / 1000.0))); }
                    while level < 3 && cp.likeliest().is_some_and(|(_, p)| p > 1.0 - DELTAS[level]) {
                        let d = cp.debug(); let k = cp.likeliest().unwrap().0; if k != culprit && var("WRONG", 0.0) > 0.0 { println!("wrong at {runs} level {level} p0 {:.2} p1 {:.2} off {}", d.1, d.2, k as i64 - culprit as i64); } results[level].push((runs, k == culprit));
                        level += 1;
                    }
                }
                while level < 3 { results[level].push((runs, false)); level += 1; }
                total += runs; { let w: f64 = types[1] / (types[0] + types[1]); eff += (h(w * p1 + (1.0 - w) * p0) - w * h(p1) - (1.0 - w) * h(p0)) * runs as f64; imb += w; }
            }
            let us = start.elapsed().as_micros() as f64 / total as f64;
            print!("{n:>6} ({p1},{p0}) ");
            for (level, results) in results.iter_mut().enumerate() {
                results.sort_unstable();
                let right = results.iter().filter(|r| r.1).count() as f64 / seeds as f64;
                let mean = results.iter().map(|r| r.0).sum::<usize>() as f64 / seeds as f64;
                let p95 = results[results.len() * 95 / 100].0;
                let bound = 1.25 * ((n as f64).log2() - DELTAS[level].log2()) / capacity(p1, p0);
                print!(" | {:>5.1}% {mean:>6.1} {p95:>4} ({bound:>5.1}){}", right * 100.0, if right < 1.0 - DELTAS[level] || mean > bound { "!" } else { " " });
            }
            println!("  {us:.1} us/run, {:.2} of capacity, {:.2} with", eff / total as f64 / capacity(p1, p0), imb / seeds as f64);
        }
    }
    ExitCode::SUCCESS
}
