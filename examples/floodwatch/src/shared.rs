//! A value that a thread changes while others read it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bisect_rt::bisect_toggle;

/// A figure on the board.
#[derive(Debug, Default)]
pub struct Shared<T>(Mutex<T>);

impl<T: Clone> Shared<T> {
    /// Returns the current value.
    #[must_use]
    pub fn get(&self) -> T {
        self.lock().clone()
    }

    /// Changes the value. Readers do not wait for the change, because it is made to a copy.
    #[bisect_toggle("brief-locks", off = Self::update_locked, by = "caller")]
    pub fn update(&self, change: impl FnOnce(&mut T)) {
        let mut value = self.get();
        change(&mut value);
        *self.lock() = value;
    }

    /// Changes the value as `update` did before the release: under the lock.
    fn update_locked(&self, change: impl FnOnce(&mut T)) {
        change(&mut self.lock());
    }

    fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
