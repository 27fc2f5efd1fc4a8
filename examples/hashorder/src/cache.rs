//! A cache of limited size, with what its owner wants to know about it.

use crate::Table;

/// What is kept for a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Size of the answer in bytes.
    pub size: usize,
    /// When it was fetched, in seconds.
    pub fetched: u64,
    /// When it was last asked for, in seconds.
    pub used: u64,
    /// How often it was asked for.
    pub hits: u32,
}

/// Keeps the entries that were asked for most recently, up to a number of bytes.
#[derive(Debug)]
pub struct Cache {
    table: Table<Entry>,
    capacity: usize,
    lifetime: u64,
}

impl Cache {
    /// A cache of `capacity` bytes whose entries are good for `lifetime` seconds.
    #[must_use]
    pub fn new(capacity: usize, lifetime: u64) -> Self {
        Self { table: Table::default(), capacity, lifetime }
    }

    /// Asks for `name`, whose answer has `size` bytes, at second `now`. Whether the cache had it.
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

    /// Drops what is older than the lifetime.
    fn expire(&mut self, now: u64) {
        let old = |entry: &Entry| now - entry.fetched >= self.lifetime;
        let expired: Vec<_> =
            self.table.entries().into_iter().filter(|(_, entry)| old(entry)).map(|(name, _)| name.to_owned()).collect();
        for name in expired {
            self.table.remove(&name);
        }
    }

    /// Drops what was not asked for the longest.
    fn evict(&mut self) {
        let entries = self.table.entries();
        let oldest = entries.iter().min_by_key(|(_, entry)| entry.used).map(|(name, _)| (*name).to_owned());
        if let Some(name) = oldest {
            self.table.remove(&name);
        }
    }

    /// Bytes in use.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.table.entries().iter().map(|(_, entry)| entry.size).sum()
    }

    /// Requests that were answered from what is in the cache now.
    #[must_use]
    pub fn hits(&self) -> u32 {
        self.table.entries().iter().map(|(_, entry)| entry.hits).sum()
    }

    /// The largest entry's size; 0 if there is none.
    #[must_use]
    pub fn largest(&self) -> usize {
        self.table.entries().iter().map(|(_, entry)| entry.size).max().unwrap_or(0)
    }

    /// The age of the oldest answer at second `now`; 0 if there is none.
    #[must_use]
    pub fn oldest(&self, now: u64) -> u64 {
        self.table.entries().iter().map(|(_, entry)| now - entry.fetched).max().unwrap_or(0)
    }

    /// How many entries nobody asked for again.
    #[must_use]
    pub fn useless(&self) -> usize {
        self.table.entries().iter().filter(|(_, entry)| entry.hits == 0).count()
    }

    /// The names, in order.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.table.entries().into_iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        names
    }

    /// The `count` names asked for most, in order of their names where they are equal.
    #[must_use]
    pub fn popular(&self, count: usize) -> Vec<&str> {
        let mut entries = self.table.entries();
        entries.sort_unstable_by_key(|&(name, entry)| (std::cmp::Reverse(entry.hits), name));
        entries.into_iter().take(count).map(|(name, _)| name).collect()
    }
}
