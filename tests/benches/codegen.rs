//! The crates that a codegen search compiles, from an empty target directory down to the pass, for each case of the
//! fixture `release`. They are compared with the plain way: flags for the whole build, so each trial compiles
//! everything.
//!
//! The table is Markdown, for BENCHMARKS.md. If `BISECT_TEST_RUSTC_DRIVER` names a `bisect-rustc`, the searches include
//! functions. With the argument `time`, it measures the processor time of searches for crates instead, beside that of
//! the two builds that no search can do without: `codegen_time.md` has its figures. Other arguments are parts of names
//! of cases. Ends with status 1 if more than [`BOUND`] is compiled.

use std::{
    env, fs,
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

use bisect_tests::{
    counting::{Compiled, Counting},
    details,
    harness::{Fixture, RustcDriver, Scratch, run, rustc_driver},
    release_cases::{Case, cases},
};

/// The largest allowed share of trials × crates that is compiled. Checks, which repeat trials and compile as well, are
/// counted on the side of the search only.
const BOUND: f64 = 0.3;

fn main() -> ExitCode {
    let mut arguments: Vec<_> = env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("only as a bench: cargo bench -p bisect-tests --bench codegen");
        return ExitCode::SUCCESS;
    }
    let measures_time = arguments.iter().any(|argument| argument == "time");
    arguments.retain(|argument| !argument.starts_with('-') && argument != "time");
    let fixture = Fixture::new("release");
    // The graph of a real program: the whole service, and its dependencies of the registry.
    let manifest = fs::read_to_string(fixture.dir().join("checks/Cargo.toml")).expect("the package has a manifest");
    fixture.write(
        "checks/Cargo.toml",
        &manifest.replace("[dev-dependencies]\n", "[dependencies]\napp.workspace = true\n\n[dev-dependencies]\n"),
    );
    let is_asked_for =
        |case: &&Case| arguments.is_empty() || arguments.iter().any(|argument| case.test.contains(argument));
    if measures_time {
        return processor_times(&fixture, is_asked_for);
    }
    let driver = rustc_driver();
    let levels = if driver.is_some() { "crates, functions and passes" } else { "crates and passes" };
    println!(
        "Decides in which order crates are searched, and that cargo compiles: crates that searches for\n\
         {levels} compile, each from an empty target directory. *Ratio*: to trials × crates. The processor\n\
         time: `tests/benches/codegen_time.md`.\n"
    );
    println!("| case | trials | crates | compiled | ratio |\n|---|---:|---:|---:|---:|");
    let mut within = true;
    let mut rows = Vec::new();
    for case in cases(fixture.dir()).iter().filter(is_asked_for) {
        let row = Row::measure(&fixture, case, driver.as_ref());
        row.print(&case.test);
        within &= row.ratio() <= BOUND;
        rows.push((case.test.clone(), row));
    }
    details::begin();
    println!(
        "*Plain*: flags for the whole build, once a trial. Checks repeat trials: they are in *runs* and in\n\
         *compiled*, not in *plain*.\n"
    );
    println!(
        "| case | runs | compiled | plain | build scripts, proc macros | seconds | plain |\n\
         |---|---:|---:|---:|---:|---:|---:|"
    );
    for (test, row) in rows {
        row.print_details(&test);
    }
    if within {
        ExitCode::SUCCESS
    } else {
        eprintln!("a search compiles more than {BOUND} of what the plain way does");
        ExitCode::FAILURE
    }
}

/// Prints the processor time of searches for crates, each from an empty target directory, and that of both builds.
fn processor_times(fixture: &Fixture, is_asked_for: impl Fn(&&Case) -> bool) -> ExitCode {
    println!("\n### Processor time of searches for crates\n");
    println!("| case | trials | search | both builds | ÷ |\n|---|---:|---:|---:|---:|");
    for case in cases(fixture.dir()).iter().filter(|case| case.is_default()).filter(is_asked_for) {
        let scratch = Scratch::new();
        let run_measured = |command: &mut Command, target: &str| {
            command.env("CARGO_TARGET_DIR", scratch.dir().join(target)).env("CARGO_INCREMENTAL", "0");
            let before = time_of_children();
            let finished = run(command).expect_status(0);
            (finished, time_of_children().saturating_sub(before))
        };
        let builds = ["3", "0"].map(|level| {
            let mut build = fixture.cargo(["test", "--no-run", "--release", "-p", "checks", "--test", &case.target]);
            run_measured(build.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", level), "both").1
        });
        let mut search = fixture.driver(case.arguments());
        search.args(["--level=crates", "--json", "--out"]).arg(scratch.dir().join("out"));
        let (finished, search) = run_measured(&mut search, "searched");
        let trials = &finished.events_of("end")[0]["trials"];
        let both: Duration = builds.into_iter().sum();
        let (search, both) = (search.as_secs_f64(), both.as_secs_f64());
        let case = case.test.replace('_', " ");
        println!("| `{case}` | {trials} | {search:.1} s | {both:.1} s | {:.2} |", search / both);
    }
    ExitCode::SUCCESS
}

/// Returns the processor time of all child processes that have ended, and of theirs.
fn time_of_children() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").expect("a Linux machine has it");
    let after_name = stat.rsplit_once(')').expect("the name is in parentheses").1;
    // Fields 16 and 17 of proc_pid_stat(5), in ticks: 100 a second on x86-64 and AArch64.
    let ticks = |field: usize| after_name.split_whitespace().nth(field - 3).and_then(|ticks| ticks.parse::<u64>().ok());
    Duration::from_millis(10 * (ticks(16).expect("a number") + ticks(17).expect("a number")))
}

/// The measurements of one search.
struct Row {
    trials: u32,
    runs: u64,
    /// The number of crates of the graph, all of which one build of everything compiles.
    crates: u32,
    compiled: Compiled,
    duration: Duration,
    /// The time of one build of everything.
    whole_build: Duration,
}

impl Row {
    fn measure(fixture: &Fixture, case: &Case, driver: Option<&RustcDriver>) -> Self {
        let (scratch, counting) = (Scratch::new(), Counting::new());
        let build_in = |command: &mut Command, target: &str| {
            command.env("CARGO_TARGET_DIR", scratch.dir().join(target));
            command.envs(driver.map(|driver| ("RUSTC", &driver.rustc)));
            let begun = Instant::now();
            let finished = run(command).expect_status(0);
            (finished, begun.elapsed())
        };
        let mut whole = fixture.cargo(["test", "--no-run", "--release", "-p", "checks", "--test", &case.target]);
        counting.set(&mut whole);
        let (_, whole_build) = build_in(&mut whole, "whole");
        let crates = u32::try_from(counting.take().of_target()).expect("few of them");

        let mut command = fixture.driver(case.arguments());
        command.args(["--json", "--out"]).arg(scratch.dir().join("out"));
        if let Some(RustcDriver { driver, .. }) = driver {
            command.arg("--bisect-rustc").arg(counting.compiler(driver));
        }
        counting.set(&mut command);
        let (finished, duration) = build_in(&mut command, "searched");
        let end = &finished.events_of("end")[0];
        let number = |value: &serde_json::Value| value.as_u64().expect("a number");
        let small = |value| u32::try_from(number(value)).expect("few of them");
        Self {
            trials: small(&end["trials"]),
            runs: number(&end["runs"]),
            crates,
            compiled: counting.take(),
            duration,
            whole_build,
        }
    }

    /// Returns the number of crates that the plain way compiles: each crate once a trial.
    fn plain(&self) -> u32 {
        self.trials * self.crates
    }

    fn ratio(&self) -> f64 {
        let compiled = u32::try_from(self.compiled.of_target()).expect("few of them");
        f64::from(compiled) / f64::from(self.plain())
    }

    fn print(&self, test: &str) {
        let Self { trials, crates, compiled, .. } = self;
        let (test, ratio) = (test.replace('_', " "), self.ratio());
        println!("| `{test}` | {trials} | {crates} | {} | {ratio:.2} |", compiled.of_target());
    }

    fn print_details(&self, test: &str) {
        let Self { trials, runs, compiled, duration, whole_build, .. } = self;
        println!(
            "| `{}` | {runs} | {} | {} | {} | {:.0} | {:.0} |",
            test.replace('_', " "),
            compiled.of_target(),
            self.plain(),
            compiled.of_host(),
            duration.as_secs_f64(),
            (*whole_build * *trials).as_secs_f64(),
        );
    }
}
