//! The candidates that a run switches on.

/// The candidates that a run switches on, besides the forced changes: those before a cut, and perhaps one more or one
/// less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CandidateSet {
    /// The cut: the number of first candidates that are on; 0 is none.
    pub prefix: usize,
    /// One more candidate. One before the cut has no effect.
    pub plus: Option<usize>,
    /// One candidate before the cut that is off. It has no effect if it is not before the cut, or if it is `plus`.
    pub minus: Option<usize>,
}

impl CandidateSet {
    /// Returns the candidates before a cut.
    #[must_use]
    pub const fn prefix(cut: usize) -> Self {
        Self { prefix: cut, plus: None, minus: None }
    }

    /// Returns one candidate alone.
    #[must_use]
    pub const fn alone(candidate: usize) -> Self {
        Self { plus: Some(candidate), ..Self::prefix(0) }
    }

    /// Returns an equal set without ineffective parts, as a mere cut where possible.
    pub(super) fn plain(mut self) -> Self {
        self.minus = self.minus.filter(|&minus| minus < self.prefix && self.plus != Some(minus));
        match self.plus {
            Some(plus) if plus < self.prefix => Self { plus: None, ..self },
            Some(plus) if plus == self.prefix => Self { prefix: plus + 1, plus: None, ..self },
            _ => self,
        }
    }

    /// Returns the prefix that a counter runs for this set: up to and including `plus` if the prefix is empty or ends at
    /// `plus`, and otherwise the prefix. In both cases it stops before `minus`.
    pub(in crate::before) fn counted(self) -> Self {
        let end = match self.plus {
            Some(plus) if self.prefix == 0 || plus == self.prefix => plus + 1,
            _ => self.prefix,
        };
        Self::prefix(self.minus.map_or(end, |minus| end.min(minus)))
    }

    /// Returns the cuts around the parts of this set.
    pub(super) fn cuts(self) -> impl Iterator<Item = usize> {
        let around = [self.plus, self.minus].into_iter().flatten().flat_map(|candidate| [candidate, candidate + 1]);
        [self.prefix].into_iter().chain(around)
    }

    /// Returns true if the candidates of the interval that ends at `end` are before the cut, and on. The interval must
    /// be on one side of each of this set's [cuts](Self::cuts).
    pub(super) fn has_before(self, end: usize) -> bool {
        end <= self.prefix && self.minus.is_none_or(|minus| minus + 1 != end)
    }
}
