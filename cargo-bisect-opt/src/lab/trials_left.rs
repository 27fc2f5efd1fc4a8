//! The number of trials left as it is shown: it rises only where a surprise has made the search much longer.

/// An estimate that is this many times higher than the one before has a reason.
const SURPRISE: usize = 2;

/// The number of trials left that was shown last.
#[derive(Debug, Default)]
pub(super) struct TrialsLeft {
    shown: Option<usize>,
    /// The number of culprits at that time: the search for the next one begins anew.
    culprits: usize,
}

impl TrialsLeft {
    /// Returns the number to show for this estimate, after this number of culprits.
    pub(super) fn next(&mut self, estimate: Option<usize>, culprits: usize) -> Option<usize> {
        if culprits != self.culprits {
            *self = Self { shown: None, culprits };
        }
        let estimate = estimate?;
        let shown = self.shown.filter(|&shown| estimate < SURPRISE * shown.max(SURPRISE)).unwrap_or(usize::MAX);
        self.shown = Some(estimate.min(shown));
        self.shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_rises_only_by_a_surprise_or_for_the_next_culprit() {
        let mut left = TrialsLeft::default();
        let estimates = [None, Some(43), Some(40), Some(48), Some(60), Some(80), Some(20), Some(21), Some(1), Some(3)];
        let shown = estimates.map(|estimate| left.next(estimate, 0));
        let expected = [None, Some(43), Some(40), Some(40), Some(40), Some(80), Some(20), Some(20), Some(1), Some(1)];
        assert_eq!(shown, expected);
        assert_eq!(left.next(Some(30), 1), Some(30));
    }
}
