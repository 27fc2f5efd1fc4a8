//! Real processes: remaining descendants, captured output, and errors of processes that do not start.
//!
//! No test waits for a time to pass: scripts write files to signal progress, and tests wait for these files.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use rustix::process::{Pid, Signal, getpid, kill_process};

use super::*;

/// A directory for scripts to run in.
struct TestBench {
    dir: tempfile::TempDir,
    log: PathBuf,
    interrupt: Interrupt,
}

impl TestBench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { log: dir.path().join("log"), dir, interrupt: Interrupt::default() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.dir.path());
        command
    }

    fn sh(&self, script: &str) -> Command {
        let mut command = self.command("sh");
        command.args(["-c", script]);
        command
    }

    fn run_with<'a>(
        &'a self,
        command: Command,
        change: impl FnOnce(&mut ProcessSpec<'a>),
    ) -> Result<Finished, SpawnError> {
        let mut job = ProcessSpec {
            command,
            timeout: None,
            log: &self.log,
            append: false,
            interrupt: &self.interrupt,
            reader: None,
            tail: 1 << 16,
        };
        change(&mut job);
        run(job)
    }

    fn run(&self, script: &str) -> Finished {
        self.run_with(self.sh(script), |_| {}).unwrap()
    }

    fn log(&self) -> Vec<u8> {
        fs::read(&self.log).unwrap()
    }

    /// The process IDs that a script has written to a file.
    fn pids(&self, name: &str) -> Vec<i32> {
        let text = fs::read_to_string(self.path(name)).unwrap_or_default();
        text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')?.parse().ok()).collect()
    }

    /// Runs a script, and interrupts it each time the file `pids` has reached one of these numbers of IDs.
    fn interrupted(&self, script: &str, counts: &[usize]) -> Finished {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                for &count in counts {
                    while self.pids("pids").len() < count && !over.load(Ordering::Relaxed) {
                        thread::yield_now();
                    }
                    self.interrupt.raise();
                }
            });
            let finished = self.run(script);
            over.store(true, Ordering::Relaxed);
            finished
        })
    }
}

/// Returns whether a process with this ID exists, even if it has exited and was not reaped.
fn exists(pid: i32) -> bool {
    fs::exists(format!("/proc/{pid}")).unwrap()
}

/// Waits until a process has exited, whether or not it was reaped.
fn until_exited(pid: i32) {
    let runs = || fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    while runs() {
        thread::yield_now();
    }
}

/// Three processes that are hard to end: one ignores TERM, one has its own session, and one is a daemon: it has its own
/// session, and its parent has exited.
const STUBBORN: &str = r#"
    sh -c 'trap "" TERM; echo $$ >> pids; while :; do sleep 1000; done' &
    setsid sh -c 'echo $$ >> pids; exec sleep 1000' &
    (setsid sh -c 'echo $$ >> pids; exec sleep 1000' &)
    echo $$ >> pids
    while :; do sleep 1000; done
"#;

#[test]
fn output_status_and_no_input() {
    let place = TestBench::new();
    let finished = place.run("cat; echo 1; echo 2 >&2; echo 3; printf 4 >&2; exit 3");
    assert_eq!(finished.output, b"1\n2\n3\n4");
    assert_eq!(place.log(), finished.output);
    let Ending::Exited(status) = finished.ending else { panic!("{:?}", finished.ending) };
    assert_eq!(describe(status), "exit status 3");
    let Ending::Exited(status) = place.run("kill -SEGV $$").ending else { panic!("a signal is an exit") };
    assert_eq!(describe(status), "signal 11");
}

#[test]
fn the_log_is_new_or_goes_on() {
    let place = TestBench::new();
    place.run("echo 1; echo 1");
    place.run("echo 2");
    place.run_with(place.sh("echo 3"), |job| job.append = true).unwrap();
    assert_eq!(place.log(), b"2\n3\n");
}

#[test]
fn a_timeout_ends_whatever_was_started() {
    // On a slow machine, the script may not get to this point in time.
    let tried = (8..20).find_map(|exponent| {
        let place = TestBench::new();
        let timeout = Duration::from_millis(1 << exponent);
        let finished = place.run_with(place.sh(STUBBORN), |job| job.timeout = Some(timeout)).unwrap();
        assert_eq!(finished.ending, Ending::TimedOut);
        assert!(finished.duration >= timeout);
        let pids = place.pids("pids");
        (pids.len() == 4).then_some(pids)
    });
    let left: Vec<_> = tried.unwrap().into_iter().filter(|&pid| exists(pid)).collect();
    assert_eq!(left, [0; 0]);
}

#[test]
fn an_interrupt_ends_whatever_was_started() {
    let place = TestBench::new();
    let finished = place.interrupted(STUBBORN, &[4]);
    assert_eq!(finished.ending, Ending::Interrupted);
    let left: Vec<_> = place.pids("pids").into_iter().filter(|&pid| exists(pid)).collect();
    assert_eq!(left, [0; 0]);
}

#[test]
fn a_process_may_clean_up_after_sigterm() {
    let place = TestBench::new();
    // Not waiting for another process: a shell forgets a signal that comes while it starts one.
    let script = "trap 'echo cleaned up; exit' TERM; echo $$ > pids; while :; do :; done";
    assert_eq!(place.interrupted(script, &[1]).output, b"cleaned up\n");
}

#[test]
fn the_second_interrupt_ends_who_takes_long_to_clean_up() {
    let place = TestBench::new();
    let script = "trap 'echo $$ >> pids; while :; do :; done' TERM; echo $$ > pids; while :; do :; done";
    assert_eq!(place.interrupted(script, &[1, 2]).ending, Ending::Interrupted);
    let [pid, _] = place.pids("pids")[..] else { panic!("it was asked") };
    assert!(!exists(pid));
}

#[test]
fn nothing_starts_after_an_interrupt() {
    let place = TestBench::new();
    place.interrupt.raise();
    assert_eq!(place.run("echo > started").ending, Ending::Interrupted);
    assert!(!place.path("started").exists());
}

#[test]
fn processes_in_the_group_are_ended() {
    let place = TestBench::new();
    let script = r#"
        sh -c 'echo $$ >> pids; exec sleep 1000' &
        sh -c 'trap "" TERM; echo $$ >> pids; while :; do sleep 1000; done' &
        until [ "$(wc -l < pids)" = 2 ]; do :; done 2> /dev/null
        echo done
    "#;
    let finished = place.run(script);
    assert!(matches!(finished.ending, Ending::Exited(status) if status.success()));
    assert_eq!(finished.output, b"done\n");
    let left: Vec<_> = place.pids("pids").into_iter().filter(|&pid| exists(pid)).collect();
    assert_eq!(left, [0; 0]);
}

#[test]
fn a_daemon_neither_stops_us_nor_is_stopped() {
    let place = TestBench::new();
    // It keeps the pipe open.
    let script = "setsid sh -c 'echo $$ > pids; exec sleep 1000' & until [ -s pids ]; do :; done; echo done";
    let finished = place.run(script);
    assert_eq!(finished.output, b"done\n");
    let [daemon] = place.pids("pids")[..] else { panic!("one daemon") };
    assert!(exists(daemon));
    // This process has adopted it, and has not reaped it.
    kill_process(Pid::from_raw(daemon).unwrap(), Signal::KILL).unwrap();
    until_exited(daemon);
    place.run(":");
    assert!(!exists(daemon));
}

#[test]
fn a_daemon_that_never_stops_to_write_does_not_stop_us() {
    let place = TestBench::new();
    let finished = place.run("setsid sh -c 'echo $$ > pids; exec yes' & until [ -s pids ]; do :; done");
    assert!(matches!(finished.ending, Ending::Exited(_)));
    // Without a reader, it ends.
    until_exited(place.pids("pids")[0]);
}

#[test]
fn no_zombies() {
    let place = TestBench::new();
    // Their parents exit before they do, or do not wait for them.
    let script = r"
        for i in 1 2 3 4 5 6 7 8; do (sh -c 'echo $$ >> pids' &); done
        for i in 1 2 3 4 5 6 7 8; do (setsid sh -c 'echo $$ >> pids; exit 3' &); done
        until [ `wc -l < pids` = 16 ]; do :; done 2> /dev/null
    ";
    place.run(script);
    let pids = place.pids("pids");
    assert_eq!(pids.len(), 16);
    // The last process that left the group may not have exited yet.
    for &pid in &pids {
        until_exited(pid);
    }
    place.run(":");
    assert!(!pids.iter().any(|&pid| exists(pid)));
}

#[test]
fn runs_in_many_threads_do_not_disturb_each_other() {
    thread::scope(|scope| {
        for thread in 0..8 {
            scope.spawn(move || {
                let place = TestBench::new();
                for run in 0..25 {
                    let code = (thread * 25 + run) % 256;
                    let finished = place.run(&format!("(true &); echo {code}; exit {code}"));
                    let Ending::Exited(status) = finished.ending else { panic!("{:?}", finished.ending) };
                    assert_eq!(status.code(), Some(code));
                    assert_eq!(finished.output, format!("{code}\n").into_bytes());
                }
            });
        }
        // A timeout of one run must not end the daemons of another.
        let place = TestBench::new();
        place.run("setsid sh -c 'echo $$ > pids; exec sleep 1000' > /dev/null 2>&1 & until [ -s pids ]; do :; done");
        let other = TestBench::new();
        let finished = other.interrupted(STUBBORN, &[4, 4]);
        assert_eq!(finished.ending, Ending::Interrupted);
        let [daemon] = place.pids("pids")[..] else { panic!("one daemon") };
        // It may be busy with becoming `sleep`.
        let state = loop {
            let state = fs::read_to_string(format!("/proc/{daemon}/stat")).unwrap();
            if ![") R ", ") D "].iter().any(|busy| state.contains(busy)) {
                break state;
            }
        };
        assert!(state.contains(") S "), "{state}");
        assert!(state.contains(&format!(" S {} ", getpid().as_raw_nonzero())), "its parent is us: {state}");
        kill_process(Pid::from_raw(daemon).unwrap(), Signal::KILL).unwrap();
    });
}

#[test]
fn any_amount_of_output_in_bounded_memory() {
    let place = TestBench::new();
    let mut reports = crate::report::scan::Reports::new(false);
    let script = "echo first; yes | head -c 200000000; echo '[bisect-match 0x5]'; echo last";
    let mut scanner = reports.scanner();
    let finished = place.run_with(place.sh(script), |job| job.reader = Some(&mut scanner)).unwrap();
    let line = |left_out: usize| format!("[cargo bisect-opt: {left_out} bytes left out here]\n");
    let total = 200_000_000 + "first\n[bisect-match 0x5]\nlast\n".len();
    for (text, kept) in [(finished.output, 1 << 16), (place.log(), 2 << 20)] {
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("first\ny\ny\n"));
        assert!(text.ends_with("y\n[bisect-match 0x5]\nlast\n"));
        assert!(text.contains(&line(total - kept)));
        assert_eq!(text.len(), kept + 1 + line(total - kept).len());
    }
    assert_eq!(reports.ids(), [bisect_core::ChangeId(5)]);
}

#[test]
fn output_need_not_be_text() {
    let place = TestBench::new();
    let mut reports = crate::report::scan::Reports::new(true);
    let command = place.sh(r"printf '\377\000 [bisect-match 0x1] \376\n[bisect-match 0x\3772]\n'");
    let mut scanner = reports.scanner();
    let finished = place.run_with(command, |job| job.reader = Some(&mut scanner)).unwrap();
    assert_eq!(finished.output, b"\xff\0 [bisect-match 0x1] \xfe\n[bisect-match 0x\xff2]\n");
    assert_eq!(reports.ids(), [bisect_core::ChangeId(1)]);
    assert_eq!(reports.get(bisect_core::ChangeId(1)).text, ["\u{fffd}\0 \u{fffd}"]);
}

/// Returns the error of a program that does not start, and its text.
fn refused(place: &TestBench, program: &str) -> (SpawnError, String) {
    let error = place.run_with(place.command(place.path(program)), |_| {}).unwrap_err();
    let text = error.to_string();
    assert!(text.contains(place.path(program).to_str().unwrap()), "{text}");
    (error, text)
}

#[test]
fn a_missing_program() {
    let place = TestBench::new();
    let (error, text) = refused(&place, "missing");
    assert!(matches!(error, SpawnError::NotFound { .. }));
    assert!(text.contains("No such file or directory") && text.contains("has been built"), "{text}");

    let error = place.run_with(place.command("no-such-program-in-path"), |_| {}).unwrap_err();
    assert!(matches!(error, SpawnError::NotFound { .. }));
    assert!(error.to_string().contains("it is in no directory of PATH: give its path, or check the name"), "{error}");

    let mut command = place.command("true");
    command.current_dir(place.path("missing"));
    let text = place.run_with(command, |_| {}).unwrap_err().to_string();
    assert!(text.contains("does not exist") && text.contains(place.path("missing").to_str().unwrap()), "{text}");

    // Written by another process, so that no other test's child can hold it open for writing.
    place.run("printf '#!/missing/interpreter\n' > script; chmod +x script");
    let (error, text) = refused(&place, "script");
    assert!(matches!(error, SpawnError::NotFound { .. }));
    assert!(text.contains("the file exists, but the interpreter or loader that it names does not"), "{text}");
}

#[test]
fn a_program_that_must_not_be_executed() {
    let place = TestBench::new();
    place.run("echo > file; mkdir dir; echo true > script; chmod +x script");
    let (error, text) = refused(&place, "file");
    assert!(matches!(error, SpawnError::Permission { .. }));
    assert!(text.contains("Permission denied") && text.contains("chmod"), "{text}");
    let (error, text) = refused(&place, "dir");
    assert!(matches!(error, SpawnError::Permission { .. }));
    assert!(text.contains("is a directory"), "{text}");
    let (error, text) = refused(&place, "script");
    assert!(matches!(error, SpawnError::Other { .. }));
    assert!(text.contains("Exec format error"), "{text}");
    assert!(text.contains("it was built for another system, or is a script without a first line of `#!`"), "{text}");
}

#[test]
fn a_program_that_is_still_being_written() {
    let place = TestBench::new();
    fs::write(place.path("busy"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(place.path("busy"), fs::Permissions::from_mode(0o755)).unwrap();
    let _writer = fs::File::options().append(true).open(place.path("busy")).unwrap();
    let (error, text) = refused(&place, "busy");
    assert!(matches!(error, SpawnError::Other { .. }));
    assert!(text.contains("Text file busy") && text.contains("still being written"), "{text}");
}

#[test]
fn a_log_that_cannot_be_written() {
    let place = TestBench::new();
    let log = place.path("missing/log");
    let finished = place.run_with(place.sh("echo 1"), |job| job.log = &log).unwrap();
    assert_eq!(finished.output, b"1\n");
    let error = finished.lost_log.unwrap().to_string();
    assert!(error.contains(log.to_str().unwrap()), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full() {
    let place = TestBench::new();
    let finished = place.run_with(place.sh("echo 1; exit 7"), |job| job.log = Path::new("/dev/full")).unwrap();
    let Ending::Exited(status) = finished.ending else { panic!("{finished:?}") };
    assert_eq!((status.code(), finished.output.as_slice()), (Some(7), &b"1\n"[..]), "the run counts all the same");
    let error = finished.lost_log.unwrap().to_string();
    assert!(error.contains("No space left"), "{error}");
}
