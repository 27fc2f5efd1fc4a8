//! Processes other than runs: short commands, and children that take the place of this process.
//!
//! The output of a short command is read at its end.

#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::{
    env,
    ffi::OsStr,
    io::{self, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStderr, Command, ExitStatus, Output, Stdio},
};

#[cfg(unix)]
use super::unix::pipes;

use super::{SpawnError, machine_fault::patiently};

/// Returns the file of a program in the directories of this `PATH`. Relative ones are below `directory`.
pub(crate) fn find_in_path(path: &OsStr, directory: &Path, program: &Path) -> Option<PathBuf> {
    env::split_paths(path).map(|entry| directory.join(entry).join(program)).find(|file| file.is_file())
}

/// Runs a short command without input, and returns its output and its status.
///
/// # Errors
/// If it cannot be started.
pub(crate) fn output_of(command: Command) -> Result<Output, SpawnError> {
    output_with(command, Stdio::null())
}

/// Runs a short command with this input, and returns its output and its status.
///
/// # Errors
/// If it cannot be started.
pub(crate) fn output_with(mut command: Command, input: impl Into<Stdio>) -> Result<Output, SpawnError> {
    let failed = SpawnError::of(&command);
    command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
    patiently(|| command.spawn()).and_then(output_of_child).map_err(failed)
}

/// Reads the output of a child to its end. `Child::wait_with_output` panics if a pipe cannot be read.
#[cfg(unix)]
fn output_of_child(mut child: Child) -> io::Result<Output> {
    let pipes = child.stdout.take().map(OwnedFd::from).into_iter().chain(child.stderr.take().map(OwnedFd::from));
    let read = pipes::read_all(pipes.collect());
    if read.is_err() {
        // It may wait for a reader.
        let _ = child.kill();
    }
    let status = child.wait()?;
    let [stdout, stderr] = read?.try_into().map_err(|_| io::Error::other("an output is missing"))?;
    Ok(Output { status, stdout, stderr })
}

#[cfg(not(unix))]
fn output_of_child(child: Child) -> io::Result<Output> {
    child.wait_with_output()
}

/// Runs a command in the place of this process: the child gets its standard streams, and stays in its process group.
///
/// # Errors
/// If it cannot be started.
pub(crate) fn take_over(command: &mut Command) -> io::Result<ExitStatus> {
    command.status()
}

/// Runs a command in the place of this process, but passes its standard error to `read`, which must read it to the end.
///
/// # Errors
/// If it cannot be started, or `read` fails.
pub(crate) fn take_over_except_stderr(
    command: &mut Command,
    read: impl FnOnce(BufReader<ChildStderr>) -> io::Result<()>,
) -> io::Result<ExitStatus> {
    let mut child = command.stderr(Stdio::piped()).spawn()?;
    let read = child.stderr.take().map_or(Ok(()), |stderr| read(BufReader::new(stderr)));
    // Without a reader, the child ends when it writes the next time.
    let status = child.wait()?;
    read.map(|()| status)
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Read;

    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_short_command_has_no_input() {
        let output = output_of(shell("cat; echo out; echo err >&2; exit 7")).unwrap();
        assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b"out\n"[..], &b"err\n"[..]));
        assert_eq!(output.status.code(), Some(7));
    }

    #[test]
    fn outputs_that_are_longer_than_a_pipe_are_read_together() {
        let script = "for i in 1 2 3; do head -c 200000 /dev/zero >&2; head -c 200000 /dev/zero; done";
        let output = output_of(shell(script)).unwrap();
        assert_eq!((output.stdout.len(), output.stderr.len()), (600_000, 600_000));
    }

    #[test]
    fn a_missing_command_is_named() {
        let error = output_of(Command::new("no-such-program-in-path")).unwrap_err().to_string();
        assert!(error.contains("`no-such-program-in-path`") && error.contains("PATH"), "{error}");
    }

    #[test]
    fn standard_error_is_read_to_its_end() {
        let mut text = String::new();
        let status = take_over_except_stderr(&mut shell("echo one >&2; echo two >&2; exit 3"), |mut stderr| {
            stderr.read_to_string(&mut text).map(drop)
        });
        assert_eq!((status.unwrap().code(), text.as_str()), (Some(3), "one\ntwo\n"));
    }
}
