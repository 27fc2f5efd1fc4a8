//! The errors that keep a run from being made.

use super::limit::Limit;
use crate::process::{SpawnError, machine_fault::MachineFault};

/// A reason why a run could not be made at all.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    /// The executable cannot be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The user stopped it. Everything that it started has ended.
    #[error("interrupted")]
    Interrupted,
    /// The user allows no more runs, or no more time.
    #[error("stopped at {0}: allow {more}", more = .0.more())]
    Limit(Limit),
    /// The run's files could not be written or read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The target runs but cannot be searched; the text says what to do.
    #[error("{0}")]
    Unusable(String),
}

impl RunError {
    /// Returns the fault of the machine that is the cause, if one is.
    pub(crate) fn machine_fault(&self) -> Option<MachineFault> {
        match self {
            Self::Spawn(error) => error.machine_fault(),
            Self::Io(error) => MachineFault::of(error),
            Self::Interrupted | Self::Limit(_) | Self::Unusable(_) => None,
        }
    }

    /// Returns the conclusion of a search that this fault has ended.
    pub(crate) fn of_machine(&self, fault: MachineFault) -> String {
        let advice = match self {
            // Its text has the advice.
            Self::Spawn(_) => String::new(),
            _ => format!("; {}", fault.advice()),
        };
        format!("this machine, not the target, keeps runs from being made: {self}{advice}")
    }
}
