//! The screen during a search: lines with correct numbers, patterns and logs.
#![cfg(unix)]

use std::fs;

use bisect_tests::{
    foreign,
    harness::{Finished, Scratch, run},
};
use serde_json::Value;

/// The script of a target that notes each pattern in its output and in a file, and then becomes the foreign program.
const NOTES: &str = "echo \"got $FOREIGN_CHANGES\"; echo \"$FOREIGN_CHANGES\" >> patterns; exec \"$@\"";

fn search(scratch: &Scratch, options: &[&str], script: &str, program: &[&str]) -> Finished {
    scratch.write("target.sh", script);
    let mut command = scratch.driver(["exec"]);
    command.args(options).args(["FOREIGN_CHANGES=PATTERN", "sh", "target.sh"]).arg(foreign::executable()).args(program);
    run(&mut command)
}

/// Returns the trials that were recorded, without repeated runs.
fn trials(scratch: &Scratch) -> Vec<Value> {
    let recorded = scratch.read("bisect.out/trials.jsonl");
    let recorded = recorded.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    recorded.filter(|trial| trial["repeat"] != true).collect()
}

/// Returns the numbers of lines, and the count of lines about repeated runs.
fn numbers(finished: &Finished) -> (Vec<usize>, usize) {
    let number = |line: &str| line.get(..4)?.trim().parse().ok();
    let again = finished.stderr.lines().filter(|line| line.starts_with("      again with ")).count();
    (finished.stderr.lines().filter_map(number).collect(), again)
}

#[test]
#[ignore = "slow: CI runs it"]
fn lines_are_numbered_as_they_happen() {
    for jobs in ["-j1", "-j4"] {
        let scratch = Scratch::new();
        let finished = search(&scratch, &[jobs], NOTES, &["--fails-when=3&7|12"]).expect_status(0);
        let (numbers, again) = numbers(&finished);
        let recorded: Vec<_> = trials(&scratch).iter().map(|trial| trial["n"].as_u64().unwrap()).collect();
        let expected: Vec<_> = (1..=numbers.len()).collect();
        assert_eq!(numbers, expected, "{finished}");
        assert_eq!(recorded, expected.iter().map(|&n| n as u64).collect::<Vec<_>>(), "{finished}");
        assert!(finished.stderr.contains(&format!("({} trials, ", numbers.len())), "{finished}");
        if jobs == "-j1" {
            let runs = fs::read_dir(scratch.dir().join("bisect.out/runs")).unwrap().count();
            // One more run for each culprit gets its text.
            assert_eq!(numbers.len() + again + 2, runs, "{finished}");
            assert!(again > 0, "{finished}");
        }
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_repeated_run_that_ends_otherwise_is_a_trial_with_a_number() {
    let scratch = Scratch::new();
    // The target passes from the eleventh run on with any pattern. With this seed, a repeated run is expected to fail.
    let tired = "echo >> runs; [ $(wc -l < runs) -le 10 ] || exit 0; exec \"$@\"";
    let finished = search(&scratch, &["--max-runs=20", "--seed=1"], tired, &["--fails-when=12"]);
    let number = |line: &str| {
        let late = line.split_once("; this is trial ").map(|(_, number)| number);
        late.unwrap_or(line.get(..4)?).trim().parse().ok()
    };
    let numbers: Vec<u64> = finished.stderr.lines().filter_map(number).collect();
    let recorded: Vec<_> = trials(&scratch).iter().map(|trial| trial["n"].as_u64().unwrap()).collect();
    assert_eq!(numbers, recorded, "{finished}");
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "{finished}");
    assert!(
        finished.stderr.contains("      again with ") && finished.stderr.contains("contradicts itself"),
        "{finished}"
    );
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_log_that_is_named_is_that_of_the_run() {
    let scratch = Scratch::new();
    let finished = search(&scratch, &["-v"], NOTES, &["--fails-when=3&7|12"]).expect_status(0);
    let details: Vec<_> = finished.stderr.lines().filter_map(|line| line.trim().split_once(" → ")).collect();
    assert!(details.len() > 10, "{finished}");
    for (pattern, log) in details {
        let first = fs::read_to_string(scratch.dir().join(log)).unwrap().lines().next().unwrap().to_owned();
        assert_eq!(first, format!("got {pattern}"), "{log}: {finished}");
    }
}

#[test]
fn a_conclusion_names_the_trial_and_its_log() {
    let scratch = Scratch::new();
    let program = ["--fails-when=12", "--mode=unasked"];
    let finished = search(&scratch, &[], NOTES, &program).expect_status(3);
    let words = finished.stderr.lines().last().unwrap();
    let (number, log) = words.split_once("(trial ").unwrap().1.split_once(", log ").unwrap();
    let trial = &trials(&scratch)[number.parse::<usize>().unwrap() - 1];
    assert_eq!(trial["n"].to_string(), number);
    let log = log.split(&[',', ')']).next().unwrap();
    let text = fs::read_to_string(scratch.dir().join(log)).unwrap();
    assert!(text.starts_with(&format!("got {}\n", trial["pattern"].as_str().unwrap())), "{log}: {text}\n{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn what_is_recorded_of_a_flaky_target_is_what_it_got() {
    let scratch = Scratch::new();
    let third = format!(
        "[ $(wc -l 2>/dev/null < patterns || echo 0) -ne 1 ] || {{ echo \"$FOREIGN_CHANGES\" >> patterns; exit 0; }}; {NOTES}"
    );
    let finished = search(&scratch, &["--count=2"], &third, &["--fails-when=12"]).expect_status(0);
    let got = scratch.read("patterns");
    let got: Vec<_> = got.lines().collect();
    let trials = trials(&scratch);
    for trial in &trials {
        assert!(got.contains(&trial["pattern"].as_str().unwrap()), "{trial} of {got:?}\n{finished}");
    }
    // In noisy mode each run is a trial.
    let twice = trials.iter().filter(|trial| trial["runs"] == 2).count();
    assert!(twice < trials.len(), "{finished}");
    assert_eq!(finished.stderr.matches("2× ").count(), twice, "{finished}");
}
