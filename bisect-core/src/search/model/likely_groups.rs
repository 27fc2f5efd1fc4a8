//! Evidence about which changes are likely to be searched for, known before the first cut.

use alloc::{collections::BTreeSet, sync::Arc, vec::Vec};

use super::{rank::Rank, ranked};
use crate::search::tuning;

/// Groups of changes, the likeliest group first. Each group is, as a whole, as likely as all changes after it together:
/// those of later groups and those in no group. If every change is in a group, the last two groups are equally likely.
/// Within a group, each change is as likely as any other.
#[derive(Clone, Debug)]
pub(in crate::search) struct LikelyGroups {
    /// The groups, likeliest first. Each is sorted and omits the changes of earlier groups.
    groups: Arc<[Vec<Rank>]>,
}

impl LikelyGroups {
    /// Returns no groups: each change is as likely as any other.
    pub(in crate::search) fn none() -> Self {
        Self { groups: Arc::new([]) }
    }

    /// Returns these groups. A change that is in several counts in the first. Groups after the first
    /// [`tuning::MAX_LIKELY_GROUPS`] are ignored.
    pub(in crate::search) fn new(groups: impl IntoIterator<Item = Vec<Rank>>) -> Self {
        let mut known = BTreeSet::new();
        let group = |mut group: Vec<Rank>| {
            group.retain(|&change| known.insert(change));
            ranked::sort(&mut group);
            group
        };
        Self { groups: groups.into_iter().take(tuning::MAX_LIKELY_GROUPS).map(group).collect() }
    }

    /// Iterates over the groups, each in order.
    pub(in crate::search) fn iter(&self) -> impl Iterator<Item = &Vec<Rank>> {
        self.groups.iter()
    }
}
