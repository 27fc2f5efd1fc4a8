//! The kind of a target.

/// The kind of a target, which decides the words about it and what its statuses mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetKind {
    /// A build of cargo: nothing is executed.
    Build,
    /// A program or tests that cargo builds.
    Program,
    /// A command.
    Command,
}
