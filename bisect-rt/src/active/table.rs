//! A set of 62-bit keys with two bits each, that only grows, and that neither locks nor waits.
//!
//! Keys are hashes. A slot is one `AtomicU64`: the upper bits of a key and, in the two lowest, a tag that is never 0 in
//! use. A bucket is one cache line of slots, filled from the front; a key whose bucket is full lives in the next level,
//! which is larger and made when it is first needed. Slots are never freed, so a bucket that was full once stays full,
//! and every thread looks for a key along the same path.

use std::{
    ptr,
    sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release},
};
#[cfg(not(all(test, loom)))]
use std::{
    sync::atomic::{AtomicPtr, AtomicU64},
    thread,
    time::{Duration, Instant},
};

#[cfg(all(test, loom))]
use loom::{
    sync::atomic::{AtomicPtr, AtomicU64},
    thread,
};

#[cfg(not(all(test, loom)))]
use super::system::pages;

/// The bits of a slot that are no part of the key.
const TAG: u64 = 0b11;

/// The tag of a key whose claimant is still at work.
pub(crate) const PENDING: u64 = 1;

/// The time to wait for a claimant before taking it for dead. It is at work for one `write`; what ends it early is a
/// `fork` in another thread, or a signal whose handler we are in.
#[cfg(not(all(test, loom)))]
const PATIENCE: Duration = Duration::from_millis(250);

#[cfg(not(all(test, loom)))]
const SLOTS: usize = 8;

/// The first level is part of every program that links us.
#[cfg(not(all(test, loom)))]
const FIRST_BUCKETS: usize = 128;

/// The others: few, because each that is full is one more line to load, which is seldom in a cache; and not too large
/// for what they hold, because keys are scattered over all pages of their level. A million keys take 25 MB.
#[cfg(not(all(test, loom)))]
const MORE_BUCKETS: [usize; 6] = [1 << 14, 1 << 18, 1 << 20, 1 << 22, 1 << 23, 1 << 24];

/// So few that loom goes through all that may happen when they are full.
#[cfg(all(test, loom))]
const SLOTS: usize = 1;
#[cfg(all(test, loom))]
const FIRST_BUCKETS: usize = 2;
#[cfg(all(test, loom))]
const MORE_BUCKETS: [usize; 2] = [2, 2];

/// A cache line of slots.
#[repr(align(64))]
struct Bucket([AtomicU64; SLOTS]);

/// The set.
pub(crate) struct Table {
    first: [Bucket; FIRST_BUCKETS],
    /// Null, or as many as [`MORE_BUCKETS`] says, which stay.
    more: [AtomicPtr<Bucket>; MORE_BUCKETS.len()],
}

/// A slot that holds a key, and whether this call put it there.
struct Found<'a> {
    slot: &'a AtomicU64,
    value: u64,
    is_new: bool,
}

impl Table {
    #[cfg(not(all(test, loom)))]
    pub(crate) const fn new() -> Self {
        Self {
            first: [const { Bucket([const { AtomicU64::new(0) }; SLOTS]) }; FIRST_BUCKETS],
            more: [const { AtomicPtr::new(ptr::null_mut()) }; MORE_BUCKETS.len()],
        }
    }

    /// The atomics of loom cannot be made in constants.
    #[cfg(all(test, loom))]
    pub(crate) fn new() -> Self {
        let more = std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut()));
        Self { first: std::array::from_fn(|_| Bucket::new()), more }
    }

    /// The tag of a key.
    #[inline]
    pub(crate) fn get(&self, key: u64) -> Option<u64> {
        match bucket_of(&self.first, key).get(key) {
            Lookup::Found(tag) => Some(tag),
            Lookup::Absent => None,
            Lookup::Full => self.get_more(key),
        }
    }

    #[cold]
    fn get_more(&self, key: u64) -> Option<u64> {
        for level in 0..MORE_BUCKETS.len() {
            match bucket_of(self.level(level)?, key).get(key) {
                Lookup::Found(tag) => return Some(tag),
                Lookup::Absent => return None,
                Lookup::Full => {}
            }
        }
        None
    }

    /// Adds a key with a tag; if it is there already, it stays as it is. Where there is no memory for it, it is
    /// forgotten.
    pub(crate) fn insert(&self, key: u64, tag: u64) {
        let _ = self.find_or_insert(key & !TAG | tag);
    }

    /// Runs `work` if no thread has done so for this key, and returns when it is done, by whomever; the key then has this
    /// tag, which must be the same in all threads. A claimant that seems dead is not waited for any longer: the work is
    /// then done again rather than never. So it is if there is no memory for the key.
    pub(crate) fn once(&self, key: u64, tag: u64, work: impl FnOnce()) {
        let done = key & !TAG | tag;
        let Some(found) = self.find_or_insert(key & !TAG | PENDING) else { return work() };
        if found.is_new || (found.value != done && !becomes(found.slot, done)) {
            work();
            found.slot.store(done, Release);
        }
    }

    fn find_or_insert(&self, value: u64) -> Option<Found<'_>> {
        let mut found = bucket_of(&self.first, value).find_or_insert(value);
        let mut levels = 0..MORE_BUCKETS.len();
        while found.is_none() {
            let level = levels.next()?;
            let buckets = self.level(level).or_else(|| self.make_level(level))?;
            found = bucket_of(buckets, value).find_or_insert(value);
        }
        found
    }

    /// The buckets of a further level, if it was made.
    fn level(&self, level: usize) -> Option<&[Bucket]> {
        let start = self.more[level].load(Acquire);
        // SAFETY: what is not null is as many buckets, and stays.
        (!start.is_null()).then(|| unsafe { std::slice::from_raw_parts(start, MORE_BUCKETS[level]) })
    }

    /// Makes a further level, unless another thread is faster; `None`, if there is no memory.
    #[cold]
    fn make_level(&self, level: usize) -> Option<&[Bucket]> {
        let start = new_buckets(MORE_BUCKETS[level])?;
        if self.more[level].compare_exchange(ptr::null_mut(), start, Release, Relaxed).is_err() {
            // SAFETY: nobody but us has seen it.
            unsafe { free_buckets(start, MORE_BUCKETS[level]) };
        }
        self.level(level)
    }
}

/// Returns `count` empty buckets; `None`, if there is no memory.
#[cfg(not(all(test, loom)))]
fn new_buckets(count: usize) -> Option<*mut Bucket> {
    // A page is aligned as a cache line is, and a bucket of zeros is an empty one.
    Some(pages::zeroed(count.checked_mul(size_of::<Bucket>())?)?.cast())
}

#[cfg(all(test, loom))]
fn new_buckets(count: usize) -> Option<*mut Bucket> {
    let buckets: Box<[Bucket]> = (0..count).map(|_| Bucket::new()).collect();
    Some(Box::into_raw(buckets).cast())
}

/// Gives back what [`new_buckets`] made.
///
/// # Safety
/// Nobody uses them any longer.
#[cfg(not(all(test, loom)))]
unsafe fn free_buckets(start: *mut Bucket, count: usize) {
    // SAFETY: the caller says so.
    unsafe { pages::free(start.cast(), count * size_of::<Bucket>()) };
}

#[cfg(all(test, loom))]
unsafe fn free_buckets(start: *mut Bucket, count: usize) {
    // SAFETY: made by `new_buckets`, and the caller says that nobody uses it.
    drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(start, count)) });
}

enum Lookup {
    Found(u64),
    Absent,
    /// Full of other keys.
    Full,
}

impl Bucket {
    #[cfg(all(test, loom))]
    fn new() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }

    #[inline]
    fn get(&self, key: u64) -> Lookup {
        for slot in &self.0 {
            let value = slot.load(Acquire);
            if value & !TAG == key & !TAG && value != 0 {
                return Lookup::Found(value & TAG);
            }
            if value == 0 {
                return Lookup::Absent;
            }
        }
        Lookup::Full
    }

    fn find_or_insert(&self, value: u64) -> Option<Found<'_>> {
        self.0.iter().find_map(|slot| {
            // Loaded first, because most slots hold other keys, and an exchange that fails takes many times as long.
            let mut other = slot.load(Acquire);
            if other == 0 {
                match slot.compare_exchange(0, value, AcqRel, Acquire) {
                    Ok(_) => return Some(Found { slot, value, is_new: true }),
                    Err(now) => other = now,
                }
            }
            (other & !TAG == value & !TAG).then_some(Found { slot, value: other, is_new: false })
        })
    }
}

/// The bucket of a key, by its upper bits: those that a pattern selects share their lower ones.
#[inline]
fn bucket_of(buckets: &[Bucket], key: u64) -> &Bucket {
    let bits = buckets.len().trailing_zeros();
    #[allow(clippy::cast_possible_truncation, reason = "as few bits as an index has")]
    let index = (key >> (u64::BITS - bits)) as usize;
    &buckets[index]
}

/// Waits until the slot has this value, but not forever.
#[cfg(not(all(test, loom)))]
fn becomes(slot: &AtomicU64, value: u64) -> bool {
    for _ in 0..100 {
        if slot.load(Acquire) == value {
            return true;
        }
        std::hint::spin_loop();
    }
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if slot.load(Acquire) == value {
            return true;
        }
        thread::yield_now();
    }
    false
}

/// To loom, no thread is dead.
#[cfg(all(test, loom))]
fn becomes(slot: &AtomicU64, value: u64) -> bool {
    while slot.load(Acquire) != value {
        thread::yield_now();
    }
    true
}

#[cfg(all(test, not(loom)))]
#[path = "table_tests.rs"]
mod tests;
