//! The end of a command: the exit status of a search, or of a single run.

use std::process::{ExitCode, Termination};

use crate::output::{exit_status::Exit, verdict_status::VerdictStatus};

/// The end of a command.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CommandStatus {
    /// A search, or a command that does not search.
    Search(Exit),
    /// A single run.
    Verdict(VerdictStatus),
}

impl Termination for CommandStatus {
    fn report(self) -> ExitCode {
        match self {
            Self::Search(exit) => exit.report(),
            Self::Verdict(status) => status.report(),
        }
    }
}
