//! The errors that keep a run from being made.

use crate::process::SpawnError;

/// A reason why a run could not be made at all.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    /// The executable cannot be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The user stopped it. Everything that it started has ended.
    #[error("interrupted")]
    Interrupted,
    /// The user allows no more runs.
    #[error("stopped at --max-runs: allow more runs")]
    Limit,
    /// The run's files could not be written or read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The target runs but cannot be searched; the text says what to do.
    #[error("{0}")]
    Unusable(String),
}
