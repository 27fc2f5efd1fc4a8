//! What a run switches on.

/// What a run switches on, of the candidates and beside what is forced: those before a cut, and perhaps one more or one less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Part {
    /// The cut: how many of the first candidates are on; 0 is none.
    pub below: usize,
    /// One more; it is the same as none if it is before the cut.
    pub also: Option<usize>,
    /// One of those before the cut that is off all the same; it is the same as none if it is not before the cut, or
    /// if it is the one more.
    pub except: Option<usize>,
}

impl Part {
    /// The candidates before a cut.
    #[must_use]
    pub const fn below(cut: usize) -> Self {
        Self { below: cut, also: None, except: None }
    }

    /// One candidate by itself.
    #[must_use]
    pub const fn alone(candidate: usize) -> Self {
        Self { also: Some(candidate), ..Self::below(0) }
    }

    /// The same as a cut where that is possible.
    pub(super) fn plain(mut self) -> Self {
        self.except = self.except.filter(|&except| except < self.below && self.also != Some(except));
        match self.also {
            Some(also) if also < self.below => Self { also: None, ..self },
            Some(also) if also == self.below => Self { below: also + 1, also: None, ..self },
            _ => self,
        }
    }

    /// The cuts that it is about.
    pub(super) fn cuts(self) -> impl Iterator<Item = usize> {
        let around = [self.also, self.except].into_iter().flatten().flat_map(|candidate| [candidate, candidate + 1]);
        [self.below].into_iter().chain(around)
    }

    /// Whether those of an interval that ends there are on, as far as they are before the cut. The interval is on one side
    /// of each cut that this is about.
    pub(super) fn has_before(self, end: usize) -> bool {
        end <= self.below && self.except.is_none_or(|except| except + 1 != end)
    }
}
