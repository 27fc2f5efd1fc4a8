//! Faults of the machine and of others: planted files, a deleted run directory, refused processes, hanging threads.
#![cfg(target_os = "linux")]

use std::{
    ffi::OsStr,
    fs, io,
    io::Write,
    os::unix::ffi::OsStrExt,
    process::{Command, Stdio},
};

use bisect_tests::{
    harness::{Finished, Scratch, driver, run, wait_until},
    small_disk::on_small_disk,
};

const CULPRIT: &str = "this line makes the target fail: 7 at items:7";

/// Returns a search for line 7 of 12, whose runs first do this.
fn search(scratch: &Scratch, options: &[&str], first: &str) -> Command {
    scratch.write("items", &(1..=12).fold(String::new(), |items, item| items + &format!("{item}\n")));
    let script = format!("{first}\n! grep -qx 7 \"$1\"");
    let mut command = scratch.driver(["list", "--items=items"]);
    command.args(options).args(["--", "sh", "-c", &script, "sh", "LIST"]);
    command
}

#[track_caller]
fn expect_culprit(finished: &Finished) {
    assert!(finished.stdout.contains(CULPRIT), "{finished}");
}

#[test]
fn what_a_run_plants_in_the_place_of_later_files_is_not_used() {
    for plant in ["ln -s ../../precious", "mkfifo"] {
        let scratch = Scratch::new();
        scratch.write("precious", "mine");
        let first = format!(
            "for i in 03 04 05; do for f in bisect.out/reports/00$i bisect.out/runs/00$i.log; do \
             [ -e $f ] || {plant} $f; done; done"
        );
        let finished = run(&mut search(&scratch, &[], &first)).expect_status(0);
        expect_culprit(&finished);
        assert_eq!(scratch.read("precious"), "mine", "{plant}");
    }
}

#[test]
fn variables_may_have_any_bytes() {
    for (name, value) in [(&b"NAME\xff"[..], &b"x"[..]), (b"OLDPWD", b"/home/caf\xe9"), (b"CARGO_BUILD_X", b"caf\xe9")]
    {
        let scratch = Scratch::new();
        let mut command = search(&scratch, &[], "");
        command.env(OsStr::from_bytes(name), OsStr::from_bytes(value));
        expect_culprit(&run(&mut command).expect_status(0));
    }
}

#[test]
fn a_run_directory_that_is_deleted_during_the_search_is_made_again() {
    let scratch = Scratch::new();
    let first = "echo >> runs; [ $(wc -l < runs) -ne 4 ] || rm -rf bisect.out";
    let finished = run(&mut search(&scratch, &[], first)).expect_status(0);
    expect_culprit(&finished);
    finished.expect_message(&["was deleted while the search runs", "--resume cannot continue this search"]);
    let report = run(&mut scratch.driver(["report"])).expect_status(0);
    expect_culprit(&report);
}

/// Returns a command whose directory `small` is a small file system with these options, on which it first does this.
/// Prints a notice and returns `None` if nothing can be mounted, which takes root.
fn with_small_disk(scratch: &Scratch, command: &Command, options: &str, first: &str) -> Option<Command> {
    fs::create_dir(scratch.dir().join("small")).unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{first}\nexec \"$@\""), "sh"]).arg(command.get_program()).args(command.get_args());
    shell.current_dir(scratch.dir());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    on_small_disk(&shell, &scratch.dir().join("small"), options)
}

#[test]
fn a_full_disk_costs_only_what_cannot_be_written_there() {
    let scratch = Scratch::new();
    let mut command = search(&scratch, &[], "");
    command.env("TMPDIR", scratch.dir().join("small"));
    let fill = "cat /dev/zero > small/fill 2> /dev/null";
    let Some(mut command) = with_small_disk(&scratch, &command, "8k", fill) else { return };
    expect_culprit(&run(&mut command).expect_status(0));

    let scratch = Scratch::new();
    let command = search(&scratch, &["--out=small/out"], "");
    let Some(mut command) = with_small_disk(&scratch, &command, "1m,nr_inodes=14", "") else { return };
    let finished = run(&mut command).expect_status(0);
    expect_culprit(&finished);
    finished.expect_message(&["No space left on device"]);
}

/// The disk of the run directory is full from the third run on, to the end or to the sixth run. Where it is full to the
/// end, the earlier result makes room for the answer.
#[test]
fn the_answer_is_recorded_at_the_end_if_the_disk_was_full() {
    for last in ["6", "99"] {
        let scratch = Scratch::new();
        let first = format!(
            "echo >> runs; case $(wc -l < runs) in 3) cat /dev/zero > small/fill 2> /dev/null;; {last}) rm small/fill;; esac"
        );
        let command = search(&scratch, &["--out=small/out"], &first);
        // `report` is the same program, and needs the same disk.
        let report = scratch.driver(["report", "small/out"]);
        let report = report.get_args().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ");
        let script = format!("\"$@\" > answer 2> trace; echo $? > status; exec \"$1\" {report}");
        let Some(mut command) = with_small_disk(&scratch, &command, "100k", &script) else { return };
        let finished = run(&mut command);
        let (answer, trace) = (scratch.read("answer"), scratch.read("trace"));
        assert_eq!(scratch.read("status"), "0\n", "{trace}");
        assert!(answer.contains(CULPRIT), "{answer}");
        assert!(trace.contains("the run directory can no longer be written: "), "{trace}");
        expect_culprit(&finished);
        assert!(finished.stdout.contains("found 1 culprit; with everything else the target passes"), "{finished}");
        // No line passes that is said to fail.
        let line = answer.lines().skip_while(|line| !line.starts_with("fails:")).nth(1).unwrap();
        let pasted = Command::new("sh").args(["-c", line]).current_dir(scratch.dir()).status().unwrap();
        assert!(!pasted.success(), "{answer}");
        let is_refused = line.contains("there is no command to paste: ");
        assert_eq!(is_refused, last == "99", "{answer}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_second_request_ends_a_driver_whose_thread_hangs() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.dir().join("tmp")).unwrap();
    let (_reader, mut writer) = io::pipe().unwrap();
    // Nobody reads the answer, and the pipe is full.
    rustix::io::ioctl_fionbio(&writer, true).unwrap();
    while writer.write(&[b'x'; 512]).is_ok() {}
    while writer.write(b"x").is_ok() {}
    rustix::io::ioctl_fionbio(&writer, false).unwrap();
    let mut command = search(&scratch, &[], "");
    command.env("TMPDIR", scratch.dir().join("tmp")).stdin(Stdio::null()).stdout(writer).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    wait_until("the answer is known", || scratch.read("bisect.out/result.json").contains("\"set\": 1"));
    // Two signals of one kind could arrive as one.
    for signal in ["-INT", "-TERM"] {
        assert!(Command::new("kill").arg(signal).arg(child.id().to_string()).status().unwrap().success());
    }
    wait_until("the driver has ended", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(fs::read_dir(scratch.dir().join("tmp")).unwrap().count(), 0, "temporary files are deleted");
}

#[test]
fn the_guard_has_ended_before_the_driver() {
    let scratch = Scratch::new();
    let first = "cat /proc/$PPID/task/*/children > children; echo $$ > own";
    let finished = run(&mut search(&scratch, &["--max-runs=1"], first)).expect_status(5);
    let (children, own) = (scratch.read("children"), scratch.read("own"));
    let others: Vec<_> = children.split_whitespace().filter(|child| *child != own.trim()).collect();
    assert_eq!(others.len(), 1, "the guard: {children} {own} {finished}");
    assert!(!fs::exists(format!("/proc/{}", others[0])).unwrap(), "neither a process nor a zombie is left");
}

/// Returns a command of the driver in which the system refuses some calls: `clone3:error=EAGAIN:when=2+`. Prints a
/// notice and returns `None` without `strace`, or where it is forbidden.
fn with_fault(command: &Command, fault: &str) -> Option<Command> {
    let can_trace = Command::new("strace").args(["-o", "/dev/null", "true"]).stderr(Stdio::null()).status();
    if !can_trace.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: it takes strace");
        return None;
    }
    let calls = fault.split(':').next().unwrap_or_default();
    let mut traced = Command::new("strace");
    traced.args(["-f", "-b", "execve", "-o", "/dev/null", "-e", &format!("trace={calls}")]);
    traced.args(["-e", &format!("inject={fault}")]).arg(driver()).args(command.get_args());
    traced.current_dir(command.get_current_dir().expect("a search has a folder"));
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => traced.env(name, value),
            None => traced.env_remove(name),
        };
    }
    Some(traced)
}

#[test]
fn git_does_not_take_a_refused_thread_for_a_version_that_fails() {
    let scratch = Scratch::new();
    // The first thread handles signals.
    for fault in ["clone3:error=EAGAIN:when=2+", "clone3:error=EAGAIN:when=3+"] {
        let Some(mut command) = with_fault(&scratch.driver(["exec", "--verdict", "true"]), fault) else { return };
        let finished = run(&mut command).expect_status(128);
        finished.expect_message(&["Resource temporarily unavailable", "close other programs, or raise the limit"]);
        assert!(!finished.stderr.contains("panicked"), "{finished}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_fault_that_is_over_soon_costs_no_answer() {
    for fault in [
        "openat:error=EMFILE:when=40",
        "openat:error=ENOSPC:when=44",
        "pipe2:error=EMFILE:when=3",
        "clone3:error=EAGAIN:when=3",
        "wait4:error=EINTR:when=2",
        "read:error=EIO:when=40",
    ] {
        let scratch = Scratch::new();
        let Some(mut command) = with_fault(&search(&scratch, &[], ""), fault) else { return };
        let finished = run(&mut command);
        assert!(finished.status == Some(0) && finished.stdout.contains(CULPRIT), "{fault} {finished}");
    }
    // Each run makes directories for temporary files.
    let scratch = Scratch::new();
    let Some(mut command) = with_fault(&search(&scratch, &["--max-runs=1"], ""), "mkdir:error=ENOSPC:when=5") else {
        return;
    };
    let finished = run(&mut command).expect_status(5);
    finished.expect_message(&["this machine kept a run from being made, so it was made again: "]);
}

#[test]
fn a_fault_that_lasts_is_not_blamed_on_the_target() {
    let scratch = Scratch::new();
    let Some(mut command) = with_fault(&search(&scratch, &[], ""), "clone3:error=EAGAIN:when=3+") else { return };
    let finished = run(&mut command).expect_status(3);
    finished.expect_message(&[
        "this machine, not the target, keeps runs from being made",
        "close other programs, or raise the limit of processes",
        "to continue:\n  cargo bisect-opt list --resume",
    ]);
    expect_culprit(&run(search(&scratch, &["--resume"], "").env_remove("X")).expect_status(0));
}
