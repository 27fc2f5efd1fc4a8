//! A set of 62-bit keys with two bits each, that only grows, and that neither locks nor waits.
//!
//! Keys are hashes. A slot is one `AtomicU64`: the upper bits of a key and, in the two lowest, a tag that is never 0 in
//! use. A bucket is one cache line of slots, filled from the front; a key whose bucket is full lives in the next level,
//! which is eight times larger and made when it is first needed. Slots are never freed, so a bucket that was full once
//! stays full, and every thread looks for a key along the same path.

use std::{
    alloc::{Layout, alloc_zeroed, handle_alloc_error},
    sync::atomic::{
        AtomicU64,
        Ordering::{AcqRel, Acquire, Release},
    },
    thread,
    time::{Duration, Instant},
};

use once_cell::race::OnceBox;

/// The bits of a slot that are no part of the key.
const TAG: u64 = 0b11;

/// The tag of a key whose claimant is still at work.
const PENDING: u64 = 1;
/// The tag of a key whose claimant is done.
const DONE: u64 = 2;

/// How long to wait for a claimant before taking it for dead. It is at work for one `write`; what ends it early is a
/// `fork` in another thread, or a signal whose handler we are in.
const PATIENCE: Duration = Duration::from_millis(250);

const SLOTS: usize = 8;
const FIRST_BUCKETS: usize = 128;
const GROWTH: usize = 8;

/// A cache line of slots.
#[repr(align(64))]
struct Bucket([AtomicU64; SLOTS]);

/// The set.
pub(crate) struct Table {
    first: [Bucket; FIRST_BUCKETS],
    more: OnceBox<Level>,
}

struct Level {
    buckets: Box<[Bucket]>,
    more: OnceBox<Level>,
}

/// A slot that holds a key, and whether this call put it there.
struct Found<'a> {
    slot: &'a AtomicU64,
    value: u64,
    is_new: bool,
}

impl Table {
    pub(crate) const fn new() -> Self {
        Self { first: [const { Bucket([const { AtomicU64::new(0) }; SLOTS]) }; FIRST_BUCKETS], more: OnceBox::new() }
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
        let mut more = &self.more;
        while let Some(level) = more.get() {
            match bucket_of(&level.buckets, key).get(key) {
                Lookup::Found(tag) => return Some(tag),
                Lookup::Absent => return None,
                Lookup::Full => more = &level.more,
            }
        }
        None
    }

    /// Adds a key with a tag; if it is there already, it stays as it is.
    pub(crate) fn insert(&self, key: u64, tag: u64) {
        self.find_or_insert(key & !TAG | tag);
    }

    /// Runs `work` if no thread has done so for this key, and returns when it is done, by whomever. A claimant that
    /// seems dead is not waited for any longer: the work is then done again rather than never.
    pub(crate) fn once(&self, key: u64, work: impl FnOnce()) {
        let done = key & !TAG | DONE;
        let found = self.find_or_insert(key & !TAG | PENDING);
        if found.is_new || (found.value != done && !becomes(found.slot, done)) {
            work();
            found.slot.store(done, Release);
        }
    }

    /// Whether the work of [`once`](Self::once) is done for this key.
    pub(crate) fn is_done(&self, key: u64) -> bool {
        self.get(key) == Some(DONE)
    }

    fn find_or_insert(&self, value: u64) -> Found<'_> {
        if let Some(found) = bucket_of(&self.first, value).find_or_insert(value) {
            return found;
        }
        let (mut more, mut buckets) = (&self.more, FIRST_BUCKETS);
        loop {
            buckets = buckets.saturating_mul(GROWTH);
            let level = more.get_or_init(|| Box::new(Level { buckets: zeroed(buckets), more: OnceBox::new() }));
            if let Some(found) = bucket_of(&level.buckets, value).find_or_insert(value) {
                return found;
            }
            more = &level.more;
        }
    }
}

enum Lookup {
    Found(u64),
    Absent,
    /// Full of other keys.
    Full,
}

impl Bucket {
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
        self.0.iter().find_map(|slot| match slot.compare_exchange(0, value, AcqRel, Acquire) {
            Ok(_) => Some(Found { slot, value, is_new: true }),
            Err(other) => (other & !TAG == value & !TAG).then_some(Found { slot, value: other, is_new: false }),
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

/// Empty buckets, without touching the memory of a large level.
fn zeroed(buckets: usize) -> Box<[Bucket]> {
    let layout = Layout::array::<Bucket>(buckets).expect("a level is smaller than the address space");
    #[allow(clippy::cast_ptr_alignment, reason = "the layout has the alignment")]
    // SAFETY: the layout is not empty, as there is at least one bucket.
    let start = unsafe { alloc_zeroed(layout) }.cast::<Bucket>();
    if start.is_null() {
        handle_alloc_error(layout);
    }
    // SAFETY: allocated above with the layout of this slice, and a bucket of zeros is an empty one.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(start, buckets)) }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
