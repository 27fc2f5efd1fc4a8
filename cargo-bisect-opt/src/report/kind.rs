//! Kinds of changes, and the words for them in an answer.

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize, Serializer};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

    /// Returns the kind with these words, which were read from a file. Each distinct kind is kept for the rest of the
    /// process.
    pub(super) fn read_back([name, noun, label]: [String; 3], source: ShownSource) -> Self {
        static READ: Mutex<Vec<ChangeKind>> = Mutex::new(Vec::new());
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it =
            |kind: &&Self| [kind.name, kind.noun, kind.label] == [&name, &noun, &label] && kind.source == source;
        if let Some(kind) = read.iter().find(is_it) {
            return *kind;
        }
        let kind = Self { name: name.leak(), noun: noun.leak(), label: label.leak(), source };
        read.push(kind);
        kind
    }
}

impl Serialize for ChangeKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.name.serialize(serializer)
    }
}
