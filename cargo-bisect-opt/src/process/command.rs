//! Processes other than runs: short commands, and children that take the place of this process.
//!
//! The output of a short command is read at its end.

use std::{
    io::{self, BufReader},
    process::{ChildStderr, Command, ExitStatus, Output, Stdio},
};

use super::SpawnError;

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
    command.stdin(input).output().map_err(failed)
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
    read(BufReader::new(child.stderr.take().expect("it is piped")))?;
    child.wait()
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
