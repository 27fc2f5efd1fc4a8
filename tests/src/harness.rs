//! Runs the driver as a user does, on a copy of a fixture or in an empty folder.
//!
//! Each test has its own copy of a fixture, with a target directory, so tests that run at the same time neither break
//! each other nor wait. Copies are at stable paths, so that unchanged sources are not compiled again for the next test.

mod driver;
mod finished;
mod fixture;
mod go;
mod pasted;
mod rustc_driver;

pub use driver::{cargo, driver, fixtures_target_dir, root, scrubbed, temp_dir};
pub use finished::{Finished, Running, expect, run, wait_until};
pub use fixture::{Fixture, Scratch, line_of};
pub use go::{add_internal_bisect, go, with_go};
pub use pasted::{paste, shell};
pub use rustc_driver::{RustcDriver, rustc_driver};
