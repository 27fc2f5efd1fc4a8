//! Many suites of tests that disturb or need each other, or are independent: the answer of `--victim` is right.
#![cfg(unix)]

use std::{collections::BTreeSet, env};

use bisect_tests::{
    flaky::Random,
    harness::{Fixture, Scratch, run},
};

use super::victim::{command, found};

/// A suite: the plot of the fixture, and the answer to it.
struct Plot {
    text: String,
    /// The position of the victim.
    victim: usize,
    status: i32,
    culprits: BTreeSet<Vec<String>>,
    /// True if one test disturbs it in every run.
    is_single: bool,
}

/// Returns the suite with this number. Its kind changes from number to number.
fn plot(number: u64) -> Plot {
    let mut stream = Random::new(number);
    // A few suites are as small as can be.
    let victim = if number.is_multiple_of(10) { 1 + stream.below(16) } else { 16 + stream.below(180) };
    let mut free: Vec<usize> = (0..victim).collect();
    let mut take = |count: usize| -> Vec<usize> {
        let mut taken: Vec<_> = (0..count).map(|_| free.swap_remove(stream.below(free.len()))).collect();
        taken.sort_unstable();
        taken
    };
    let words = |key: &str, sets: &[Vec<usize>]| -> String {
        let join = |set: &Vec<usize>| set.iter().map(usize::to_string).collect::<Vec<_>>().join("+");
        sets.iter().map(|set| format!(" {key}={}", join(set))).collect::<Vec<_>>().concat()
    };
    let (key, sets, rate) = match number % 10 {
        0..=2 => ("pollute", vec![take(1)], ""),
        3 => ("pollute", vec![take(1), take(1)], ""),
        4 => ("pollute", vec![take(1), take(1), take(1)], ""),
        5 => ("pollute", vec![take(2)], ""),
        6 => ("need", vec![take(1)], ""),
        7 => ("need", vec![take(1 + usize::from(number % 20 == 7)), take(1)], ""),
        8 if number % 20 == 8 => ("none", Vec::new(), " always rate=0.3"),
        8 => ("none", Vec::new(), ""),
        // The test that is at its side begins at the same time.
        _ if number % 40 == 19 => ("beside", vec![vec![victim - 1]], ""),
        _ => ("pollute", vec![take(1)], " rate=0.3"),
    };
    let text = format!("victim={victim}{}{rate}", words(key, &sets));
    let name = |number: &usize| format!("t{number:03}");
    let culprits: BTreeSet<Vec<_>> = sets.iter().map(|set| set.iter().map(name).collect()).collect();
    let status = match number % 20 {
        8 => 4,
        18 => 1,
        _ => 0,
    };
    Plot { text, victim, status, culprits, is_single: number % 10 < 3 }
}

/// Searches 50 suites, five of each kind, or as many as `SUITES` says.
#[test]
#[ignore = "slow: CI runs it"]
fn suites_of_every_kind() {
    let suites: u64 = env::var("SUITES").map_or(50, |text| text.parse().expect("SUITES is a number"));
    let mut runs: Vec<_> = std::thread::scope(|scope| {
        let workers = [0, 1].map(|worker| {
            scope.spawn(move || {
                let cast = Fixture::new("cast");
                (worker..suites).step_by(2).map(|number| (number % 10, check(&cast, number))).collect::<Vec<_>>()
            })
        });
        workers.into_iter().flat_map(|worker| worker.join().expect("all answers are right")).collect()
    });
    runs.sort_unstable();
    for kind in runs.chunk_by(|a, b| a.0 == b.0) {
        let count = |at: usize| kind[at].1;
        let (median, most) = (count(kind.len() / 2), count(kind.len() - 1));
        println!("kind {}, {} suites: {} to {most} runs, median {median}", kind[0].0, kind.len(), count(0));
    }
}

/// Searches the suite with this number, and returns the number of runs.
fn check(cast: &Fixture, number: u64) -> u64 {
    let Plot { text, victim, status, culprits, is_single } = plot(number);
    // A victim that never fails is executed for as long as it may be.
    let budget = if status == 1 { " --budget 2s" } else { "" };
    let words = format!("--victim tests::t{victim:03} --seed {number}{budget}");
    let scratch = Scratch::new();
    let finished = run(command(cast, &text, &words).env("DICE", scratch.dir().join("dice")));
    let answer: BTreeSet<_> = found(&finished).into_iter().collect();
    assert_eq!(answer, culprits, "{number}: {text}\n{finished}");
    assert_eq!(finished.status, Some(status), "{number}: {text}\n{finished}");
    let runs = finished.events_of("end")[0]["runs"].as_u64().unwrap();
    if is_single {
        // The tests that are run: the victim, and those before it.
        let tests = f64::from(u32::try_from(victim + 1).unwrap());
        let bound = 2.0 * (tests.log2() + 4.0);
        let made = f64::from(u32::try_from(runs).unwrap());
        assert!(made <= bound, "{number}: {runs} runs, at most {bound:.1}: {text}");
    }
    runs
}
