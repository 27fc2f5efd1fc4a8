//! (crate docs to come)

#[cfg(all(not(bisect_off), not(target_has_atomic = "64")))]
compile_error!("bisect-rt needs 64-bit atomics; build with `--cfg bisect_off` for this target");

#[cfg(not(bisect_off))]
mod build_time;
#[cfg(not(bisect_off))]
mod config;
#[cfg(not(bisect_off))]
mod decision;
#[cfg(all(not(bisect_off), any(target_os = "linux", target_os = "android")))]
mod loaded;
mod macros;
#[cfg(not(bisect_off))]
mod mode;
#[doc(hidden)]
#[path = "private0.rs"]
pub mod __private0;
#[cfg(not(bisect_off))]
mod registry;
#[cfg(not(bisect_off))]
mod report;
#[cfg(not(bisect_off))]
mod stack;
#[cfg(not(bisect_off))]
mod start;
#[cfg(not(bisect_off))]
mod table;
#[cfg(not(bisect_off))]
mod toggle;
#[cfg(not(bisect_off))]
mod value;

pub use bisect_macros::{bisect_attr, bisect_build, bisect_point, bisect_toggle};
