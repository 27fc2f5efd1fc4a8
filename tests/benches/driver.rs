//! The driver as a whole, on real processes: wall time of parallel runs, its own time and memory, the runs of one
//! search for many tests, and those of Go's tool.
//!
//! The tables are Markdown, for BENCHMARKS.md; `-- peer` makes only that one (`overhead`, `jobs`, `tests`, `peer`). If
//! `BISECT_TEST_GO_BISECT` names a `bisect` built from golang.org/x/tools/cmd/bisect, it searches the same targets.
//!
//! # The speed of parallel runs
//! With `-j 1` a search makes 19 runs: 14 trials, 4 checks, and one run for the text of the culprit. With `-j 4` it
//! takes 5 rounds: three of groups, one that proves the answer, and one with the checks and the run for the text.
//! With `-j 16` it takes 2 rounds, 9.5 times fewer than with `-j 1`: one of groups, and one that proves the
//! answer, checks it and asks for the text.
//!
//! The answer does not depend on the number of runs at once, unless a change hides another one from the reports. For
//! such targets, a search cannot have both the answer of `-j 1` and the speed above. Suppose that a faster search
//! leaves out a trial that `-j 1` makes. There is a target in which one more change is reported only in this trial and
//! in those that confirm the culprit afterwards, and that change is the culprit. `-j 1` finds it, and the faster search
//! never sees it. So a search that always has the answer of `-j 1` must make each trial of `-j 1`, and most of these
//! are prefixes. For a target where a longer prefix fails if a shorter one does, N prefixes that run at once have N + 1
//! possible results. To tell 1,001 cases apart (10.0 bits) takes at least 10.0 / log2 5 = 4.3 rounds with `-j 4` and
//! 10.0 / log2 17 = 2.4 with `-j 16`, besides the ends and the proof. An older engine, whose runs were all prefixes,
//! was 2.29 and 3.68 times as fast with `-j 4` and `-j 16` as with `-j 1`.

use std::{
    env,
    fmt::Write as _,
    fs,
    path::Path,
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use bisect_tests::{
    details, foreign,
    harness::{Fixture, Scratch, run},
};

fn main() -> ExitCode {
    if !env::args().any(|arg| arg == "--bench") {
        println!("only as a bench: cargo bench -p bisect-tests --bench driver");
        return ExitCode::SUCCESS;
    }
    let wanted: Vec<_> = env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
    println!("Decides that runs in threads pay off, and that the driver costs little beside its target.\n");
    println!("| what | figure | bound |\n|---|---:|---:|");
    // One figure beyond its bound does not stop the others.
    let mut within = !is_wanted("overhead") || overhead();
    let mut searches = String::new();
    within &= !is_wanted("jobs") || jobs(&mut searches);
    details::begin();
    print!("{searches}");
    for (name, section) in [("tests", tests as fn() -> bool), ("peer", peer)] {
        if is_wanted(name) {
            within &= section();
        }
    }
    if within {
        ExitCode::SUCCESS
    } else {
        eprintln!("a figure is beyond its bound");
        ExitCode::FAILURE
    }
}

/// Returns a target that first runs this shell command, and then becomes the foreign program.
fn script(before: &str) -> [String; 4] {
    ["sh".into(), "-c".into(), format!("{before}; exec \"$@\""), "sh".into()]
}

/// Returns the wall time of a search with this number of jobs, and the number of its runs.
fn search(scratch: &Scratch, jobs: usize, target: &[String], steps: &[&str]) -> (Duration, u32) {
    let mut command = scratch.driver(["exec", "--json", "-q", &format!("-j{jobs}"), "FOREIGN_CHANGES=PATTERN"]);
    command.args(target).arg(foreign::executable()).args(steps);
    let begun = Instant::now();
    let finished = run(&mut command).expect_status(0);
    let runs = finished.events_of("end")[0]["runs"].as_u64().expect("a number");
    (begun.elapsed(), u32::try_from(runs).expect("few runs"))
}

/// Measures parallel runs, on a target that waits and on one that computes. Adds all searches to `table`.
fn jobs(table: &mut String) -> bool {
    const CULPRITS: [u32; 5] = [77, 250, 512, 700, 999];
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let _ = write!(
        table,
        "\n## Runs at once\n\n\
         One culprit of 1,000 changes, sum over {} culprits; {cores} processors. Why not faster:\n\
         `tests/benches/driver.rs`.\n\n\
         | target | jobs | seconds | × faster than alone | runs started |\n|---|---:|---:|---:|---:|\n",
        CULPRITS.len()
    );
    let scratch = Scratch::new();
    let computes = "i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done";
    let mut within = true;
    for (name, before, bounds) in [
        ("waits 500 ms", "sleep 0.5", [(1, 1.0), (2, 1.5), (4, 3.5), (16, 6.0)].as_slice()),
        ("computes 200 ms or so", computes, &[(1, 1.0), (2, 1.0)]),
    ] {
        let target = script(before);
        let mut alone = None;
        for &(jobs, bound) in bounds {
            let measured = CULPRITS
                .map(|culprit| search(&scratch, jobs, &target, &["--steps=1000", &format!("--fails-when={culprit}")]));
            let time: Duration = measured.iter().map(|(time, _)| time).sum();
            let runs: u32 = measured.iter().map(|(_, runs)| runs).sum();
            let alone = *alone.get_or_insert(time);
            let faster = alone.as_secs_f64() / time.as_secs_f64();
            let _ = writeln!(table, "| {name} | {jobs} | {:.2} | {faster:.2} | {runs} |", time.as_secs_f64());
            if jobs > 1 {
                println!("| search of a target that {name}, `-j {jobs}` / `-j 1` | {faster:.2} × | {bound} × |");
            }
            within &= faster >= bound;
        }
    }
    within
}

/// Measures the driver's own time and memory.
///
/// The first figure was 2.60, 3.17 and 3.48 ms in three measurements on a machine where an earlier driver took 2.10 ms.
/// Before these, each line of output cost a system call that asks whether the process was stopped: 6.97 to 11.17 ms.
fn overhead() -> bool {
    const RUNS: u32 = 400;
    /// Checks before the driver reports no difference.
    const CHECKS: u32 = 2;
    let scratch = Scratch::new();
    let ours = |steps: &str, count: u32| {
        let count = format!("--count={count}");
        let mut command = scratch.driver(["exec", "-q", &count, "FOREIGN_CHANGES=PATTERN"]);
        command.arg(foreign::executable()).arg(steps);
        command
    };
    // The target passes both ways, so the search makes two checks and no other runs.
    let mut command = ours("--steps=1000", RUNS / 2);
    let begun = Instant::now();
    let _ = run(&mut command).expect_status(1);
    let with_driver = begun.elapsed();
    let begun = Instant::now();
    for _ in 0..RUNS + CHECKS {
        let mut command = Command::new(foreign::executable());
        command.env("FOREIGN_CHANGES", "y").arg("--steps=1000").stdout(Stdio::null());
        let output = command.stderr(Stdio::piped()).output().expect("the foreign program starts");
        assert_eq!(output.stderr.len(), 1000 * "[bisect-match 0x0123456789abcdef]\n".len());
    }
    let without = begun.elapsed();
    let own = (with_driver.saturating_sub(without)).as_secs_f64() * 1000.0 / f64::from(RUNS + CHECKS);
    println!("| a run with 1,000 reports on its output, beyond starting it and reading them | {own:.2} ms | 3 ms |");

    let marker = |i: u64| format!("[bisect-match {:#018x}]\n", i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let markers = (0..1_000_000).map(marker).collect::<Vec<_>>().concat();
    scratch.write("markers", &markers);
    let mut command = scratch.driver(["exec", "-q", "PATTERN=PATTERN", "cat", "markers"]);
    let begun = Instant::now();
    let peak = peak_memory(&mut command);
    let time = begun.elapsed().as_secs_f64() / f64::from(2 + CHECKS);
    println!("| a run with 1,000,000 reports on its output (`cat`) | {time:.2} s | 1 s |");
    println!("| peak of memory with 1,000,000 changes | {peak} MB | 200 MB |");
    own <= 3.0 && time <= 1.0 && peak <= 200
}

/// Returns the peak memory of a process in MB, as far as polling can observe it.
fn peak_memory(command: &mut Command) -> u64 {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the driver starts");
    let mut peak = 0;
    while child.try_wait().expect("our child can be waited for").is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        peak = peak.max(kilobytes.unwrap_or(0) / 1024);
        std::thread::sleep(Duration::from_millis(2));
    }
    peak
}

/// Compares one search for many tests with a search for each.
fn tests() -> bool {
    println!("\n## Forty failing tests\n");
    println!("Three culprits among 1,000 call stacks (`tests/fixtures/crowd`).\n");
    println!("| search | trials | runs | test processes | seconds |\n|---|---:|---:|---:|---:|");
    let fixture = Fixture::new("crowd");
    let test = |arguments: &[&str]| {
        let begun = Instant::now();
        let finished = run(fixture.driver(["test", "--json", "-q"]).args(arguments)).expect_status(0);
        let processes: u64 = fs::read_dir(fixture.dir().join("bisect.out/runs"))
            .expect("the run directory")
            .map(|log| fs::read_to_string(log.expect("a log").path()).unwrap_or_default())
            .map(|log| log.matches("\nrunning ").count() as u64)
            .sum();
        let end = &finished.events_of("end")[0];
        let reproduce = finished.events_of("found")[0]["reproduce"].as_str().expect("a line").to_owned();
        let number = |name: &str| end[name].as_u64().expect("a number");
        let culprits = finished.culprits().len();
        SearchFigures {
            trials: number("trials"),
            runs: number("runs"),
            processes,
            seconds: begun.elapsed().as_secs_f64(),
            culprits,
            reproduce,
        }
    };
    let _ = test(&[]);
    let single: Vec<_> = (0..40).map(|i| test(&["--", "--exact", &format!("tests::player_{i:02}")])).collect();
    let hardest = single.iter().max_by_key(|one| one.runs).expect("40 searches");
    println!("| the hardest single test | {} | {} | | |", hardest.trials, hardest.runs);
    let sum = |value: fn(&SearchFigures) -> u64| single.iter().map(value).sum::<u64>();
    let seconds: f64 = single.iter().map(|one| one.seconds).sum();
    println!(
        "| a search for each | {} | {} | {} | {seconds:.1} |",
        sum(|one| one.trials),
        sum(|one| one.runs),
        sum(|one| one.processes)
    );
    let each = test(&["--per-test"]);
    let together = test(&["--per-test=never"]);
    for (search, SearchFigures { trials, runs, processes, seconds, .. }) in
        [("one search for all, `--per-test`", &each), ("one search, as one failure, `--per-test=never`", &together)]
    {
        println!("| {search} | {trials} | {runs} | {processes} | {seconds:.1} |");
    }
    processes_of(&each.reproduce);
    // Each further culprit has three checks and a run for its text.
    let further = 4 * (each.culprits.saturating_sub(1) as u64);
    each.culprits == 3 && 2 * each.runs.saturating_sub(further) <= 3 * hardest.runs
}

/// The figures of a search of failing tests.
struct SearchFigures {
    trials: u64,
    runs: u64,
    processes: u64,
    seconds: f64,
    culprits: usize,
    /// The line that starts the test executable.
    reproduce: String,
}

/// Measures the cost of running each test in a process of its own, by a line that starts the test executable.
fn processes_of(reproduce: &str) {
    const TIMES: u32 = 20;
    let words: Vec<_> = reproduce.split(' ').collect();
    let executable = words.iter().position(|word| word.starts_with("BISECT_PATTERN=")).map(|at| words[at + 1]);
    let executable = executable.expect("the line starts the test executable");
    let time = |arguments: &dyn Fn(usize) -> Vec<String>, processes: usize| {
        let begun = Instant::now();
        for _ in 0..TIMES {
            for i in 0..processes {
                let mut command = Command::new(executable);
                command.env("BISECT_PATTERN", "!-y").args(arguments(i)).stdout(Stdio::null()).stderr(Stdio::null());
                assert!(command.status().is_ok_and(|status| !status.success()), "everything is enabled");
            }
        }
        begun.elapsed().as_secs_f64() * 1000.0 / f64::from(TIMES)
    };
    let one = time(&|_| vec!["--test-threads=1".into()], 1);
    let each = time(&|i| vec!["--exact".into(), format!("tests::player_{i:02}")], 40);
    println!(
        "\nThe 40 failing tests one after the other in one process: {one:.0} ms; each in a process of its own:\n\
         {each:.0} ms."
    );
}

/// The number of targets that Go's tool searches as well.
const SEEDS: u32 = 20;

/// Runs Go's tool on the same targets.
fn peer() -> bool {
    println!("\n## Runs beside Go's `bisect`, as processes\n");
    let Some(bisect) = env::var_os("BISECT_TEST_GO_BISECT") else {
        println!("*** SKIPPED: BISECT_TEST_GO_BISECT does not name Go's bisect ***");
        return true;
    };
    println!("1,000 changes, mean over {SEEDS} targets.\n");
    println!("| sets | ours | Go's, one run a trial | Go's, as it comes |\n|---|---:|---:|---:|");
    let scratch = Scratch::new();
    for (name, rule) in [
        ("{1}", (|a, _| format!("{a}")) as fn(u32, u32) -> String),
        ("{1,1}", |a, b| format!("{a}|{b}")),
        ("{2}", |a, b| format!("{a}&{b}")),
    ] {
        let mut sums = [0, 0, 0_u32];
        for seed in 0..SEEDS {
            let rule = format!("--fails-when={}", rule(seed * 37 + 11, 999 - seed * 41));
            let steps = ["--steps=1000", &rule];
            sums[0] += search(&scratch, 1, &[], &steps).1;
            sums[1] += go_runs(&scratch, bisect.as_ref(), &["-count=1"], &steps);
            sums[2] += go_runs(&scratch, bisect.as_ref(), &[], &steps);
        }
        let [ours, once, default] = sums.map(|sum| f64::from(sum) / f64::from(SEEDS));
        println!("| {name} | {ours:.1} | {once:.1} | {default:.1} |");
    }
    true
}

fn go_runs(scratch: &Scratch, bisect: &Path, options: &[&str], steps: &[&str]) -> u32 {
    scratch.write("runs", "");
    let mut command = Command::new(bisect);
    command.current_dir(scratch.dir()).args(options).arg("FOREIGN_CHANGES=PATTERN");
    command.args(script("echo >> runs")).arg(foreign::executable()).args(steps);
    let output = command.output().expect("Go's tool starts");
    let text = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("FOUND"), "Go's tool finds it: {text}");
    u32::try_from(scratch.read("runs").lines().count()).expect("few runs")
}
