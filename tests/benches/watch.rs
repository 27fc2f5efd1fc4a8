//! Table 1 of "Semi-Automated Debugging via Binary Search through a Process Lifetime" (PLOS 2013), with `watch`.
//!
//! A graph is built edge by edge, and one edge closes a cycle. A check after every edge is compared with `watch`. The
//! table is Markdown, for BENCHMARKS.md. Ends with status 1 if a search exceeds its bounds.
//!
//! The time of the evaluations is that of a search in which each takes twice the mean of the checks up to the cycle.
//! Those checks are evenly spread over all edges. The search is without cargo's build.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::Instant,
};

use bisect_tests::harness::{Finished, cargo, driver, fixtures_target_dir, root, run, scrubbed};

/// The sizes, in multiples of N.
const SCALES: [u32; 4] = [1, 2, 4, 8];
/// The nodes and edges of N.
const N: (u64, u64) = (34_546, 421_578);
/// The seconds of the paper: a check after every edge, and its binary search. For 2N and 4N, this bench has no figures
/// from it.
const PAPER: [Option<(f64, f64)>; 4] = [Some((93.5, 15.1)), None, None, Some((1058.0, 19.1))];
/// The number of runs, of which the quickest counts.
const RUNS: usize = 3;
/// The number of checks in a run from which the time of a check after every edge is extrapolated.
const CHECKS: u32 = 400;
/// The maximum time of a search without its evaluations, in plain runs.
const MOST_RUNS: f64 = 2.5;

fn main() -> ExitCode {
    if !env::args().any(|argument| argument == "--bench") {
        println!("measured by `cargo bench` only");
        return ExitCode::SUCCESS;
    }
    let program = build();
    println!("Decides that copies of the process find the moment: a graph of N, {} edges, of which one", N.1);
    println!("closes a cycle. *Plain*: no checks. *Each*: a check after every edge; `*`: extrapolated from {CHECKS}.");
    println!("*Watch*: the search. *Runs*: the search without its evaluations, in plain runs. The paper's times");
    println!("are those of its machine.\n");
    println!("| | plain | each | watch | evaluations | runs | paper: each | paper: search |");
    println!("|:--|--:|--:|--:|--:|--:|--:|--:|");
    let mut within = true;
    for (scale, paper) in SCALES.into_iter().zip(PAPER) {
        let edges = N.1 * u64::from(scale);
        let plain = quickest(|| seconds(&mut command(&program, &[scale])));
        let (per_check, last_check) = check(&program, scale);
        let until_the_cycle = u32::try_from(edges / 2 + 1214).expect("a few millions");
        let each = plain + per_check * f64::from(until_the_cycle);
        let (mut evaluations, mut confirmed) = (0, true);
        let watch = quickest(|| {
            let (seconds, made, is_right) = watch(scale, edges / 2 + 1214);
            evaluations = made;
            confirmed &= is_right;
            seconds
        });
        let evaluated = last_check * f64::from(evaluations);
        let runs = (watch - evaluated) / plain;
        let most_evaluations = 2 * edges.ilog2() + 4;
        within &= confirmed && evaluations <= most_evaluations && runs <= MOST_RUNS;
        let name = if scale == 1 { "N".to_owned() } else { format!("{scale}N") };
        let (paper_each, paper_search) =
            paper.map_or((String::new(), String::new()), |(each, search)| (format!("{each} s"), format!("{search} s")));
        println!(
            "| {name} | {plain:.2} s | {each:.0} s* | {watch:.2} s | {evaluations} in {evaluated:.2} s | {runs:.1} | {paper_each} | {paper_search} |"
        );
    }
    println!(
        "\nBounds: {MOST_RUNS} plain runs beside the evaluations, 2·log2(edges) + 4 evaluations, and the right edge."
    );
    if within { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Builds the example as the driver does, and returns the program.
fn build() -> PathBuf {
    let _ = watch(1, N.1 / 2 + 1214);
    fixtures_target_dir().join("bisect-opt/release/acyclic")
}

fn command(program: &Path, arguments: &[u32]) -> Command {
    let mut command = scrubbed(program, root());
    command.args(arguments.iter().map(ToString::to_string));
    command
}

fn seconds(command: &mut Command) -> f64 {
    let started = Instant::now();
    let _ = run(command).expect_status(0);
    started.elapsed().as_secs_f64()
}

fn quickest(mut measure: impl FnMut() -> f64) -> f64 {
    (0..RUNS).map(|_| measure()).fold(f64::INFINITY, f64::min)
}

/// Returns the mean time of a check up to the cycle, and the time of one at the end of that.
fn check(program: &Path, scale: u32) -> (f64, f64) {
    let finished = run(&mut command(program, &[scale, CHECKS])).expect_status(0);
    let line = finished.stdout.lines().last().unwrap_or_default().to_owned();
    let words: Vec<_> = line.split(' ').collect();
    let (made, spent): (f64, f64) = (words[0].parse().expect("a number"), words[3].parse().expect("a number"));
    // Checks take longer as the graph grows: the last one about twice the mean.
    (spent / made, 2.0 * spent / made)
}

/// Searches. Returns the seconds that the search reports, the number of evaluations, and whether the answer is right.
fn watch(scale: u32, wrong: u64) -> (f64, u32, bool) {
    let mut command = scrubbed(driver(), root());
    let out = fixtures_target_dir().join("watch.out");
    command.env("CARGO", cargo()).args(["bisect-opt", "watch", "--json", "-q", "--out"]).arg(out);
    command.args(["acyclic", "run", "-p", "acyclic", "--release", "--", &scale.to_string()]);
    let finished: Finished = run(&mut command).expect_status(0);
    let (found, end) = (&finished.events_of("found")[0], &finished.events_of("end")[0]);
    let evaluations = found["moment"]["evaluations"].as_u64().and_then(|made| u32::try_from(made).ok());
    let milliseconds = end["ms"].as_f64().expect("a number");
    (milliseconds / 1000.0, evaluations.expect("a number"), found["moment"]["n"] == wrong)
}
