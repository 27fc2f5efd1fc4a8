//! Searches with known rates, compared with a limit; and rounds of several runs at once, compared with `-j 1`.

use std::num::NonZeroUsize;

use bisect_core::search::{
    Noise, Options, Search, Step,
    posterior::{CandidateSet, ChangePoint, Evidence},
};
use bisect_tests::flaky::{Random, Rates};

use crate::study::{Changes, RATES, each_seed, least_runs, mean, rates, row};

/// The runs that make a rate known to the search.
const KNOWN_RUNS_PER_RATE: u32 = 10_000;
/// The allowed probability of a wrong answer.
const ALLOWED_ERROR: f64 = 0.01;

/// Measures the posterior alone, as if both rates were known from the start.
pub(crate) fn known_rates(all: &[Changes], seeds: u32) {
    println!("\n## Known rates\n");
    println!(
        "The posterior alone, after {KNOWN_RUNS_PER_RATE} earlier runs at each rate have shown the rates:\n\
         mean runs until a change has a probability of 0.99, without any proof, beside *Burnashev*: see the\n\
         table \"One culprit\". {seeds} seeds.\n\n\
         In the rows (1, 0.5), C1 is infinite: if a run without x passes, it excludes all changes of the run.\n\
         But runs of prefixes and of single changes yield at most D(1, 0.5) = 1 bit against the changes\n\
         after x. With this as C1, *Burnashev* is 37.7 and 56.3.\n"
    );
    println!("| changes | p1, p0 | right | runs | Burnashev | ratio |\n|---:|---|---:|---:|---:|---:|");
    for changes in all {
        for rates in RATES {
            let searches = each_seed(seeds, |seed| search_with_known_rates(changes, rates, seed));
            let runs = mean(&searches, |search| search.0);
            let right = 100.0 * mean(&searches, |search| u32::from(search.1));
            let limit = least_runs(changes, rates, 1.0) - ALLOWED_ERROR.log2() / rates.divergence();
            println!("{} {right:.1}% | {runs:.1} | {limit:.1} | {:.2} |", row(changes, rates), runs / limit);
        }
    }
}

/// Searches with known rates. Returns the number of runs, and true if the answer is right.
fn search_with_known_rates(changes: &Changes, rates: Rates, seed: u32) -> (u32, bool) {
    let mut known = Evidence::new();
    for run in 0..KNOWN_RUNS_PER_RATE {
        // `rate` of every 100 runs fail.
        let fails = |rate: f64| f64::from(run * 37 % 100) < rate * 100.0;
        known.observe(true, fails(rates.with));
        known.observe(false, fails(rates.without));
    }
    let mut random = Random::new(u64::from(seed) << 32 | u64::from(changes.count));
    let culprit = random.below(changes.count as usize);
    let mut point = ChangePoint::new(changes.count as usize, &known);
    // There is something to find.
    point.set_prior_of_nothing(0.0);
    let has = |set: CandidateSet| culprit < set.prefix || set.plus == Some(culprit);
    for runs in 0.. {
        if let Some(candidate) = point.likeliest().filter(|candidate| candidate.probability() >= 1.0 - ALLOWED_ERROR) {
            return (runs, candidate.index == culprit);
        }
        let set = point.next(&[]);
        let failed = random.unit() < if has(set) { rates.with } else { rates.without };
        point.observe(set, failed);
    }
    unreachable!("a candidate becomes likely")
}

/// Measures rounds of runs, all of which take the same time.
pub(crate) fn rounds(changes: &Changes, seeds: u32) {
    println!("\n## Several runs at once\n");
    println!(
        "One culprit of 1,024 changes, confidence 0.99: mean rounds until it is named, if all runs of a\n\
         round take the same time, and how many times fewer than with `-j 1`. {seeds} seeds.\n"
    );
    println!("| p1, p0 | `-j 1` | `-j 2` | `-j 4` | `-j 16` |\n|---|---:|---:|---:|---:|");
    for rates in [rates(1.0, 0.0), rates(0.9, 0.1), rates(0.7, 0.3), rates(0.5, 0.0)] {
        let means = [1, 2, 4, 16]
            .map(|jobs| mean(&each_seed(seeds, |seed| rounds_until_named(changes, rates, seed, jobs)), |n| *n));
        let cells = means.map(|rounds| format!(" {rounds:.1} ({:.2}×) |", means[0] / rounds));
        println!("| {}, {} |{}", rates.with, rates.without, cells.concat());
    }
}

/// Returns the rounds until the first culprit is named.
fn rounds_until_named(changes: &Changes, rates: Rates, seed: u32, jobs: usize) -> u32 {
    let mut target = changes.target(seed, &[1], rates);
    let in_flight = NonZeroUsize::new(jobs).expect("there is a job");
    let mut search = Search::new(Options { noise: Noise::Expected(0.99), in_flight, ..Options::default() });
    for round in 0.. {
        let mut running = Vec::new();
        while let Step::Run(trial) = search.step() {
            running.push(trial);
        }
        if running.is_empty() || !search.culprits().is_empty() {
            return round;
        }
        for trial in running {
            search.record(trial.id, [target.run(&trial.selection)]);
        }
    }
    unreachable!("every search ends")
}
