//! The cost of one decision: compared with a bare atomic load, with the standard library's backtrace, and with Go.

use std::process::Command;

use bisect_tests::{
    details,
    harness::{Scratch, run},
};

use crate::{callgrind::Callgrind, go::Go, programs::Flavour};

/// A process that makes these decisions.
struct Process {
    flavour: Flavour,
    is_bisected: bool,
    /// The name of each decision in the program, and in the table.
    decisions: &'static [(&'static str, &'static str)],
}

const PROCESSES: [Process; 3] = [
    Process {
        flavour: Flavour::FramePointers,
        is_bisected: false,
        decisions: &[("bare", "relaxed load and branch"), ("site", "point, inactive")],
    },
    Process {
        flavour: Flavour::FramePointers,
        is_bisected: true,
        decisions: &[
            ("site", "site"),
            ("keyed_site", "site, keyed by a value"),
            ("caller", "caller"),
            ("stack_8", "stack of 8, frame pointers"),
            ("stack_16", "stack of 16, frame pointers"),
            ("stack_32", "stack of 32, frame pointers"),
        ],
    },
    Process {
        flavour: Flavour::Plain,
        is_bisected: true,
        decisions: &[
            ("stack_8", "stack of 8, unwinder"),
            ("stack_16", "stack of 16, unwinder"),
            ("stack_32", "stack of 32, unwinder"),
            ("backtrace", "`std::backtrace::Backtrace`, 16 frames and those of `main`"),
        ],
    },
];

const PROCESSES_EACH: usize = 8;

/// The number of decisions that `decisions repeat` makes in a row.
const EIGHT: u32 = 8;

impl Process {
    fn command(&self, reports: &Scratch, arguments: &[&str]) -> Command {
        let mut command = self.flavour.command("decisions");
        command.args(arguments);
        if self.is_bisected {
            command.env("BISECT_PATTERN", "y").env("BISECT_REPORT", reports.dir().join("reports"));
        }
        command
    }

    /// Returns nanoseconds of each decision: the fastest of a few processes. The address of a process's stack decides
    /// how well the processor can distinguish its stores and loads.
    fn time(&self, reports: &Scratch) -> Vec<f64> {
        let fastest = |a: Vec<f64>, b: Vec<f64>| a.into_iter().zip(b).map(|(a, b)| a.min(b)).collect();
        (0..PROCESSES_EACH).map(|_| self.time_once(reports)).reduce(fastest).expect("there are some")
    }

    fn time_once(&self, reports: &Scratch) -> Vec<f64> {
        let whats = self.decisions.iter().map(|(what, _)| *what);
        let arguments: Vec<_> = ["time"].into_iter().chain(whats).collect();
        let finished = run(&mut self.command(reports, &arguments)).expect_status(0);
        let ns = |line: &str| line.split_once('\t')?.1.parse().ok();
        let times: Option<Vec<_>> = finished.stdout.lines().map(ns).collect();
        times.filter(|times| times.len() == self.decisions.len()).unwrap_or_else(|| panic!("{finished}"))
    }
}

struct Row {
    what: &'static str,
    ns: f64,
    instructions: Option<f64>,
}

/// Measures and prints all decisions.
pub(crate) fn print() {
    let (callgrind, reports) = (Callgrind::find(), Scratch::new());
    reports.write("reports", "");
    let mut rows = Vec::new();
    for process in &PROCESSES {
        for ((what, name), ns) in process.decisions.iter().zip(process.time(&reports)) {
            let command = |n: u32| process.command(&reports, &["repeat", what, &n.to_string()]);
            let instructions = callgrind.as_ref().map(|callgrind| callgrind.instructions(command, EIGHT));
            rows.push(Row { what: name, ns, instructions });
        }
    }
    let go = Go::measure(PROCESSES_EACH);
    if let Some(Go { seen, not_selected }) = &go {
        let row = |what, ns| Row { what, ns, instructions: None };
        rows.push(row("Go's `Matcher.Stack`, 16 frames", *seen));
        rows.push(row("Go's `Matcher.Stack`, 16 frames, of a stack that is not selected", *not_selected));
    }
    let ns = |what: &str| rows.iter().find(|row| row.what == what).expect("it was measured").ns;
    let bare = ns("relaxed load and branch");

    println!(
        "Decides how a decision is remembered and a stack is captured: decisions that were made before, in\n\
         a release build. Bounds: an inactive point ≤ 1.1 × a bare load, a site ≤ 1 ns, a stack of 16 by\n\
         frame pointers ≤ 1/20 of Go's.\n"
    );
    println!("| what | ns | × of a bare load | instructions |");
    println!("|:--|--:|--:|--:|");
    for Row { what, ns, instructions } in &rows {
        let instructions = instructions.map_or("–".into(), figure);
        println!("| {what} | {} | {} | {instructions} |", figure(*ns), figure(ns / bare));
    }
    details::begin();
    println!("| figure | measured | to be |");
    println!("|:--|--:|--:|");
    println!("| inactive point / bare load | {:.2} | ≤ 1.1 |", ns("point, inactive") / bare);
    println!("| site, ns | {:.2} | ≤ 1 |", ns("site"));
    for (capture, wanted) in [("frame pointers", "≥ 20"), ("unwinder", "–")] {
        let ratio = match &go {
            Some(Go { seen, .. }) => figure(seen / ns(&format!("stack of 16, {capture}"))),
            None => "not measured: no Go toolchain".to_owned(),
        };
        println!("| Go's stack / ours, 16 frames, {capture} | {ratio} | {wanted} |");
    }
    println!(
        "\nThe driver builds with frame pointers; a plain `cargo build` has none, and its stacks are captured\n\
         by the unwinder."
    );
}

/// Formats a value with three digits, or without fraction if it has more.
fn figure(value: f64) -> String {
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$}")
}
