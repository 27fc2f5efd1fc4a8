//! The kinds of changes that this compiler can make.

/// A kind of change. Its name is used in patterns (`name=PATTERN`) and in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// One change per function: on, the function is optimized.
    Optimize,
    /// The same for functions that came with the compiler and are compiled again in this crate: generic ones and
    /// inlined ones. Their own code is rarely wrong. But much undefined behaviour in callers has an effect only if the
    /// function and its caller are optimized together.
    Std,
    /// One change per division: on, the pass of the tutorial makes it a shift.
    Halve,
    /// One change per expression whose temporaries have an observable destructor: on, they are dropped where the other
    /// edition drops them.
    Drops,
    /// The same for expressions where only the borrow checker can observe the end of the temporaries.
    Scopes,
    /// One change per returned `impl Trait`: on, it captures the lifetimes that it captures in the other edition. Only
    /// the borrow checker can observe this.
    Captures,
    /// One change per call of `into_iter` on a boxed slice: on, it yields what it yields in the other edition, values
    /// or references.
    IntoIter,
    /// One change per crate: on, an expression that never returns has the type of the other edition, where nothing else
    /// determines that type.
    NeverType,
}

impl Gate {
    /// All gates.
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

    /// The gates that affect the machine code of a function.
    pub(crate) const OF_CODE: [Self; 3] = [Self::Optimize, Self::Std, Self::Halve];

    /// The gates that affect the meaning of the source.
    pub(crate) const OF_EDITIONS: [Self; 5] =
        [Self::Drops, Self::Scopes, Self::Captures, Self::IntoIter, Self::NeverType];

    /// Returns the name of the gate.
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

    /// Returns true if the changes of this gate are on when no variable is set.
    ///
    /// A pattern without a name applies to the gates that are on by default: it disables what rustc does anyway. The
    /// other gates do what rustc does not do by itself, so they must be named.
    #[must_use]
    pub(crate) const fn is_on_by_default(self) -> bool {
        match self {
            Self::Optimize | Self::Std => true,
            Self::Halve | Self::Drops | Self::Scopes | Self::Captures | Self::IntoIter | Self::NeverType => false,
        }
    }
}
