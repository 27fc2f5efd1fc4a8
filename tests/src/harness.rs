//! Runs the driver as a user does, on a copy of a fixture or in an empty folder.
//!
//! All fixtures are built into one target directory of their own, so that the runtime and what it depends on is compiled
//! once. Each has one copy at a stable place, so that what did not change is not compiled again the next time; whoever
//! holds the copy has it alone, which keeps tests that run at the same time from breaking each other.

mod driver;
mod finished;
mod fixture;
mod go;
mod rustc_driver;

pub use driver::{cargo, driver, fixtures_target_dir, root, scrubbed};
pub use finished::{Finished, Running, expect, run, wait_until};
pub use fixture::{Fixture, Scratch, line_of};
pub use go::{add_internal_bisect, go, with_go};
pub use rustc_driver::{RustcDriver, rustc_driver};
