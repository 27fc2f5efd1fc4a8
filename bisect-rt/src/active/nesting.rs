//! Decisions within decisions of one thread.

use std::cell::Cell;

#[cfg(any(target_os = "linux", target_os = "android"))]
use super::system::errno;

/// The most decisions that a thread may make at once. A signal handler may decide while the interrupted thread does.
/// Deeper nesting means that a decision itself calls a toggle, for instance in the allocator, and would never end.
const MAX_NESTING: u8 = 4;

thread_local! {
    static NESTING: Cell<u8> = const { Cell::new(0) };
}

/// A first decision in progress on this thread.
pub(crate) struct Nesting {
    /// The number of decisions around this one.
    level: u8,
    #[cfg(any(target_os = "linux", target_os = "android"))]
    _errno: errno::Kept,
}

impl Nesting {
    /// Begins a decision. Returns `None` if there are too many: then the change stays at its default.
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

    /// Returns true if this thread was already deciding: it may be in the middle of reading debug information.
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
