//! A set of 62-bit keys with two bits each, which only grows, and which neither locks nor waits.
//!
//! Keys are hashes. A slot is one `AtomicU64`: the upper bits of a key and, in the two lowest, a tag that is never 0 in
//! use. A bucket is one cache line of slots, filled from the front. A key whose bucket is full is stored in the next
//! level, which is larger and made when it is first needed. Slots are never freed, so a full bucket stays full, and
//! every thread looks for a key along the same path.

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

/// The time after which a claimant that has not finished is considered dead. Its work is one `write`. It never finishes
/// if it runs in another thread during a `fork` and this is the child, or if this is a signal handler that interrupted
/// it.
#[cfg(not(all(test, loom)))]
const PATIENCE: Duration = Duration::from_millis(250);

#[cfg(not(all(test, loom)))]
const SLOTS: usize = 8;

/// The number of buckets in the first level, which is part of every program that links this crate.
#[cfg(not(all(test, loom)))]
const FIRST_BUCKETS: usize = 128;

/// The numbers of buckets in the other levels. There are few levels, because a lookup loads one more cache line, which
/// is seldom in a cache, for each full level. A level is not much larger than its contents, because keys are scattered
/// over all its pages. A million keys take 25 MB.
#[cfg(not(all(test, loom)))]
const MORE_BUCKETS: [usize; 6] = [1 << 14, 1 << 18, 1 << 20, 1 << 22, 1 << 23, 1 << 24];

/// The sizes for loom, small enough that it explores all behaviours of full buckets.
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
    /// The further levels: null, or the number of buckets in [`MORE_BUCKETS`], which stay allocated.
    more: [AtomicPtr<Bucket>; MORE_BUCKETS.len()],
}

/// A slot that contains a key; `is_new` is true if this call put the key there.
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

    /// Makes an empty table; loom's atomics cannot be made in constants.
    #[cfg(all(test, loom))]
    pub(crate) fn new() -> Self {
        let more = std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut()));
        Self { first: std::array::from_fn(|_| Bucket::new()), more }
    }

    /// Returns the tag of a key.
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

    /// Adds a key with a tag. A key that is already there keeps its tag. If there is no memory for the key, it is
    /// forgotten.
    pub(crate) fn insert(&self, key: u64, tag: u64) {
        let _ = self.find_or_insert(key & !TAG | tag);
    }

    /// Runs `work` if no thread has done so for this key, and returns when some thread has finished it. The key then
    /// has this tag, which must be the same in all threads. If a claimant seems dead, or if there is no memory for the
    /// key, the work is done again rather than never.
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

    /// Returns the buckets of a further level, if it was made.
    fn level(&self, level: usize) -> Option<&[Bucket]> {
        let start = self.more[level].load(Acquire);
        // SAFETY: a pointer that is not null leads to this number of buckets, which stay allocated.
        (!start.is_null()).then(|| unsafe { std::slice::from_raw_parts(start, MORE_BUCKETS[level]) })
    }

    /// Makes a further level, unless another thread is faster; `None` if there is no memory.
    #[cold]
    fn make_level(&self, level: usize) -> Option<&[Bucket]> {
        let start = new_buckets(MORE_BUCKETS[level])?;
        if self.more[level].compare_exchange(ptr::null_mut(), start, Release, Relaxed).is_err() {
            // SAFETY: no other thread has seen it.
            unsafe { free_buckets(start, MORE_BUCKETS[level]) };
        }
        self.level(level)
    }
}

/// Returns `count` empty buckets; `None` if there is no memory.
#[cfg(not(all(test, loom)))]
fn new_buckets(count: usize) -> Option<*mut Bucket> {
    // A page is aligned to cache lines, and a bucket of zeros is empty.
    Some(pages::zeroed(count.checked_mul(size_of::<Bucket>())?)?.cast())
}

#[cfg(all(test, loom))]
fn new_buckets(count: usize) -> Option<*mut Bucket> {
    let buckets: Box<[Bucket]> = (0..count).map(|_| Bucket::new()).collect();
    Some(Box::into_raw(buckets).cast())
}

/// Frees the result of [`new_buckets`].
///
/// # Safety
/// The buckets are no longer in use.
#[cfg(not(all(test, loom)))]
unsafe fn free_buckets(start: *mut Bucket, count: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { pages::free(start.cast(), count * size_of::<Bucket>()) };
}

#[cfg(all(test, loom))]
unsafe fn free_buckets(start: *mut Bucket, count: usize) {
    // SAFETY: made by `new_buckets`, and the caller guarantees that it is no longer in use.
    drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(start, count)) });
}

enum Lookup {
    Found(u64),
    Absent,
    /// The bucket is full of other keys.
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
            // A load comes first, because most slots contain other keys, and a failing exchange takes many times as
            // long.
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

/// Returns the bucket of a key, by its upper bits: keys that a pattern selects have the same lower bits.
#[inline]
fn bucket_of(buckets: &[Bucket], key: u64) -> &Bucket {
    let bits = buckets.len().trailing_zeros();
    #[allow(clippy::cast_possible_truncation, reason = "as few bits as an index has")]
    let index = (key >> (u64::BITS - bits)) as usize;
    &buckets[index]
}

/// Waits a limited time until the slot has this value. Returns true if it has.
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

/// Waits until the slot has this value: under loom, no thread is dead.
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
