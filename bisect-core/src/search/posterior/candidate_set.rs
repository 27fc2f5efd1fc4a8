//! What a run switches on.

/// What a run switches on, of the candidates and beside what is forced: those before a cut, and perhaps one more or one less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CandidateSet {
    /// The cut: how many of the first candidates are on; 0 is none.
    pub prefix: usize,
    /// One more; it is the same as none if it is before the cut.
    pub plus: Option<usize>,
    /// One of those before the cut that is off all the same; it is the same as none if it is not before the cut, or
    /// if it is the one more.
    pub minus: Option<usize>,
}

impl CandidateSet {
    /// The candidates before a cut.
    #[must_use]
    pub const fn prefix(cut: usize) -> Self {
        Self { prefix: cut, plus: None, minus: None }
    }

    /// One candidate by itself.
    #[must_use]
    pub const fn alone(candidate: usize) -> Self {
        Self { plus: Some(candidate), ..Self::prefix(0) }
    }

    /// The same as a cut where that is possible.
    pub(super) fn plain(mut self) -> Self {
        self.minus = self.minus.filter(|&minus| minus < self.prefix && self.plus != Some(minus));
        match self.plus {
            Some(plus) if plus < self.prefix => Self { plus: None, ..self },
            Some(plus) if plus == self.prefix => Self { prefix: plus + 1, plus: None, ..self },
            _ => self,
        }
    }

    /// The cuts that it is about.
    pub(super) fn cuts(self) -> impl Iterator<Item = usize> {
        let around = [self.plus, self.minus].into_iter().flatten().flat_map(|candidate| [candidate, candidate + 1]);
        [self.prefix].into_iter().chain(around)
    }

    /// Whether those of an interval that ends there are on, as far as they are before the cut. The interval is on one side
    /// of each cut that this is about.
    pub(super) fn has_before(self, end: usize) -> bool {
        end <= self.prefix && self.minus.is_none_or(|minus| minus + 1 != end)
    }
}
