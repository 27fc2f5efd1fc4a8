//! Reports are neither lost nor mixed, and each is written once.

use std::process::ExitStatus;

use bisect_rt::bisect_point;

use crate::fixture::{Flavour, Program, all_different, ids, probe, texts};

/// The number of reports of eight threads: 500 values, a site, a caller, a stack that begins in the C library, and a
/// stack of which only frames in the program are captured.
const OF_THREADS: usize = 504;

#[test]
fn eight_threads_at_once() {
    for flavour in [Flavour::Plain, Flavour::FramePointers] {
        let run = probe(flavour, &["threads"]).pattern("y").run();
        assert_eq!(all_different(ids(&run.reports)).len(), OF_THREADS, "to a file");
        let run = probe(flavour, &["threads"]).pattern("y").report_to_stderr().run();
        assert_eq!(all_different(ids(&run.stderr)).len(), OF_THREADS, "to standard error");
    }
}

#[test]
fn eight_threads_at_once_for_people() {
    for to_file in [true, false] {
        let program = probe(Flavour::Plain, &["threads"]).pattern("vy");
        let run = if to_file { program.run() } else { program.report_to_stderr().run() };
        let texts = texts(if to_file { &run.reports } else { &run.stderr });
        let heads = texts.iter().filter(|(_, text)| !text.starts_with("  "));
        assert_eq!(all_different(heads.map(|(id, _)| id)).len(), OF_THREADS);
        for pair in texts.windows(2) {
            let is_frame = pair[1].1.starts_with("  ");
            assert_eq!(pair[0].0 == pair[1].0, is_frame, "the lines of a report are neighbours: {pair:?}");
        }
    }
}

#[test]
fn a_child_whose_output_nobody_sees() {
    let run = probe(Flavour::Plain, &["child"]).pattern("y").run();
    assert_eq!(all_different(ids(&run.reports)).len(), 4);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
}

#[test]
#[cfg(unix)]
fn a_fork_in_the_middle() {
    let run = probe(Flavour::Plain, &["fork"]).pattern("y").run();
    let ids = ids(&run.reports);
    // The parent reports two values and a stack, and the hundred values of its other thread. The child reports a value
    // and two stacks. Both report the decisions that they make after the fork.
    assert_eq!(all_different(&ids).len(), 103 + 3);
}

#[test]
#[cfg(unix)]
fn handlers_of_a_fork() {
    for flavour in [Flavour::Plain, Flavour::FramePointers] {
        let run = probe(flavour, &["fork-handlers"]).pattern("y").run();
        // Three handlers report a value and a stack each, and the other thread its hundred values. (The child does not
        // have that thread.)
        assert_eq!(all_different(ids(&run.reports)).len(), 6 + 100, "{flavour:?}");
    }
}

#[test]
#[cfg(unix)]
fn a_crash_right_behind_the_decision() {
    use std::os::unix::process::ExitStatusExt as _;

    let is_crash = |status: ExitStatus| status.signal() == Some(11);
    for flavour in [Flavour::Plain, Flavour::FramePointers] {
        let run = probe(flavour, &["crash"]).pattern("y").end();
        assert!(is_crash(run.status) && ids(&run.reports).len() == 1, "{run:?}");
        let run = probe(flavour, &["crash"]).pattern("y").report_to_stderr().end();
        assert!(is_crash(run.status) && ids(&run.stderr).len() == 1, "{run:?}");
    }
}

#[test]
fn a_file_that_cannot_be_opened() {
    let path = crate::fixture::temporary().join("there is no such file");
    let run = probe(Flavour::Plain, &["site"])
        .pattern("y")
        .report_to_stderr()
        .env("BISECT_REPORT", path.to_str().unwrap())
        .run();
    let (first, rest) = run.stderr.split_once('\n').unwrap();
    assert!(first.starts_with("bisect-rt: BISECT_REPORT=") && first.contains("no such file"), "{first}");
    assert!(first.contains("reports are lost"), "by which the driver knows it: {first}");
    assert_eq!(ids(rest).len(), 1, "reports go to standard error");
    assert!(!path.exists());
}

#[test]
#[cfg(target_os = "linux")]
fn reports_that_cannot_be_written() {
    for command in ["exec", "ulimit -f 0; exec"] {
        // One file has no room, and the other one must not grow.
        let path = if command == "exec" { "/dev/full" } else { "$BISECT_REPORT" };
        let script = format!("export BISECT_REPORT={path}; {command} {} keyed", Flavour::Plain.probe().display());
        let run = Program::new("sh".as_ref()).args(&["-c", &script]).pattern("n").run();
        assert_eq!(run.decisions().len(), 4, "the program goes on: {run:?}");
        assert_eq!(run.stderr.lines().count(), 1, "it is said once: {run:?}");
        assert!(run.stderr.starts_with("bisect-rt: BISECT_REPORT: "), "{run:?}");
        assert!(run.stderr.ends_with(": reports are lost\n"), "{run:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_pipe_that_nobody_reads_stops_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let program = || probe(Flavour::Plain, &["site"]).pattern("y").report_to_stderr();
    let run = program().env("BISECT_REPORT", path.to_str().unwrap()).run();
    assert!(run.stderr.contains("it is a pipe"), "{run:?}");
    assert_eq!(ids(run.stderr.split_once('\n').unwrap().1).len(), 1, "reports go to standard error");
    // A pipe is refused even if it has a reader.
    let reader = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let again = program().env("BISECT_REPORT", path.to_str().unwrap()).run();
    assert_eq!(again.stderr, run.stderr);
    drop(reader);
}

/// Runs only as part of the next test, in a process of its own.
#[test]
#[ignore = "only makes sense with the variables"]
fn captured_child() {
    println!("something that libtest captures");
    eprintln!("and this");
    let _ = bisect_point!("captured");
}

#[test]
fn output_that_libtest_captures() {
    let child = || {
        Program::new(&std::env::current_exe().unwrap())
            .args(&["--exact", "reports::captured_child", "--ignored"])
            .pattern("vy")
    };
    let run = child().run();
    assert!(run.stdout.contains("1 passed") && !run.stdout.contains("something"), "{}", run.stdout);
    assert_eq!(texts(&run.reports).len(), 1, "to a file");
    let run = child().report_to_stderr().run();
    assert!(run.stdout.contains("1 passed") && !run.stdout.contains("something"), "{}", run.stdout);
    assert_eq!(texts(&run.stderr).len(), 1, "to standard error: {}", run.stderr);
}
