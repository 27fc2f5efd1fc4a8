//! Lists of changes in the order of the search, each once: with a million of them, sets would cost more than they save.

use alloc::vec::Vec;

use super::order::Order;
use crate::ChangeId;

/// Brings any list of changes into this form.
pub(in crate::search) fn sort(order: Order, changes: &mut Vec<ChangeId>) {
    // A target that goes through a list of its own reports them so.
    let mut last = None;
    if changes.iter().all(|&id| last.replace(order.rank(id)) < Some(order.rank(id))) {
        return;
    }
    // Ranks are not worked out anew at each comparison; the IDs stand where the ranks will.
    for id in &mut *changes {
        *id = ChangeId(order.rank(*id));
    }
    changes.sort_unstable();
    changes.dedup();
    for rank in changes {
        *rank = order.at(rank.0);
    }
}

/// How many of them rank below this, which is also the index of the first that does not.
pub(in crate::search) fn below(order: Order, changes: &[ChangeId], rank: u64) -> usize {
    changes.partition_point(|&id| order.rank(id) < rank)
}

pub(in crate::search) fn contains(order: Order, changes: &[ChangeId], id: ChangeId) -> bool {
    changes.get(below(order, changes, order.rank(id))) == Some(&id)
}

/// Adds the changes of another such list.
pub(in crate::search) fn merge(order: Order, into: &mut Vec<ChangeId>, from: &[ChangeId]) {
    // Reports of prefixes begin alike.
    let alike = into.iter().zip(from).take_while(|(known, reported)| known == reported).count();
    let from = &from[alike..];
    let mut ranks = into[alike..].iter().map(|&id| order.rank(id)).peekable();
    let mut is_new = |id: &ChangeId| {
        let rank = order.rank(*id);
        while ranks.next_if(|&known| known < rank).is_some() {}
        ranks.peek() != Some(&rank)
    };
    let new: Vec<_> = from.iter().copied().filter(|id| is_new(id)).collect();
    if !new.is_empty() {
        into.extend(new);
        // Two runs that are sorted already, which a stable sort merges.
        into.sort_by_key(|&id| order.rank(id));
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use proptest::{collection::vec, prelude::*};

    use super::*;

    proptest! {
        #[test]
        fn lists_are_like_sets(
            mut a in vec((0..40_u64).prop_map(ChangeId), 0..40),
            mut b in vec((0..40_u64).prop_map(ChangeId), 0..40),
            given: bool,
        ) {
            let order = if given { Order::Given } else { Order::Hash };
            let set: BTreeSet<u64> = a.iter().chain(&b).map(|&id| order.rank(id)).collect();
            sort(order, &mut a);
            sort(order, &mut b);
            merge(order, &mut a, &b);
            prop_assert!(a.iter().map(|&id| order.rank(id)).eq(set.iter().copied()), "{:?} instead of {:?}", a, set);
            for id in (0..40).map(ChangeId) {
                prop_assert_eq!(contains(order, &a, id), set.contains(&order.rank(id)));
                prop_assert_eq!(below(order, &a, order.rank(id)), set.range(..order.rank(id)).count());
            }
        }
    }
}
