//! The table under growth, under races, and with a dead claimant.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use bisect_core::protocol::xxh3;

use super::*;

const DONE: u64 = 2;

fn key(n: usize) -> u64 {
    xxh3::run_time_hash(&n.to_le_bytes(), 0)
}

#[test]
#[cfg_attr(miri, ignore = "it is slow")]
fn keys_are_found_again_at_every_level() {
    const KEYS: usize = 200_000;
    let table = Table::new();
    for n in 0..KEYS {
        assert_eq!(table.get(key(n)), None);
        table.insert(key(n), 2 + n as u64 % 2);
        table.insert(key(n), 1);
    }
    for n in 0..KEYS {
        assert_eq!(table.get(key(n)), Some(2 + n as u64 % 2));
    }
    assert_eq!(table.get(key(KEYS)), None);
    assert!(table.level(0).is_some(), "a bucket overflowed");
    assert!(table.level(1).is_some(), "and one of the second level");
}

#[test]
fn the_extreme_keys_are_keys_too() {
    let table = Table::new();
    for key in [0, 1, 3, u64::MAX] {
        assert_eq!(table.get(key).is_some(), key != 0 && key <= 3, "{key}");
        table.insert(key, 3);
        assert_eq!(table.get(key), Some(3));
    }
}

#[test]
#[cfg_attr(miri, ignore = "it is slow")]
fn keys_with_the_same_low_bits_do_not_crowd() {
    let table = Table::new();
    for n in 0..FIRST_BUCKETS {
        table.insert(key(n) << 16, 2);
    }
    assert!(table.level(0).is_none(), "what a pattern selects ends in the same bits");
}

#[test]
#[cfg_attr(miri, ignore = "it is slow")]
fn a_million_keys_fit_into_two_more_levels() {
    let table = Table::new();
    for n in 0..1_000_000 {
        table.insert(key(n), 2);
    }
    let keys_at = |level: usize| {
        let slots = table.level(level).into_iter().flatten().flat_map(|bucket| &bucket.0);
        slots.filter(|slot| slot.load(Relaxed) != 0).count()
    };
    let last = (0..MORE_BUCKETS.len()).rfind(|&level| table.level(level).is_some()).expect("there are more");
    // The third level holds the few keys whose buckets in the others are full, each of which touches a page.
    assert!(last < 2 || keys_at(2) < 4_000, "{} keys overflow", keys_at(2));
    assert!(last <= 2);
    assert!((0..1_000_000).all(|n| table.get(key(n)) == Some(2)));
}

#[test]
fn work_is_done_once_and_before_anyone_goes_on() {
    // Miri is slow.
    const KEYS: usize = if cfg!(miri) { 3 } else { 3_000 };
    let table = Table::new();
    let counts: Vec<AtomicUsize> = (0..KEYS).map(|_| AtomicUsize::new(0)).collect();
    thread::scope(|scope| {
        for start in 0..8 {
            let (table, counts) = (&table, &counts);
            scope.spawn(move || {
                for n in 0..KEYS {
                    let n = (n + start * 31) % KEYS;
                    table.once(key(n), DONE, || {
                        counts[n].fetch_add(1, Relaxed);
                    });
                    assert_eq!(counts[n].load(Relaxed), 1, "seen by every thread that comes back");
                    assert_eq!(table.get(key(n)), Some(DONE));
                }
            });
        }
    });
}

#[test]
fn a_dead_claimant_is_not_waited_for_forever() {
    let table = Table::new();
    table.insert(key(1), PENDING);
    let mut done = false;
    table.once(key(1), DONE, || done = true);
    assert!(done && table.get(key(1)) == Some(DONE));
    table.once(key(1), DONE, || panic!("once"));
}
