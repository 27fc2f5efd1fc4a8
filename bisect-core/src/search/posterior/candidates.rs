//! The prior probabilities of the candidates.

use alloc::{sync::Arc, vec::Vec};

use super::math::count;

/// The candidates, in order, and their prior weights.
#[derive(Clone, Debug)]
pub(super) enum Candidates {
    /// This number of candidates, each as likely as any other.
    Even(usize),
    /// The sum of the weights before each candidate, and at the end the total.
    Weighted(Arc<[f64]>),
}

impl Candidates {
    /// Returns candidates with these prior weights.
    ///
    /// # Panics
    /// If a weight is not a positive number, or their sum is not finite.
    pub(super) fn weighted(weights: impl IntoIterator<Item = f64>) -> Self {
        let mut sum = 0.0;
        let mut before: Vec<f64> = [0.0].into();
        before.extend(weights.into_iter().map(|weight| {
            assert!(weight > 0.0, "a weight is a positive number");
            sum += weight;
            sum
        }));
        assert!(sum.is_finite(), "weights have a sum");
        Self::Weighted(before.into())
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Even(number) => *number,
            Self::Weighted(before) => before.len() - 1,
        }
    }

    fn before(&self, cut: usize) -> f64 {
        match self {
            Self::Even(_) => count(cut),
            Self::Weighted(before) => before[cut],
        }
    }

    /// Returns the weight of the candidates between two cuts.
    pub(super) fn weight(&self, low: usize, high: usize) -> f64 {
        self.before(high) - self.before(low)
    }

    /// Returns the last cut of an interval that has at most this share of the interval's weight below it.
    pub(super) fn cut_at(&self, low: usize, high: usize, share: f64) -> usize {
        let most = self.before(low) + share * self.weight(low, high);
        let (mut low, mut above) = (low, high);
        while low < above {
            let middle = usize::midpoint(low, above) + usize::from((above - low) % 2 == 1);
            if self.before(middle) <= most { low = middle } else { above = middle - 1 }
        }
        low
    }
}
