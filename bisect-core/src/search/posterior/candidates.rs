//! How likely each candidate is before the first run.

use alloc::{sync::Arc, vec::Vec};

use super::math::count;

/// The candidates, in order.
#[derive(Clone, Debug)]
pub(super) enum Candidates {
    /// So many, each as likely as any other.
    Even(usize),
    /// How much those before each weigh together; and at last, all.
    Weighted(Arc<[f64]>),
}

impl Candidates {
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

    /// The weight of those between two cuts.
    pub(super) fn weight(&self, low: usize, high: usize) -> f64 {
        self.before(high) - self.before(low)
    }

    /// The last cut of an interval that leaves no more than a share of its weight below.
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
