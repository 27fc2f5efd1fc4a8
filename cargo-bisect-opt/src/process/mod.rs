//! One process with everything that it starts, from its start to its end.
//!
//! A run must not disturb the next one, nor outlive the search. So each child leads a session of its own (on
//! Windows, a job); whatever of it is left when the child has exited, timed out or was interrupted is ended and reaped
//! before [`run`] returns.

mod capture;
pub(crate) mod interrupt;
pub(crate) mod launcher;
pub(crate) mod owned_dir;
pub(crate) mod remove_tree;
pub(crate) mod scratch_dir;
pub(crate) mod shell;
pub(crate) mod slots;
mod spawn_error;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::{
    fmt, io,
    path::Path,
    process::{Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use capture::Capture;
use interrupt::Interrupt;
pub(crate) use spawn_error::SpawnError;
#[cfg(unix)]
use unix::ProcessTree;
#[cfg(unix)]
pub(crate) use unix::guard;
#[cfg(windows)]
use windows::ProcessTree;

/// How long processes may take to end when they are asked to, before they are killed.
#[cfg(unix)]
const GRACE: Duration = Duration::from_secs(2);
/// How long to wait for processes that were killed. Only one that hangs in the kernel needs any of it.
const KILLED: Duration = Duration::from_secs(5);

/// Reads what a process prints while it runs.
pub(crate) trait ReadAlong: fmt::Debug {
    /// Takes the next bytes.
    fn read(&mut self, bytes: &[u8]);

    /// The output has come to its end.
    fn end(&mut self);
}

/// A process to run.
#[derive(Debug)]
pub(crate) struct ProcessSpec<'a> {
    /// The program, its arguments, environment and directory. Its standard streams are set by [`run`]: no input, and
    /// both outputs in one pipe, so that they stay in order.
    pub(crate) command: Command,
    /// When to end it.
    pub(crate) timeout: Option<Duration>,
    /// Where its output goes: the first MiB, and the last.
    pub(crate) log: &'a Path,
    /// Whether the log goes on behind what is in it.
    pub(crate) append: bool,
    /// Ends it too.
    pub(crate) interrupt: &'a Interrupt,
    /// Reads its output as it comes.
    pub(crate) reader: Option<&'a mut dyn ReadAlong>,
    /// So many bytes of its output are kept in [`Finished::output`], half of them from its beginning.
    pub(crate) tail: usize,
}

/// What became of a process.
#[derive(Debug)]
pub(crate) struct Finished {
    /// How it ended.
    pub(crate) ending: Ending,
    /// What it printed. If that was more than it should be, a line says how much was left out of the middle.
    pub(crate) output: Vec<u8>,
    /// How long it ran, without what it took to end it.
    pub(crate) duration: Duration,
    /// Why the log is not complete, if it is not.
    pub(crate) lost_log: Option<io::Error>,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// By itself, or by a signal that we did not send.
    Exited(ExitStatus),
    /// It took longer than it may.
    TimedOut,
    /// By this signal it was stopped, and did not go on.
    #[cfg_attr(windows, expect(dead_code, reason = "nothing is stopped there"))]
    Stopped(i32),
    /// The user wants to stop.
    Interrupted,
}

/// Runs a process to its end.
///
/// # Errors
/// If it cannot be started, or its output cannot be read. No process is left behind then either.
pub(crate) fn run(job: ProcessSpec<'_>) -> Result<Finished, SpawnError> {
    run_with(job, None)
}

/// As [`run`], but standard error is not its output: it goes to `stderr`.
///
/// # Errors
/// As [`run`].
pub(crate) fn run_beside(job: ProcessSpec<'_>, stderr: Stdio) -> Result<Finished, SpawnError> {
    run_with(job, Some(stderr))
}

fn run_with(job: ProcessSpec<'_>, stderr: Option<Stdio>) -> Result<Finished, SpawnError> {
    let mut capture = Capture::new(job.log, job.append, job.tail, job.reader);
    let failed = SpawnError::of(&job.command);
    let run = || {
        let (ending, duration) = if job.interrupt.requested() {
            (Ending::Interrupted, Duration::ZERO)
        } else {
            follow(job.command, stderr, job.timeout, job.interrupt, &mut capture)?
        };
        let (output, lost_log) = capture.finish()?;
        Ok(Finished { ending, output, duration, lost_log })
    };
    run().map_err(failed)
}

fn follow(
    mut command: Command,
    stderr: Option<Stdio>,
    timeout: Option<Duration>,
    interrupt: &Interrupt,
    capture: &mut Capture<'_>,
) -> io::Result<(Ending, Duration)> {
    let (reader, writer) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(stderr.unwrap_or_else(|| writer.into()));
    let started = Instant::now();
    // With the command go our writing ends of the pipe; else the reading end would never come to an end.
    let tree = ProcessTree::spawn(command)?;
    tree.follow(reader, started, timeout, interrupt, capture)
}

/// Stops what was started and still runs, until [`resume_all`].
#[cfg(unix)]
pub(crate) fn pause_all() {
    unix::signal_all(rustix::process::Signal::STOP);
}

/// Lets what [`pause_all`] has stopped go on.
#[cfg(unix)]
pub(crate) fn resume_all() {
    unix::signal_all(rustix::process::Signal::CONT);
}

/// That a process was stopped, in words that fit behind "it was".
#[must_use]
pub(crate) fn describe_stop(signal: i32) -> String {
    #[cfg(unix)]
    let name = signal_hook::low_level::signal_name(signal).map(str::to_owned);
    #[cfg(not(unix))]
    let name = None;
    format!("stopped by {} and did not go on", name.unwrap_or_else(|| format!("signal {signal}")))
}

/// How a process ended, in words that fit behind "it ended with": `exit status 101`, `signal 11`.
#[must_use]
pub(crate) fn describe(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("signal {signal}");
    }
    status.code().map_or_else(|| status.to_string(), |code| format!("exit status {code}"))
}

#[cfg(all(test, target_os = "linux"))]
#[path = "process_tests.rs"]
mod tests;
