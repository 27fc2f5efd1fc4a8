//! Decisions within decisions of one thread.

use std::cell::Cell;

#[cfg(any(target_os = "linux", target_os = "android"))]
use super::system::errno;

/// The most decisions that a thread may be in at once. A signal handler may decide while the thread it interrupts does; one
/// inside the other inside the other is a toggle in what a decision itself calls, such as the allocator, and would
/// never end.
const MAX_NESTING: u8 = 4;

thread_local! {
    static NESTING: Cell<u8> = const { Cell::new(0) };
}

/// A first decision that this thread is in.
pub(crate) struct Nesting {
    /// The number of decisions around this one.
    level: u8,
    #[cfg(any(target_os = "linux", target_os = "android"))]
    _errno: errno::Kept,
}

impl Nesting {
    /// Begins one; `None`, if there are too many: then the change stays at its default.
    pub(crate) fn enter() -> Option<Self> {
        let level = NESTING.get();
        (level < MAX_NESTING).then(|| {
            NESTING.set(level + 1);
            Self {
                level,
                #[cfg(any(target_os = "linux", target_os = "android"))]
                _errno: errno::Kept::new(),
            }
        })
    }

    /// Returns whether this thread decides while it decides: it may be in the middle of reading debug information.
    #[cfg(feature = "stacks")]
    pub(crate) fn is_inner(&self) -> bool {
        self.level > 0
    }
}

impl Drop for Nesting {
    fn drop(&mut self) {
        NESTING.set(self.level);
    }
}
