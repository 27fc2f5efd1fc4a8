//! A value that a thread changes while others look at it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bisect_rt::bisect_toggle;

/// A figure on the board.
#[derive(Debug, Default)]
pub struct Shared<T>(Mutex<T>);

impl<T: Clone> Shared<T> {
    /// The value as it is now.
    #[must_use]
    pub fn get(&self) -> T {
        self.lock().clone()
    }

    /// Changes the value. Nobody who looks at it has to wait for the change: that is made to a copy.
    #[bisect_toggle("brief-locks", off = Self::update_locked, by = "caller")]
    pub fn update(&self, change: impl FnOnce(&mut T)) {
        let mut value = self.get();
        change(&mut value);
        *self.lock() = value;
    }

    /// What `update` was before: the value is locked all the time.
    fn update_locked(&self, change: impl FnOnce(&mut T)) {
        change(&mut self.lock());
    }

    fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
