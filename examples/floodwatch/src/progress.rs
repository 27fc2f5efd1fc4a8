//! How far a thread has come, for whoever waits for it.

use std::sync::atomic::{AtomicU32, Ordering};

use bisect_rt::bisect_point;

/// Counts the steps of one thread.
#[derive(Debug, Default)]
pub struct Progress(AtomicU32);

impl Progress {
    /// One more. Only ever called by one thread.
    pub(crate) fn step(&self) {
        if bisect_point!("faster") {
            self.0.store(self.0.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        } else {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Steps so far.
    #[must_use]
    pub fn steps(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}
