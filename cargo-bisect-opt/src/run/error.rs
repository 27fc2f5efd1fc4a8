//! Why a run cannot be made.

use crate::process::SpawnError;

/// Why a run could not be made at all.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    /// The executable cannot be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The user stopped it; everything it started is gone.
    #[error("interrupted")]
    Interrupted,
    /// The run's files could not be written or read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// It runs, but not as a target does; the words say what to do.
    #[error("{0}")]
    Unusable(String),
}
