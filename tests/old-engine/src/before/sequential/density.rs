//! The density of needed changes: where they are many, the next one is near, and a cut halves its likely places.
//!
//! The distances between the needed changes show if a set is dense. In a dense set each cut leaves out one group, and
//! half of the groups contain a needed change. The needed changes are not run alone after each find.

use crate::before::tuning;

/// The needed changes among those that were examined, one after the other, from one end of the order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Density {
    /// Number of changes found to be needed. The last one examined is one of them.
    pub(super) needed: usize,
    /// Number of changes examined.
    pub(super) examined: usize,
    /// Number of changes that are left.
    pub(super) left: usize,
}

impl Density {
    /// Returns true if many more changes are likely to be needed.
    pub(super) fn is_high(self) -> bool {
        self.left >= tuning::MIN_LEFT_FOR_MANY && self.odds_of_many() >= tuning::MIN_ODDS_OF_MANY
    }

    /// Returns true if many more changes are no longer likely to be needed, after this number of groups without one in
    /// sequence. After half of the changes it is too late to search for the others in another way.
    pub(super) fn is_low(self, empty_groups: usize) -> bool {
        let is_rare = empty_groups > tuning::MAX_EMPTY_GROUPS + 2 * self.needed || self.odds_of_many() < 1.0;
        is_rare && self.left > self.examined
    }

    /// Returns the odds that many more changes are needed, or a lower bound that is high enough.
    ///
    /// Compares two hypotheses. *Few*: exactly one more change is needed, so all *k* + 1 needed ones are anywhere among
    /// the *N* changes. *Many*: each change is needed with the same unknown probability, and all probabilities are equally
    /// likely. After *k* of the first *D* changes, many is more likely than few by the factor B(*k* + 1, *D* − *k* + 1)
    /// · C(*N*, *k* + 1) / (*N* − *D*), with Euler's beta function B. All factorials cancel but those in 1 / (*k* + 1).
    /// Each needed change halves the prior of few: of small sets, larger ones are rarer.
    #[expect(clippy::cast_precision_loss, reason = "that many are only weighed")]
    fn odds_of_many(self) -> f64 {
        let Self { needed, examined, left } = self;
        let mut odds = 0.5 / (left * (needed + 1)) as f64;
        // Each factor is at least 2.
        for place in 0..=needed {
            odds *= 2.0 * (examined + left - place) as f64 / (examined + 1 - place) as f64;
            if odds >= tuning::MIN_ODDS_OF_MANY {
                break;
            }
        }
        odds
    }

    /// Returns the number of changes to test together, so that the test is about as likely to pass as to fail: the size
    /// of groups for this density (Hwang, "A method for detecting all defective members in a population by group
    /// testing", 1972). `proves` is true if each change that is isolated in a group takes one more test, alone.
    pub(super) fn group(self, proves: bool) -> usize {
        // Half of the groups of ln 2 / p changes contain a needed one. The constants make a group of one the best from
        // p = 0.38 on, and from p = 0.27 on if each change takes one more test.
        let Self { needed, examined, .. } = self;
        let thousandths = 693 * (examined + 2) / (needed + 1);
        let thousandths = if proves { thousandths.saturating_sub(570) } else { thousandths + 150 };
        (thousandths / 1000).max(1)
    }
}
