//! A thousand sequences of values: copies of one process and repeated runs name the same moment, which is right.
#![cfg(target_os = "linux")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    thread,
};

use bisect_core::moments::{Finding, MomentSearch, MomentStep, MomentVerdict};
use bisect_tests::harness::{Fixture, Scratch, run, scrubbed};

/// The number of sequences.
const SEQUENCES: u64 = 1000;
/// The numbers of moments are below this.
const MOST_MOMENTS: u64 = 60;

#[test]
#[ignore = "slow: CI runs it"]
fn copies_and_repeated_runs_name_the_same_moment() {
    let fixture = Fixture::new("moments");
    let program = built(&fixture);
    thread::scope(|scope| {
        for worker in 0..2 {
            let program = &program;
            scope.spawn(move || {
                let scratch = Scratch::new();
                for seed in (worker..SEQUENCES).step_by(2) {
                    check(program, scratch.dir(), seed);
                }
            });
        }
    });
    // Each process waits for its copies, so none is left.
    let left = processes_of(&program);
    assert!(left.is_empty(), "{left:?}");
}

fn built(fixture: &Fixture) -> PathBuf {
    let _ = run(&mut fixture.cargo(["build", "--release"])).expect_status(0);
    fixture.target_dir().join("release/moments")
}

/// Makes a sequence, and searches it in both ways.
fn check(program: &Path, dir: &Path, seed: u64) {
    let (values, ending) = sequence(seed);
    let arguments = [values.as_str(), ending];
    let plain = execute(program, dir, None, &arguments).0;
    let (copied, facts) = execute(program, dir, Some("step"), &arguments);
    let finding = replay(&facts, &mut MomentSearch::new());
    let by_runs = by_runs(program, dir, &arguments);
    let context = format!("seed {seed}: {values} {ending}\n{facts}");
    assert_eq!(finding, Some(by_runs), "{context}");
    assert!(is_right(&values, by_runs), "{by_runs:?}, {context}");
    // The program's output appears once: whole, or its beginning up to the moment that decided.
    let is_stopped = copied.status.code() == Some(113);
    let has_crashed = values.contains('c');
    let (shown, expected) = (text(&copied.stdout), text(&plain.stdout));
    assert!(expected.starts_with(&shown), "{shown}\n{context}");
    if !is_stopped && !has_crashed {
        assert_eq!((shown, copied.status), (expected, plain.status), "{context}");
    }
    assert!(!facts.contains("diverged") && !facts.contains("rerun"), "{context}");
}

/// Returns a sequence of values, and the way in which the program ends. All are functions of the seed.
fn sequence(seed: u64) -> (String, &'static str) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let count = if random(8) == 0 { random(3) } else { random(MOST_MOMENTS) };
    let kind = random(4);
    let first_bad = random(count + 2);
    let bad = if random(20) == 0 { b'c' } else { [b'b', b'b', b'p'][usize::try_from(random(3)).unwrap()] };
    let values = (0..count).map(|moment| match kind {
        // One change, any values, few changes.
        0 | 1 => {
            if moment < first_bad {
                b'g'
            } else {
                bad
            }
        }
        2 => {
            if random(2) == 0 {
                b'g'
            } else {
                bad
            }
        }
        _ => {
            if (moment / 7) % 2 == first_bad % 2 {
                b'g'
            } else {
                bad
            }
        }
    });
    let values = String::from_utf8(values.collect()).unwrap();
    let ending = ["exit=0", "exit=3", "abort", "partial"][usize::try_from(random(4)).unwrap()];
    (values, ending)
}

/// Runs the program. Returns its output, and the lines of the runtime.
fn execute(program: &Path, dir: &Path, watched: Option<&str>, arguments: &[&str]) -> (Output, String) {
    let report = dir.join("report");
    fs::write(&report, "").unwrap();
    let mut command: Command = scrubbed(program, dir);
    command.args(arguments).env("BISECT_REPORT", &report);
    if let Some(watched) = watched {
        command.env("BISECT_WATCH", watched);
    }
    let output = command.output().unwrap();
    (output, fs::read_to_string(report).unwrap())
}

/// Tells a search what a run has found out. Returns its finding, if it is complete.
fn replay(facts: &str, search: &mut MomentSearch) -> Option<Finding> {
    for line in facts.lines() {
        let words: Vec<_> = line.split(' ').skip(3).collect();
        match words[..] {
            ["probe", moment, verdict, ..] => {
                let verdict = if verdict == "good" { MomentVerdict::Good } else { MomentVerdict::Bad };
                search.record(moment.parse().unwrap(), verdict).unwrap();
            }
            ["ended", count] if search.count().is_none() => search.ended(count.parse().unwrap()).unwrap(),
            _ => {}
        }
    }
    match search.step() {
        MomentStep::Done(finding) => Some(finding),
        MomentStep::Forward(_) | MomentStep::Back { .. } => None,
    }
}

/// Searches as the driver does where no copies can be made.
fn by_runs(program: &Path, dir: &Path, arguments: &[&str]) -> Finding {
    let mut search = MomentSearch::new();
    let (_, facts) = execute(program, dir, Some("step;rerun"), arguments);
    let mut finding = replay(&facts, &mut search);
    while finding.is_none() {
        let MomentStep::Back { to, .. } = search.step() else { panic!("a run forward is complete: {facts}") };
        let (output, facts) = execute(program, dir, Some(&format!("step@{to}")), arguments);
        assert!(matches!(output.status.code(), Some(113) | None), "{facts}");
        let before = search.evaluations();
        finding = replay(&facts, &mut search);
        assert_eq!(search.evaluations(), before + 1, "{facts}");
    }
    finding.unwrap()
}

/// Compares a finding with all values.
fn is_right(values: &str, finding: Finding) -> bool {
    let is_good = |moment: u64| values.as_bytes()[usize::try_from(moment).unwrap() - 1] == b'g';
    let count = values.len() as u64;
    match finding {
        Finding::NoMoment => count == 0,
        Finding::NeverBad => is_good(count),
        Finding::BadFromStart => !is_good(1),
        Finding::Change { good, bad } => bad == good + 1 && is_good(good) && !is_good(bad),
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn memory_is_shared_with_the_copies() {
    let fixture = Fixture::new("moments");
    let (program, scratch) = (built(&fixture), Scratch::new());
    let mut command = scrubbed(&program, scratch.dir());
    command.args(["40000g30000b", "heap=256"]).env("BISECT_WATCH", "step");
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    let (mut most, mut samples, mut most_processes) = (0, 0, 0);
    while child.try_wait().unwrap().is_none() {
        let ours = processes_of(&program);
        let resident: u64 = ours.iter().filter_map(|process| proportional(process)).sum();
        most_processes = most_processes.max(ours.len());
        // Where a copy starts or ends between two reads, the pages that it shares count too often.
        if processes_of(&program) == ours {
            (most, samples) = (most.max(resident), samples + 1);
        }
    }
    assert!(samples > 3 && most_processes >= 3, "{samples} samples, {most_processes} processes");
    // The supervisor, the program or a copy on its way, its checkpoint, and one in between.
    assert!(most_processes <= 6, "{most_processes} processes");
    assert!((1 << 28..3 << 27).contains(&most), "{} MiB", most >> 20);
}

/// Returns the folders in `/proc` of the processes that execute `program`.
fn processes_of(program: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    all.filter(|process| fs::read_link(process.join("exe")).is_ok_and(|exe| exe == program)).collect()
}

/// Returns the memory of a process in bytes; pages that several processes share count in parts.
fn proportional(process: &Path) -> Option<u64> {
    let rollup = fs::read_to_string(process.join("smaps_rollup")).ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
