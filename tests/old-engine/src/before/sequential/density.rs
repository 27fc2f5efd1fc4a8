//! The density of needed changes: where they are many, the next one is near, and a cut halves its likely places.
//!
//! The distances between the needed changes show if a set is dense. In a dense set each cut leaves out one group, and
//! half of the groups contain a needed change. The needed changes are not run alone after each find.
//!
//! Needed changes may be adjacent in the order, such as the lines of one function. Such a cluster counts as one change that
//! is needed, and inside a cluster, each cut leaves out the neighbour of the last change found.

use crate::before::tuning;

/// The needed changes among those that were examined, one after the other, from one end of the order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Density {
    /// Number of changes found to be needed.
    pub(super) needed: usize,
    /// Number of needed changes examined directly after another needed change.
    pub(super) adjacent: usize,
    /// Number of changes examined.
    pub(super) examined: usize,
    /// Number of changes examined after the last needed one.
    pub(super) since: usize,
    /// Number of changes that are left.
    pub(super) left: usize,
}

impl Density {
    /// Returns true if many more changes are likely to be needed.
    pub(super) fn is_high(self) -> bool {
        let are_many = || self.of_clusters().odds_of_many() >= tuning::MIN_ODDS_OF_MANY;
        self.is_in_cluster() || self.left >= tuning::MIN_LEFT_FOR_MANY && are_many()
    }

    /// Returns true if many more changes are no longer likely to be needed, after this number of groups without one in
    /// sequence. After half of the changes it is too late to search for the others in another way, unless they form clusters.
    pub(super) fn is_low(self, empty_groups: usize) -> bool {
        let clusters = self.of_clusters();
        let is_rare = || empty_groups > tuning::MAX_EMPTY_GROUPS + 2 * clusters.needed || clusters.odds_of_many() < 1.0;
        !self.is_in_cluster() && (self.left > self.examined || self.is_clustered()) && is_rare()
    }

    /// Returns true if needed changes form clusters: at least half of them directly follow another one, and a change that is
    /// not needed is much less often followed by a needed one.
    fn is_clustered(self) -> bool {
        let Self { needed, adjacent, examined, .. } = self;
        let clusters = needed - adjacent;
        // Half a cluster more, so that the first one alone is weak evidence.
        needed > 0
            && 2 * adjacent >= needed
            && 2 * adjacent * (examined - needed + 1) >= tuning::MIN_RATIO_OF_CLUSTERS * needed * (2 * clusters + 1)
    }

    /// Returns true if the neighbour of the last needed change is probably needed as well.
    fn is_in_cluster(self) -> bool {
        self.since == 0 && self.is_clustered()
    }

    /// Returns the density where each cluster counts as one change.
    fn of_clusters(self) -> Self {
        let Self { needed, adjacent, examined, .. } = self;
        if !self.is_clustered() {
            return self;
        }
        Self { needed: needed - adjacent, adjacent: 0, examined: examined - adjacent, ..self }
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
        let Self { needed, examined, left, .. } = self;
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

    /// Returns the next group of changes to test together. One of several changes is about as likely to pass as to fail: the
    /// size for this density (Hwang, "A method for detecting all defective members in a population by group testing", 1972).
    /// `proves` is true if each change that is isolated in a group takes one more test, alone.
    pub(super) fn group(self, proves: bool) -> Group {
        if self.is_in_cluster() {
            return Group::of_one(2 * self.adjacent + 1, 2 * self.needed);
        }
        // Half of the groups of ln 2 / p changes contain a needed one. The constants make a group of one the best from
        // p = 0.38 on, and from p = 0.27 on if each change takes one more test.
        let Self { needed, examined, .. } = self.of_clusters();
        let thousandths = 693 * (examined + 2) / (needed + 1);
        let thousandths = if proves { thousandths.saturating_sub(570) } else { thousandths + 150 };
        match thousandths / 1000 {
            0 | 1 => Group::of_one(needed + 1, examined + 2),
            size => Group { size, odds: tuning::odds::EVEN },
        }
    }
}

/// Neighbours that are tested together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) size: usize,
    /// The probability that one of them is needed, in 256ths.
    pub(super) odds: u64,
}

impl Group {
    /// Returns the group of one change, which is needed in this share of all cases.
    fn of_one(needed: usize, cases: usize) -> Self {
        let odds = (256 * needed / cases) as u64;
        Self { size: 1, odds: odds.clamp(tuning::odds::SURPRISE, 256 - tuning::odds::SURPRISE) }
    }
}
