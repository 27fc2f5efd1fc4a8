//! The reader of a command line.

/// The reader of a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// A person, who is in the directory of the search.
    Person,
    /// A shell in any directory, with the words of a debugger as its arguments: they come before the program.
    Replay,
}

impl Reader {
    /// Returns the word before the program.
    pub(crate) fn before_program(self) -> &'static str {
        match self {
            Self::Person => "",
            Self::Replay => "\"$@\" ",
        }
    }
}
