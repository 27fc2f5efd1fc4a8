//! The only check of a toggle that is not bisected: one relaxed load and one branch.

#![allow(clippy::inline_always, reason = "what a point costs is to be the same in every build")]

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// True if this process is bisected: set before `main`, or never.
static ACTIVE: AtomicBool = AtomicBool::new(false);

/// A module whose name is a hint: the compiler prints this path when it refuses a toggle in a constant, and can print
/// no other text.
pub mod use_bisect_build_in_a_constant {
    use super::{ACTIVE, Relaxed, unlikely};

    /// Returns true if this process is not bisected: every toggle is at its default.
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

/// Marks a branch as unlikely, which decides its layout.
#[cold]
#[inline(always)]
fn unlikely() {}

/// Lets toggles ask the configuration from now on.
pub(crate) fn activate() {
    ACTIVE.store(true, Relaxed);
}
