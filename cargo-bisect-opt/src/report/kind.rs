//! Kinds of changes.

use serde::Serialize;

/// Kinds of changes, as the JSON names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ChangeKind {
    /// The place itself.
    Site,
    /// A place, by who called it.
    Caller,
    /// A place, by its whole call stack.
    Stack,
    /// Decided while compiling.
    Build,
    /// A package, by the options that it is compiled with.
    Crate,
    /// A function that the compiler may optimize.
    Function,
    /// A pass of the compiler.
    Pass,
    /// An expression that means something else in another edition.
    Expression,
    /// A line of a list.
    Item,
}
