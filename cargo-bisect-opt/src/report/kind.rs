//! Kinds of changes, and the words for them in an answer.

use serde::{Serialize, Serializer};

/// A kind of change. Each axis has its own; those that reports and lists of toggles name are constants here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChangeKind {
    /// Its name in the JSON.
    pub(crate) name: &'static str,
    /// The noun before the name of a change; `… of` only if there is a name.
    pub(crate) noun: &'static str,
    /// The label at the source line of a change.
    pub(crate) label: &'static str,
    /// The source that is shown.
    pub(crate) source: ShownSource,
}

/// The source of a change that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShownSource {
    /// Lines of the user's own code.
    Own,
    /// Lines of the user's own code, first of all the innermost one.
    Moment,
    /// Lines of any code, because it was compiled differently.
    Any,
    /// A function of any code, up to the end of its body.
    Function,
    /// None: the details are lines of a patch.
    Patch,
}

impl ChangeKind {
    /// The place itself.
    pub(crate) const SITE: Self = Self::own("site", "site", "this choice");
    /// A place, for each of its callers.
    pub(crate) const CALLER: Self = Self::own("caller", "a caller of", "called here");
    /// A place, for each of its call stacks.
    pub(crate) const STACK: Self = Self::own("stack", "call stack of", "this choice");
    /// A choice at compile time.
    pub(crate) const BUILD: Self = Self::own("build", "build-time choice", "this choice, made at compile time");

    /// Returns a kind whose source is shown where it is the user's own.
    pub(crate) const fn own(name: &'static str, noun: &'static str, label: &'static str) -> Self {
        Self { name, noun, label, source: ShownSource::Own }
    }
}

impl Serialize for ChangeKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.name.serialize(serializer)
    }
}
