//! The end of a command: the exit status of a search, or of a single run.

use std::process::{ExitCode, Termination};

use crate::{output::verdict_status::VerdictStatus, record::exit_status::Exit};

/// The end of a command.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CommandStatus {
    /// A search, or a command that does not search.
    Search(Exit),
    /// A single run.
    Verdict(VerdictStatus),
    /// A panic outside a single run.
    Defect,
}

/// The exit status of a panic, as Rust has it.
const DEFECT: u8 = 101;

impl Termination for CommandStatus {
    fn report(self) -> ExitCode {
        match self {
            Self::Search(exit) => exit.report(),
            Self::Verdict(status) => status.report(),
            Self::Defect => DEFECT.into(),
        }
    }
}
