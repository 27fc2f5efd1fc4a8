//! The history of a flaky target some of whose commits cannot be tested: our search beside `git_bayesect`.

use std::{
    collections::BTreeSet,
    env,
    io::{self, Write},
    process::{Command, Stdio},
    thread,
};

use bisect_core::search::{Noise, Observation, Options, Order, Outcome, Reason, Search, Step};
use bisect_tests::{
    flaky::{Random, Rates},
    seeds,
};

use crate::{
    bayesect::{self, STOPS},
    ours::CLAIMS,
    study::{cell, each_seed, mean, percent, rates, share},
};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/noise/commits.py");
/// The ways to use `git_bayesect` with a commit that cannot be tested.
const WAYS: [&str; 2] = ["skip", "run"];
/// The number of commits after the good one.
const COMMITS: usize = 500;
/// The number of commits that cannot be tested.
const BROKEN: usize = 10;
/// The failure rates from the first bad commit on, and before it.
const RATES: [Rates; 3] = [rates(0.3, 0.0), rates(0.9, 0.1), rates(1.0, 0.0)];

/// A history, the same for both searches.
struct Problem {
    seed: u64,
    /// The first bad commit, from 1.
    culprit: usize,
    broken: BTreeSet<usize>,
    rates: Rates,
}

/// The result of one search.
#[derive(Clone, Copy, Debug)]
struct Sample {
    is_right: bool,
    /// All runs until the answer.
    runs: u32,
    /// All runs until the answer is confirmed.
    confirmed: u32,
}

impl Problem {
    /// Returns the problem with this seed. The neighbours of the culprit can be tested, so there is one right answer.
    fn new(seed: u32, rates: Rates) -> Self {
        let mut random = Random::new(u64::from(seed) << 20);
        let culprit = 1 + random.below(COMMITS);
        let mut broken = BTreeSet::new();
        while broken.len() < BROKEN {
            let commit = 1 + random.below(COMMITS - 1);
            if commit.abs_diff(culprit) > 1 {
                broken.insert(commit);
            }
        }
        Self { seed: u64::from(seed) << 20 | 1, culprit, broken, rates }
    }

    /// Returns the line of this problem for the script.
    fn line(&self) -> String {
        let broken: Vec<_> = self.broken.iter().map(ToString::to_string).collect();
        let Rates { with, without } = self.rates;
        format!("{COMMITS} {} {with} {without} {} {}", self.culprit, self.seed, broken.join(","))
    }

    /// Searches as the driver does for `--commits`.
    fn ours(&self, noise: Noise) -> Sample {
        let mut random = Random::new(self.seed);
        let mut search = Search::new(Options { order: Order::Counter, noise, seed: self.seed, ..Options::default() });
        let (mut confirmed, mut last) = (None, 0);
        while let Step::Run(trial) = search.step() {
            let commits = trial.selection.counter_limit(COMMITS);
            let outcome = if self.broken.contains(&commits) {
                Outcome::Unresolved(Reason::Build)
            } else {
                let Rates { with, without } = self.rates;
                let fails = random.unit() < if commits >= self.culprit { with } else { without };
                if fails { Outcome::Fail } else { Outcome::Pass }
            };
            // The last runs confirm the answer: at the culprit, at the commit before it, or at the good one.
            if ![0, self.culprit - 1, self.culprit].contains(&commits) {
                last = search.progress().runs();
            }
            let reported = trial.selection.selected(commits).collect();
            search.record(trial.id, [Observation { outcome, reported }]);
            if confirmed.is_none() && !search.culprits().is_empty() {
                confirmed = Some((last, search.progress().runs()));
            }
        }
        let found: Vec<_> = search.culprits().iter().flat_map(|shared| shared.culprit.changes.clone()).collect();
        let is_right = matches!(found.as_slice(), [only] if only.index() + 1 == self.culprit);
        let all = search.progress().runs();
        let (runs, confirmed) = confirmed.unwrap_or((all, all));
        let few = |runs: usize| u32::try_from(runs).expect("few runs");
        Sample { is_right, runs: few(runs), confirmed: few(confirmed) }
    }
}

/// Compares both searches. Returns true if ours are right often enough and take fewer runs in every row.
pub(crate) fn commits(seeds: u32) -> bool {
    let seeds = seeds.div_ceil(10);
    println!("\n## {COMMITS} commits, {BROKEN} of which cannot be tested\n");
    println!(
        "The first bad commit of a history, as `--commits` searches it, beside git_bayesect: the commits are\n\
         the same, the same of them cannot be tested, and the k-th run of both has the same random number.\n\
         Runs at commits that cannot be tested are counted. git_bayesect knows which end is good, and\n\
         confirms nothing. *skip*: like `git bayesect skip`; it may select what was just skipped again,\n\
         without end. *run*: like `git bayesect run`, for which such a commit fails. Its mean is that of\n\
         searches that end. Beside each row, the cheapest confidence at which ours are right at least as\n\
         often. *runs*: ours without those at the end that only confirm the answer, at that commit, the one\n\
         before it and the good one; *confirmed*: all of them. {seeds} seeds.\n"
    );
    println!(
        "| p1, p0 | git_bayesect, stops at | right | no end | runs | ours: confidence | right | runs | confirmed |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|---:|---:|");
    let python = env::var_os("BISECT_TEST_GIT_BAYESECT");
    let mut holds = true;
    for rates in RATES {
        let head = format!("| {}, {} |", rates.with, rates.without);
        let ours = CLAIMS.map(|claim| Ours::measure(claim, rates, seeds));
        // A share of few seeds says little.
        holds &= seeds < 100 || ours.iter().all(|ours| ours.right >= ours.claim);
        let Some(python) = &python else {
            for ours in &ours {
                println!("{head} not measured | | | | {}", ours.cells(true));
            }
            continue;
        };
        let problems: Vec<_> = seeds::seeds(seeds).map(|seed| Problem::new(seed, rates).line()).collect();
        for way in WAYS {
            let searches = bayesect(python, way, &problems).unwrap_or_else(|error| panic!("{SCRIPT}: {error}"));
            for (i, stop) in STOPS.into_iter().enumerate() {
                let theirs: Vec<_> = searches.iter().map(|search| search[i]).collect();
                let ended: Vec<_> = theirs.iter().copied().filter(|sample| sample.runs > 0).collect();
                let (right, runs) = (share(&theirs, |sample| sample.is_right), mean(&ended, |sample| sample.runs));
                let endless = percent(share(&theirs, |sample| sample.runs == 0));
                let as_right = ours.iter().filter(|ours| ours.right >= right);
                let best = as_right.min_by(|a, b| a.runs.total_cmp(&b.runs));
                let beaten = best.is_some_and(|ours| ours.runs < runs);
                holds &= beaten;
                let beside = best.map_or(cell("none", false) + " | | | |", |ours| ours.cells(beaten));
                println!("{head} {way}, {stop} | {} | {endless} | {runs:.1} | {beside}", percent(right));
            }
        }
    }
    holds
}

/// Our searches at one confidence.
struct Ours {
    claim: f64,
    right: f64,
    runs: f64,
    confirmed: f64,
}

impl Ours {
    fn measure(claim: f64, rates: Rates, seeds: u32) -> Self {
        let samples = each_seed(seeds, |seed| Problem::new(seed, rates).ours(Noise::Expected(claim)));
        Self {
            claim,
            right: share(&samples, |sample| sample.is_right),
            runs: mean(&samples, |sample| sample.runs),
            confirmed: mean(&samples, |sample| sample.confirmed),
        }
    }

    fn cells(&self, beaten: bool) -> String {
        let Self { claim, right, runs, confirmed } = self;
        let runs = cell(&format!("{runs:.1}"), beaten);
        format!("{claim} | {} | {runs} | {confirmed:.1} |", percent(*right))
    }
}

/// Runs `git_bayesect` on problems, which are divided among one process a core.
fn bayesect(python: &std::ffi::OsStr, way: &str, problems: &[String]) -> io::Result<Vec<[bayesect::Sample; 2]>> {
    let processes = thread::available_parallelism().map_or(1, usize::from);
    let start = |lines: &[String]| {
        let mut child = Command::new(python)
            .arg(SCRIPT)
            .arg(way)
            .args(STOPS)
            .env("OPENBLAS_NUM_THREADS", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut input = child.stdin.take().expect("it is piped");
        // The problems fit into the pipe.
        input.write_all((lines.join("\n") + "\n").as_bytes())?;
        Ok(child)
    };
    let chunks = problems.chunks(problems.len().div_ceil(processes));
    bayesect::results(chunks.map(start).collect::<io::Result<_>>()?)
}
