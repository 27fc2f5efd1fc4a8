//! Counted decisions of all toggles, read back.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::Ordering::Relaxed,
};

use super::{
    registry,
    toggle::{Key, Place, state},
};

/// The numbers of decisions that enabled and disabled a toggle.
type Numbers = (u64, u64);

/// Returns the numbers of all run-time toggles that are not fixed, by name and place. A library that is linked twice
/// has two toggles at one place.
pub(crate) fn all() -> BTreeMap<(&'static str, Place), Numbers> {
    let mut seen = BTreeSet::new();
    let mut counts = BTreeMap::new();
    for toggle in registry::all() {
        let is_new = seen.insert(toggle.address());
        if !is_new || matches!(toggle.key, Key::Build(..)) || toggle.fixed().is_some() {
            continue;
        }
        let numbers: &mut Numbers = counts.entry((toggle.name, toggle.place)).or_default();
        let number = toggle.count.load(Relaxed);
        match toggle.state.load(Relaxed) {
            state::COUNTED_ON => numbers.0 += number,
            state::COUNTED_OFF => numbers.1 += number,
            _ => {}
        }
    }
    counts
}
