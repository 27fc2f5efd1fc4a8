//! The ways in which a victim runs with other tests: in one process, or in a process of its own.

use bisect_core::protocol::names;

/// A way in which a victim runs with other tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrangement {
    /// In one process, one test after the other.
    Serial,
    /// In one process, several at once.
    Parallel(Threads),
    /// The others in one process, the victim in another one.
    Apart(Apart),
}

/// The number of tests that run at once in one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    /// As many as the user's command runs.
    Usual,
    /// More than processors, so that more tests run beside the victim.
    More,
}

/// A way in which a victim runs in a process of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Apart {
    /// True if both processes run at the same time; otherwise the victim's is the second one.
    pub(crate) is_at_once: bool,
    /// A thing that is new for this run; `None`: both processes share all that they share with the user.
    pub(crate) thing: Option<OwnResource>,
    /// True if both processes have the same new thing; false if it is the victim's own.
    pub(crate) is_shared: bool,
}

/// A thing outside of a process that another process may have of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnResource {
    /// The directory for temporary files.
    Temporary,
    /// The user's home directory.
    Home,
    /// The current directory.
    Directory,
    /// `BISECT_SLOT`, from which a program may take the number of a port.
    Slot,
    /// The variables of the user, which may name a file, a server or a database.
    Environment,
}

impl OwnResource {
    /// All of them, in the order in which they are tried.
    pub(crate) const ALL: [Self; 5] = [Self::Temporary, Self::Home, Self::Directory, Self::Slot, Self::Environment];
    /// Those that keep what a run leaves there.
    pub(crate) const LASTING: [Self; 2] = [Self::Home, Self::Directory];

    /// Returns its name: a variable, if one names it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Temporary => "TMPDIR",
            Self::Home => "HOME",
            Self::Directory => "current directory",
            Self::Slot => names::SLOT,
            Self::Environment => "environment",
        }
    }
}
