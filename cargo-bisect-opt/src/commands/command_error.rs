//! The reasons why a command did not search, or stopped early, with their exit statuses.

use std::{
    ffi::{OsStr, OsString},
    io,
};

use super::{
    codegen::CodegenError, conditions::ResumeError, edition::EditionError, replay::ReplayError, report::ReportError,
};
use crate::{
    axes::command_spec::AxisError,
    cargo::CargoError,
    output::{run_dir::RunDirError, verdict_status::VerdictStatus},
    process::{machine_fault::MachineFault, shell},
    record::exit_status::Exit,
    run::error::RunError,
    targets::{command, victim::SuiteError},
    vcs::since::SinceError,
};

/// A reason why a command did not search, or stopped early.
#[derive(Debug, thiserror::Error)]
pub(super) enum CommandError {
    #[error("an argument is not valid UTF-8, so no pattern can be put into it: {}; rename the file that it names", .0.display())]
    NotUnicode(OsString),
    #[error(transparent)]
    Exec(#[from] command::UsageError),
    #[error(
        "--when needs changes that are decided while the target runs: use it with `test`, `run` and `exec`, without --codegen, --edition and --rustflags"
    )]
    When,
    #[error("the working directory, in which the target would run, cannot be found: {0}; change to one that exists")]
    WorkingDirectory(#[source] io::Error),
    #[error(transparent)]
    Cargo(#[from] CargoError),
    #[error(transparent)]
    RunDir(#[from] RunDirError),
    #[error(transparent)]
    Codegen(#[from] CodegenError),
    #[error(transparent)]
    Edition(#[from] EditionError),
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error(transparent)]
    Resume(#[from] ResumeError),
    #[error(transparent)]
    Report(#[from] ReportError),
    #[error(transparent)]
    Axis(#[from] AxisError),
    #[error(transparent)]
    Victim(#[from] SuiteError),
    #[error(transparent)]
    Since(#[from] SinceError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(
        "signals cannot be handled, so Ctrl-C could leave runs behind: {0}; close other programs, or raise the limits of the system"
    )]
    Signals(#[source] io::Error),
    #[error("{program} cannot be started: {error}; to start it in another way: {line}")]
    Debugger { program: String, line: String, error: io::Error },
    #[error("there is no command `{0}`: `cargo bisect-opt help` lists all commands")]
    NoCommand(String),
    #[error("the man pages cannot be written: {0}; choose another directory")]
    Man(#[source] io::Error),
    #[error(
        "cannot write the trace or the results: {0}; free space, or send standard output and standard error elsewhere"
    )]
    Output(#[source] io::Error),
}

impl CommandError {
    /// Returns the exit status.
    pub(super) fn exit(&self) -> Exit {
        match self {
            CommandError::NotUnicode(_)
            | CommandError::Exec(_)
            | CommandError::When
            | CommandError::NoCommand(_)
            | CommandError::RunDir(_)
            | CommandError::Resume(_)
            | CommandError::Replay(_)
            | CommandError::Report(ReportError::RunDir(_) | ReportError::NoAnswer(_))
            | CommandError::Since(_)
            | CommandError::Victim(SuiteError::Usage(_))
            | CommandError::Axis(AxisError::Usage(_)) => Exit::Usage,
            CommandError::Axis(AxisError::Nothing(_)) | CommandError::Victim(SuiteError::Nothing(_)) => Exit::Nothing,
            CommandError::Codegen(error) if error.is_usage() => Exit::Usage,
            CommandError::Edition(error) if error.is_usage() => Exit::Usage,
            CommandError::Cargo(CargoError::Interrupted)
            | CommandError::Axis(AxisError::Cargo(CargoError::Interrupted))
            | CommandError::Victim(SuiteError::Cargo(CargoError::Interrupted))
            | CommandError::Run(RunError::Interrupted)
            | CommandError::Codegen(CodegenError::Cargo(CargoError::Interrupted))
            | CommandError::Edition(EditionError::Cargo(CargoError::Interrupted)) => Exit::Interrupted,
            CommandError::Cargo(error)
            | CommandError::Axis(AxisError::Cargo(error))
            | CommandError::Victim(SuiteError::Cargo(error))
                if error.is_usage() =>
            {
                Exit::Usage
            }
            CommandError::WorkingDirectory(_)
            | CommandError::Axis(_)
            | CommandError::Victim(_)
            | CommandError::Run(_)
            | CommandError::Cargo(_)
            | CommandError::Codegen(_)
            | CommandError::Edition(_)
            | CommandError::Signals(_)
            | CommandError::Report(ReportError::Output(_) | ReportError::Page(_))
            | CommandError::Debugger { .. }
            | CommandError::Man(_)
            | CommandError::Output(_) => Exit::Unusable,
        }
    }

    /// Returns the message to show. `stage` completes "interrupted before …".
    pub(super) fn message(&self, stage: &str, words: &[OsString]) -> String {
        if let Self::Run(error) = self
            && let Some(fault) = error.machine_fault()
        {
            return error.of_machine(fault);
        }
        if self.exit() != Exit::Interrupted {
            let advice = self.advice_about_machine().map(|advice| format!("; {advice}"));
            return self.to_string() + &advice.unwrap_or_default();
        }
        let ours = ["cargo", "bisect-opt"].map(OsStr::new);
        let line = shell::line(ours.into_iter().chain(words.iter().map(OsString::as_os_str)));
        format!("interrupted before {stage}\nto start again:\n  {line}")
    }

    /// Returns the advice about a fault of the machine before the first run, if its text does not have it.
    fn advice_about_machine(&self) -> Option<&'static str> {
        match self {
            Self::Cargo(error)
            | Self::Axis(AxisError::Cargo(error))
            | Self::Victim(SuiteError::Cargo(error))
            | Self::Codegen(CodegenError::Cargo(error))
            | Self::Edition(EditionError::Cargo(error)) => match error {
                CargoError::Spawn(_) => None,
                error => error.machine_fault().map(MachineFault::advice),
            },
            _ => None,
        }
    }

    /// Returns the status of a single run that could not be made.
    pub(super) fn verdict(&self) -> VerdictStatus {
        match self {
            // The version does not matter.
            CommandError::Cargo(error) if error.machine_fault().is_some() => VerdictStatus::Stopped,
            // Another version may be valid.
            CommandError::Cargo(
                CargoError::Config(_) | CargoError::Workspace(_) | CargoError::Build { .. } | CargoError::Nothing(_),
            )
            | CommandError::Run(RunError::Unusable(_)) => VerdictStatus::Untested,
            error if error.exit() == Exit::Interrupted => VerdictStatus::Interrupted,
            _ => VerdictStatus::Stopped,
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn git_skips_a_wrong_manifest_and_stops_if_the_machine_refuses_something() {
        let io = |code| io::Error::from_raw_os_error(code);
        for (error, expected) in [
            (CargoError::Io(io(libc::ENOSPC)), VerdictStatus::Stopped),
            (CargoError::Workspace("no manifest".to_owned()), VerdictStatus::Untested),
        ] {
            assert_eq!(CommandError::Cargo(error).verdict(), expected);
        }
    }

    #[test]
    fn a_fault_of_the_machine_before_the_first_run_has_advice() {
        let full = || CargoError::Io(io::Error::from_raw_os_error(libc::ENOSPC));
        for error in [
            CommandError::Cargo(full()),
            CommandError::Codegen(CodegenError::Cargo(full())),
            CommandError::Axis(AxisError::Cargo(full())),
        ] {
            let message = error.message("the first run", &[]);
            assert!(message.contains("No space left on device") && message.contains("TMPDIR"), "{message}");
        }
        let other = CommandError::Cargo(CargoError::Workspace("no manifest".to_owned()));
        assert_eq!(other.message("the first run", &[]), "no manifest");
    }
}
