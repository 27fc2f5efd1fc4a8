//! Kinds of changes.

use serde::Serialize;

/// A kind of change, by its name in the JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ChangeKind {
    /// The place itself.
    Site,
    /// A place, for each of its callers.
    Caller,
    /// A place, for each of its call stacks.
    Stack,
    /// A choice at compile time.
    Build,
    /// A package, with the options that compile it.
    Crate,
    /// A function, optimized or not.
    Function,
    /// A pass of the compiler.
    Pass,
    /// An expression with other semantics in another edition.
    Expression,
    /// A line of a list.
    Item,
}
