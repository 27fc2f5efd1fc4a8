//! Scratch: rounds.
use std::num::NonZeroUsize;
use bisect_core::search::{Noise, Options};
use bisect_tests::{seeds::{number_of_seeds, seeds}, simulator::Simulator};
fn main() {
    let number = number_of_seeds(100, 5);
    let only = std::env::var("ONLY").ok();
    for changes in [100_usize, 1000, 10000] {
        for sizes in [&[1_usize][..], &[2], &[1, 1], &[3], &[1, 2]] {
            if only.as_ref().is_some_and(|only| *only != format!("{changes}")) { continue }
            let mut next = 0;
            let sets: Vec<std::collections::BTreeSet<usize>> = sizes.iter().map(|&size| { next += size; (next - size..next).collect() }).collect();
            let t = std::time::Instant::now();
            let one = |j: usize| -> (f64, f64) {
                let n: (usize, usize) = seeds(number).map(|seed| {
                    let mut s = Simulator::failing_with(seed.into(), changes, sets.clone());
                    let f = s.search(Options { noise: Noise::Refused, in_flight: NonZeroUsize::new(j).unwrap(), ..Options::default() });
                    assert_eq!(f.sets.len(), sets.len());
                    (f.rounds, f.runs)
                }).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
                (n.0 as f64 / f64::from(number), n.1 as f64 / f64::from(number))
            };
            let [a, b, c] = [2, 4, 16].map(one);
            println!("{changes:>7} {:<8} {:>6.2} {:>6.2} {:>6.2}   runs {:>6.1} {:>6.1} {:>6.1}  {:.1} s", format!("{sizes:?}"), a.0, b.0, c.0, a.1, b.1, c.1, t.elapsed().as_secs_f64());
        }
    }
}
