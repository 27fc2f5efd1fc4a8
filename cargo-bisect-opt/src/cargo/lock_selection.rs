//! Selections of versions for a lock file: changes, and a version between for one package.

use std::collections::BTreeSet;

use super::KnownVersion;

/// The versions of a lock file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LockSelection {
    /// The changes whose updates are made.
    pub(crate) changes: BTreeSet<usize>,
    /// An update of these changes, and the version that its package has instead of the new one.
    pub(crate) instead: Option<(usize, KnownVersion)>,
}

impl From<BTreeSet<usize>> for LockSelection {
    fn from(changes: BTreeSet<usize>) -> Self {
        Self { changes, instead: None }
    }
}
