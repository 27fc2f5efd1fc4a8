//! A cache of limited size, and statistics about it.

use crate::Table;

/// The data of a cached name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The size of the answer in bytes.
    pub size: usize,
    /// The time at which the answer was fetched, in seconds.
    pub fetched: u64,
    /// The time of the last request, in seconds.
    pub used: u64,
    /// The number of requests since the answer was fetched.
    pub hits: u32,
}

/// A cache of the most recently requested entries, up to a number of bytes.
#[derive(Debug)]
pub struct Cache {
    table: Table<Entry>,
    capacity: usize,
    lifetime: u64,
}

impl Cache {
    /// Makes a cache of `capacity` bytes, whose entries are valid for `lifetime` seconds.
    #[must_use]
    pub fn new(capacity: usize, lifetime: u64) -> Self {
        Self { table: Table::default(), capacity, lifetime }
    }

    /// Requests `name`, whose answer has `size` bytes, at second `now`. Returns true if the cache had it.
    pub fn request(&mut self, name: &str, size: usize, now: u64) -> bool {
        self.expire(now);
        if let Some(entry) = self.table.get_mut(name) {
            entry.used = now;
            entry.hits += 1;
            return true;
        }
        while self.bytes() + size > self.capacity && !self.table.is_empty() {
            self.evict();
        }
        self.table.insert(name, Entry { size, fetched: now, used: now, hits: 0 });
        false
    }

    /// Drops the entries whose age has reached the lifetime.
    fn expire(&mut self, now: u64) {
        let old = |entry: &Entry| now - entry.fetched >= self.lifetime;
        let expired: Vec<_> =
            self.table.entries().into_iter().filter(|(_, entry)| old(entry)).map(|(name, _)| name.to_owned()).collect();
        for name in expired {
            self.table.remove(&name);
        }
    }

    /// Drops the entry whose last request is the oldest.
    fn evict(&mut self) {
        let entries = self.table.entries();
        let oldest = entries.iter().min_by_key(|(_, entry)| entry.used).map(|(name, _)| (*name).to_owned());
        if let Some(name) = oldest {
            self.table.remove(&name);
        }
    }

    /// Returns the number of bytes in use.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.table.entries().iter().map(|(_, entry)| entry.size).sum()
    }

    /// Returns the number of requests that the current entries have answered.
    #[must_use]
    pub fn hits(&self) -> u32 {
        self.table.entries().iter().map(|(_, entry)| entry.hits).sum()
    }

    /// Returns the size of the largest entry, or 0 if there is none.
    #[must_use]
    pub fn largest(&self) -> usize {
        self.table.entries().iter().map(|(_, entry)| entry.size).max().unwrap_or(0)
    }

    /// Returns the age of the oldest answer at second `now`, or 0 if there is none.
    #[must_use]
    pub fn oldest(&self, now: u64) -> u64 {
        self.table.entries().iter().map(|(_, entry)| now - entry.fetched).max().unwrap_or(0)
    }

    /// Returns the number of entries that were not requested again.
    #[must_use]
    pub fn useless(&self) -> usize {
        self.table.entries().iter().filter(|(_, entry)| entry.hits == 0).count()
    }

    /// Returns the names in order.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.table.entries().into_iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        names
    }

    /// Returns the `count` most requested names. Equally requested names are in alphabetical order.
    #[must_use]
    pub fn popular(&self, count: usize) -> Vec<&str> {
        let mut entries = self.table.entries();
        entries.sort_unstable_by_key(|&(name, entry)| (std::cmp::Reverse(entry.hits), name));
        entries.into_iter().take(count).map(|(name, _)| name).collect()
    }
}
