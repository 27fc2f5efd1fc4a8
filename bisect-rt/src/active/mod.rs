//! Everything that is not there with `--cfg bisect_off`.
//!
//! From the top down; each uses only what is below it. `start` reads the variables before `main`. `decide` is what the
//! expansions of macros call. `stack` names call stacks. `memory` makes and keeps decisions, which `report` writes.
//! `toggle` is the data of a toggle, and `system` what the operating system has.

pub(crate) mod build_time;
mod config;
mod decide;
mod fingerprint;
mod memory;
pub(crate) mod mode;
mod nesting;
mod registry;
mod report;
#[cfg(feature = "stacks")]
mod stack;
mod start;
mod system;
mod table;
pub(crate) mod toggle;
mod unheard;
pub(crate) mod value;
