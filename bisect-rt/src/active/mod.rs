//! The runtime, which is left out with `--cfg bisect_off`.
//!
//! From the top down, each module uses only those below it. `start` reads the variables before `main`. `decide` is
//! called by the expansions of the macros. `stack` names call stacks. `memory` makes and keeps decisions, and `report`
//! writes reports. `toggle` is the data of a toggle, and `system` the interface to the operating system.
//!
//! A decision takes no lock and allocates nothing, because it may be made in a signal handler, in the child of a `fork`,
//! or in an allocator. There are two exceptions: text for people, and stacks on 32-bit Windows. So modules come from
//! `_dl_find_object` or the kernel's mappings, not from the loader's list. The bounds of a stack come from the kernel,
//! not from `pthread_getattr_np`.

pub(crate) mod build_time;
mod config;
pub(crate) mod count;
mod decide;
mod fingerprint;
mod memory;
pub(crate) mod mode;
mod nesting;
mod occurrence;
mod registry;
mod report;
#[cfg(feature = "stacks")]
mod stack;
pub(crate) mod start;
mod system;
mod table;
pub(crate) mod toggle;
mod unheard;
pub(crate) mod value;
pub(crate) mod watch;
