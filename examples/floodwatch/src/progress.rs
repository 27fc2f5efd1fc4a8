//! The progress of a thread, which other threads can read.

use std::sync::atomic::{AtomicU32, Ordering};

use bisect_rt::bisect_point;

/// A counter of the steps of one thread.
#[derive(Debug, Default)]
pub struct Progress(AtomicU32);

impl Progress {
    /// Counts a step. Only one thread may call this.
    pub(crate) fn step(&self) {
        if bisect_point!("faster") {
            self.0.store(self.0.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        } else {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Returns the number of steps so far.
    #[must_use]
    pub fn steps(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}
