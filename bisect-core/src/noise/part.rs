//! What a run switches on.

/// What a run switches on, of the candidates and beside what is forced: those before a cut, and perhaps one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Part {
    /// The cut: how many of the first candidates are on; 0 is none.
    pub below: usize,
    /// One more; it is the same as none if it is before the cut.
    pub also: Option<usize>,
}

impl Part {
    /// The candidates before a cut.
    #[must_use]
    pub const fn below(cut: usize) -> Self {
        Self { below: cut, also: None }
    }

    /// One candidate by itself.
    #[must_use]
    pub const fn alone(candidate: usize) -> Self {
        Self { below: 0, also: Some(candidate) }
    }

    /// The same as a cut where that is possible.
    pub(super) fn plain(self) -> Self {
        match self.also {
            Some(also) if also < self.below => Self::below(self.below),
            Some(also) if also == self.below => Self::below(also + 1),
            _ => self,
        }
    }
}
