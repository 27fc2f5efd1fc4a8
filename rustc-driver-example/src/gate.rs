//! The kinds of changes that this compiler knows.

/// A kind of change; its name stands in patterns (`name=PATTERN`) and in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// One change a function: whether it is optimized.
    Optimize,
    /// The same for functions that came with the compiler and are compiled once more in this crate: generic ones, and those
    /// that are inlined. Their own code is rarely to blame, but much of what is undefined behaviour in others shows only
    /// where they are optimized along with it.
    Std,
    /// One change a division: whether it is made a shift, by the pass of the tutorial.
    Halve,
    /// One change an expression whose temporaries have a destructor that somebody notices: whether it drops them where
    /// the other edition does.
    Drops,
    /// The same for expressions of which only the borrow checker can tell when their temporaries are gone.
    Scopes,
    /// One change an `impl Trait` that is returned: whether it may be made of all lifetimes in scope. Only the borrow checker
    /// can tell.
    Captures,
    /// One change a call of `into_iter` on a boxed slice: whether it gives away the values, or references.
    IntoIter,
    /// One change a crate: the type of what never returns, where nothing says it.
    NeverType,
}

impl Gate {
    /// All of them.
    pub(crate) const ALL: [Self; 8] = [
        Self::Optimize,
        Self::Std,
        Self::Halve,
        Self::Drops,
        Self::Scopes,
        Self::Captures,
        Self::IntoIter,
        Self::NeverType,
    ];

    /// Those that decide what machine code is made of a function.
    pub(crate) const OF_CODE: [Self; 3] = [Self::Optimize, Self::Std, Self::Halve];

    /// Those that decide what the source means.
    pub(crate) const OF_EDITIONS: [Self; 5] =
        [Self::Drops, Self::Scopes, Self::Captures, Self::IntoIter, Self::NeverType];

    /// Its name.
    #[must_use]
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Optimize => "optimize",
            Self::Std => "std",
            Self::Halve => "halve",
            Self::Drops => "drops",
            Self::Scopes => "scopes",
            Self::Captures => "captures",
            Self::IntoIter => "into-iter",
            Self::NeverType => "never-type",
        }
    }

    /// Whether its changes are on when nobody bisects.
    ///
    /// A pattern without a name is for the gates that are: it takes away what rustc does anyway. What rustc does not do
    /// by itself has to be asked for by name.
    #[must_use]
    pub(crate) const fn is_on_by_default(self) -> bool {
        match self {
            Self::Optimize | Self::Std => true,
            Self::Halve | Self::Drops | Self::Scopes | Self::Captures | Self::IntoIter | Self::NeverType => false,
        }
    }
}
