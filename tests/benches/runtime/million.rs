//! The cost of reports for a target that reaches a million stacks: the pattern of a search's first run selects them
//! all.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use bisect_core::marker;
use bisect_tests::harness::fixtures_target_dir;

use crate::programs::Flavour;

const STACKS: usize = 1_000_000;

/// The number of rounds, in which all modes take turns and the fastest counts.
const ROUNDS: usize = 3;

/// The way in which the target is run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Inactive,
    /// Pattern `y`, with `BISECT_REPORT`.
    ToFile,
    /// Pattern `y`, with standard error that is a pipe to a reader.
    ToPipe,
    /// A pattern that selects half of the stacks, with `BISECT_REPORT`.
    HalfToFile,
}

impl Mode {
    const ALL: [Self; 4] = [Self::Inactive, Self::ToFile, Self::ToPipe, Self::HalfToFile];

    fn name(self) -> &'static str {
        match self {
            Self::Inactive => "none: inactive",
            Self::ToFile => "all, to a file",
            Self::ToPipe => "all, to a pipe",
            Self::HalfToFile => "half, to a file",
        }
    }

    fn pattern(self) -> Option<&'static str> {
        match self {
            Self::Inactive => None,
            Self::ToFile | Self::ToPipe => Some("y"),
            Self::HalfToFile => Some("1"),
        }
    }
}

/// A target: the capture of its stacks, and the count of numbers that it sorts at the end of each.
#[derive(Clone, Copy)]
struct Target {
    flavour: Flavour,
    numbers: u32,
}

const TARGETS: [Target; 4] = [
    Target { flavour: Flavour::FramePointers, numbers: 0 },
    Target { flavour: Flavour::FramePointers, numbers: 64 },
    Target { flavour: Flavour::FramePointers, numbers: 256 },
    Target { flavour: Flavour::Plain, numbers: 256 },
];

/// Measures and prints all targets in all modes.
pub(crate) fn print() {
    println!(
        "\nA target that reaches {STACKS} stacks of 16 frames and sorts numbers at the end of each. With\n\
         reports it is to take at most 3 times as long.\n"
    );
    println!(
        "| numbers sorted | stacks by | reports | s | × of nobody bisecting | µs more a stack | peak memory, kB |"
    );
    println!("|--:|:--|:--|--:|--:|--:|--:|");
    for target in TARGETS {
        let mut fastest = Mode::ALL.map(|mode| target.run(mode));
        for _ in 1..ROUNDS {
            for (fastest, mode) in fastest.iter_mut().zip(Mode::ALL) {
                let run = target.run(mode);
                fastest.time = fastest.time.min(run.time);
            }
        }
        let inactive = fastest[0].time.as_secs_f64();
        for (Run { time, peak_memory }, mode) in fastest.into_iter().zip(Mode::ALL) {
            let (numbers, capture, mode, time) =
                (target.numbers, target.flavour.capture(), mode.name(), time.as_secs_f64());
            #[allow(clippy::cast_precision_loss, reason = "a million")]
            let added = (time - inactive) * 1e6 / STACKS as f64;
            let times = time / inactive;
            println!("| {numbers} | {capture} | {mode} | {time:.3} | {times:.2} | {added:.2} | {peak_memory} |");
        }
    }
}

/// The measurements of a run.
struct Run {
    time: Duration,
    peak_memory: String,
}

impl Target {
    /// Runs the whole process and checks its reports.
    fn run(self, mode: Mode) -> Run {
        // The file is on a disk, as those of the driver.
        let file = fixtures_target_dir().join("costs-reports");
        write(&file, b"");
        let mut command = self.flavour.command("million");
        command.arg(self.numbers.to_string());
        if let Some(pattern) = mode.pattern() {
            command.env("BISECT_PATTERN", pattern);
        }
        if mode != Mode::ToPipe {
            command.env("BISECT_REPORT", &file);
        }
        let start = Instant::now();
        let output = command.output().expect("the target can be started");
        let time = start.elapsed();
        let printed = String::from_utf8_lossy(&output.stdout);
        let (on, peak_memory) = printed.trim().split_once('\t').expect("the target prints two figures");
        let reports = if mode == Mode::ToPipe { output.stderr } else { read(&file) };
        mode.check(on.parse().expect("a number"), &reports);
        write(&file, b"");
        Run { time, peak_memory: peak_memory.into() }
    }
}

impl Mode {
    /// Checks that the target did the measured work: it reported each stack once, and decided as it reported.
    fn check(self, on: usize, reports: &[u8]) {
        let id = |line| marker::find(line).expect("a report is a marker").0;
        let mut ids: Vec<_> = reports.split_inclusive(|byte| *byte == b'\n').map(id).collect();
        let reported = ids.len();
        ids.sort_unstable();
        ids.dedup();
        let is_expected = match self {
            Self::Inactive => (on, reported) == (STACKS, 0),
            Self::ToFile | Self::ToPipe => (on, reported) == (STACKS, STACKS),
            Self::HalfToFile => on == reported && reported.abs_diff(STACKS / 2) < STACKS / 100,
        };
        assert!(is_expected && ids.len() == reported, "{on} on, {reported} reported, {} stacks", ids.len());
    }
}

fn read(file: &Path) -> Vec<u8> {
    fs::read(file).expect("the reports can be read")
}

fn write(file: &Path, contents: &[u8]) {
    fs::write(file, contents).expect("the file for reports can be written");
}
