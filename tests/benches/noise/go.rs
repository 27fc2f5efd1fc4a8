//! The search of Go's tool, which repeats each run and gives up where they differ.

use bisect_core::{ChangeId, search::Rank};
use bisect_tests::{flaky::Rates, go_peer::GoPeer};

use crate::study::{Changes, RATES, each_seed, mean, row, share, thirds};

const COUNTS: [usize; 4] = [1, 2, 5, 10];

struct Sample {
    is_right: bool,
    accuses: bool,
    runs: u32,
}

pub(crate) fn go(all: &[Changes], seeds: u32) {
    println!("\n## Go's bisect\n");
    println!(
        "The same targets, searched as Go's tool does (anew from its behaviour), with that many runs for each\n\
         question: right / accuses a change that does not matter / gives up or misses one, in %; mean runs.\n\
         {seeds} seeds.\n"
    );
    println!("| culprits | changes | p1, p0 | `-count=1` | `-count=2` (default) | `-count=5` | `-count=10` |");
    println!("|---|---:|---|---:|---:|---:|---:|");
    for (name, sizes) in [("one", [1].as_slice()), ("two", &[1, 1]), ("a pair", &[2])] {
        // With more changes, it does not get further.
        for changes in if sizes == [1] { all } else { &all[..1] } {
            for rates in RATES {
                let cells = COUNTS.map(|count| {
                    let samples = each_seed(seeds, |seed| search(changes, seed, sizes, rates, count));
                    let ends =
                        thirds(share(&samples, |sample| sample.is_right), share(&samples, |sample| sample.accuses));
                    format!(" {ends}; {:.1} |", mean(&samples, |sample| sample.runs))
                });
                println!("| {name} {}{}", row(changes, rates), cells.concat());
            }
        }
    }
}

fn search(changes: &Changes, seed: u32, sizes: &[usize], rates: Rates, count: usize) -> Sample {
    let mut target = changes.target(seed, sizes, rates);
    let (report, stuck) = target.search_like_go(GoPeer { count, ..GoPeer::default() });
    let sets: Vec<_> =
        report.sets.iter().map(|set| set.ids.iter().map(|&id| Rank::of(ChangeId(id))).collect()).collect();
    Sample {
        is_right: stuck.is_none() && target.has_exactly(&sets),
        accuses: target.is_any_innocent(sets.iter().flatten()),
        runs: u32::try_from(report.runs).expect("few runs"),
    }
}
