//! The one question of a toggle that nobody bisects, which it asks by one relaxed load and one branch.

#![allow(clippy::inline_always, reason = "what a point costs is to be the same in every build")]

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Set if this process is bisected: before `main`, or never.
static ACTIVE: AtomicBool = AtomicBool::new(false);

/// In a constant the compiler refuses the question by this path, and can say no more about it.
pub mod use_bisect_build_in_a_constant {
    use super::{ACTIVE, Relaxed, unlikely};

    /// Returns whether nobody bisects: every toggle is at its default.
    #[inline(always)]
    #[must_use]
    pub fn inactive() -> bool {
        let active = ACTIVE.load(Relaxed);
        if active {
            unlikely();
        }
        !active
    }
}

/// Tells the compiler which way to lay the branch out.
#[cold]
#[inline(always)]
fn unlikely() {}

/// From now on toggles ask the configuration.
pub(crate) fn activate() {
    ACTIVE.store(true, Relaxed);
}
