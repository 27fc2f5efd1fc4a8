//! One process and its descendants, from start to end. All processes of the driver are started here.
//!
//! A run must neither disturb the next one nor outlive the search. So each child leads its own session (on Windows, its
//! own job). When the child has exited, timed out or was interrupted, [`run`] ends and reaps all remaining descendants
//! before it returns.

mod capture;
pub(crate) mod cargo_home;
mod command;
mod crash;
pub(crate) mod debugger;
pub(crate) mod interrupt;
pub(crate) mod launcher;
pub(crate) mod machine_fault;
pub(crate) mod mirror;
pub(crate) mod own_executable;
pub(crate) mod own_file;
pub(crate) mod owned_dir;
mod plain_text;
pub(crate) mod processors;
pub(crate) mod remove_tree;
pub(crate) mod scratch_dir;
pub(crate) mod shell;
pub(crate) mod slots;
mod spawn_error;
#[cfg(unix)]
mod unix;
pub(crate) mod variables;
#[cfg(windows)]
mod windows;

use std::{
    fmt, io,
    path::Path,
    process::{Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use capture::Capture;
pub(crate) use command::{find_in_path, output_of, output_with, take_over, take_over_except_stderr};
pub(crate) use crash::{is_crash, is_crash_in_shell};
use interrupt::Interrupt;
use machine_fault::patiently;
pub(crate) use plain_text::plain_text;
pub(crate) use spawn_error::SpawnError;
#[cfg(unix)]
use unix::ProcessTree;
#[cfg(unix)]
pub(crate) use unix::guard;
#[cfg(windows)]
use windows::ProcessTree;

/// The time that processes have to end after SIGTERM, before they are killed.
#[cfg(unix)]
const GRACE_PERIOD: Duration = Duration::from_secs(2);
/// The maximum wait for killed processes. Only a process that hangs in the kernel needs it.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// A reader of a process's output while it runs.
pub(crate) trait ReadAlong: fmt::Debug {
    /// Takes the next bytes of the output.
    fn read(&mut self, bytes: &[u8]);

    /// Handles the end of the output.
    fn end(&mut self);
}

/// A process to run.
#[derive(Debug)]
pub(crate) struct ProcessSpec<'a> {
    /// The program, its arguments, environment and directory. [`run`] sets its standard streams: no input, and one pipe
    /// for both outputs, which keeps them in order.
    pub(crate) command: Command,
    /// The time after which it is ended.
    pub(crate) timeout: Option<Duration>,
    /// The file for its output: the first MiB and the last.
    pub(crate) log: &'a Path,
    /// Appends to the log instead of replacing it.
    pub(crate) append: bool,
    /// The interrupt that ends it, too.
    pub(crate) interrupt: &'a Interrupt,
    /// The reader of its output while it runs.
    pub(crate) reader: Option<&'a mut dyn ReadAlong>,
    /// The maximum number of bytes in [`Finished::output`]: half from the beginning of the output, half from its end.
    pub(crate) tail: usize,
}

/// A process that has ended.
#[derive(Debug)]
pub(crate) struct Finished {
    /// The way it ended.
    pub(crate) ending: Ending,
    /// Its output. If that was too long, a line in the middle says how much is left out.
    pub(crate) output: Vec<u8>,
    /// The time that it ran, without the time to end its descendants.
    pub(crate) duration: Duration,
    /// The reason why the log is incomplete, if it is.
    pub(crate) lost_log: Option<io::Error>,
}

/// The way in which a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// By itself, or by a signal that the driver did not send.
    Exited(ExitStatus),
    /// By the driver, after the timeout.
    TimedOut,
    /// By the driver, after this signal had stopped it and it was not continued.
    #[cfg_attr(windows, expect(dead_code, reason = "no process is stopped there"))]
    Stopped(i32),
    /// By the driver, because the user interrupted the search.
    Interrupted,
}

/// Runs a process to its end.
///
/// # Errors
/// If it cannot be started, or its output cannot be read. No process remains then either.
pub(crate) fn run(spec: ProcessSpec<'_>) -> Result<Finished, SpawnError> {
    run_with(spec, None, false)
}

/// Runs a process to its end like [`run`], and ends all its descendants then, also those in sessions of their own.
///
/// # Errors
/// See [`run`].
pub(crate) fn run_without_daemons(spec: ProcessSpec<'_>) -> Result<Finished, SpawnError> {
    run_with(spec, None, true)
}

/// Runs a process to its end like [`run`], but redirects its standard error to `stderr`.
///
/// # Errors
/// See [`run`].
pub(crate) fn run_except_stderr(spec: ProcessSpec<'_>, stderr: Stdio) -> Result<Finished, SpawnError> {
    run_with(spec, Some(stderr), false)
}

fn run_with(spec: ProcessSpec<'_>, stderr: Option<Stdio>, ends_daemons: bool) -> Result<Finished, SpawnError> {
    let mut capture = Capture::new(spec.log, spec.append, spec.tail, spec.reader);
    let failed = SpawnError::of(&spec.command);
    let run = || {
        let (ending, duration) = if spec.interrupt.requested() {
            (Ending::Interrupted, Duration::ZERO)
        } else {
            follow(spec.command, stderr, ends_daemons, (spec.timeout, spec.interrupt), &mut capture)?
        };
        let (output, lost_log) = capture.finish()?;
        Ok(Finished { ending, output, duration, lost_log })
    };
    run().map_err(failed)
}

fn follow(
    mut command: Command,
    stderr: Option<Stdio>,
    ends_daemons: bool,
    (timeout, interrupt): (Option<Duration>, &Interrupt),
    capture: &mut Capture<'_>,
) -> io::Result<(Ending, Duration)> {
    let (reader, writer) = patiently(io::pipe)?;
    command
        .stdin(Stdio::null())
        .stdout(patiently(|| writer.try_clone())?)
        .stderr(stderr.unwrap_or_else(|| writer.into()));
    let started = Instant::now();
    // Spawning drops the command, and with it our writing ends of the pipe; else the pipe would never be at its end.
    let tree = ProcessTree::spawn(command, ends_daemons)?;
    tree.follow(reader, started, timeout, interrupt, capture)
}

/// Stops all running processes until [`resume_all`].
#[cfg(unix)]
pub(crate) fn pause_all() {
    unix::signal_all(rustix::process::Signal::STOP);
}

/// Kills all running processes that lead their groups, unless another thread hangs while it starts one.
#[cfg(unix)]
pub(crate) fn kill_all() {
    unix::kill_all();
}

/// Continues the processes that [`pause_all`] has stopped.
#[cfg(unix)]
pub(crate) fn resume_all() {
    unix::signal_all(rustix::process::Signal::CONT);
}

/// Describes a process that was stopped, as a text that fits after "it was".
#[must_use]
pub(crate) fn describe_stop(signal: i32) -> String {
    #[cfg(unix)]
    let name = signal_hook::low_level::signal_name(signal).map(str::to_owned);
    #[cfg(not(unix))]
    let name = None;
    format!("stopped by {} and did not go on", name.unwrap_or_else(|| format!("signal {signal}")))
}

/// Describes the end of a process, as a text that fits after "it ended with": `exit status 101`, `signal 11`.
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
